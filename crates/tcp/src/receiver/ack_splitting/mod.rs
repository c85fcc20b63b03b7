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

/// An ACK that is due.
#[derive(Clone, Copy, Debug)]
pub struct DueAck {
    /// Bytes acknowledged for the first time; empty for a duplicate ACK.
    pub advance: Range,
    /// Payload of a full segment, bytes.
    pub segment: u64,
    /// Uplink queue of this host just before the ACK.
    pub uplink: Backlog,
}

/// Form in which an ACK that is due is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckForm {
    /// One ACK.
    Single,
    /// Identical ACKs; the number is at least 1.
    Copies(u32),
    /// One ACK for each slice of a range. The first ACK also covers all data before the range.
    Slices {
        /// Number of slices, at least 1.
        count: u32,
        /// Range to cut into slices. The range has the same end as [`DueAck::advance`].
        of: Range,
    },
}

/// Constant number of ACKs for each ACK that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedSplit {
    /// Number of ACKs, at least 1.
    pub count: u32,
    /// Whether the ACKs are identical (copies), instead of acknowledging successive slices.
    pub are_copies: bool,
}

/// Inputs that an ACK splitting mechanism needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Needs the uplink queue before and after the ACKs.
    pub uplink: bool,
    /// Needs the path estimate.
    pub estimate: bool,
    /// Needs each arrival.
    pub arrivals: bool,
    /// Needs the counts of the sender and of this host's uplink, before each arrival.
    pub counts: bool,
    /// Needs the cause of each loss. Without loss discrimination, the mechanism sends only single ACKs.
    pub causes: bool,
}

/// A data segment that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Time of arrival.
    pub now: Time,
    /// Number of segments missing in the gap that this arrival opened; 0 without a new gap.
    pub missing: u64,
    /// Whether all data of the segment was received in order before.
    pub repeated: bool,
}

/// ACK splitting.
pub trait AckSplitting: Send {
    /// Returns the form of the ACK that is now due.
    fn split(&mut self, due: &DueAck, path: &PathEstimate) -> AckForm;

    /// Handles a loss that loss discrimination has attributed to a cause.
    fn on_loss(&mut self, cause: Cause, path: &PathEstimate) {
        let _ = (cause, path);
    }

    /// Handles an arrival. Called only if [`Needs::arrivals`] is true.
    fn on_arrival(&mut self, arrived: &Arrived) {
        let _ = arrived;
    }

    /// Handles counts of the sender and of this host's uplink. Called only if [`Needs::counts`] is true.
    fn on_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        let _ = (sender, uplink);
    }

    /// Handles the states of the uplink queue `before` and `after` the ACKs were enqueued. Returns the length of the
    /// queue `after` the ACKs, packets, as the mechanism defines the length (with or without the packet in service).
    fn on_sent(&mut self, before: Backlog, after: Backlog) -> u32 {
        let _ = before;
        after.waiting
    }

    /// Number of ACKs for each ACK that is due, if this number is constant; otherwise `None`. A constant number lets
    /// the agent's eBPF program send the ACKs inside the kernel.
    fn pieces(&self) -> Option<FixedSplit> {
        None
    }

    /// Whether the form is always [`AckForm::Single`].
    fn is_single(&self) -> bool {
        false
    }

    /// Returns the inputs that this mechanism needs.
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
