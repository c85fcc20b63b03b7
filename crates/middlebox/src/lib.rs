//! Middleboxes. A middlebox is at a node between links, and may see and change the packets of both directions.
//!
//! * [`Middlebox`]: the trait. A middlebox forwards, changes, holds or drops a packet, or emits new packets.
//! * [`snoop`]: caches data until it is acknowledged and retransmits wireless losses.
//! * [`split`]: terminates the sender's connection and opens a second connection to the other end.
//! * `eln`, `lhack`, `ebsn`: report the cause of a loss to the sender, in ACKs or in separate notices.
//! * `spack`: splits an ACK, so that the sender's congestion window grows back sooner after a wireless loss.
//! * `mtcp`, `atcp`: close the sender's window during an outage; `atcp` also retransmits.
//! * `wtcp`: retransmits, and hides the duration of this local recovery from the sender's round-trip samples.
//! * `acks`, `forwarded`, `directions`, `silence`, `sequence`: code shared by several middleboxes.
//! * `none`: the node only forwards.
//! * [`Catalogue`]: the list of all middleboxes.
//!
//! A middlebox has no clock, queue or link. The queue for packets that leave the node belongs to the next link.

mod acks;
mod atcp;
mod catalogue;
mod directions;
mod ebsn;
mod eln;
mod forwarded;
mod lhack;
mod mtcp;
mod none;
mod sequence;
mod silence;
pub mod snoop;
mod spack;
pub mod split;
mod wtcp;

pub use catalogue::Catalogue;

use lasthop_base::{Choice, Duration, Mechanism, Rate, Stream, Time, Values};
use lasthop_wire::{FlowId, LossReason, Packet};

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

/// Decision of a middlebox on a packet, or a new packet from the middlebox.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decision {
    /// Forwards the packet unchanged.
    Forward(Packet),
    /// Forwards the packet with a changed header of the same size.
    Rewrite(Packet),
    /// Retransmits a copy of a packet forwarded earlier.
    Retransmit(Packet),
    /// Sends a segment or notice that the middlebox generated, in the direction given by the packet's `forward`. The
    /// engine computes the packet's size, from the segment and the flow's headers or from the notice.
    Emit(Packet),
    /// Consumes the packet, because the middlebox is the endpoint of its connection (split connection).
    Consume(Packet),
    /// Drops the packet for this reason.
    Drop(Packet, LossReason),
}

/// A middlebox at a node, as a state machine. Methods append decisions to `out`, in the order in which packets leave
/// the node. If a call appends no decision on its packet, the middlebox holds the packet.
///
/// The engine sets the number, route and hop of each packet.
pub trait Middlebox: Send {
    /// Handles a packet that arrived from a link and continues on another link.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>);

    /// Handles the expiry of the deadline that [`Middlebox::poll_timeout`] returned.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>);

    /// Returns the deadline of `handle_timeout`, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;

    /// Handles a packet that the queue of the next link drops, at the packet's arrival or later. The middlebox has
    /// forwarded this packet.
    fn handle_queue_drop(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }

    /// Handles the `attempt`-th failed transmission of a forwarded packet on the next link. The link may still
    /// retransmit the packet. Called only if [`Middlebox::needs_failures`] returns true, and only for links that
    /// transmit packet by packet.
    fn handle_failure(&mut self, now: Time, packet: &Packet, attempt: u32, out: &mut Vec<Decision>) {
        let _ = (now, packet, attempt, out);
    }

    /// Returns whether the middlebox needs [`Middlebox::handle_failure`].
    fn needs_failures(&self) -> bool {
        false
    }

    /// Handles a planned rate change of the link by which packets of this flow and direction leave. Also called at the
    /// start of the run. Called only if [`Middlebox::needs_rates`] returns true.
    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Decision>) {
        let _ = (now, flow, forward, rate, out);
    }

    /// Returns whether the middlebox needs [`Middlebox::handle_rate`].
    fn needs_rates(&self) -> bool {
        false
    }

    /// Returns whether the middlebox reads headers that IPsec encrypts. If false, the middlebox serves encrypted flows,
    /// too.
    fn reads_headers(&self) -> bool {
        true
    }

    /// Returns whether the middlebox draws random numbers, so that repetitions may differ. The default is true.
    fn draws(&self) -> bool {
        true
    }
}

/// Place of a middlebox in the network, as input for building the middlebox.
pub struct Site {
    /// The exit of each flow's forward packets, and the exit of its reverse packets.
    pub flows: Vec<[Option<Exit>; 2]>,
    /// Random stream of the middlebox.
    pub random: Stream,
}

impl Site {
    /// Returns the exit of packets of this flow and direction; `None` if these packets do not pass the node.
    pub fn exit(&self, flow: usize, forward: bool) -> Option<Exit> {
        self.flows.get(flow).and_then(|exits| exits[usize::from(!forward)])
    }
}

/// Link by which packets of a flow leave a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// Whether packets go down towards the last hop, that is, from the link's end `from` to the link's end `to`.
    pub down: bool,
    /// Round trip of a packet of 1500 bytes over the link, without queueing: the propagation delays of both directions,
    /// and one transmission time.
    pub round_trip: Duration,
}

/// Function that builds a middlebox; `None` if the node only forwards.
pub type Build = dyn Fn(&Values, &Site) -> Option<Box<dyn Middlebox>> + Send + Sync;

/// All middleboxes.
pub const ALL: &[Mechanism<Build>] = &[
    none::MECHANISM,
    snoop::MECHANISM,
    snoop::SELECTIVE,
    split::MECHANISM,
    split::ITCP,
    split::METP,
    eln::MECHANISM,
    mtcp::MECHANISM,
    spack::MECHANISM,
    wtcp::MECHANISM,
    atcp::MECHANISM,
    ebsn::MECHANISM,
    lhack::MECHANISM,
];

/// The default: no middlebox.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// Returns whether this choice builds a middlebox, instead of a node that only forwards.
pub fn builds_middlebox(choice: &Choice<Build>) -> bool {
    let empty_site = Site { flows: Vec::new(), random: Stream::named(0, "any") };
    (choice.build)(&choice.values, &empty_site).is_some()
}

/// Returns whether this choice's middlebox needs notices of failed transmissions from the link layer
/// ([`Middlebox::needs_failures`]).
pub fn needs_failures(choice: &Choice<Build>) -> bool {
    let empty_site = Site { flows: Vec::new(), random: Stream::named(0, "any") };
    (choice.build)(&choice.values, &empty_site).is_some_and(|middlebox| middlebox.needs_failures())
}
