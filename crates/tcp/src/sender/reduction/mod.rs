//! Window reduction in recovery: limits the bytes in flight until they have reached the congestion control's target.

mod at_once;
mod prr;

use lasthop_base::{Mechanism, Values};

/// Effect of an ACK in recovery, after the scoreboard and the recovery have processed the ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReductionInput {
    /// Bytes delivered; without SACK, a duplicate ACK counts as one segment.
    pub delivered: u64,
    /// Bytes found lost by the ACK.
    pub lost: u64,
    /// Whether `una` advanced.
    pub advanced: bool,
    /// Bytes in flight now.
    pub in_flight: u64,
    /// Target window, bytes.
    pub target: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

/// Limit on the bytes in flight during recovery.
pub trait Reduction: Send {
    /// Starts fast recovery. `flight`: bytes that this ACK and later ones can still deliver (RFC 9937 §6, RecoverFS).
    fn on_entered(&mut self, flight: u64);

    /// Handles an ACK in recovery, including the first but not the last. Returns the limit on the bytes in flight.
    fn on_ack(&mut self, input: &ReductionInput) -> u64;

    /// Records `bytes` sent in recovery, including retransmissions.
    fn on_sent(&mut self, bytes: u64);
}

/// Builds a reduction; `None` means immediate reduction.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn Reduction>> + Send + Sync;

/// All reductions.
pub const ALL: &[Mechanism<Build>] = &[at_once::MECHANISM, prr::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = at_once::MECHANISM;
