//! Link information for endpoints, as plain data, so that links and endpoints do not depend on each other.

use crate::seq::Seq;
use lasthop_base::Time;

/// True reason of a packet loss. The simulated path knows this reason, but endpoints do not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LossReason {
    /// No room in a queue.
    QueueFull,
    /// Lost on the radio channel. All ARQ retransmissions of the packet, if any, were lost there, too.
    Channel,
    /// Dropped by a queue in order to signal that another packet found no room (huang §3.B).
    TagDrop,
    /// Discarded by the link layer's sender, because the packet had too many retransmissions or its lifetime expired.
    Discarded,
    /// Dropped by active queue management before the queue was full (RED).
    EarlyDrop,
    /// Removed deliberately by a middlebox, e.g. a duplicate ACK.
    MiddleboxRemoved,
    /// Bit error detected by the host's checksum (netem's `corrupt`).
    Corrupt,
}

impl LossReason {
    /// All reasons, in the order of their columns in tables.
    pub const ALL: [LossReason; 7] = [
        LossReason::QueueFull,
        LossReason::Channel,
        LossReason::TagDrop,
        LossReason::Discarded,
        LossReason::EarlyDrop,
        LossReason::MiddleboxRemoved,
        LossReason::Corrupt,
    ];

    /// Name in tables and traces.
    pub const fn name(self) -> &'static str {
        match self {
            LossReason::QueueFull => "queue_full",
            LossReason::Channel => "channel",
            LossReason::TagDrop => "tag_drop",
            LossReason::Discarded => "discarded",
            LossReason::EarlyDrop => "early_drop",
            LossReason::MiddleboxRemoved => "middlebox_removed",
            LossReason::Corrupt => "corrupt",
        }
    }

    /// Whether the link layer's receiver detects the loss, and can report it to its host.
    pub const fn is_detected(self) -> bool {
        matches!(self, LossReason::Channel | LossReason::Discarded)
    }

    /// Whether the loss indicates congestion.
    pub const fn is_congestion(self) -> bool {
        matches!(self, LossReason::QueueFull | LossReason::TagDrop | LossReason::EarlyDrop)
    }
}

/// Report of a link layer to its own host (hasegawa §3.2.1: the MAC method).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkReport {
    /// A packet was received with errors and discarded.
    Discarded {
        /// Sequence number of the first byte.
        seq: Seq,
        /// Payload, bytes.
        len: u32,
        /// Whether the header arrived intact, so that the host could read it (HACK, Balan et al. 2001).
        readable: bool,
    },
    /// New rate of the link towards the host (koga §5.2.2).
    Rate {
        /// Bit/s.
        bps: u64,
    },
    /// Current rate of the link towards the host, and the planned rate that follows (Freeze-TCP: Goff et al. 2000).
    Plan {
        /// Rate from now on, bit/s.
        bps: u64,
        /// Time of the next change.
        until: Time,
        /// Rate after that change, bit/s.
        next_bps: u64,
    },
}

/// Queue of the host's own uplink interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Waiting packets, without the packet in transmission.
    pub waiting: u32,
    /// Whether a packet is in transmission.
    pub in_service: bool,
    /// Waiting bytes.
    pub bytes: u64,
}

/// Counters of a sending host since its start. A TCP option could transmit these counters to the receiver (miyoshi
/// §2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounts {
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions among the segments in `sent`, for any reason.
    pub retransmitted: u64,
    /// Losses indicated by duplicate ACKs.
    pub detected_by_duplicates: u64,
}

/// Counters of a host's own uplink interface since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UplinkCounts {
    /// Packets offered to the queue.
    pub offered: u64,
    /// Packets dropped by the queue.
    pub dropped: u64,
}
