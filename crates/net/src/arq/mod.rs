//! ARQ: link-layer retransmission.

mod none;
mod repeat;

use crate::channel::{Air, Channel, Reception};
use crate::discipline::Discipline;
use crate::element::Element;
use crate::service::Service;
use crate::trouble::Trouble;
use lasthop_base::{Duration, Mechanism, Stream, Time, Values};

/// Header bytes that must be intact to read a damaged packet: IPv4 and TCP.
const HEADER: u32 = 40;

/// Outcome of a packet with retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Whether the packet was delivered.
    pub delivered: bool,
    /// Time for which the link stays occupied after the first transmission.
    pub holds: Duration,
    /// Delay from the first transmission to delivery, or to giving up.
    pub late: Duration,
    /// Number of transmissions.
    pub attempts: u32,
}

impl Carried {
    /// Delivered by the first transmission.
    pub const AT_ONCE: Carried =
        Carried { delivered: true, holds: Duration::ZERO, late: Duration::ZERO, attempts: 1 };
}

impl Carried {
    /// Whether the last transmission of a packet given up had an intact header; `first`: the first transmission.
    pub(crate) fn is_readable(&self, first: &Air, channel: &dyn Channel) -> bool {
        channel.spares_header(&Air { attempt: self.attempts - 1, ..*first }, HEADER)
    }

    /// The failed transmissions, the first of which ended at `ends`, spread evenly over `late`.
    #[cold]
    pub(crate) fn trouble(&self, ends: Time) -> Trouble {
        let failed = self.attempts - u32::from(self.delivered);
        let apart = self.late.divided_by(u64::from(self.attempts.saturating_sub(1)).max(1));
        Trouble { before: 0, failed, since: ends, apart }
    }
}

/// A retransmission scheme of packets.
pub trait Arq: Send {
    /// Decides a packet whose first transmission, `air`, was lost. Packets without loss are [`Carried::AT_ONCE`].
    fn repeat(&mut self, air: &Air, channel: &mut dyn Channel) -> Carried;

    /// Whether packets wait for earlier ones in retransmission.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether the scheme retransmits.
    fn retransmits(&self) -> bool {
        true
    }
}

#[inline]
pub(crate) fn carry(air: &Air, channel: &mut dyn Channel, arq: &mut dyn Arq) -> Carried {
    match channel.transmit(air) {
        Reception::Intact => Carried::AT_ONCE,
        Reception::Lost => arq.repeat(air, channel),
    }
}

/// A link layer.
pub enum LinkLayer {
    /// Retransmits packet by packet: fates are known at joining, unless the queue decides at dequeue.
    Repeat(Box<dyn Arq>),
    /// Replaces the whole direction.
    Whole(Box<dyn Layer>),
}

/// A link layer that is an element.
pub trait Layer: Send {
    /// Builds the direction.
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element>;

    /// Why the other direction must have the same layer, if it must.
    fn partner(&self) -> Option<Partner> {
        None
    }

    /// Whether failed transmissions of packets are reported ([`Element::tell_trouble`]).
    fn reports_trouble(&self) -> bool;

    /// The shared medium, if any. Several links may then share a cell.
    fn medium(&self) -> Option<Medium> {
        None
    }
}

/// A medium that directions of links share.
#[derive(Clone, Copy)]
pub struct Medium {
    /// Parameters that must be equal in all members.
    pub alike: &'static [&'static str],
    /// Parameters that must be equal in the members of one sender.
    pub alike_of_sender: &'static [&'static str],
    /// Parameters that must be equal in all members that set the first, a count, above 0.
    pub alike_if_said: &'static [&'static str],
    /// Builds the arbiter of transmissions, which exchanges [words](crate::across::Word) with its members and carries
    /// no packets.
    pub arbiter: fn(&[Member<'_>], Stream) -> Box<dyn Element>,
}

/// A direction that shares a medium.
pub struct Member<'a> {
    /// Parameters of its link layer.
    pub values: &'a Values,
    /// Number of the sender: directions of one sender share a back-off.
    pub sender: usize,
    /// Random numbers of the contention.
    pub random: Stream,
}

/// Other parts of a direction.
pub struct Parts {
    /// The rate.
    pub service: Service,
    /// One-way propagation delay.
    pub delay: Duration,
    /// The queue discipline.
    pub queue: Discipline,
    /// The channel.
    pub channel: Box<dyn Channel>,
    /// Random numbers of the link layer.
    pub random: Stream,
}

/// Why a layer needs the same layer in the other direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// The reason, such as `status = "polled" needs RLC in the other direction`.
    pub why: &'static str,
    /// The remedy, such as `leave status = "constant"`.
    pub remedy: &'static str,
}

impl LinkLayer {
    /// An ARQ, packet by packet.
    pub fn repeat(arq: impl Arq + 'static) -> LinkLayer {
        LinkLayer::Repeat(Box::new(arq))
    }
}

/// Builds a link layer.
pub type Build = dyn Fn(&Values) -> LinkLayer + Send + Sync;

/// All ARQs.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, repeat::MECHANISM];

/// The default.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;
