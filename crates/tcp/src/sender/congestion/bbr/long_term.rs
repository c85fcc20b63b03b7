//! Detection of a token-bucket policer, and sending at the policer's rate without probing. Sources: Flach et al., "An
//! Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016; "long-term sampling" in BBR's talk at IETF 97, 2016.
//!
//! An interval runs from one loss to another, for 4 to 16 rounds. A policer is detected if two consecutive intervals
//! have nearly the same delivery rate, and in each interval the lost bytes are at least a fifth (50/256) of the
//! delivered bytes. The sender then uses the mean rate of these intervals for 48 rounds.

use super::RateSample;
use lasthop_base::{Duration, Time};

/// Shortest interval, rounds. The longest interval is four times as long.
const ROUNDS: u32 = 4;
/// Smallest ratio of lost to delivered bytes at which an interval indicates a policer.
const SHARE_LOST: f64 = 50.0 / 256.0;
/// Two rates count as equal if they differ by at most this fraction of the earlier rate.
const RATIO: f64 = 0.125;
/// Two rates also count as equal if they differ by at most this number of bytes per second (4 kbit/s).
const DIFFERENCE: f64 = 500.0;
/// Number of ProbeBW rounds for which the policer's rate applies.
const RATE_LIFETIME: u32 = 48;
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct LongTerm {
    /// Delivery rate of the last interval, or the policer's rate, bytes per second; 0 if unknown.
    rate: f64,
    pub(super) is_in_effect: bool,
    samples: bool,
    rounds: u32,
    /// Total number of bytes delivered until the start of the interval.
    delivered: u64,
    /// Total number of bytes lost until the start of the interval.
    lost: u64,
    /// Start time of the interval.
    since: Time,
}

impl LongTerm {
    /// Rate of the detected policer, bytes per second; `None` if that rate does not apply now.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_in_effect.then_some(self.rate)
    }

    /// Discards all state. The next loss begins an interval.
    pub(super) fn start_anew(&mut self) {
        *self = LongTerm::default();
    }

    fn begin_stretch(&mut self, now: Time, delivered: u64, lost: u64) {
        (self.rounds, self.delivered, self.lost, self.since) = (0, delivered, lost, now);
    }

    /// Handles a rate sample. `lost`: total number of bytes lost. `begins`: whether a round begins. `losses`: whether
    /// the ACK reveals losses. `probes`: whether BBR is in ProbeBW. Returns whether the policer's rate expires now, so
    /// that BBR must probe.
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

    /// Returns the index of the round in which a policer is detected; `None` if no policer is detected. Each round
    /// lasts 100 ms and delivers one element of `delivered_in_round`, bytes.
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

    /// The loss in round 0 begins the first interval, which ends in round 4. The second interval ends in round 8 with
    /// the same rate.
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
        assert!((0..60).all(|_| !on_round(false)), "rounds outside ProbeBW do not count");
        assert!((0..47).all(|_| !on_round(true)));
        assert!(on_round(true));
    }
}
