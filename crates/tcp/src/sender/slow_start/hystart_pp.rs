//! HyStart++ (RFC 9406): where round-trip times grow, slow start goes on at a quarter of its pace; it ends if they stay long
//! for five rounds, and goes on as before if they do not.
//!
//! # Limited slow start growth is the counting's
//! L, the most segments that one ACK may add (RFC 9406 §4.3: 8), is a parameter of `counting`.

use super::round::{Round, threshold};
use super::{Build, Growth, Sample, SlowStart};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hystart_pp",
        summary: "a longer round trip slows it down for five rounds, then ends it (HyStart++)",
        source: "RFC 9406 §4.2, §4.3",
        parameters: &[
            Parameter {
                name: "divisor",
                unit: Unit::Count(2, 100),
                default: Some("4"),
                doc: "by what growth is divided meanwhile (CSS_GROWTH_DIVISOR)",
            },
            Parameter {
                name: "rounds",
                unit: Unit::Count(1, 100),
                default: Some("5"),
                doc: "rounds of slower growth before it ends (CSS_ROUNDS)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(HyStartPp {
            divisor: values.count("divisor"),
            most_rounds: values.count("rounds"),
            round: None,
            before: None,
            slowed: None,
            is_done: false,
        }))
    },
};

/// Samples after which a round's smallest round-trip time counts (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;

struct HyStartPp {
    divisor: u64,
    most_rounds: u64,
    round: Option<Round>,
    /// lastRoundMinRTT: once a round is over that had a sample.
    before: Option<Duration>,
    /// Conservative slow start is under way.
    slowed: Option<Slowed>,
    /// It serves the first slow start alone (RFC 9406 §4.3).
    is_done: bool,
}

/// Conservative slow start (CSS).
#[derive(Clone, Copy)]
struct Slowed {
    /// cssBaselineMinRtt.
    baseline: Duration,
    /// Rounds of it that began.
    rounds: u64,
}

impl HyStartPp {
    fn begin_round(&mut self, sample: &Sample) {
        if let Some(round) = self.round.filter(|round| round.samples > 0) {
            self.before = Some(round.least);
        }
        self.round = Some(Round::begin(sample));
        if let Some(slowed) = &mut self.slowed {
            slowed.rounds += 1;
        }
    }
}

impl SlowStart for HyStartPp {
    fn on_ack(&mut self, sample: &Sample) -> Growth {
        if self.is_done {
            return Growth::Full;
        }
        if self.round.is_none_or(|round| round.is_over(sample)) {
            self.begin_round(sample);
        }
        let Some(round) = &mut self.round else { return Growth::Full };
        if let Some(rtt) = sample.rtt {
            round.note(rtt);
        }
        let Round { least, samples, .. } = *round;
        if samples >= SAMPLES {
            self.slowed = match (self.slowed, self.before) {
                (None, Some(before)) if least >= before + threshold(before) => {
                    Some(Slowed { baseline: least, rounds: 1 })
                }
                // The round trip has become shorter again: what was seen was no queue.
                (Some(slowed), _) if least < slowed.baseline => None,
                (slowed, _) => slowed,
            };
        }
        match self.slowed {
            None => Growth::Full,
            Some(Slowed { rounds, .. }) if rounds <= self.most_rounds => Growth::Divided(self.divisor),
            Some(_) => {
                self.is_done = true;
                Growth::Over
            }
        }
    }

    fn on_timeout(&mut self) {
        self.is_done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::slow_start::tests::{Rounds, built};

    const MS: Duration = Duration::from_millis(1);

    /// RFC 9406 §4.2: a round whose smallest is 1/8 longer than that of the round before slows it down, from the eighth
    /// sample on; after five such rounds it is over.
    #[test]
    fn five_long_rounds_end_it() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        let slower = rounds.play(20, MS * 90, MS);
        assert_eq!(slower[..7], [Growth::Full; 7]);
        assert_eq!(slower[7..], [Growth::Divided(4); 13]);
        for _ in 0..4 {
            assert_eq!(rounds.play(20, MS * 90, MS), [Growth::Divided(4); 20]);
        }
        assert_eq!(rounds.play(20, MS * 90, MS)[0], Growth::Over);
    }

    /// RFC 9406 §4.2: a smaller round trip than the baseline's during the slower rounds resumes slow start.
    #[test]
    fn a_shorter_round_trip_resumes_it() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        rounds.play(20, MS * 90, MS);
        let resumed = rounds.play(20, MS * 85, MS);
        assert_eq!((resumed[0], resumed[19]), (Growth::Divided(4), Growth::Full));
    }

    /// 9 ms more than 80 are less than an eighth: nothing happens.
    #[test]
    fn a_little_longer_is_no_sign() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        assert_eq!(rounds.play(20, MS * 89, MS), [Growth::Full; 20]);
    }

    /// RFC 9406 §4.3: it serves the first slow start alone.
    #[test]
    fn a_slow_start_after_a_timeout_is_left_alone() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        rounds.watch.on_timeout();
        assert_eq!(rounds.play(20, MS * 190, MS), [Growth::Full; 20]);
    }
}
