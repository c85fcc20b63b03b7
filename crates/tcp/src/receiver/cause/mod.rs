//! Loss differentiation: why was it lost?
//!
//! Asked by the receiver when a gap opens in the sequence space, so that it can
//! answer a wireless loss otherwise than a congestion loss.

mod always;
mod hack;
mod jtcp;
mod reported;
mod rtt_spread;

pub use crate::event::Cause;
use crate::ranges::Range;
use crate::receiver::estimate::PathEstimate;
use lasthop_base::{Mechanism, Stream, Time, Values};

/// A packet that arrived above all earlier ones, as a loss cause sees it.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// When it arrived.
    pub now: Time,
    /// Its bytes.
    pub range: Range,
    /// The sender's clock when it was sent (TSval without its wraps), if timestamps are in use; only differences mean something.
    pub sent: Option<Time>,
}

/// A gap that has just opened.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The missing bytes.
    pub range: Range,
    /// A full segment's payload, bytes.
    pub segment: u64,
}

/// Tells wireless losses from congestion losses, at the receiver.
pub trait LossCause: Send {
    /// A packet arrived above all earlier ones; called before `judge` for a gap that it opened.
    fn observe(&mut self, observation: &Observation);

    /// A gap opened below the packet observed last.
    fn judge(&mut self, gap: &Gap, path: &PathEstimate, random: &mut Stream) -> Cause;

    /// The link layer says that it discarded these bytes.
    fn on_report(&mut self, range: Range) {
        let _ = range;
    }

    /// Whether the sender is told of a segment that arrived damaged with a sound header, and by how many ACKs; 0: not at all
    /// (HACK).
    fn tells_damage(&self) -> u32 {
        0
    }

    /// Whether it judges by reports of the link layer alone.
    fn needs_reports(&self) -> bool {
        false
    }

    /// Whether it needs the receiver's estimate of the path.
    fn needs_estimate(&self) -> bool {
        false
    }

    /// Whether it judges at all; accounting and estimates are left out otherwise.
    fn judges(&self) -> bool {
        true
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// How one is built.
pub type Build = dyn Fn(&Values) -> Box<dyn LossCause> + Send + Sync;

/// All of them.
pub const ALL: &[Mechanism<Build>] =
    &[always::MECHANISM, reported::MECHANISM, jtcp::MECHANISM, rtt_spread::MECHANISM, hack::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = always::MECHANISM;
