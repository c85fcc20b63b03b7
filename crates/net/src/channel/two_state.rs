//! Two states, good and bad: bursts of losses (Gilbert 1960, Elliott 1963).
//!
//! By packets, the chain steps once for each packet, as netem's `loss gemodel`; a
//! repeat by ARQ meets the state of its packet. By time, the states last
//! exponentially and run by themselves, whether packets are sent or not.

use super::{Air, Build, Channel, Fate, PacketDraws, Threshold};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Stream, Time, Unit, Values};

const LONGEST: Duration = Duration::from_secs(1_000_000);
/// Shorter stays would cost a draw for each and say nothing about packets.
const SHORTEST: Duration = Duration::from_micros(1);

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "two_state",
        summary: "a good and a bad state: losses come in bursts",
        source: "Gilbert 1960; Elliott 1963; netem `loss gemodel`; huang §4",
        parameters: &[
            Parameter {
                name: "clock",
                unit: Unit::Word(&["packets", "time"]),
                default: Some("packets"),
                doc: "whether the state changes from packet to packet or with time",
            },
            Parameter {
                name: "mean_loss",
                unit: Unit::Probability(0.0, 0.999),
                default: Some("0"),
                doc: "by packets: mean loss; sets p and r together with mean_burst; 0: p and r are given",
            },
            Parameter {
                name: "mean_burst",
                unit: Unit::Number(1.0, 1e9),
                default: Some("1"),
                doc: "by packets, with mean_loss: mean length of a stay in the bad state, packets",
            },
            Parameter {
                name: "p",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0"),
                doc: "by packets: probability of good to bad (netem's p)",
            },
            Parameter {
                name: "r",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "by packets: probability of bad to good (netem's r)",
            },
            Parameter {
                name: "loss_bad",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "loss in the bad state (netem's 1-h)",
            },
            Parameter {
                name: "loss_good",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0"),
                doc: "loss in the good state (netem's 1-k)",
            },
            Parameter {
                name: "good",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("100 ms"),
                doc: "by time: mean stay in the good state",
            },
            Parameter {
                name: "bad",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("1 ms"),
                doc: "by time: mean stay in the bad state",
            },
            Parameter {
                name: "meets",
                unit: Unit::Word(&["overlap", "end"]),
                default: Some("overlap"),
                doc: "by time: a transmission is in the bad state if it overlaps one, or if it ends in one",
            },
        ],
    },
    build: |values, stream| match values.word("clock") {
        "time" => Box::new(ByTime::new(values, stream)),
        _ => Box::new(ByPackets::new(values, stream)),
    },
};

struct ByPackets {
    draws: PacketDraws,
    to_bad: Threshold,
    to_good: Threshold,
    loss_bad: Threshold,
    loss_good: Threshold,
    is_bad: bool,
}

/// Derived draws for the chain, apart from those for the losses.
const CHAIN: u32 = u32::MAX;

impl ByPackets {
    fn new(values: &Values, stream: Stream) -> ByPackets {
        let (loss_bad, loss_good) = (values.number("loss_bad"), values.number("loss_good"));
        let mean_loss = values.number("mean_loss");
        let (p, r) = if mean_loss > 0.0 {
            // mean_loss = share_bad loss_bad + (1 - share_bad) loss_good, share_bad = p / (p + r), r = 1 / burst.
            let share_bad = ((mean_loss - loss_good) / (loss_bad - loss_good)).clamp(0.0, 0.999_999);
            let r = 1.0 / values.number("mean_burst");
            (r * share_bad / (1.0 - share_bad), r)
        } else {
            (values.number("p"), values.number("r"))
        };
        ByPackets {
            draws: PacketDraws::new(stream),
            to_bad: Threshold::of(p),
            to_good: Threshold::of(r),
            loss_bad: Threshold::of(loss_bad),
            loss_good: Threshold::of(loss_good),
            is_bad: false,
        }
    }
}

impl Channel for ByPackets {
    fn fate(&mut self, air: &Air) -> Fate {
        let loss = if self.is_bad { self.loss_bad } else { self.loss_good };
        if air.attempt > 0 {
            return if self.draws.happens(air.attempt, loss) { Fate::Lost } else { Fate::Intact };
        }
        // The packet takes its one draw, moves the chain by a derived one, and then meets the new state.
        let _ = self.draws.happens(0, loss);
        let leaves = if self.is_bad { self.to_good } else { self.to_bad };
        if self.draws.happens(CHAIN, leaves) {
            self.is_bad = !self.is_bad;
        }
        let loss = if self.is_bad { self.loss_bad } else { self.loss_good };
        if lasthop_base::random::derive(self.draws.draw, 0) < loss.0 { Fate::Lost } else { Fate::Intact }
    }
}

struct ByTime {
    states: Stream,
    draws: PacketDraws,
    good: f64,
    bad: f64,
    loss_bad: Threshold,
    loss_good: Threshold,
    at_end: bool,
    /// The bad period that began last, as far as drawn: it covers `from..until`.
    from: Time,
    until: Time,
    /// The bad period before it, which a transmission that began earlier may still overlap.
    before: (Time, Time),
}

impl ByTime {
    fn new(values: &Values, mut stream: Stream) -> ByTime {
        let draws = PacketDraws::new(Stream::named(stream.draw(), "losses"));
        let mut channel = ByTime {
            states: stream,
            draws,
            good: values.duration("good").as_secs(),
            bad: values.duration("bad").as_secs(),
            loss_bad: Threshold::of(values.number("loss_bad")),
            loss_good: Threshold::of(values.number("loss_good")),
            at_end: values.word("meets") == "end",
            from: Time::ZERO,
            until: Time::ZERO,
            before: (Time::ZERO, Time::ZERO),
        };
        channel.draw_next_period();
        channel
    }

    fn draw_next_period(&mut self) {
        self.before = (self.from, self.until);
        let good = Duration::from_secs_f64(self.states.exponential(self.good));
        let bad = Duration::from_secs_f64(self.states.exponential(self.bad));
        // At least a nanosecond, so that time passes whatever the means are.
        self.from = self.until + good + Duration::from_nanos(1);
        self.until = self.from + bad;
    }

    fn meets_bad(&mut self, start: Time, end: Time) -> bool {
        while self.until <= start && self.from < Time::NEVER {
            self.draw_next_period();
        }
        let overlaps = |(from, until): (Time, Time)| from < end && start < until;
        overlaps((self.from, self.until)) || overlaps(self.before)
    }
}

impl Channel for ByTime {
    fn fate(&mut self, air: &Air) -> Fate {
        let start = if self.at_end { air.end - Duration::from_nanos(1) } else { air.start };
        let loss = if self.meets_bad(start, air.end) { self.loss_bad } else { self.loss_good };
        if self.draws.happens(air.attempt, loss) { Fate::Lost } else { Fate::Intact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ALL;
    use lasthop_base::{Choice, Value};

    fn channel(settings: &[(&'static str, Value)]) -> Box<dyn Channel> {
        let mut choice = Choice::named(ALL, "two_state");
        for (name, value) in settings {
            choice.values.set(name, value.clone());
        }
        (MECHANISM.build)(&choice.values, Stream::named(1, "test"))
    }

    fn air(at_millis: u64) -> Air {
        let start = Time::from_nanos(at_millis * 1_000_000);
        Air { start, end: start + Duration::from_millis(1), bytes: 1000, attempt: 0 }
    }

    #[test]
    fn mean_loss_and_mean_burst_come_out() {
        let settings = [("mean_loss", Value::Number(0.05)), ("mean_burst", Value::Number(4.0))];
        let mut channel = channel(&settings);
        let n = 400_000u64;
        let lost: Vec<bool> = (0..n).map(|at| channel.fate(&air(at)) == Fate::Lost).collect();
        let losses = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Losses are correlated over some 2 x 4 packets: 5000 independent bursts, five standard errors.
        assert!((losses / n as f64 - 0.05).abs() < 5.0 * 0.05 * (2.0 / 5000.0f64).sqrt());
        assert!((losses / bursts - 4.0).abs() < 5.0 * 4.0 / 5000.0f64.sqrt());
    }

    #[test]
    fn by_time_the_share_of_bad_time_comes_out_whatever_is_sent() {
        let settings = [
            ("clock", Value::Word("time")),
            ("good", Value::Duration(Duration::from_millis(90))),
            ("bad", Value::Duration(Duration::from_millis(10))),
            ("meets", Value::Word("end")),
        ];
        let fates = |every: u64| {
            let mut channel = channel(&settings);
            (0..200_000).step_by(every as usize).map(|at| channel.fate(&air(at))).collect::<Vec<_>>()
        };
        let (dense, sparse) = (fates(1), fates(10));
        let share = dense.iter().filter(|fate| **fate == Fate::Lost).count() as f64 / dense.len() as f64;
        // 2000 periods: five standard errors of a ratio of exponentials.
        assert!((share - 0.1).abs() < 5.0 * 0.1 * (2.0 / 2000.0f64).sqrt(), "{share}");
        // The states run by themselves: the same instants meet the same states.
        let thinned: Vec<Fate> = dense.iter().step_by(10).copied().collect();
        assert_eq!(thinned, sparse);
    }
}
