//! Reasons for packet losses, and link information for endpoints. These types are plain data, so that the crates of
//! links and of endpoints do not depend on each other.

use crate::seq::Seq;
use lasthop_base::Time;

/// True reason for a packet loss. The simulator records this reason, which endpoints cannot observe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LossReason {
    /// Dropped because a queue was full.
    QueueFull,
    /// Lost on the radio channel. If the link uses ARQ, all retransmissions of the packet were lost on the channel,
    /// too.
    Channel,
    /// Tagged packet that a queue dropped to signal the overflow loss of another packet (huang §3.B).
    TagDrop,
    /// Discarded by the sending link layer, because the packet reached its limit of retransmissions or its lifetime
    /// expired.
    Discarded,
    /// Dropped by active queue management, e.g. RED, before the queue was full.
    EarlyDrop,
    /// Removed deliberately by a middlebox, e.g. a duplicate ACK.
    MiddleboxRemoved,
    /// Dropped by the receiving host, whose checksum detected a bit error (`corrupt` of netem).
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

    /// Returns the name of the reason in tables and traces.
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

    /// Whether the receiving link layer detects the loss. A link layer can report detected losses to its host.
    pub const fn is_detected(self) -> bool {
        matches!(self, LossReason::Channel | LossReason::Discarded)
    }

    /// Whether the loss indicates congestion.
    pub const fn is_congestion(self) -> bool {
        matches!(self, LossReason::QueueFull | LossReason::TagDrop | LossReason::EarlyDrop)
    }
}

/// Report of a link layer to its own host (the MAC method of hasegawa §3.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkReport {
    /// A packet was received with errors and discarded.
    Discarded {
        /// Sequence number of the packet's first payload byte.
        seq: Seq,
        /// Length of the packet's payload, bytes.
        len: u32,
        /// Whether the header arrived intact, so that the host could read the header (HACK: Balan et al. 2001).
        readable: bool,
    },
    /// New rate of the link towards the host (koga §5.2.2).
    Rate {
        /// New rate, bit/s.
        bps: u64,
    },
    /// Current rate of the link towards the host, and the planned rate that follows (Freeze-TCP: Goff et al. 2000).
    Plan {
        /// Rate from now on, bit/s.
        bps: u64,
        /// Time of the next rate change.
        until: Time,
        /// Rate after that change, bit/s.
        next_bps: u64,
    },
}

/// State of the queue at the host's own uplink interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Number of waiting packets, without the packet in transmission.
    pub waiting: u32,
    /// Whether a packet is in transmission.
    pub in_service: bool,
    /// Nominal size of all waiting packets, bytes.
    pub bytes: u64,
}

/// Counters of a data sender since its start. A TCP option could report these counters to the receiver (miyoshi §2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounts {
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions for any reason. `sent` includes these segments.
    pub retransmitted: u64,
    /// Loss events detected by duplicate ACKs: the number of fast recoveries entered.
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
