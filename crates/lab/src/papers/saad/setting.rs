//! The paper's three scenarios under one answer to the open questions.

use super::sender::{Kind, Sender};
use lasthop_base::Stream;
use lasthop_scenario::{Draft, Problem, Scenario};

/// The paper's topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    /// Fig. 5: 6 ms, a bandwidth-delay product of two to three packets.
    Goodput,
    /// Fig. 8 with one flow: 92 ms, 23 packets.
    Long,
    /// Fig. 7.
    Fairness,
    /// Fig. 8.
    Friendliness,
}

impl Topology {
    fn draft(self) -> Result<Draft, Problem> {
        match self {
            Topology::Goodput => Draft::parse(
                include_str!("../../../../../papers/saad/goodput.toml"),
                "papers/saad/goodput.toml",
            ),
            Topology::Long => {
                Draft::parse(include_str!("../../../../../papers/saad/long.toml"), "papers/saad/long.toml")
            }
            Topology::Fairness => Draft::parse(
                include_str!("../../../../../papers/saad/fairness.toml"),
                "papers/saad/fairness.toml",
            ),
            Topology::Friendliness => Draft::parse(
                include_str!("../../../../../papers/saad/friendliness.toml"),
                "papers/saad/friendliness.toml",
            ),
        }
    }

    /// The links with a queue.
    const fn queues(self) -> &'static [&'static str] {
        match self {
            Topology::Goodput => &["backbone", "wireless"],
            Topology::Fairness => &["shared"],
            Topology::Long | Topology::Friendliness => &["wireless"],
        }
    }

    /// The link with the errors.
    const fn lossy(self) -> &'static str {
        match self {
            Topology::Fairness => "shared",
            Topology::Goodput | Topology::Long | Topology::Friendliness => "wireless",
        }
    }
}

/// What an answer changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A parameter of every queue.
    Queue(&'static str, &'static str),
    /// A key of the shared link of Fig. 7.
    Shared(&'static str, &'static str),
    /// A key of every flow.
    Flow(&'static str, &'static str),
    /// A key of W_CW's flows.
    WCw(&'static str, &'static str),
    /// A key of Reno's flows.
    Reno(&'static str, &'static str),
    /// ACKs meet the same losses.
    LossesUp,
}

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Setting {
    /// The question that is answered otherwise; empty for the defaults.
    pub(super) question: &'static str,
    /// The answer.
    pub(super) answer: &'static str,
    pub(super) changes: &'static [Change],
}

/// Flows of one sender in a scenario.
pub(super) struct Group {
    pub(super) flow: &'static str,
    pub(super) sender: Sender,
    pub(super) count: usize,
}

impl Setting {
    /// `marking threshold: 20`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// The scenario with these flows at this packet loss rate; starts are drawn for the repetition with this seed.
    pub(super) fn scenario(
        &self,
        topology: Topology,
        groups: &[Group],
        loss: f64,
        seed: u64,
    ) -> Result<Scenario, Problem> {
        let mut draft = topology.draft()?;
        let lossy = topology.lossy();
        let rate = format!("{loss:e}");
        draft.set(&format!("link.{lossy}.down.channel.loss"), &rate)?;
        if groups.iter().any(|group| group.sender.wants_red()) {
            for link in topology.queues() {
                let queue = format!("link.{link}.down.queue");
                draft.set(&queue, "red")?;
                draft.set(&format!("{queue}.mean_packet"), "1000 bytes")?;
            }
        }
        let mut starts = Stream::named(seed, "saad.starts");
        for Group { flow, sender, count } in groups {
            sender.apply(&mut draft, flow)?;
            let mut set = |key: &str, value: String| draft.set(&format!("flow.{flow}.{key}"), &value);
            set("start", format!("{} us", (200_000.0 * starts.uniform()) as u64))?;
            if *count > 1 {
                set("stagger", format!("{} us", (200_000.0 * starts.uniform()) as u64))?;
                set("count", count.to_string())?;
            }
        }
        for change in self.changes {
            self.change(&mut draft, topology, groups, &rate, *change)?;
        }
        draft.check()
    }

    fn change(
        &self,
        draft: &mut Draft,
        topology: Topology,
        groups: &[Group],
        loss: &str,
        change: Change,
    ) -> Result<(), Problem> {
        let (key, value, wanted): (_, _, fn(Kind) -> bool) = match change {
            Change::Queue(key, value) => {
                for link in topology.queues() {
                    draft.set(&format!("link.{link}.down.queue.{key}"), value)?;
                }
                return Ok(());
            }
            Change::LossesUp => {
                let up = format!("link.{}.up.channel", topology.lossy());
                draft.set(&up, "iid")?;
                return draft.set(&format!("{up}.loss"), loss);
            }
            Change::Shared(key, value) if topology == Topology::Fairness => {
                return draft.set(&format!("link.shared.{key}"), value);
            }
            Change::Shared(..) => return Ok(()),
            Change::Flow(key, value) => (key, value, |_| true),
            Change::WCw(key, value) => (key, value, |kind| kind == Kind::WCw),
            Change::Reno(key, value) => (key, value, |kind| kind == Kind::Plain),
        };
        for group in groups.iter().filter(|group| wanted(group.sender.kind)) {
            draft.set(&format!("flow.{}.{key}", group.flow), value)?;
        }
        Ok(())
    }
}
