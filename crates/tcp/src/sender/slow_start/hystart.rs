//! HyStart of Linux's CUBIC (Ha and Rhee 2011): a long train of closely spaced ACKs, or an increased round-trip time,
//! ends slow start.
//!
//! The length of the train is compared with half of the smallest round-trip time, as in Linux and unlike the paper.
//! With pacing, the length is compared with the whole smallest round-trip time, because pacing can spread a window over
//! half a round trip. The delay threshold is at most 16 ms, and neither test runs while cwnd is below 16 segments.

use super::round::{SlowStartRound, threshold};
use super::{Build, Growth, SlowStart, SlowStartAck};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hystart",
        summary: "ends slow start at a long train of ACKs or a longer round trip (HyStart of Linux's CUBIC)",
        source: "Ha, Rhee: Taming the elephants, Computer Networks 55 (2011); Linux tcp_cubic's parameters",
        parameters: &[
            Parameter {
                name: "train",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "ACK train test: ends slow start if closely spaced ACKs span half the smallest round trip",
            },
            Parameter {
                name: "delay",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "delay test: ends slow start if the round trip exceeds the smallest by an eighth (4 to 16 ms)",
            },
            Parameter {
                name: "from_window",
                unit: Unit::Count(1, 10_000),
                default: Some("16"),
                doc: "smallest window for both tests, segments (hystart_low_window)",
            },
        ],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(HyStart {
            train: values.flag("train"),
            delay: values.flag("delay"),
            from_window: values.count("from_window"),
            shortest: None,
            round: None,
            last: Time::ZERO,
        }))
    },
};

/// Largest gap between two ACKs of the same train (hystart_ack_delta_us).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Number of RTT samples in a round after which the delay test uses the round's smallest RTT (HYSTART_MIN_SAMPLES).
const SAMPLES: u32 = 8;

struct HyStart {
    train: bool,
    delay: bool,
    from_window: u64,
    /// Smallest RTT since the start of the connection or since the last timeout.
    shortest: Option<Duration>,
    round: Option<SlowStartRound>,
    /// Time of the last ACK of the train that began with the round.
    last: Time,
}

impl HyStart {
    fn has_long_train(&mut self, now: Time, began: Time, longest: Duration) -> bool {
        if now.since(self.last) > TRAIN_GAP {
            return false;
        }
        self.last = now;
        now.since(began) > longest
    }
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, sample: &SlowStartAck) -> Growth {
        let Some(rtt) = sample.rtt else { return Growth::Full };
        let shortest = self.shortest.map_or(rtt, |known| known.min(rtt));
        self.shortest = Some(shortest);
        let round = match self.round {
            Some(round) if !round.is_over(sample) => round,
            _ => {
                self.last = sample.now;
                SlowStartRound::begin(sample)
            }
        };
        let round = self.round.insert(round);
        round.note(rtt);
        let SlowStartRound { began, least, samples, .. } = *round;
        if sample.window < self.from_window * sample.mss {
            return Growth::Full;
        }
        let is_late = self.delay && samples > SAMPLES && least > shortest + threshold(shortest);
        let longest = if sample.is_paced { shortest } else { shortest.divided_by(2) };
        let is_full = self.train && self.has_long_train(sample.now, began, longest);
        if is_late || is_full { Growth::Over } else { Growth::Full }
    }

    fn on_timeout(&mut self) {
        self.shortest = None;
        self.round = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::slow_start::tests::{Rounds, built};
    use lasthop_base::Value;

    const MS: Duration = Duration::from_millis(1);

    /// The delay threshold is 1/8 of the smallest RTT: 12.5 ms for 100 ms. Slow start continues at 112 ms and ends at
    /// 113 ms.
    #[test]
    fn a_round_trip_longer_by_an_eighth_ends_it() {
        for (more, ends) in [(12, false), (13, true)] {
            let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
            rounds.play(20, MS * 100, MS * 5);
            assert_eq!(
                rounds.play(20, MS * (100 + more), MS * 5).contains(&Growth::Over),
                ends,
                "RTT longer by {more} ms"
            );
        }
    }

    /// The first eight samples of a round only establish the smallest RTT of the round (Linux, HYSTART_MIN_SAMPLES).
    /// The delay test runs from the ninth sample on (index 8).
    #[test]
    fn the_ninth_sample_of_a_round_is_the_first_to_be_judged() {
        let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
        rounds.play(20, MS * 100, MS * 5);
        let grown = rounds.play(20, MS * 150, MS * 5);
        assert_eq!(grown.iter().position(|growth| *growth == Growth::Over), Some(8));
    }

    /// The delay threshold is an eighth of the RTT, but at least 4 ms and at most 16 ms (Linux; RFC 9406 §4.2).
    #[test]
    fn the_threshold_has_bounds() {
        assert_eq!(threshold(MS * 8), MS * 4);
        assert_eq!(threshold(MS * 64), MS * 8);
        assert_eq!(threshold(MS * 600), MS * 16);
    }

    /// Linux, hystart_update: pacing can spread a window over half a round trip. A paced sender therefore leaves slow
    /// start only after a train of a whole round trip, here 40 ms.
    #[test]
    fn a_paced_train_may_be_twice_as_long() {
        let mut rounds = Rounds::new(built("hystart", &[("delay", Value::Flag(false))]));
        rounds.is_paced = true;
        let grown = rounds.play(60, MS * 40, MS);
        assert_eq!(grown.iter().position(|growth| *growth == Growth::Over), Some(41));
    }

    /// ACKs 1 ms apart form a train, which ends slow start when it exceeds half of 40 ms. ACKs 3 ms apart form no
    /// train.
    #[test]
    fn a_train_as_long_as_half_a_round_trip_ends_it() {
        for (gap, ends) in [(1, true), (3, false)] {
            let mut rounds = Rounds::new(built("hystart", &[("delay", Value::Flag(false))]));
            let grown = rounds.play(39, MS * 40, MS * gap);
            let over = grown.iter().position(|growth| *growth == Growth::Over);
            // The ACK with index 21 comes 21 ms after the round's first ACK, the first time above 20 ms.
            assert_eq!(over, ends.then_some(21), "ACKs {gap} ms apart");
        }
    }

    #[test]
    fn a_small_window_is_left_alone() {
        let mut rounds = Rounds::new(built("hystart", &[]));
        rounds.window = 15;
        assert!(!rounds.play(39, MS * 40, MS).contains(&Growth::Over));
        assert!(!rounds.play(39, MS * 80, MS).contains(&Growth::Over));
    }

    #[test]
    fn a_timeout_forgets_the_smallest_round_trip() {
        let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
        rounds.play(20, MS * 100, MS * 5);
        rounds.watch.on_timeout();
        assert!(!rounds.play(20, MS * 200, MS * 5).contains(&Growth::Over));
    }
}
