//! Credit for an ACK: growth of the window per acknowledgement.
//!
//! ACK splitting (hasegawa) works only against a sender that counts ACKs, not against byte or packet counting.

mod bytes;
mod delivered;
mod packets;
mod per_ack;
mod rfc5681;

use super::congestion::AckEvent;
use lasthop_base::{Mechanism, Values};

/// Phase of the growth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// cwnd is below ssthresh, and no timeout has preceded.
    SlowStart,
    /// cwnd is below ssthresh after a timeout, until all data outstanding at the timeout is acknowledged.
    AfterTimeout,
    /// cwnd is at or above ssthresh.
    Avoidance,
}

/// Credit of ACKs for the growth of the window.
pub trait AckCounting: Send {
    /// Returns the credit for an ACK that advances, bytes. Slow start adds the credit to cwnd; avoidance adds `mss`
    /// bytes for each cwnd of credit.
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64;

    /// Whether avoidance adds whole segments (RFC 3465 §2.1, Linux) instead of a fraction per ACK (RFC 5681 §3.1, Eq.
    /// 3).
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

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] =
    &[per_ack::MECHANISM, rfc5681::MECHANISM, bytes::MECHANISM, packets::MECHANISM, delivered::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = rfc5681::MECHANISM;
