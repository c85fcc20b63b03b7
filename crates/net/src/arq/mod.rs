//! ARQ: link-layer retransmission.

mod none;
mod repeat;

use crate::channel::{Channel, Reception, Transmission};
use crate::discipline::Discipline;
use crate::element::Element;
use crate::failures::TransmissionFailures;
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Stream, Time, Values};

/// Length of the IPv4 and TCP headers, bytes. The receiver can read the header of a damaged packet if the packet's
/// first `HEADER` bytes are intact.
const HEADER: u32 = 40;

/// Outcome of the retransmissions of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArqOutcome {
    /// Whether the packet was delivered.
    pub is_delivered: bool,
    /// Time for which the retransmissions occupy the link after the first transmission.
    pub occupancy: Duration,
    /// Delay from the end of the first transmission until the packet is delivered or given up.
    pub delay: Duration,
    /// Number of transmissions, including the first.
    pub attempts: u32,
}

impl ArqOutcome {
    /// Outcome of a packet that arrives with its first transmission.
    pub const FIRST_TRY: ArqOutcome =
        ArqOutcome { is_delivered: true, occupancy: Duration::ZERO, delay: Duration::ZERO, attempts: 1 };
}

impl ArqOutcome {
    /// For a packet that was given up, returns whether its last transmission had an intact header. `first` is the first
    /// transmission of the packet.
    pub(crate) fn is_readable(&self, first: &Transmission, channel: &dyn Channel) -> bool {
        channel.has_intact_header(&Transmission { attempt: self.attempts - 1, ..*first }, HEADER)
    }

    /// Returns the failed transmissions. The first transmission ended at `ends`. The ends of the other transmissions
    /// are spread evenly over `delay`.
    #[cold]
    pub(crate) fn failures(&self, ends: Time) -> TransmissionFailures {
        let failed = self.attempts - u32::from(self.is_delivered);
        let apart = self.delay.divided_by(u64::from(self.attempts.saturating_sub(1)).max(1));
        TransmissionFailures { before: 0, failed, since: ends, apart }
    }
}

/// A scheme that retransmits lost packets one by one.
pub trait Arq: Send {
    /// Decides the outcome of a packet whose first transmission, `transmission`, was lost. Must not be called if the
    /// first transmission arrived; the outcome is then [`ArqOutcome::FIRST_TRY`].
    fn retransmit(&mut self, transmission: &Transmission, channel: &mut dyn Channel) -> ArqOutcome;

    /// Whether a packet waits for earlier packets that are being retransmitted, so that packets are delivered in order.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether the scheme retransmits lost packets.
    fn retransmits(&self) -> bool {
        true
    }
}

#[inline]
pub(crate) fn transmit(
    transmission: &Transmission,
    channel: &mut dyn Channel,
    arq: &mut dyn Arq,
) -> ArqOutcome {
    match channel.transmit(transmission) {
        Reception::Intact => ArqOutcome::FIRST_TRY,
        Reception::Lost => arq.retransmit(transmission, channel),
    }
}

/// A link layer.
pub enum LinkLayer {
    /// Retransmits packet by packet. Loss and arrival time of a packet are determined when the packet is enqueued,
    /// unless the queue discipline may still drop the packet at dequeue.
    PerPacket(Box<dyn Arq>),
    /// Replaces the whole link direction by one queueing element.
    Full(Box<dyn Layer>),
}

/// A link layer that replaces a whole link direction by one queueing element.
pub trait Layer: Send {
    /// Builds the queueing element for the link direction from `parts`, the direction's rate, delay, queue and channel.
    fn build_direction(self: Box<Self>, parts: DirectionParts) -> Box<dyn Element>;

    /// Returns the reason why the opposite direction must have the same link layer; `None` if the opposite direction
    /// may have any link layer.
    fn partner(&self) -> Option<Partner> {
        None
    }

    /// Whether the link layer reports failed transmissions of packets ([`Element::report_failures`]).
    fn reports_failures(&self) -> bool;

    /// Returns the medium that this direction shares with other links of the same cell; `None` if the link layer has no
    /// shared medium.
    fn medium(&self) -> Option<Medium> {
        None
    }
}

/// A medium that several link directions, its members, share.
#[derive(Clone, Copy)]
pub struct Medium {
    /// Parameters that must be equal in all members of the medium.
    pub equal_in_cell: &'static [&'static str],
    /// Parameters that must be equal in all members that have the same sending node.
    pub equal_per_sender: &'static [&'static str],
    /// Parameters that must be equal in all members in which the first parameter of this list is above 0. The first
    /// parameter is a count, for example `stations`.
    pub equal_if_set: &'static [&'static str],
    /// Builds the arbiter, the element that decides which member may transmit. The arbiter exchanges
    /// [messages](crate::peer_message::MediumMessage) with its members and carries no packets.
    pub arbiter: fn(&[Member<'_>], Stream) -> Box<dyn Element>,
}

/// A direction that shares a medium.
pub struct Member<'a> {
    /// Parameters of the direction's link layer.
    pub values: &'a Values,
    /// Number of the sending node. Directions with the same sending node share one back-off.
    pub sender: usize,
    /// Random stream of this direction's contention for the medium.
    pub random: Stream,
}

/// Parts of a direction other than the link layer, as configured.
pub struct DirectionParts {
    /// Rate of the direction: constant, planned or recorded.
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

/// Reason why a link layer needs the same link layer in the opposite direction, and a remedy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// The reason, for example `status = "polled" needs RLC in the other direction`.
    pub why: &'static str,
    /// The remedy, for example `leave status = "constant"`.
    pub remedy: &'static str,
}

impl LinkLayer {
    /// Builds a link layer that retransmits packet by packet.
    pub fn per_packet(arq: impl Arq + 'static) -> LinkLayer {
        LinkLayer::PerPacket(Box::new(arq))
    }
}

/// Function that builds a link layer.
pub type Build = dyn Fn(&Values) -> LinkLayer + Send + Sync;

/// All ARQ schemes that retransmit packet by packet.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, repeat::MECHANISM];

/// The default: no retransmission.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;
