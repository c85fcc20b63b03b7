//! ARQ: what does the link layer do when a transmission is lost?

mod none;
mod repeat;

use crate::channel::{Air, Channel, Reception};
use crate::discipline::Discipline;
use crate::element::Element;
use crate::service::Service;
use crate::trouble::Trouble;
use lasthop_base::{Duration, Mechanism, Stream, Time, Values};

/// Bytes of a header that has to be sound for a damaged packet to be read: IPv4's and TCP's.
const HEADER: u32 = 40;

/// How a packet got through, or did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Whether it was delivered in the end.
    pub delivered: bool,
    /// How long the link stays occupied after the first transmission.
    pub holds: Duration,
    /// How much later than the first transmission it was delivered, or given up.
    pub late: Duration,
    /// Transmissions in all.
    pub attempts: u32,
}

impl Carried {
    /// What the first transmission has delivered.
    pub const AT_ONCE: Carried =
        Carried { delivered: true, holds: Duration::ZERO, late: Duration::ZERO, attempts: 1 };
}

impl Carried {
    /// Whether the header of a packet that was given up arrived sound in the last transmission; `first` is the first one.
    pub(crate) fn is_readable(&self, first: &Air, channel: &dyn Channel) -> bool {
        channel.spares_header(&Air { attempt: self.attempts - 1, ..*first }, HEADER)
    }

    /// Its failed transmissions, the first of which was over at `ends`: those that took `late` in all are spread evenly over
    /// that.
    #[cold]
    pub(crate) fn trouble(&self, ends: Time) -> Trouble {
        let failed = self.attempts - u32::from(self.delivered);
        let apart = self.late.divided_by(u64::from(self.attempts.saturating_sub(1)).max(1));
        Trouble { before: 0, failed, since: ends, apart }
    }
}

/// A link-layer repeat scheme.
pub trait Arq: Send {
    /// What becomes of a packet whose first transmission, `air`, was lost on the channel. One that was not is no matter for
    /// it ([`Carried::AT_ONCE`]).
    fn repeat(&mut self, air: &Air, channel: &mut dyn Channel) -> Carried;

    /// Whether a packet waits for earlier ones that are being repeated.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether it ever retransmits.
    fn retransmits(&self) -> bool {
        true
    }
}

/// Carries a packet whose first transmission is `air` over the channel.
#[inline]
pub(crate) fn carry(air: &Air, channel: &mut dyn Channel, arq: &mut dyn Arq) -> Carried {
    match channel.transmit(air) {
        Reception::Intact => Carried::AT_ONCE,
        Reception::Lost => arq.repeat(air, channel),
    }
}

/// A link layer, of two kinds.
pub enum LinkLayer {
    /// It repeats each packet by itself: a packet's passage is known when it joins, unless the queue decides otherwise.
    Repeat(Box<dyn Arq>),
    /// It takes the whole direction over.
    Whole(Box<dyn Layer>),
}

/// A link layer that is an element of its own.
pub trait Layer: Send {
    /// The direction, made of what else it has.
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element>;

    /// Whether the other direction must have the same layer, because it carries something for this one.
    fn partner(&self) -> Option<Partner> {
        None
    }

    /// Whether its elements report failed transmissions of packets ([`Element::tell_trouble`]).
    fn reports_trouble(&self) -> bool;

    /// What arbitrates the medium, if the directions of a link share one. Several links may then be in one cell.
    fn medium(&self) -> Option<Medium> {
        None
    }
}

/// A medium that several directions of links share.
#[derive(Clone, Copy)]
pub struct Medium {
    /// Parameters in which all that share it are the same.
    pub alike: &'static [&'static str],
    /// Parameters in which those of one sender are the same.
    pub alike_of_sender: &'static [&'static str],
    /// Parameters in which those are the same that set the first one, a count, to more than 0.
    pub alike_if_said: &'static [&'static str],
    /// What says who begins when. It exchanges [words](crate::across::Word) with its members, and carries no packets.
    pub arbiter: fn(&[Member<'_>], Stream) -> Box<dyn Element>,
}

/// A direction that shares a medium.
pub struct Member<'a> {
    /// The parameters of its link layer.
    pub values: &'a Values,
    /// Who sends, by any number: directions of the same sender have one contention.
    pub sender: usize,
    /// Draws for its contention.
    pub random: Stream,
}

/// What else a direction has.
pub struct Parts {
    /// Its rate.
    pub service: Service,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// How packets wait.
    pub queue: Discipline,
    /// What the air does.
    pub channel: Box<dyn Channel>,
    /// Draws for layers that draw.
    pub random: Stream,
}

/// Why a layer does not stand alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// What needs it: `status = "polled" needs RLC in the other direction`.
    pub why: &'static str,
    /// How to go without: `leave status = "constant"`.
    pub remedy: &'static str,
}

impl LinkLayer {
    /// This ARQ, packet by packet.
    pub fn repeat(arq: impl Arq + 'static) -> LinkLayer {
        LinkLayer::Repeat(Box::new(arq))
    }
}

/// How a link layer is built.
pub type Build = dyn Fn(&Values) -> LinkLayer + Send + Sync;

/// All ARQs.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, repeat::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;
