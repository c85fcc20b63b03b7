//! HyStart as Linux's CUBIC has it (Ha and Rhee 2011): slow start ends where the ACKs of a round come in one long train, or
//! where its round-trip times have grown.
//!
//! # As in Linux, not as in the paper
//! The train need not be longer than the forward delay, estimated as half of the smallest round-trip time, but is compared
//! with that half directly. The threshold of the delay is at most 16 ms. Nothing is asked below a window of 16 segments.

use super::round::{Round, threshold};
use super::{Build, Growth, Sample, SlowStart};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hystart",
        summary: "a long train of ACKs, or a longer round trip (Linux's CUBIC)",
        source: "Ha, Rhee: Taming the elephants, Computer Networks 55 (2011); Linux tcp_cubic's parameters",
        parameters: &[
            Parameter {
                name: "train",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether a train of ACKs as long as half of the smallest round trip ends it",
            },
            Parameter {
                name: "delay",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether a round trip longer than the smallest by an eighth (4 to 16 ms) ends it",
            },
            Parameter {
                name: "from_window",
                unit: Unit::Count(1, 10_000),
                default: Some("16"),
                doc: "window from which it is asked, segments (hystart_low_window)",
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

/// ACKs closer than this belong to one train (hystart_ack_delta_us).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Samples after which a round's smallest round-trip time counts.
const SAMPLES: u32 = 8;

struct HyStart {
    train: bool,
    delay: bool,
    from_window: u64,
    /// The smallest round-trip time of the connection, or since the last timeout.
    shortest: Option<Duration>,
    round: Option<Round>,
    /// The last ACK of the train that began with the round.
    last: Time,
}

impl HyStart {
    /// Whether the ACKs since the round began form a train that fills half of the smallest round trip.
    fn has_long_train(&mut self, now: Time, began: Time, shortest: Duration) -> bool {
        if now.since(self.last) > TRAIN_GAP {
            return false;
        }
        self.last = now;
        now.since(began) > shortest.divided_by(2)
    }
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, sample: &Sample) -> Growth {
        let Some(rtt) = sample.rtt else { return Growth::Full };
        let shortest = self.shortest.map_or(rtt, |known| known.min(rtt));
        self.shortest = Some(shortest);
        let round = match self.round {
            Some(round) if !round.is_over(sample) => round,
            _ => {
                self.last = sample.now;
                Round::begin(sample)
            }
        };
        let round = self.round.insert(round);
        round.note(rtt);
        let Round { began, least, samples, .. } = *round;
        if sample.window < self.from_window * sample.mss {
            return Growth::Full;
        }
        let is_late = self.delay && samples > SAMPLES && least > shortest + threshold(shortest);
        let is_full = self.train && self.has_long_train(sample.now, began, shortest);
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

    /// The threshold is an eighth of the smallest round trip, here 100 ms: 12 ms more do not end slow start, 13 do.
    #[test]
    fn a_round_trip_longer_by_an_eighth_ends_it() {
        for (more, ends) in [(12, false), (13, true)] {
            let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
            rounds.play(20, MS * 100, MS * 5);
            assert_eq!(rounds.play(20, MS * (100 + more), MS * 5).contains(&Growth::Over), ends, "{more}");
        }
    }

    /// Eight samples find a round's smallest round trip; the ninth is the first to be judged (Linux, HYSTART_MIN_SAMPLES).
    #[test]
    fn the_ninth_sample_of_a_round_is_the_first_to_be_judged() {
        let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
        rounds.play(20, MS * 100, MS * 5);
        let grown = rounds.play(20, MS * 150, MS * 5);
        assert_eq!(grown.iter().position(|growth| *growth == Growth::Over), Some(8));
    }

    /// At least 4 ms and at most 16 ms more, whatever the path (Linux; RFC 9406 §4.2 has the same bounds).
    #[test]
    fn the_threshold_has_bounds() {
        assert_eq!(threshold(MS * 8), MS * 4);
        assert_eq!(threshold(MS * 64), MS * 8);
        assert_eq!(threshold(MS * 600), MS * 16);
    }

    /// ACKs 1 ms apart are one train; it is too long once it fills more than half of 40 ms. 3 ms apart they are none.
    #[test]
    fn a_train_as_long_as_half_a_round_trip_ends_it() {
        for (gap, ends) in [(1, true), (3, false)] {
            let mut rounds = Rounds::new(built("hystart", &[("delay", Value::Flag(false))]));
            let grown = rounds.play(39, MS * 40, MS * gap);
            let over = grown.iter().position(|growth| *growth == Growth::Over);
            // The round begins with the first ACK: 21 gaps of 1 ms are more than 20 ms.
            assert_eq!(over, ends.then_some(21), "{gap}");
        }
    }

    /// Nothing is asked below 16 segments.
    #[test]
    fn a_small_window_is_left_alone() {
        let mut rounds = Rounds::new(built("hystart", &[]));
        rounds.window = 15;
        assert!(!rounds.play(39, MS * 40, MS).contains(&Growth::Over));
        assert!(!rounds.play(39, MS * 80, MS).contains(&Growth::Over));
    }

    /// A timeout begins everything anew: what was the smallest round trip before it is forgotten.
    #[test]
    fn a_timeout_forgets_the_smallest_round_trip() {
        let mut rounds = Rounds::new(built("hystart", &[("train", Value::Flag(false))]));
        rounds.play(20, MS * 100, MS * 5);
        rounds.watch.on_timeout();
        assert!(!rounds.play(20, MS * 200, MS * 5).contains(&Growth::Over));
    }
}
