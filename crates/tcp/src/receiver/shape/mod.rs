//! ACK splitting and duplication: in how many ACKs is data acknowledged?

mod by_loss;
mod copies;
mod once;
mod split;

use crate::event::Cause;
use crate::ranges::Range;
use crate::receiver::estimate::PathEstimate;
use lasthop_base::{Mechanism, Time, Values};
use lasthop_wire::{Backlog, SenderCounts, UplinkCounts};

/// An acknowledgement that is due.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// What it acknowledges for the first time; empty for a duplicate.
    pub advance: Range,
    /// A full segment's payload, bytes.
    pub segment: u64,
    /// The host's uplink queue just before.
    pub uplink: Backlog,
}

/// The form that it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One ACK.
    Once,
    /// The same ACK this often, at least once.
    Copies(u32),
    /// Slices of a range, each acknowledged by an ACK of its own; what lies before the range goes with the first.
    Slices {
        /// How many, at least 1.
        count: u32,
        /// What is sliced: ends where the advance ends.
        of: Range,
    },
}

/// ACKs for each one that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// Number, at least 1.
    pub count: u32,
    /// Whether all acknowledge the same.
    pub are_copies: bool,
}

/// What a shape wants to be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// The uplink queue before and after.
    pub uplink: bool,
    /// The estimate of the path.
    pub estimate: bool,
    /// Each arrival.
    pub arrivals: bool,
    /// What the sender and this host's uplink have counted, before each arrival.
    pub counts: bool,
    /// The receiver's judgement of each loss: without one it answers as if there were no shape.
    pub causes: bool,
}

/// A data segment has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// When.
    pub now: Time,
    /// Segments missing between it and what had arrived, if it opened a gap.
    pub missing: u64,
    /// All of it had been delivered in order before.
    pub repeated: bool,
}

/// The form of acknowledgements.
pub trait AckShape: Send {
    /// An acknowledgement is due.
    fn shape(&mut self, due: &Due, path: &PathEstimate) -> Shape;

    /// A gap opened and was judged.
    fn on_loss(&mut self, cause: Cause, path: &PathEstimate) {
        let _ = (cause, path);
    }

    /// A data segment arrived; told only to those who [need](Needs::arrivals) it.
    fn on_arrival(&mut self, arrived: &Arrived) {
        let _ = arrived;
    }

    /// What the sender, and this host's uplink interface, have counted by now; told only to those who
    /// [need](Needs::counts) it.
    fn on_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        let _ = (sender, uplink);
    }

    /// The ACKs of the last shape are queued; returns the queue length after them as this shape counts it.
    fn on_sent(&mut self, before: Backlog, after: Backlog) -> u32 {
        let _ = before;
        after.waiting
    }

    /// Number of ACKs for each one that is due, if it is always the same, so that a kernel can send them by itself.
    fn pieces(&self) -> Option<Pieces> {
        None
    }

    /// Whether it always answers [`Shape::Once`], so that it need not be asked.
    fn is_once(&self) -> bool {
        false
    }

    /// What it wants to be told.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// How a shape is built.
pub type Build = dyn Fn(&Values) -> Box<dyn AckShape> + Send + Sync;

/// All shapes.
pub const ALL: &[Mechanism<Build>] =
    &[once::MECHANISM, copies::MECHANISM, by_loss::MECHANISM, split::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = once::MECHANISM;
