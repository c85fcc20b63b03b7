//! What stands at a node between links, and sees packets of both directions.
//!
//! * [`Middlebox`]: the trait. A packet comes in; the same goes on, or not, or others do.
//! * [`snoop`]: keeps data until it is acknowledged, and repeats what the air lost.
//! * [`split`]: two connections back to back.
//! * `eln`, `lhack`, `ebsn`: tell the sender what happened: in ACKs, or by notices of their own.
//! * `spack`: splits an ACK so that a window grows again. `mtcp`, `atcp`: close the sender's window while the air is away;
//!   `atcp` also repeats. `wtcp`: repeats, and hides from the sender how long that takes.
//! * `acks`, `passed`, `directions`, `numbers`: what such boxes have in common.
//! * `none`: the node only forwards.
//! * [`Catalogue`]: all of them.
//!
//! What is absent: no clock, no queue and no link. A box says what goes on; the queue behind it belongs to the link.

mod acks;
mod atcp;
mod catalogue;
mod directions;
mod ebsn;
mod eln;
mod lhack;
mod mtcp;
mod none;
mod numbers;
mod passed;
mod silence;
pub mod snoop;
mod spack;
pub mod split;
mod wtcp;

pub use catalogue::Catalogue;

use lasthop_base::{Choice, Duration, Mechanism, Rate, Stream, Time, Values};
use lasthop_wire::{FlowId, LossReason, Packet};

/// What becomes of a packet at a node, or comes into being there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Onward {
    /// It goes on.
    Same(Packet),
    /// It goes on with another header. Its size stays.
    Changed(Packet),
    /// A copy of one that went on earlier takes that way again.
    Again(Packet),
    /// A packet of the box's own sets out in the direction that it says: a segment or a notice. Its size is that of its
    /// segment with the flow's headers, or of a notice, whatever it says.
    New(Packet),
    /// It ends here, because the box is the end that it was sent to (a split connection).
    Received(Packet),
    /// It ends here, for this reason.
    Dropped(Packet, LossReason),
}

/// A state machine at a node. What it decides goes to `out`, in the order in which packets go on. A packet of which it says
/// nothing is held: it may go on, or end, later.
///
/// Number, route and hop of a packet are the engine's matter: a box need neither read nor set them.
pub trait Middlebox: Send {
    /// A packet has come from a link and has another one before it.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Onward>);

    /// The deadline has come.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Onward>);

    /// When `handle_timeout` wants to be called, [`Time::NEVER`] if at no time.
    fn poll_timeout(&self) -> Time;

    /// The queue of the link behind the node has dropped a packet that the box let go: as it came, or after it has waited.
    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }

    /// The link layer behind the node has failed to deliver a packet that the box let go, for the `attempt`-th time, and may
    /// try again. Told to boxes that [ask](Middlebox::asks_link), by links that transmit packet by packet.
    fn handle_failure(&mut self, now: Time, packet: &Packet, attempt: u32, out: &mut Vec<Onward>) {
        let _ = (now, packet, attempt, out);
    }

    /// Whether it wants [`Middlebox::handle_failure`].
    fn asks_link(&self) -> bool {
        false
    }

    /// The link behind the node by which this flow's packets of this direction leave has another rate from now on, by plan; it is
    /// told when the run begins, too. Told to boxes that [ask](Middlebox::asks_plan).
    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Onward>) {
        let _ = (now, flow, forward, rate, out);
    }

    /// Whether it wants [`Middlebox::handle_rate`].
    fn asks_plan(&self) -> bool {
        false
    }

    /// Whether it reads what IPsec hides. If not, an opaque flow is no different to it.
    fn reads_headers(&self) -> bool {
        true
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// Where a middlebox is.
pub struct Site {
    /// For each flow of the run, by its number: how its packets leave the node on the way there, and on the way back.
    pub flows: Vec<[Option<Exit>; 2]>,
    /// Draws for those that draw.
    pub random: Stream,
}

impl Site {
    /// How packets of this flow and direction leave the node; `None` if they do not come by.
    pub fn exit(&self, flow: usize, forward: bool) -> Option<Exit> {
        self.flows.get(flow).and_then(|ways| ways[usize::from(!forward)])
    }
}

/// How packets of a flow leave a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// Whether they go down, from the link's `from` to its `to`: towards the last hop.
    pub down: bool,
    /// What a packet of 1500 bytes takes over that link and its answer back, without queueing: both propagation delays
    /// and one transmission.
    pub round_trip: Duration,
}

/// How a middlebox is built; `None` if the node only forwards.
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

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// Whether anything stands at a node of this choice.
pub fn stands(choice: &Choice<Build>) -> bool {
    let nowhere = Site { flows: Vec::new(), random: Stream::named(0, "any") };
    (choice.build)(&choice.values, &nowhere).is_some()
}

/// Whether a node of this choice wants to know of failed transmissions ([`Middlebox::asks_link`]).
pub fn asks_link(choice: &Choice<Build>) -> bool {
    let nowhere = Site { flows: Vec::new(), random: Stream::named(0, "any") };
    (choice.build)(&choice.values, &nowhere).is_some_and(|middlebox| middlebox.asks_link())
}
