//! The paper's two scenarios, how many ACKs, and a value for each open question.

use lasthop_base::Duration;
use lasthop_scenario::{Draft, Problem, Scenario};

/// How many wireless terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nodes {
    One,
    Five,
}

impl Nodes {
    pub(super) const fn count(self) -> usize {
        match self {
            Nodes::One => 1,
            Nodes::Five => 5,
        }
    }

    pub(super) const fn item(self) -> &'static str {
        match self {
            Nodes::One => "table2",
            Nodes::Five => "table3",
        }
    }

    pub(super) const fn crossing(self) -> &'static str {
        match self {
            Nodes::One => "crossing-1",
            Nodes::Five => "crossing-5",
        }
    }
}

/// How many ACKs per segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    One,
    Two,
    /// One or two, by the receiver's estimate of p_err.
    Adaptive,
}

impl Acks {
    pub(super) const FIXED: [Acks; 2] = [Acks::One, Acks::Two];
    pub(super) const ALL: [Acks; 3] = [Acks::One, Acks::Two, Acks::Adaptive];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Acks::One => "1 ACK",
            Acks::Two => "2 ACKs",
            Acks::Adaptive => "adaptive",
        }
    }

    const fn shape(self) -> &'static str {
        match self {
            Acks::One => "once",
            Acks::Two => "copies",
            Acks::Adaptive => "by_loss",
        }
    }
}

/// What the air does to data, when it loses ACKs with p_err.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum DataErrors {
    /// p_err too.
    #[default]
    Same,
    /// 2.5 p_err (Eq. 3).
    Longer,
    /// Nothing.
    None,
}

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Setting {
    /// The question that is answered otherwise; empty for the defaults.
    pub(super) question: &'static str,
    /// The answer.
    pub(super) answer: &'static str,
    /// What changes in the scenario: path, with `*` for the number of each node, and value.
    pub(super) changes: &'static [(&'static str, &'static str)],
    pub(super) data_errors: DataErrors,
}

impl Setting {
    /// `the sender: today's`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// The scenario of so many nodes and ACKs at a packet error probability.
    pub(super) fn scenario(&self, nodes: Nodes, acks: Acks, p_err: f64) -> Result<Scenario, Problem> {
        let (text, name) = match nodes {
            Nodes::One => {
                (include_str!("../../../../../papers/miyoshi/one-node.toml"), "papers/miyoshi/one-node.toml")
            }
            Nodes::Five => {
                let text = include_str!("../../../../../papers/miyoshi/five-nodes.toml");
                (text, "papers/miyoshi/five-nodes.toml")
            }
        };
        let mut draft = Draft::parse(text, name)?;
        let on_data = match self.data_errors {
            DataErrors::Same => p_err,
            DataErrors::Longer => (2.5 * p_err).min(1.0),
            DataErrors::None => 0.0,
        };
        for node in 1..=nodes.count() {
            draft.set(&format!("link.radio{node}.down.channel"), "iid")?;
            draft.set(&format!("link.radio{node}.down.channel.loss"), &format!("{on_data}"))?;
            draft.set(&format!("link.radio{node}.up.channel"), "iid")?;
            draft.set(&format!("link.radio{node}.up.channel.loss"), &format!("{p_err}"))?;
            draft.set(&format!("flow.bulk{node}.receiver.shape"), acks.shape())?;
        }
        for (path, value) in self.changes {
            match path.contains('*') {
                false => draft.set(path, value)?,
                true => {
                    for node in 1..=nodes.count() {
                        draft.set(&path.replace('*', &node.to_string()), value)?;
                    }
                }
            }
        }
        draft.check()
    }
}

/// The rows of Tables 2 and 3.
pub(super) const P_ERRS: [f64; 8] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];

/// How long a run at p_err lasts: the worse the air, the fewer segments there are to count.
pub(super) fn duration(p_err: f64, quick: bool) -> Duration {
    let seconds = match p_err {
        p if p < 0.02 => 40,
        p if p < 0.07 => 80,
        p if p < 0.15 => 200,
        p if p < 0.25 => 1000,
        _ => 10_000,
    };
    Duration::from_secs(if quick { seconds } else { 4 * seconds })
}

const ERA: &[(&str, &str)] = &[
    ("flow.bulk*.timestamps", "true"),
    ("flow.bulk*.sender.recovery", "new_reno"),
    ("flow.bulk*.sender.congestion", "reno"),
    ("flow.bulk*.sender.counting", "rfc5681"),
    ("flow.bulk*.sender.initial_window", "10"),
    ("flow.bulk*.sender.initial_rto", "1 s"),
    ("flow.bulk*.sender.tick", "1 ms"),
    ("flow.bulk*.receiver.window", "buffer"),
    ("flow.bulk*.receiver.window.size", "64 KB"),
];

/// Every other answer to every open question.
pub(super) fn questions() -> Vec<Setting> {
    let mut settings: Vec<Setting> = ANSWERS
        .iter()
        .map(|(question, answer, changes)| Setting { question, answer, changes, ..Setting::default() })
        .collect();
    for (answer, data_errors) in [("2.5 p_err (Eq. 3)", DataErrors::Longer), ("none", DataErrors::None)] {
        settings.push(Setting { question: "errors on data", answer, data_errors, ..Setting::default() });
    }
    settings
}

/// Ways in which the terminal can learn what it needs to choose between one ACK and two: the default first.
pub(super) fn ways() -> Vec<Setting> {
    let of = |(question, answer, changes): &(&'static str, &'static str, Changes)| Setting {
        question,
        answer,
        changes,
        ..Setting::default()
    };
    std::iter::once(Setting::default()).chain(WAYS.iter().map(of)).collect()
}

const SOURCE: &str = "flow.bulk*.receiver.shape.source";
const BUFFER: &str = "flow.bulk*.receiver.shape.buffer";
/// An uplink that is the bottleneck, as §2.3 has it, with so small a buffer that ACKs are lost in it.
const BOTTLENECK: (&str, &str) = ("link.radio*.up.rate", "64 kbit/s");
const FEW_PACKETS: (&str, &str) = ("link.radio*.up.queue", "5 packets");

const WAYS: &[(&str, &str, Changes)] = &[
    ("who counts p", "the sender: triple duplicate ACKs (§2.3)", &[(SOURCE, "duplicates")]),
    ("who counts p", "the sender: all retransmissions", &[(SOURCE, "retransmissions")]),
    ("p_buff", "counted at the terminal's buffer", &[(BUFFER, "counted")]),
    ("uplink of 64 kbit/s and 5 packets", "p_buff is 0", &[BOTTLENECK, FEW_PACKETS]),
    (
        "uplink of 64 kbit/s and 5 packets",
        "p_buff counted there",
        &[BOTTLENECK, FEW_PACKETS, (BUFFER, "counted")],
    ),
    (
        "uplink of 64 kbit/s and 5 packets",
        "p_buff counted there, p by the sender (§2.3)",
        &[BOTTLENECK, FEW_PACKETS, (BUFFER, "counted"), (SOURCE, "duplicates")],
    ),
];

type Changes = &'static [(&'static str, &'static str)];

const ANSWERS: &[(&str, &str, Changes)] = &[
    ("four delays of 1 ms", "two links in two directions", &[("link.wire.one_way_delay", "1 ms")]),
    ("a second fast retransmit in one window", "no", &[("flow.bulk*.sender.recovery.reenter", "false")]),
    ("largest RTO", "12.8 s (64 times the smallest)", &[("flow.bulk*.sender.max_rto", "12.8 s")]),
    (
        "smallest RTO",
        "0.3 s: what ns-2's clock of 100 ms makes of 0.2 s",
        &[("flow.bulk*.sender.min_rto", "300 ms")],
    ),
    ("smallest RTO", "1 s", &[("flow.bulk*.sender.min_rto", "1 s")]),
    ("the sender's clock", "500 ms", &[("flow.bulk*.sender.tick", "500 ms")]),
    ("the sender's window", "64 KB", &[("flow.bulk*.receiver.window.size", "64 KB")]),
    ("the sender", "today's: NewReno, timestamps, initial window 10, 64 KB", ERA),
    ("delayed ACKs", "on", &[("flow.bulk*.receiver.timing", "delayed")]),
    ("the uplink", "64 kbit/s", &[("link.radio*.up.rate", "64 kbit/s")]),
];
