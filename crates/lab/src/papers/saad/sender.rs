//! The senders that separate the merits: what each does about marks and losses, and on which recovery.

use lasthop_scenario::{Draft, Problem};

/// What the window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Halves at a loss, hears no marks.
    Plain,
    /// Westwood alone: the estimate at a loss, hears no marks.
    Westwood,
    /// Congestion warning alone: halves at marks and at every loss.
    Warned,
    /// Both, and the mark decides between them.
    WCw,
    /// Halves at a loss, over routers with RED that drops.
    Red,
    /// Halves at a loss or a mark of RED, once per window (RFC 3168).
    RedEcn,
}

/// A kind on a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) kind: Kind,
    pub(super) new_reno: bool,
}

impl Sender {
    pub(super) const RENO: Sender = Sender { kind: Kind::Plain, new_reno: false };
    pub(super) const W_CW: Sender = Sender { kind: Kind::WCw, new_reno: false };
    /// The two of the paper.
    pub(super) const PAPER: [Sender; 2] = [Sender::RENO, Sender::W_CW];
    /// Those that separate the merits.
    pub(super) const ALL: [Sender; 8] = [
        Sender::RENO,
        Sender { kind: Kind::Westwood, new_reno: false },
        Sender { kind: Kind::Warned, new_reno: false },
        Sender::W_CW,
        Sender { kind: Kind::Plain, new_reno: true },
        Sender { kind: Kind::Westwood, new_reno: true },
        Sender { kind: Kind::Warned, new_reno: true },
        Sender { kind: Kind::WCw, new_reno: true },
    ];

    /// Reno over what §3.A compares congestion warning with: RED, and RED with ECN.
    pub(super) const RED: [Sender; 2] =
        [Sender { kind: Kind::Red, new_reno: false }, Sender { kind: Kind::RedEcn, new_reno: false }];

    pub(super) const fn name(self) -> &'static str {
        match (self.kind, self.new_reno) {
            (Kind::Plain, false) => "reno",
            (Kind::Plain, true) => "new_reno",
            (Kind::Westwood, false) => "westwood",
            (Kind::Westwood, true) => "westwood on new_reno",
            (Kind::Warned, false) => "cw",
            (Kind::Warned, true) => "cw on new_reno",
            (Kind::WCw, false) => "w_cw",
            (Kind::WCw, true) => "w_cw on new_reno",
            (Kind::Red, false) => "reno over red",
            (Kind::Red, true) => "new_reno over red",
            (Kind::RedEcn, false) => "reno over red with ecn",
            (Kind::RedEcn, true) => "new_reno over red with ecn",
        }
    }

    /// Makes a flow of the draft one of this kind.
    pub(super) fn apply(self, draft: &mut Draft, flow: &str) -> Result<(), Problem> {
        let mut set = |key: &str, value: &str| draft.set(&format!("flow.{flow}.{key}"), value);
        if self.new_reno {
            set("sender.recovery", "new_reno")?;
        }
        match self.kind {
            Kind::Plain | Kind::Red => {}
            Kind::RedEcn => set("ecn", "true")?,
            Kind::Westwood => set("sender.congestion", "westwood")?,
            Kind::Warned | Kind::WCw => {
                set("ecn", "true")?;
                set("receiver.echo", "per_packet")?;
                if self.kind == Kind::WCw {
                    set("sender.congestion", "w_cw")?;
                }
            }
        }
        Ok(())
    }

    /// Whether its routers have RED rather than congestion warning.
    pub(super) const fn wants_red(self) -> bool {
        matches!(self.kind, Kind::Red | Kind::RedEcn)
    }
}
