//! Loss discrimination at the receiver: attributes a gap in the sequence space to congestion or to the wireless link.

mod always;
mod hack;
mod jtcp;
mod reported;
mod rtt_spread;

pub use crate::event::Cause;
use crate::ranges::Range;
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Mechanism, Stream, Time, Values};

/// An arrived packet whose data ends above all data received before.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// Time of arrival.
    pub now: Time,
    /// Bytes of the packet.
    pub range: Range,
    /// Time at which the sender sent the packet, from the unwrapped timestamp (TSval); `None` without timestamps. Only
    /// differences between such times are meaningful, because the ends' clocks differ.
    pub sent: Option<Time>,
}

/// A new gap in the sequence space.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// Missing bytes.
    pub range: Range,
    /// Payload of a full segment, bytes.
    pub segment: u64,
}

/// Loss discrimination of a receiver.
pub trait LossDiscriminator: Send {
    /// Handles a packet whose data ends above all data received before. If the packet opens a gap, this call precedes
    /// the call of [`LossDiscriminator::discriminate`].
    fn observe(&mut self, observation: &Observation);

    /// Attributes a gap below the last observed packet to a cause.
    fn discriminate(&mut self, gap: &Gap, path: &PathEstimate, random: &mut Stream) -> Cause;

    /// Handles a report that the link layer discarded the bytes of `range`.
    fn on_report(&mut self, range: Range) {
        let _ = range;
    }

    /// Number of ACKs that report each damaged segment with an intact header to the sender (HACK); 0 means no reports.
    fn damage_report_copies(&self) -> u32 {
        0
    }

    /// Whether the mechanism relies only on reports of the link layer.
    fn needs_reports(&self) -> bool {
        false
    }

    /// Whether the mechanism needs the path estimate.
    fn needs_estimate(&self) -> bool {
        false
    }

    /// Whether the mechanism attributes gaps to causes. If false, gaps are neither attributed nor counted.
    fn discriminates(&self) -> bool {
        true
    }

    /// Whether the mechanism uses random numbers, so that repetitions of a run may differ. Override with `false` if the
    /// mechanism uses no random numbers.
    fn draws(&self) -> bool {
        true
    }
}

/// Builds a discriminator.
pub type Build = dyn Fn(&Values) -> Box<dyn LossDiscriminator> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] =
    &[always::MECHANISM, reported::MECHANISM, jtcp::MECHANISM, rtt_spread::MECHANISM, hack::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = always::MECHANISM;
