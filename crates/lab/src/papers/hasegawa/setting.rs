//! The paper's scenario, its four receivers, and a value for each open question.

use lasthop_scenario::{Draft, Problem, Scenario};

/// The four curves of Fig. 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    Sack,
    Mac,
    Jtcp,
    Rtt,
}

impl Receiver {
    pub(super) const ALL: [Receiver; 4] = [Receiver::Sack, Receiver::Mac, Receiver::Jtcp, Receiver::Rtt];
    /// Those that split.
    pub(super) const SPLITTING: [Receiver; 3] = [Receiver::Mac, Receiver::Jtcp, Receiver::Rtt];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Receiver::Sack => "sack",
            Receiver::Mac => "mac",
            Receiver::Jtcp => "jtcp",
            Receiver::Rtt => "rtt",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Receiver::Sack => include_str!("../../../../../papers/hasegawa/sack.toml"),
            Receiver::Mac => include_str!("../../../../../papers/hasegawa/mac.toml"),
            Receiver::Jtcp => include_str!("../../../../../papers/hasegawa/jtcp.toml"),
            Receiver::Rtt => include_str!("../../../../../papers/hasegawa/rtt.toml"),
        }
    }
}

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Setting {
    /// The question that is answered otherwise; empty for the defaults.
    pub(super) question: &'static str,
    /// The answer.
    pub(super) answer: &'static str,
    /// What changes in the scenario: path and value.
    pub(super) changes: &'static [(&'static str, &'static str)],
    /// Changes that concern one receiver only.
    pub(super) only: Option<Receiver>,
    /// Whether ACKs meet the same errors on the uplink.
    pub(super) errors_on_uplink: bool,
}

impl Setting {
    /// `delay of a repeat: per repeat, in order`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// The scenario of a receiver at a bit error rate.
    pub(super) fn scenario(&self, receiver: Receiver, ber: f64) -> Result<Scenario, Problem> {
        let mut draft = Draft::parse(receiver.text(), &format!("papers/hasegawa/{}.toml", receiver.name()))?;
        let rate = format!("{ber:e}");
        draft.set("link.wireless.down.channel.rate", &rate)?;
        if self.errors_on_uplink {
            draft.set("link.wireless.up.channel", "bit_error")?;
            draft.set("link.wireless.up.channel.rate", &rate)?;
            draft.set("link.wireless.up.arq", "repeat")?;
        }
        if self.only.is_none_or(|only| only == receiver) {
            for (path, value) in self.changes {
                let splits_only = path.contains(".shape.") || path.contains(".estimate");
                if !splits_only || receiver != Receiver::Sack {
                    draft.set(path, value)?;
                }
            }
        }
        draft.check()
    }
}
