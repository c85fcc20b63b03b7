//! The chapter's experiments as its three scenarios, and a value for each open question.

use lasthop_base::{Duration, Stream, Time};
use lasthop_scenario::{Draft, Problem, Scenario, Traffic};

/// The TCP of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    Reno,
    NewReno,
    Sack,
}

impl Variant {
    pub(super) const ALL: [Variant; 3] = [Variant::Reno, Variant::NewReno, Variant::Sack];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Variant::Reno => "Reno",
            Variant::NewReno => "NewReno",
            Variant::Sack => "SACK",
        }
    }

    const fn recovery(self) -> &'static str {
        match self {
            Variant::Reno => "reno",
            Variant::NewReno => "new_reno",
            Variant::Sack => "sack",
        }
    }

    /// By how much the paper's two rows of the same experiment differ, Mbit/s (Tables 3.3 and 3.7).
    pub(super) const fn spread(self) -> f64 {
        match self {
            Variant::Reno => 1.4,
            Variant::NewReno => 0.6,
            Variant::Sack => 0.2,
        }
    }
}

/// Who the twenty are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Senders {
    All(Variant),
    /// Ten Reno, ten SACK (§3.3.4).
    Mixed,
}

impl Senders {
    /// The variant of flow `number`, from 0.
    pub(super) fn variant(self, number: usize) -> Variant {
        match self {
            Senders::All(variant) => variant,
            Senders::Mixed if number < TCP_FLOWS / 2 => Variant::Reno,
            Senders::Mixed => Variant::Sack,
        }
    }
}

/// What the CBR sources do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    TcpOnly,
    LargeCbr,
    MultipleCbr,
    /// As before, each packet late by up to 0.67 ms.
    Fluctuation,
    /// As before, 15 packets back to back every 10 ms.
    Burst,
}

impl Load {
    pub(super) const TABLE: [Load; 3] = [Load::TcpOnly, Load::LargeCbr, Load::MultipleCbr];
    pub(super) const JITTER: [Load; 3] = [Load::MultipleCbr, Load::Fluctuation, Load::Burst];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Load::TcpOnly => "TCP only",
            Load::LargeCbr => "Large CBR",
            Load::MultipleCbr => "Multiple CBR",
            Load::Fluctuation => "fluctuation",
            Load::Burst => "burst",
        }
    }

    /// How its packets are spaced, as Tables 3.7 and 3.8 call it.
    pub(super) const fn spacing(self) -> &'static str {
        match self {
            Load::Fluctuation | Load::Burst => self.name(),
            Load::TcpOnly | Load::LargeCbr | Load::MultipleCbr => "hard shaper",
        }
    }

    fn draft(self) -> Result<Draft, Problem> {
        match self {
            Load::TcpOnly => Draft::parse(
                include_str!("../../../../../papers/koga3/tcp-only.toml"),
                "papers/koga3/tcp-only.toml",
            ),
            Load::LargeCbr => Draft::parse(
                include_str!("../../../../../papers/koga3/large-cbr.toml"),
                "papers/koga3/large-cbr.toml",
            ),
            Load::MultipleCbr | Load::Fluctuation | Load::Burst => Draft::parse(
                include_str!("../../../../../papers/koga3/multiple-cbr.toml"),
                "papers/koga3/multiple-cbr.toml",
            ),
        }
    }
}

pub(super) const TCP_FLOWS: usize = 20;
const CBR_FLOWS: usize = 5;
pub(super) const SECONDS: f64 = 20.0;

/// How the access delays of the twenty senders lie between 3 and 7 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Delays {
    /// As the scenarios have them.
    #[default]
    Cycling,
    Even,
    Drawn,
}

impl Delays {
    /// Of sender `number`, microseconds, if it is not the scenario's.
    fn micros(self, number: usize, random: &mut Stream) -> Option<u64> {
        match self {
            Delays::Cycling => None,
            Delays::Even => Some(3000 + 4000 * number as u64 / (TCP_FLOWS as u64 - 1)),
            Delays::Drawn => Some(3000 + (4000.0 * random.uniform()) as u64),
        }
    }
}

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Setting {
    pub(super) question: &'static str,
    pub(super) answer: &'static str,
    pub(super) delays: Delays,
    pub(super) changes: &'static [Change],
}

/// What an answer changes in the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// A key of the scenario, or of every flow that has it.
    Key(&'static str, &'static str),
    /// A parameter of Reno's recovery.
    Reno(&'static str, &'static str),
    /// A key of the multiple CBR streams.
    Multiple(&'static str, &'static str),
    /// A parameter of the queue, where there is CBR.
    Cbq(&'static str, &'static str),
    /// The large CBR is one stream on a link that carries it.
    OneLarge,
}

impl Setting {
    /// `smallest RTO: 200 ms`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// The scenario of one repetition: starts, and delays where they are drawn, follow from the seed.
    pub(super) fn scenario(&self, senders: Senders, load: Load, seed: u64) -> Result<Scenario, Problem> {
        let mut draft = load.draft()?;
        let mut delays = Stream::named(seed, "koga3.delays");
        for number in 0..TCP_FLOWS {
            let source = number + 1;
            let variant = senders.variant(number);
            let flow = format!("flow.t{source}");
            draft.set(&format!("{flow}.sack"), if variant == Variant::Sack { "true" } else { "false" })?;
            draft.set(&format!("{flow}.sender.recovery"), variant.recovery())?;
            if variant == Variant::Reno {
                draft.set(&format!("{flow}.sender.recovery.reenter"), "true")?;
            }
            if let Some(micros) = self.delays.micros(number, &mut delays) {
                draft.set(&format!("link.t{source}.one_way_delay"), &format!("{micros} us"))?;
            }
        }
        match load {
            Load::Fluctuation => each_cbr(&mut draft, &[("flow", "jitter", "0.67 ms"), FAST_ACCESS])?,
            Load::Burst => each_cbr(&mut draft, &[("flow", "burst", "15"), FAST_ACCESS])?,
            Load::TcpOnly | Load::LargeCbr | Load::MultipleCbr => {}
        }
        for change in self.changes {
            change.apply(&mut draft, senders, load)?;
        }
        let mut scenario = draft.check()?;
        if load == Load::LargeCbr && self.changes.contains(&Change::OneLarge) {
            scenario.flows.truncate(TCP_FLOWS + 1);
        }
        let mut starts = Stream::named(seed, "koga3.starts");
        for flow in &mut scenario.flows {
            if matches!(flow.traffic, Traffic::Tcp { .. }) {
                flow.start = Time::ZERO + Duration::from_secs_f64(0.1 * starts.uniform());
            }
        }
        Ok(scenario)
    }
}

/// A link that does not space a burst evenly again.
const FAST_ACCESS: (&str, &str, &str) = ("link", "rate", "100 Mbit/s");

/// Sets keys of every CBR stream's flow or link.
fn each_cbr(draft: &mut Draft, keys: &[(&str, &str, &str)]) -> Result<(), Problem> {
    for stream in 1..=CBR_FLOWS {
        for (of, key, value) in keys {
            draft.set(&format!("{of}.c{stream}.{key}"), value)?;
        }
    }
    Ok(())
}

impl Change {
    fn apply(self, draft: &mut Draft, senders: Senders, load: Load) -> Result<(), Problem> {
        match self {
            Change::Key(path, value) => draft.set(path, value),
            Change::Reno(key, value) => {
                let is_reno = |number: &usize| senders.variant(*number) == Variant::Reno;
                (0..TCP_FLOWS).filter(is_reno).try_for_each(|number| {
                    draft.set(&format!("flow.t{}.sender.recovery.{key}", number + 1), value)
                })
            }
            Change::Multiple(key, value) => match load {
                Load::TcpOnly | Load::LargeCbr => Ok(()),
                Load::MultipleCbr | Load::Fluctuation | Load::Burst => {
                    each_cbr(draft, &[("flow", key, value)])
                }
            },
            Change::Cbq(key, value) => match load {
                Load::TcpOnly => Ok(()),
                _ => draft.set(&format!("link.shared.down.queue.{key}"), value),
            },
            Change::OneLarge => match load {
                Load::LargeCbr => {
                    draft.set("link.c1.rate", "100 Mbit/s")?;
                    draft.set("flow.c1.rate", "30 Mbit/s")
                }
                _ => Ok(()),
            },
        }
    }
}

/// Every other answer to every open question.
pub(super) fn questions() -> Vec<Setting> {
    use Change::{Cbq, Key, Multiple, OneLarge, Reno};
    let delays = |delays, answer| Setting { question: "access delays", answer, delays, changes: &[] };
    let of = |question, answer, changes| Setting { question, answer, changes, delays: Delays::default() };
    vec![
        of("header bytes", "40 beside the 500", &[Key("headers", "40 bytes")]),
        delays(Delays::Even, "spread evenly from 3 to 7 ms"),
        delays(Delays::Drawn, "drawn from 3 to 7 ms"),
        of("Reno's second fast retransmit in one window", "no", &[Reno("reenter", "false")]),
        of("smallest RTO", "200 ms", &[Key("sender.min_rto", "200 ms")]),
        of("largest window", "1 MB", &[Key("receiver.window.size", "1 MB")]),
        of("largest window", "20000 bytes (40 packets)", &[Key("receiver.window.size", "20000 bytes")]),
        of("delayed ACKs", "on", &[Key("receiver.timing", "delayed")]),
        of("on and off times", "3 s and 2 s", &[Multiple("on", "3 s"), Multiple("off", "2 s")]),
        of("on and off times", "0.3 s and 0.2 s", &[Multiple("on", "300 ms"), Multiple("off", "200 ms")]),
        of("the large CBR", "one stream of 30 Mbit/s", &[OneLarge]),
        of("TCP borrows", "no", &[Cbq("tcp_borrows", "false")]),
    ]
}
