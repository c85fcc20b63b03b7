//! What is an acknowledgement worth to the window?
//!
//! ACK splitting (hasegawa) lives on the answer: a sender that counts ACKs can be
//! fed more of them, one that counts bytes or packets cannot.

mod bytes;
mod packets;
mod per_ack;
mod rfc5681;

use lasthop_base::{Mechanism, Values};

/// What a new acknowledgement said, as far as counting cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// Bytes newly and cumulatively acknowledged; more than 0.
    pub acked: u64,
    /// Segments of which the last byte is among them, those not counted that SACK had reported before.
    pub segments: u32,
    /// A full segment's payload, bytes.
    pub mss: u64,
}

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
    /// Credit in bytes: slow start adds it to cwnd; avoidance adds a segment for each window of it.
    fn credit(&mut self, news: &News, regime: Regime) -> u64;

    /// Whether avoidance collects credit and adds a whole segment when it reaches cwnd (RFC 3465 §2.1,
    /// Linux), rather than a fraction with every ACK (RFC 5681 §3.1, Eq. 3).
    fn collects(&self) -> bool {
        false
    }
}

/// How a counting is built.
pub type Build = dyn Fn(&Values) -> Box<dyn AckCounting> + Send + Sync;

/// All ways of counting.
pub const ALL: &[Mechanism<Build>] =
    &[per_ack::MECHANISM, rfc5681::MECHANISM, bytes::MECHANISM, packets::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = rfc5681::MECHANISM;
