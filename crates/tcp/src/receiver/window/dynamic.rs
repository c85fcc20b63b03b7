//! Window that follows the receiver's estimate of the path, so that the sender cannot fill a deep buffer.
//!
//! The window is k x rate x smallest RTT. The rate is the largest rate of the last ten rounds. In a round, which lasts
//! at least one smallest RTT, the receiver counts the arriving bytes. RTT samples come from timestamp echoes, and from
//! the handshake if the driver reports the handshake's RTT. k - 1 is the queue allowed at the bottleneck, in
//! bandwidth-delay products.
//!
//! If no sample has confirmed the smallest RTT for ten seconds, this value may be outdated. The window then falls below
//! the bandwidth-delay product for four RTTs. The queue drains in the first two RTTs; the receiver measures the RTT
//! anew in the last two RTTs. BBR (ProbeRTT) does the same at the sender.
//!
//! # Not modelled
//! Without timestamps, the handshake's RTT is used throughout. Without timestamps and handshake RTT, the window stays
//! `initial`. The receiver cannot distinguish an application-limited sender from a slow path: after ten rounds with
//! little data the window is small. As soon as the sender has more data, the window doubles per RTT. If a radio link
//! occasionally delays packets far beyond its smallest RTT, k must cover that delay; otherwise the rate falls.

use super::{AdvertisedWindow, Build, PathSample, WindowInput};
use lasthop_base::{Duration, Info, Live, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dynamic",
        summary: "k x delivery rate x smallest RTT; the receiver estimates rate and RTT",
        source: "koga §5.2.2 without the link layer's help; BBR's model of the path (draft-ietf-ccwg-bbr §2.4)",
        parameters: &[
            Parameter {
                name: "k",
                unit: Unit::Number(1.0, 100.0),
                default: Some("2.0"),
                doc: "window divided by the bandwidth-delay product; k - 1 is the queue allowed",
            },
            Parameter {
                name: "initial",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("64 KiB"),
                doc: "window before the first estimate",
            },
            Parameter {
                name: "size",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("4 MiB"),
                doc: "receive buffer: the largest window; a larger buffer has coarser window units (RFC 7323 §2.2)",
            },
        ],
        live: Some(Live { word: "dynamic", parameter: "k", usual: Some("2"), without_discrimination: None }),
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Dynamic::new(values.number("k"), values.bytes("initial"), values.bytes("size")))
    },
};

/// Smallest window, segments: one segment in flight while the receiver acknowledges another segment.
const FLOOR: u64 = 2;
/// Number of rounds whose rates are stored.
const ROUNDS: usize = 10;
/// Shortest duration of a round. In a shorter round, a burst would look like a high rate.
const SHORTEST_ROUND: Duration = Duration::from_millis(10);
/// Lower bound of an RTT sample, because scheduling delays dominate shorter times.
const SMALLEST_RTT: Duration = Duration::from_millis(1);
/// Time without confirmation after which the smallest RTT is measured again.
const RTT_VALID: Duration = Duration::from_secs(10);
/// Value of k while the smallest RTT is measured again.
const PROBE_K: f64 = 0.75;

struct Dynamic {
    k: f64,
    initial: u64,
    size: u64,
    min_rtt: Option<Duration>,
    /// Time of the last sample that was close to the smallest RTT.
    confirmed: Time,
    rtt_probe: Option<RttProbe>,
    round: Option<RateRound>,
    /// Rates of the last rounds, bytes per second; zero for rounds that have not yet ended.
    rates: [f64; ROUNDS],
    rounds: usize,
}

/// New measurement of the smallest RTT.
struct RttProbe {
    /// Time after which the bottleneck queue should be empty. Only RTT samples after this time count.
    drained: Time,
    ends: Time,
    least: Option<Duration>,
}

struct RateRound {
    start: Time,
    bytes: u64,
}

impl Dynamic {
    fn new(k: f64, initial: u64, size: u64) -> Dynamic {
        Dynamic {
            k,
            initial,
            size,
            min_rtt: None,
            confirmed: Time::ZERO,
            rtt_probe: None,
            round: None,
            rates: [0.0; ROUNDS],
            rounds: 0,
        }
    }

    fn sample(&mut self, now: Time, rtt: Duration) {
        let rtt = rtt.max(SMALLEST_RTT);
        let least = *self.min_rtt.get_or_insert(rtt);
        // The sample confirms the smallest RTT if the sample is larger by at most a tenth, or by at most 1 ms.
        if rtt <= least + least.divided_by(10).max(SMALLEST_RTT) {
            self.min_rtt = Some(least.min(rtt));
            self.confirmed = now;
            self.rtt_probe = None;
        }
        match &mut self.rtt_probe {
            Some(rtt_probe) if now >= rtt_probe.ends => {
                if rtt_probe.least.is_some() {
                    self.min_rtt = rtt_probe.least;
                }
                self.confirmed = now;
                self.rtt_probe = None;
            }
            Some(rtt_probe) if now >= rtt_probe.drained => {
                rtt_probe.least = Some(rtt_probe.least.map_or(rtt, |least| least.min(rtt)));
            }
            Some(_) => {}
            None if now.since(self.confirmed) > RTT_VALID => {
                let half = rtt + rtt;
                self.rtt_probe = Some(RttProbe { drained: now + half, ends: now + half + half, least: None });
            }
            None => {}
        }
    }

    fn count(&mut self, now: Time, bytes: u64) {
        let Some(round) = &mut self.round else {
            self.round = Some(RateRound { start: now, bytes: 0 });
            return;
        };
        round.bytes += bytes;
        let elapsed = now.since(round.start);
        if elapsed < self.min_rtt.unwrap_or(SHORTEST_ROUND).max(SHORTEST_ROUND) {
            return;
        }
        // During the RTT measurement the window is small, so that arrivals do not show the rate of the path.
        if self.rtt_probe.is_none() {
            self.rates[self.rounds % ROUNDS] = round.bytes as f64 / elapsed.as_secs();
            self.rounds += 1;
        }
        self.round = Some(RateRound { start: now, bytes: 0 });
    }
}

impl AdvertisedWindow for Dynamic {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        let free = self.size.saturating_sub(input.unread);
        let Some(rtt) = self.min_rtt.filter(|_| self.rounds > 0) else { return self.initial.min(free) };
        let rate = self.rates.iter().fold(0.0_f64, |most, rate| most.max(*rate));
        let k = if self.rtt_probe.is_some() { PROBE_K } else { self.k };
        ((k * rate * rtt.as_secs()) as u64).max(FLOOR * input.segment).min(free)
    }

    fn largest(&self) -> u64 {
        self.size
    }

    fn on_arrival(&mut self, arrived: &PathSample) {
        if let Some(rtt) = arrived.rtt {
            self.sample(arrived.now, rtt);
        }
        if arrived.bytes > 0 {
            self.count(arrived.now, arrived.bytes);
        }
    }

    fn needs_arrivals(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1448;

    fn arrived(now: Time, bytes: u64, rtt_ms: u64) -> PathSample {
        PathSample { now, bytes, rtt: Some(Duration::from_millis(rtt_ms)), read: 0, segment: SEGMENT }
    }

    /// Delivers a segment every 1.2 ms (packets of 1500 bytes at 10 Mbit/s) for `millis` ms, starting at `from` ms.
    /// `rtt`: RTT of each segment, ms.
    fn feed(window: &mut Dynamic, from: u64, millis: u64, rtt: u64) {
        for n in 0..millis * 10 / 12 {
            let now = Time::from_nanos(from * 1_000_000 + n * 1_200_000);
            window.on_arrival(&arrived(now, SEGMENT, rtt));
        }
    }

    fn bytes(window: &mut Dynamic) -> u64 {
        window.bytes(&WindowInput { unread: 0, segment: SEGMENT })
    }

    fn dynamic() -> Dynamic {
        Dynamic::new(2.0, 65_536, 1 << 22)
    }

    /// Bandwidth-delay product for an RTT of `rtt` seconds, bytes. The rate is 1448 bytes in 1.2 ms, or 1,206,667
    /// bytes/s.
    fn product(rtt: f64) -> f64 {
        1448.0 / 1.2e-3 * rtt
    }

    #[test]
    fn it_is_twice_the_rate_times_the_smallest_rtt() {
        let mut window = dynamic();
        assert_eq!(bytes(&mut window), 65_536);
        feed(&mut window, 0, 3, 20);
        feed(&mut window, 3, 400, 45);
        let found = bytes(&mut window) as f64;
        assert!((found / (2.0 * product(0.020)) - 1.0).abs() < 0.01, "{found}");
    }

    /// During the RTT measurement, samples before the queue has drained (two RTTs) do not count, even if such a sample
    /// is the smallest. The new smallest RTT is the smallest later sample.
    #[test]
    fn samples_before_the_queue_has_drained_do_not_count() {
        let mut window = dynamic();
        feed(&mut window, 0, 1000, 20);
        feed(&mut window, 1000, 10_050, 80);
        let probe = window.rtt_probe.as_ref().expect("an RTT measurement is in progress");
        let at = |time: Time, later: u64| time + Duration::from_millis(later);
        let (drained, ends) = (probe.drained, probe.ends);
        window.on_arrival(&arrived(at(drained, 0), SEGMENT, 70));
        assert_eq!(window.rtt_probe.as_ref().and_then(|it| it.least), Some(Duration::from_millis(70)));
        window.on_arrival(&arrived(at(ends, 0), SEGMENT, 75));
        assert_eq!((window.min_rtt, window.rtt_probe.is_none()), (Some(Duration::from_millis(70)), true));
        let mut window = dynamic();
        feed(&mut window, 0, 1000, 20);
        feed(&mut window, 1000, 10_050, 80);
        let drained = window.rtt_probe.as_ref().expect("an RTT measurement is in progress").drained;
        window.on_arrival(&arrived(Time::from_nanos(drained.as_nanos() - 1), SEGMENT, 60));
        assert_eq!(window.rtt_probe.as_ref().and_then(|it| it.least), None);
    }

    #[test]
    fn it_never_falls_below_two_segments_nor_takes_more_than_the_buffer() {
        let mut window = dynamic();
        for n in 0..30 {
            let now = Time::ZERO + Duration::from_secs(n);
            window.on_arrival(&arrived(now, 10, 5));
        }
        assert_eq!(bytes(&mut window), 2 * SEGMENT);
        assert_eq!(window.bytes(&WindowInput { unread: (1 << 22) - 100, segment: SEGMENT }), 100);
    }

    #[test]
    fn a_path_that_has_become_longer_is_found_out() {
        let mut window = dynamic();
        feed(&mut window, 0, 1000, 20);
        // For 10 s, no sample has confirmed the smallest RTT of 20 ms, which may be outdated. The receiver measures the
        // smallest RTT anew, with a window below one bandwidth-delay product for four RTTs.
        feed(&mut window, 1000, 10_050, 80);
        assert!((bytes(&mut window) as f64) < product(0.020));
        feed(&mut window, 11_050, 400, 70);
        let found = bytes(&mut window) as f64;
        assert!((found / (2.0 * product(0.070)) - 1.0).abs() < 0.01, "{found}");
    }
}
