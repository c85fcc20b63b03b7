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

/// A packet that arrived with data above all earlier packets.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// Time of arrival.
    pub now: Time,
    /// Bytes of the packet.
    pub range: Range,
    /// Sender's timestamp (TSval), unwrapped, if timestamps are in use. Only differences between such times are
    /// meaningful.
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
    /// Handles a packet above all earlier ones. If the packet opens a gap, this call precedes the call of
    /// [`LossDiscriminator::discriminate`].
    fn observe(&mut self, observation: &Observation);

    /// Attributes a gap below the last observed packet to a cause.
    fn discriminate(&mut self, gap: &Gap, path: &PathEstimate, random: &mut Stream) -> Cause;

    /// Handles a report of the link layer that it discarded these bytes.
    fn on_report(&mut self, range: Range) {
        let _ = range;
    }

    /// Number of ACKs that report a damaged segment with an intact header to the sender (HACK); 0 means no reports.
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

    /// Whether the mechanism attributes losses. If not, accounting and estimates are skipped.
    fn discriminates(&self) -> bool {
        true
    }

    /// Whether the mechanism uses random numbers, so that repetitions may differ. Override to `false` if the mechanism
    /// uses no random numbers.
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
