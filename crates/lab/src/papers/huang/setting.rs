//! The paper's two topologies, the methods it compares, and a value for each open question.

use lasthop_scenario::{Draft, Problem, Scenario};

/// What sender and routers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Sack,
    Tagged,
    /// Tagged, with tags that the channel never destroys: what explicit notification could do.
    Shielded,
}

impl Method {
    pub(super) const ALL: [Method; 3] = [Method::Sack, Method::Tagged, Method::Shielded];
    /// The two that the paper compares.
    pub(super) const COMPARED: [Method; 2] = [Method::Sack, Method::Tagged];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Method::Sack => "sack",
            Method::Tagged => "tagged",
            Method::Shielded => "tagged, tags shielded",
        }
    }
}

/// The wireless link's delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Low,
    Long,
}

impl Link {
    pub(super) const ALL: [Link; 2] = [Link::Low, Link::Long];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Link::Low => "low delay",
            Link::Long => "long delay",
        }
    }

    const fn delay(self) -> &'static str {
        match self {
            Link::Low => "0.01 ms",
            Link::Long => "250 ms",
        }
    }
}

pub(super) type Changes = &'static [(&'static str, &'static str)];

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Setting {
    /// The question that is answered otherwise; empty for the defaults.
    pub(super) question: &'static str,
    /// The answer.
    pub(super) answer: &'static str,
    /// What changes in the scenario: path and value.
    pub(super) changes: Changes,
    /// What changes for a sender that tags.
    pub(super) tagged: Changes,
}

impl Setting {
    /// `smallest RTO: 1 s`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// A transfer over the wireless link, whose mean bad period is so many milliseconds.
    pub(super) fn wireless(&self, method: Method, link: Link, bad_ms: u32) -> Result<Scenario, Problem> {
        let text = include_str!("../../../../../papers/huang/wireless.toml");
        let mut draft = Draft::parse(text, "papers/huang/wireless.toml")?;
        draft.set("link.wireless.one_way_delay", link.delay())?;
        draft.set("link.wireless.down.channel.bad", &format!("{bad_ms} ms"))?;
        if method == Method::Shielded {
            draft.set("link.wireless.down.channel.shields_tags", "true")?;
        }
        self.finish(draft, method, &["link.wired.queue", "link.wireless.down.queue"])
    }

    /// A transfer over the two wires, the second of which has this delay.
    pub(super) fn wired(&self, method: Method, delay_ms: u32) -> Result<Scenario, Problem> {
        let text = include_str!("../../../../../papers/huang/wired.toml");
        let mut draft = Draft::parse(text, "papers/huang/wired.toml")?;
        draft.set("link.second.one_way_delay", &format!("{delay_ms} ms"))?;
        self.finish(draft, method, &["link.first.queue", "link.second.queue"])
    }

    fn finish(&self, mut draft: Draft, method: Method, queues: &[&str]) -> Result<Scenario, Problem> {
        if method != Method::Sack {
            draft.set("flow.file.sender.judge", "tagged")?;
            for queue in queues {
                draft.set(queue, "tag_drop")?;
            }
            for (path, value) in self.tagged {
                draft.set(path, value)?;
            }
        }
        for (path, value) in self.changes {
            draft.set(path, value)?;
        }
        draft.check()
    }
}
