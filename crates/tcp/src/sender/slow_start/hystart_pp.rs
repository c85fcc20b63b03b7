//! HyStart++ (RFC 9406). After the round-trip time has increased, cwnd grows at a quarter of its pace (conservative
//! slow start, CSS). Five rounds of CSS end slow start. If the round-trip time falls again, slow start resumes at full
//! pace.
//!
//! L, the growth limit for one ACK (RFC 9406 §4.3: 8 segments), is a parameter of `ack_counting`.

use super::round::{SlowStartRound, threshold};
use super::{Build, Growth, SlowStart, SlowStartAck};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hystart_pp",
        summary: "a longer round trip slows slow start for five rounds, then ends slow start (HyStart++)",
        source: "RFC 9406 §4.2, §4.3",
        parameters: &[
            Parameter {
                name: "divisor",
                unit: Unit::Count(2, 100),
                default: Some("4"),
                doc: "divisor of the growth during conservative slow start (CSS_GROWTH_DIVISOR)",
            },
            Parameter {
                name: "rounds",
                unit: Unit::Count(1, 100),
                default: Some("5"),
                doc: "rounds of conservative slow start before avoidance (CSS_ROUNDS)",
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

/// Number of RTT samples in a round after which the round's smallest RTT is used (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;

struct HyStartPp {
    divisor: u64,
    most_rounds: u64,
    round: Option<SlowStartRound>,
    /// lastRoundMinRTT: smallest RTT of the last round that had a sample.
    before: Option<Duration>,
    /// State of conservative slow start, while it is active.
    slowed: Option<Slowed>,
    /// Whether the initial slow start is over. HyStart++ applies only to the initial slow start (RFC 9406 §4.3).
    is_done: bool,
}

#[derive(Clone, Copy)]
struct Slowed {
    /// cssBaselineMinRtt: smallest RTT of the round that began CSS.
    baseline: Duration,
    rounds: u64,
}

impl HyStartPp {
    fn begin_round(&mut self, sample: &SlowStartAck) {
        if let Some(round) = self.round.filter(|round| round.samples > 0) {
            self.before = Some(round.least);
        }
        self.round = Some(SlowStartRound::begin(sample));
        if let Some(slowed) = &mut self.slowed {
            slowed.rounds += 1;
        }
    }
}

impl SlowStart for HyStartPp {
    fn on_ack(&mut self, sample: &SlowStartAck) -> Growth {
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
        let SlowStartRound { least, samples, .. } = *round;
        if samples >= SAMPLES {
            self.slowed = match (self.slowed, self.before) {
                (None, Some(before)) if least >= before + threshold(before) => {
                    Some(Slowed { baseline: least, rounds: 1 })
                }
                // The RTT has fallen below the baseline, so a growing queue did not cause the increase.
                (Some(slowed), _) if least < slowed.baseline => None,
                (slowed, _) => slowed,
            };
        }
        match self.slowed {
            None => Growth::Full,
            Some(Slowed { rounds, .. }) if rounds <= self.most_rounds => {
                Growth::DividedCounting(self.divisor)
            }
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

    /// RFC 9406 §4.2: an RTT increase from 80 ms to 90 ms (1/8) begins CSS at the eighth sample. After five rounds of
    /// CSS, slow start ends.
    #[test]
    fn five_long_rounds_end_it() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        let slower = rounds.play(20, MS * 90, MS);
        assert_eq!(slower[..7], [Growth::Full; 7]);
        assert_eq!(slower[7..], [Growth::DividedCounting(4); 13]);
        for _ in 0..4 {
            assert_eq!(rounds.play(20, MS * 90, MS), [Growth::DividedCounting(4); 20]);
        }
        assert_eq!(rounds.play(20, MS * 90, MS)[0], Growth::Over);
    }

    /// RFC 9406 §4.2: an RTT of 85 ms, below the baseline of 90 ms, ends CSS and resumes slow start.
    #[test]
    fn a_shorter_round_trip_resumes_it() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        rounds.play(20, MS * 90, MS);
        let resumed = rounds.play(20, MS * 85, MS);
        assert_eq!((resumed[0], resumed[19]), (Growth::DividedCounting(4), Growth::Full));
    }

    /// An RTT increase from 80 ms to 89 ms is less than the threshold of 10 ms, so cwnd grows at full pace.
    #[test]
    fn a_little_longer_is_no_sign() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        assert_eq!(rounds.play(20, MS * 89, MS), [Growth::Full; 20]);
    }

    #[test]
    fn a_slow_start_after_a_timeout_is_left_alone() {
        let mut rounds = Rounds::new(built("hystart_pp", &[]));
        rounds.play(20, MS * 80, MS);
        rounds.watch.on_timeout();
        assert_eq!(rounds.play(20, MS * 190, MS), [Growth::Full; 20]);
    }
}
