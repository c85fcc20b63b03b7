//! ACK splitting and ACK duplication.

mod by_loss;
mod copies;
mod once;
mod split;

use crate::event::Cause;
use crate::ranges::Range;
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Mechanism, Time, Values};
use lasthop_wire::{Backlog, SenderCounts, UplinkCounts};

/// ACK due.
#[derive(Clone, Copy, Debug)]
pub struct DueAck {
    /// Bytes acknowledged for the first time; empty for a duplicate ACK.
    pub advance: Range,
    /// Payload of a full segment, bytes.
    pub segment: u64,
    /// Uplink queue of this host, just before.
    pub uplink: Backlog,
}

/// Form of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckForm {
    /// One ACK.
    Single,
    /// Number of identical ACKs, at least 1.
    Copies(u32),
    /// Slices of a range, one ACK each; the first ACK also covers all data before the range.
    Slices {
        /// Number of slices, at least 1.
        count: u32,
        /// Range to slice; ends at the end of the advance.
        of: Range,
    },
}

/// Constant number of ACKs per ACK due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedSplit {
    /// Number of ACKs, at least 1.
    pub count: u32,
    /// Whether the ACKs are identical.
    pub are_copies: bool,
}

/// Inputs that an ACK splitting needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Uplink queue before and after the ACKs.
    pub uplink: bool,
    /// Path estimate.
    pub estimate: bool,
    /// Each arrival.
    pub arrivals: bool,
    /// Counts of the sender and of this host's uplink, before each arrival.
    pub counts: bool,
    /// Cause of each loss; without discrimination a single ACK is sent.
    pub causes: bool,
}

/// Arrived data segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Time of arrival.
    pub now: Time,
    /// Segments missing in the gap opened by the arrival.
    pub missing: u64,
    /// Whether all data was a duplicate of data delivered in order.
    pub repeated: bool,
}

/// ACK splitting.
pub trait AckSplitting: Send {
    /// Form of the ACK now due.
    fn split(&mut self, due: &DueAck, path: &PathEstimate) -> AckForm;

    /// Handles an attributed gap.
    fn on_loss(&mut self, cause: Cause, path: &PathEstimate) {
        let _ = (cause, path);
    }

    /// Handles an arrival; only if [`Needs::arrivals`].
    fn on_arrival(&mut self, arrived: &Arrived) {
        let _ = arrived;
    }

    /// Handles counts of the sender and of this host's uplink; only if [`Needs::counts`].
    fn on_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        let _ = (sender, uplink);
    }

    /// The ACKs are queued. Returns the queue length after them, as this splitting counts.
    fn on_sent(&mut self, before: Backlog, after: Backlog) -> u32 {
        let _ = before;
        after.waiting
    }

    /// Constant number of ACKs per ACK due, which a kernel can send without the agent.
    fn pieces(&self) -> Option<FixedSplit> {
        None
    }

    /// Whether the form is always [`AckForm::Single`].
    fn is_single(&self) -> bool {
        false
    }

    /// Inputs needed.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// Builds an ACK splitting.
pub type Build = dyn Fn(&Values) -> Box<dyn AckSplitting> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] =
    &[once::MECHANISM, copies::MECHANISM, by_loss::MECHANISM, split::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = once::MECHANISM;
