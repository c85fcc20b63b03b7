//! ACK counting: what is an acknowledgement worth to the window?
//!
//! ACK splitting (hasegawa) lives on the answer: a sender that counts ACKs can be
//! fed more of them, one that counts bytes or packets cannot.

mod bytes;
mod delivered;
mod packets;
mod per_ack;
mod rfc5681;

use super::congestion::AckEvent;
use lasthop_base::{Mechanism, Values};

/// In which part of the window's growth the sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Below ssthresh, no timeout since.
    SlowStart,
    /// Below ssthresh, after a timeout and until what was outstanding then is acknowledged.
    AfterTimeout,
    /// At or above ssthresh.
    Avoidance,
}

/// Turns acknowledgements into credit for the window's growth.
pub trait AckCounting: Send {
    /// Credit in bytes for an ACK that advances; a full segment's payload is `mss` bytes. Slow start adds it to cwnd;
    /// avoidance adds a segment for each window of it.
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64;

    /// Whether avoidance collects credit and adds a whole segment when it reaches cwnd (RFC 3465 §2.1,
    /// Linux), rather than a fraction with every ACK (RFC 5681 §3.1, Eq. 3).
    fn collects(&self) -> bool {
        false
    }

    /// Whether the ACK that ends a recovery is worth something, too.
    fn counts_end(&self) -> bool {
        false
    }
}

/// How a counting is built.
pub type Build = dyn Fn(&Values) -> Box<dyn AckCounting> + Send + Sync;

/// All ways of counting.
pub const ALL: &[Mechanism<Build>] =
    &[per_ack::MECHANISM, rfc5681::MECHANISM, bytes::MECHANISM, packets::MECHANISM, delivered::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = rfc5681::MECHANISM;
