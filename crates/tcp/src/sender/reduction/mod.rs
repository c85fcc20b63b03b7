//! Window reduction in recovery: limits the bytes in flight until the flight has shrunk to the cwnd that congestion
//! control has chosen (the target).

mod at_once;
mod prr;

use lasthop_base::{Mechanism, Values};

/// Data about an ACK in recovery, after scoreboard and recovery have handled the ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReductionInput {
    /// Bytes newly delivered. Without SACK, a duplicate ACK counts as one segment.
    pub delivered: u64,
    /// Bytes marked lost because of the ACK.
    pub lost: u64,
    /// Whether the ACK advances SND.UNA.
    pub advanced: bool,
    /// Bytes in flight now.
    pub in_flight: u64,
    /// cwnd at the end of the reduction, bytes (`ssthresh` of RFC 9937).
    pub target: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

/// Limit on the bytes in flight during recovery.
pub trait Reduction: Send {
    /// Starts fast recovery. `flight`: bytes that this ACK and later ACKs can still deliver (RFC 9937 §6, RecoverFS).
    fn on_entered(&mut self, flight: u64);

    /// Handles an ACK in recovery, including the ACK that begins the recovery, but not the ACK that ends it. Returns
    /// the limit on the bytes in flight.
    fn on_ack(&mut self, input: &ReductionInput) -> u64;

    /// Records `bytes` sent in recovery, including retransmissions.
    fn on_sent(&mut self, bytes: u64);
}

/// Builds a window reduction. `None` means that cwnd falls at once.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn Reduction>> + Send + Sync;

/// All mechanisms of window reduction.
pub const ALL: &[Mechanism<Build>] = &[at_once::MECHANISM, prr::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = at_once::MECHANISM;
