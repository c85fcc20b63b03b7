//! ACK counting: the credit that an ACK gives to the growth of cwnd.
//!
//! ACK splitting by the receiver (hasegawa) speeds up only a sender that counts ACKs, not a sender that counts bytes or
//! packets.

mod bytes;
mod delivered;
mod packets;
mod per_ack;
mod rfc5681;

use super::congestion::AckEvent;
use lasthop_base::{Mechanism, Values};

/// Phase of the growth of cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Slow start that did not begin with a timeout: cwnd is below ssthresh.
    SlowStart,
    /// Slow start after a timeout, until all data outstanding at the timeout is acknowledged.
    AfterTimeout,
    /// cwnd is at or above ssthresh.
    Avoidance,
}

/// Rule for the credit that ACKs give to the growth of cwnd.
pub trait AckCounting: Send {
    /// Returns the credit for an ACK that advances SND.UNA, bytes. Slow start adds the credit to cwnd. Congestion
    /// avoidance adds `mss` bytes to cwnd per `cwnd` bytes of credit.
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64;

    /// Whether congestion avoidance collects the credit and adds whole segments (RFC 3465 §2.1, Linux), instead of a
    /// fraction of a segment per ACK (RFC 5681 §3.1, Eq. 3).
    fn collects(&self) -> bool {
        false
    }

    /// Whether the ACK that ends a recovery earns credit.
    fn counts_end(&self) -> bool {
        false
    }
}

/// Builds an ACK counting mechanism.
pub type Build = dyn Fn(&Values) -> Box<dyn AckCounting> + Send + Sync;

/// All ACK counting mechanisms.
pub const ALL: &[Mechanism<Build>] =
    &[per_ack::MECHANISM, rfc5681::MECHANISM, bytes::MECHANISM, packets::MECHANISM, delivered::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = rfc5681::MECHANISM;
