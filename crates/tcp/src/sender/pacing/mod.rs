//! Pacing rate of a sender whose congestion control sets no pacing rate.

mod control;
mod linux;

use lasthop_base::{Duration, Mechanism, Rate, Values};

/// State of the sender when it transmits a segment.
#[derive(Clone, Copy, Debug)]
pub struct PacedSegment {
    /// Number of segments sent so far, including this segment and retransmissions.
    pub number: u64,
    /// cwnd, bytes.
    pub window: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
    /// Bytes outstanding, including the segment.
    pub outstanding: u64,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

/// Pacing rate and burst size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Rate of payload.
    pub rate: Rate,
    /// Bytes that may leave at one instant. 0: segments leave one by one, and a pause in sending does not let later
    /// segments leave earlier.
    pub burst: u64,
}

/// Rule that determines the pacing rate.
pub trait Pacing: Send {
    /// Returns the pace from this segment to the next; `None`: the next segment may leave at once.
    fn pace(&self, segment: &PacedSegment) -> Option<Pace>;
}

/// Builds a rule; `None` means that only the congestion control paces.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn Pacing>> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] = &[control::MECHANISM, linux::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = control::MECHANISM;
