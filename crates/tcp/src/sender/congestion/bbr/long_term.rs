//! Detection of a policer, and sending at its rate without probing (Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", SIGCOMM 2016; "long-term sampling" of BBR's talk at IETF 97, 2016).
//!
//! Two consecutive intervals indicate a policer's token bucket if both have the same delivery rate. Each interval runs
//! from loss to loss, over at least four rounds, with a fifth of the packets lost. The rate then applies for 48 rounds.

use super::RateSample;
use lasthop_base::{Duration, Time};

/// Shortest interval, rounds. The longest interval has four times as many.
const ROUNDS: u32 = 4;
/// Ratio of lost to delivered bytes that indicates a policer: 50/256.
const SHARE_LOST: f64 = 50.0 / 256.0;
/// Two rates count as equal if their difference is at most this fraction of a rate.
const RATIO: f64 = 0.125;
/// Two rates also count as equal if they differ by at most this many bytes per second (4 kbit/s).
const DIFFERENCE: f64 = 500.0;
/// Number of rounds for which the policer's rate applies.
const RATE_LIFETIME: u32 = 48;
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct LongTerm {
    /// Rate of the last interval, bytes per second; 0: unknown.
    rate: f64,
    pub(super) is_in_effect: bool,
    samples: bool,
    rounds: u32,
    /// Total number of bytes delivered before the start of the interval.
    delivered: u64,
    /// Total number of bytes lost before the start of the interval.
    lost: u64,
    /// Start of the interval.
    since: Time,
}

impl LongTerm {
    /// Policer's rate, bytes per second, while it is in effect.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_in_effect.then_some(self.rate)
    }

    /// Discards all state; the next loss begins an interval.
    pub(super) fn start_anew(&mut self) {
        *self = LongTerm::default();
    }

    fn begin_stretch(&mut self, now: Time, delivered: u64, lost: u64) {
        (self.rounds, self.delivered, self.lost, self.since) = (0, delivered, lost, now);
    }

    /// Adds a sample. `begins`: a round begins; `losses`: the sample reports losses; `lost`: total number of bytes
    /// lost; `probes`: the state is ProbeBW. Returns `true` if the rate expires, so that probing restarts.
    pub(super) fn on_sample(
        &mut self,
        now: Time,
        sample: &RateSample,
        lost: u64,
        begins: bool,
        losses: bool,
        probes: bool,
    ) -> bool {
        if self.is_in_effect {
            self.rounds += u32::from(begins && probes);
            if self.rounds < RATE_LIFETIME {
                return false;
            }
            self.start_anew();
            return true;
        }
        if !self.samples {
            if losses {
                self.samples = true;
                self.begin_stretch(now, sample.total, lost);
            }
            return false;
        }
        self.rounds += u32::from(begins);
        if sample.app_limited || self.rounds > 4 * ROUNDS {
            self.start_anew();
        } else if losses && self.rounds >= ROUNDS {
            self.end_stretch(now, sample.total, lost);
        }
        false
    }

    fn end_stretch(&mut self, now: Time, total: u64, all_lost: u64) {
        let (delivered, lost) = (total - self.delivered, all_lost - self.lost);
        let took = now.since(self.since);
        if delivered == 0 || (lost as f64) < SHARE_LOST * delivered as f64 || took < SHORTEST {
            return;
        }
        let rate = delivered as f64 / took.as_secs();
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= RATIO * self.rate || difference <= DIFFERENCE) {
            self.rate = (rate + self.rate) / 2.0;
            (self.is_in_effect, self.rounds) = (true, 0);
        } else {
            self.rate = rate;
            self.begin_stretch(now, total, all_lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of rounds until a policer is detected. Rounds last 100 ms and deliver these numbers of bytes.
    fn rounds_until_it_holds(delivered_in_round: &[u64], share_lost: f64) -> Option<usize> {
        let mut long_term = LongTerm::default();
        let (mut total, mut lost) = (0, 0);
        for (round, delivered) in delivered_in_round.iter().enumerate() {
            total += delivered;
            lost += (share_lost * *delivered as f64) as u64;
            let sample = RateSample {
                delivered: *delivered,
                interval: Duration::from_millis(100),
                reliable: true,
                prior: total - delivered,
                total,
                app_limited: false,
                in_flight: 10_000,
                lost: 0,
                rtt: None,
            };
            let now = Time::ZERO + Duration::from_millis(100 * round as u64);
            long_term.on_sample(now, &sample, lost, true, true, true);
            if long_term.is_in_effect {
                assert!((long_term.rate - 100_000.0).abs() < 1.0, "{}", long_term.rate);
                return Some(round);
            }
        }
        None
    }

    /// The first loss begins an interval, which ends four rounds later. The second interval ends after four more
    /// rounds, with the same rate.
    #[test]
    fn two_like_stretches_tell_a_policer() {
        assert_eq!(rounds_until_it_holds(&[10_000; 20], 0.33), Some(8));
    }

    #[test]
    fn few_losses_and_other_rates_do_not() {
        assert_eq!(rounds_until_it_holds(&[10_000; 40], 0.1), None);
        let doubling: Vec<u64> = (0..16).map(|round| 10_000 << (round / 4)).collect();
        assert_eq!(rounds_until_it_holds(&doubling, 0.33), None);
    }

    #[test]
    fn it_is_asked_anew() {
        let mut long_term = LongTerm { rate: 1000.0, is_in_effect: true, ..LongTerm::default() };
        let sample = RateSample {
            delivered: 1,
            interval: Duration::from_millis(1),
            reliable: true,
            prior: 0,
            total: 1,
            app_limited: false,
            in_flight: 1,
            lost: 0,
            rtt: None,
        };
        let mut on_round = |probes| long_term.on_sample(Time::ZERO, &sample, 0, true, false, probes);
        assert!((0..60).all(|_| !on_round(false)), "only rounds of ProbeBW count");
        assert!((0..47).all(|_| !on_round(true)));
        assert!(on_round(true));
    }
}
