//! Rate reduction: how does the window come down while a loss is repaired?
//!
//! The congestion control says what it comes down to; what may be in flight until it is there is this seam's answer.

mod at_once;
mod prr;

use lasthop_base::{Mechanism, Values};

/// What an ACK in recovery did, after the scoreboard and the recovery have taken it in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Bytes that it delivered; without SACK a duplicate stands for a segment.
    pub delivered: u64,
    /// Bytes found lost by it.
    pub lost: u64,
    /// Whether `una` advanced.
    pub advanced: bool,
    /// Bytes in the network now.
    pub in_flight: u64,
    /// What the window comes down to, bytes.
    pub target: u64,
    /// A full segment's payload, bytes.
    pub mss: u64,
}

/// Stands between the congestion control's window and what may go out while recovery lasts.
pub trait Reduction: Send {
    /// Fast recovery begins. `flight`: bytes that this ACK and later ones can still deliver (RFC 9937 §6, RecoverFS).
    fn on_entered(&mut self, flight: u64);

    /// An ACK in recovery, the one that begins it included, and not the one that ends it. Returns how much may be in flight
    /// now, bytes.
    fn on_ack(&mut self, progress: &Progress) -> u64;

    /// So many bytes go out during recovery, new or again.
    fn on_sent(&mut self, bytes: u64);
}

/// How a reduction is built; `None`: at once, and nobody is asked.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn Reduction>> + Send + Sync;

/// All reductions.
pub const ALL: &[Mechanism<Build>] = &[at_once::MECHANISM, prr::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = at_once::MECHANISM;
