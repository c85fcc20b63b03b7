//! The Gilbert-Elliott channel (Gilbert 1960, Elliott 1963): a good and a bad state, for bursts of losses.
//!
//! With `clock = "packets"`, the Markov chain of the two states steps once per packet, as in netem's `loss gemodel`.
//! For retransmissions, a copy of the chain steps from the state at the packet's first transmission. Let r be the
//! probability of leaving the bad state, in which every transmission is lost. Then the first n transmissions of a lost
//! packet all fail with probability (1 - r)^(n - 1). The chain itself continues from the state at the first
//! transmission, so retransmissions do not change later first transmissions.
//!
//! With `clock = "time"`, states have exponentially distributed lengths in time, whether or not packets are sent. The
//! parameter `meets` defines which state applies to a transmission. Two values of `meets` select other models. With
//! `step`, the chain steps once per packet time, also while the link is idle. With `sent`, time in a state advances
//! only during transmissions (ns-2's error model).

mod stepped;

use super::{Build, Channel, PacketDraws, Reception, Threshold, Transmission};
use lasthop_base::{Duration, Info, Is, Mechanism, OneOf, OnlyIf, Parameter, Stream, Time, Unit, Values};
use lasthop_wire::Priority;

const LONGEST: Duration = Duration::from_secs(1_000_000);
/// Shortest mean length of a state. Shorter states would not affect packets, but each state would cost a random draw.
const SHORTEST: Duration = Duration::from_micros(1);

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
                doc: "packets: the Markov chain steps once per packet; time: each state lasts for a random time",
            },
            Parameter {
                name: "mean_loss",
                unit: Unit::Probability(0.0, 0.999),
                default: Some("0"),
                doc: "mean loss, with clock = \"packets\"; mean_loss and mean_burst determine p and r; 0: p \
                      and r apply; mean_loss, p or loss_good is required",
            },
            Parameter {
                name: "mean_burst",
                unit: Unit::Number(1.0, 1e9),
                default: Some("1"),
                doc: "mean length of a stay in the bad state, packets, with mean_loss",
            },
            Parameter {
                name: "p",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0"),
                doc: "probability of a change from good to bad, with clock = \"packets\" (netem's p)",
            },
            Parameter {
                name: "r",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "probability of a change from bad to good, with clock = \"packets\" (netem's r)",
            },
            Parameter {
                name: "loss_bad",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "loss probability in the bad state (netem's 1-h)",
            },
            Parameter {
                name: "loss_good",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0"),
                doc: "loss probability in the good state (netem's 1-k)",
            },
            Parameter {
                name: "good",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("100 ms"),
                doc: "mean duration of the good state, with clock = \"time\"",
            },
            Parameter {
                name: "bad",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("1 ms"),
                doc: "mean duration of the bad state, with clock = \"time\"",
            },
            Parameter {
                name: "meets",
                unit: Unit::Word(&["overlap", "end", "step", "sent"]),
                default: Some("overlap"),
                doc: "a transmission is bad if it overlaps a bad period (overlap), if it ends in a bad period \
                      (end), or if a chain that steps every `step` is bad (step). Value sent: as overlap, but \
                      time advances only during transmissions",
            },
            Parameter {
                name: "step",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("4 ms"),
                doc: "time between two steps of the chain, usually the packet time, with meets = \"step\"",
            },
            Parameter {
                name: "shields_tags",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "with clock = \"time\": tagged packets meet no errors (huang §4.A.1)",
            },
        ],
        one_of: rates,
        only_if: &[
            OnlyIf {
                parameters: &["mean_loss", "mean_burst", "p", "r"],
                other: "clock",
                is: Is::This("packets"),
            },
            OnlyIf { parameters: &["p", "r"], other: "mean_loss", is: Is::This("0") },
            OnlyIf { parameters: &["mean_burst"], other: "p", is: Is::This("0") },
            OnlyIf {
                parameters: &["good", "bad", "meets", "step", "shields_tags"],
                other: "clock",
                is: Is::This("time"),
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, stream| match values.word("clock") {
        "time" if values.word("meets") == "step" => Box::new(stepped::Stepped::new(values, stream)),
        "time" => Box::new(ByTime::new(values, stream)),
        _ => Box::new(ByPackets::new(values, stream)),
    },
};

/// Requires one of the loss rates if `clock` is `packets`. If `clock` is `time`, no loss rate is required, because the
/// mean lengths `good` and `bad` have defaults.
fn rates(values: &Values) -> Option<OneOf> {
    (values.word("clock") == "packets").then_some(OneOf {
        parameters: &["mean_loss", "p", "loss_good"],
        missing: "no rate",
        without: "loses nothing without a loss rate",
        example: "{ kind = \"two_state\", mean_loss = 0.01, mean_burst = 5 }",
    })
}

struct ByPackets {
    draws: PacketDraws,
    to_bad: Threshold,
    to_good: Threshold,
    loss_bad: Threshold,
    loss_good: Threshold,
    is_bad: bool,
    is_bad_again: bool,
}

/// Index of the derived draw that steps the chain at a packet's first transmission. The packet's n-th retransmission
/// uses the index `CHAIN` minus n.
const CHAIN: u32 = u32::MAX;

impl ByPackets {
    fn new(values: &Values, stream: Stream) -> ByPackets {
        let (loss_bad, loss_good) = (values.number("loss_bad"), values.number("loss_good"));
        let mean_loss = values.number("mean_loss");
        let (p, r) = if mean_loss > 0.0 {
            // Solves mean_loss = share_bad loss_bad + (1 - share_bad) loss_good, with share_bad = p / (p + r) and r = 1
            // / burst.
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
            is_bad_again: false,
        }
    }

    fn step(&self, is_bad: bool, attempt: u32) -> bool {
        let leaves = if is_bad { self.to_good } else { self.to_bad };
        is_bad != (lasthop_base::random::derive(self.draws.draw, CHAIN - attempt) < leaves.0)
    }
}

impl Channel for ByPackets {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        // Each packet takes one draw. The chain steps with a number derived from this draw, and the new state applies
        // to the packet.
        if transmission.attempt == 0 {
            self.draws.draw = self.draws.stream.draw();
            self.is_bad = self.step(self.is_bad, 0);
            self.is_bad_again = self.is_bad;
        } else {
            self.is_bad_again = self.step(self.is_bad_again, transmission.attempt);
        }
        let loss = if self.is_bad_again { self.loss_bad } else { self.loss_good };
        if self.draws.spares(transmission.attempt, loss) { Reception::Intact } else { Reception::Lost }
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
    shields_tags: bool,
    /// Total transmission time so far, if time in a state advances only during transmissions (`meets` is `sent`);
    /// otherwise `None`.
    sent: Option<Time>,
    /// Start of the bad period that was drawn last.
    from: Time,
    /// End of the bad period that was drawn last.
    until: Time,
    /// Start and end of the previous bad period. A transmission that began before `from` may overlap this period.
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
            shields_tags: values.flag("shields_tags"),
            sent: (values.word("meets") == "sent").then_some(Time::ZERO),
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
        // A good period lasts at least 1 ns. Time therefore advances even if both mean lengths are tiny.
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
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        let (start, end) = match &mut self.sent {
            None if self.at_end => (transmission.end - Duration::from_nanos(1), transmission.end),
            None => (transmission.start, transmission.end),
            Some(sent) => {
                let start = *sent;
                *sent += transmission.end.since(transmission.start);
                (start, *sent)
            }
        };
        let loss = if self.meets_bad(start, end) { self.loss_bad } else { self.loss_good };
        let destroyed = self.draws.happens(transmission.attempt, loss);
        if destroyed && !is_shielded(self.shields_tags, transmission) {
            Reception::Lost
        } else {
            Reception::Intact
        }
    }
}

fn is_shielded(shields_tags: bool, transmission: &Transmission) -> bool {
    shields_tags && transmission.priority == Priority::LOW
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

    fn transmission(at_millis: u64) -> Transmission {
        let start = Time::from_nanos(at_millis * 1_000_000);
        let end = start + Duration::from_millis(1);
        Transmission { start, end, bytes: 1000, priority: Priority::NORMAL, attempt: 0 }
    }

    #[test]
    fn mean_loss_and_mean_burst_come_out() {
        let settings = [("mean_loss", Value::Number(0.05)), ("mean_burst", Value::Number(4.0))];
        let mut channel = channel(&settings);
        let n = 400_000u64;
        let lost: Vec<bool> =
            (0..n).map(|at| channel.transmit(&transmission(at)) == Reception::Lost).collect();
        let losses = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // In 400,000 packets with a mean loss of 0.05 and a mean burst of 4, there are about 400,000 * 0.05 / 4 = 5000
        // independent bursts of losses. The bounds are five standard errors.
        assert!((losses / n as f64 - 0.05).abs() < 5.0 * 0.05 * (2.0 / 5000.0f64).sqrt());
        assert!((losses / bursts - 4.0).abs() < 5.0 * 4.0 / 5000.0f64.sqrt());
    }

    /// The mean loss is `share`, and the probability of leaving the bad state is r = 1 / `burst`. All n transmissions
    /// must be lost for a share of `share * (1 - r)^(n - 1)` of the packets. The test allows four standard errors for
    /// 200,000 packets whose losses have bursts of 5 packets.
    #[test]
    fn by_packets_the_chain_steps_at_each_repeat() {
        let (share, burst) = (0.05, 5.0);
        let settings = [("mean_loss", Value::Number(share)), ("mean_burst", Value::Number(burst))];
        for transmissions in [1, 2, 4, 8] {
            let (mut channel, mut lost) = (channel(&settings), 0.0);
            for at in 0..200_000 {
                let mut attempts =
                    (0..transmissions).map(|attempt| Transmission { attempt, ..transmission(at) });
                lost += f64::from(u8::from(
                    attempts.all(|transmission| channel.transmit(&transmission) == Reception::Lost),
                ));
            }
            let expected = share * libm::pow(1.0 - 1.0 / burst, f64::from(transmissions) - 1.0);
            let error = libm::sqrt(2.0 * burst * expected * (1.0 - expected) / 200_000.0);
            let is = lost / 200_000.0;
            assert!((is - expected).abs() < 4.0 * error, "{transmissions}: {is}, expected {expected}");
        }
    }

    /// Let p be the probability of a change to the bad state, and r that of a change to the good state. If r = 1 - p,
    /// the chain has no memory, so the n transmissions of a packet must be lost independently.
    #[test]
    fn by_packets_a_chain_without_memory_loses_repeats_independently() {
        let settings = [("p", Value::Number(0.2)), ("r", Value::Number(0.8))];
        let (mut channel, mut lost) = (channel(&settings), 0.0);
        for at in 0..100_000 {
            let mut attempts = (0..3).map(|attempt| Transmission { attempt, ..transmission(at) });
            lost += f64::from(u8::from(
                attempts.all(|transmission| channel.transmit(&transmission) == Reception::Lost),
            ));
        }
        let expected = 0.2 * 0.2 * 0.2;
        let error = libm::sqrt(expected / 100_000.0);
        assert!(
            (lost / 100_000.0 - expected).abs() < 4.0 * error,
            "{}, expected {expected}",
            lost / 100_000.0
        );
    }

    #[test]
    fn by_packets_repeats_change_no_first_transmission() {
        let settings = [("mean_loss", Value::Number(0.05)), ("mean_burst", Value::Number(5.0))];
        let firsts = |repeats: u32| {
            let mut channel = channel(&settings);
            let mut first = |at: u64| {
                let reception = channel.transmit(&transmission(at));
                (1..=repeats).for_each(|attempt| {
                    channel.transmit(&Transmission { attempt, ..transmission(at) });
                });
                reception
            };
            (0..10_000).map(&mut first).collect::<Vec<Reception>>()
        };
        assert_eq!(firsts(0), firsts(3));
    }

    #[test]
    fn by_time_the_share_of_bad_time_comes_out_whatever_is_sent() {
        let settings = [
            ("clock", Value::Word("time")),
            ("good", Value::Duration(Duration::from_millis(90))),
            ("bad", Value::Duration(Duration::from_millis(10))),
            ("meets", Value::Word("end")),
        ];
        let receptions = |every: u64| {
            let mut channel = channel(&settings);
            (0..200_000)
                .step_by(every as usize)
                .map(|at| channel.transmit(&transmission(at)))
                .collect::<Vec<_>>()
        };
        let (dense, sparse) = (receptions(1), receptions(10));
        let share = dense.iter().filter(|one| **one == Reception::Lost).count() as f64 / dense.len() as f64;
        // The share of bad time must be 0.1. The run of 200 s has about 2000 good and 2000 bad periods with exponential
        // lengths. The bound is five standard errors of the share.
        assert!((share - 0.1).abs() < 5.0 * 0.1 * (2.0 / 2000.0f64).sqrt(), "{share}");
        // States do not depend on traffic, so a transmission at a given time must meet the same state with dense and
        // with sparse traffic.
        let thinned: Vec<Reception> = dense.iter().step_by(10).copied().collect();
        assert_eq!(thinned, sparse);
    }
    fn share_lost(
        settings: &[(&'static str, Value)],
        transmissions: impl Iterator<Item = Transmission>,
    ) -> f64 {
        let mut channel = channel(settings);
        let receptions: Vec<Reception> =
            transmissions.map(|transmission| channel.transmit(&transmission)).collect();
        receptions.iter().filter(|one| **one == Reception::Lost).count() as f64 / receptions.len() as f64
    }

    fn good_10_bad_2(meets: &'static str) -> [(&'static str, Value); 5] {
        [
            ("clock", Value::Word("time")),
            ("good", Value::Duration(Duration::from_millis(10))),
            ("bad", Value::Duration(Duration::from_millis(2))),
            ("step", Value::Duration(Duration::from_millis(1))),
            ("meets", Value::Word(meets)),
        ]
    }

    #[test]
    fn the_readings_have_their_closed_forms() {
        // Transmissions last 1 ms. The good state ends at a rate of a = 1/10 per ms, and the bad state at a rate of b =
        // 1/2 per ms. At an instant, the state is bad with probability a / (a + b). A transmission overlaps a bad
        // period unless the state is good at its start and stays good. The stepped chain is bad with probability p / (p
        // + r), where p = 1 - exp(-a) and r = 1 - exp(-b).
        let (a, b) = (0.1f64, 0.5f64);
        let (p, r) = (1.0 - libm::exp(-a), 1.0 - libm::exp(-b));
        let overlap = 1.0 - b / (a + b) * libm::exp(-a);
        for (meets, every, expected) in [
            ("end", 1, a / (a + b)),
            ("overlap", 1, overlap),
            ("overlap", 7, overlap),
            ("step", 1, p / (p + r)),
            ("step", 7, p / (p + r)),
            ("sent", 1, overlap),
            ("sent", 7, overlap),
        ] {
            let share = share_lost(&good_10_bad_2(meets), (0..600_000).step_by(every).map(transmission));
            // A good and a bad state together last 12 ms on average. The run therefore has about 600,000 / 12 / `every`
            // independent periods, each with about 3 consecutive losses. The bound is five standard errors of the
            // share.
            let periods = 600_000.0 / 12.0 / every as f64;
            let bound = 5.0 * (3.0 * expected * (1.0 - expected) / periods).sqrt();
            assert!((share - expected).abs() < bound, "{meets}, {every}: {share}, expected {expected}");
        }
    }

    #[test]
    fn a_stepped_chain_runs_by_itself_and_one_in_sent_time_does_not() {
        for (meets, runs) in [("step", true), ("sent", false)] {
            let mut dense = channel(&good_10_bad_2(meets));
            let mut sparse = channel(&good_10_bad_2(meets));
            let dense: Vec<Reception> =
                (0..10_000).map(|at| dense.transmit(&transmission(at))).step_by(10).collect();
            let sparse: Vec<Reception> =
                (0..10_000).step_by(10).map(|at| sparse.transmit(&transmission(at))).collect();
            assert_eq!(dense == sparse, runs, "{meets}");
        }
    }

    #[test]
    fn shielded_tags_always_arrive() {
        for meets in ["overlap", "end", "step", "sent"] {
            let mut settings = good_10_bad_2(meets).to_vec();
            settings.push(("shields_tags", Value::Flag(true)));
            let tagged = (0..10_000).map(|at| Transmission { priority: Priority::LOW, ..transmission(at) });
            assert_eq!(share_lost(&settings, tagged), 0.0, "{meets}");
            assert!(share_lost(&settings, (0..10_000).map(transmission)) > 0.05, "{meets}");
        }
    }
}
