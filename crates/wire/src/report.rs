//! Link knowledge that reaches an endpoint as plain data: links and endpoints never meet.

use crate::seq::Seq;
use lasthop_base::Time;

/// Why a packet was lost: the truth, known to the path alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LossReason {
    /// No room in a queue.
    QueueFull,
    /// Destroyed on the air, and every repeat that ARQ allows too.
    Channel,
    /// Dropped by a queue to tell the sender that another packet found no room (huang §3.B).
    Notice,
    /// Given up by the link layer's sending side: too many repeats, or too late.
    Discarded,
    /// Dropped by active queue management before the queue was full (RED).
    EarlyDrop,
    /// Taken out by a middlebox on purpose: a duplicate ACK that the sender need not see, say.
    Suppressed,
    /// A bit of it was wrong when it reached its host, whose checksum found out (netem's `corrupt`).
    Corrupt,
}

impl LossReason {
    /// All there are, in the order of their column names.
    pub const ALL: [LossReason; 7] = [
        LossReason::QueueFull,
        LossReason::Channel,
        LossReason::Notice,
        LossReason::Discarded,
        LossReason::EarlyDrop,
        LossReason::Suppressed,
        LossReason::Corrupt,
    ];

    /// The word used in tables and traces.
    pub const fn name(self) -> &'static str {
        match self {
            LossReason::QueueFull => "queue_full",
            LossReason::Channel => "channel",
            LossReason::Notice => "notice",
            LossReason::Discarded => "discarded",
            LossReason::EarlyDrop => "early_drop",
            LossReason::Suppressed => "suppressed",
            LossReason::Corrupt => "corrupt",
        }
    }

    /// Whether the receiving side's link layer notices the loss, and can tell the host behind it.
    pub const fn is_told(self) -> bool {
        matches!(self, LossReason::Channel | LossReason::Discarded)
    }

    /// Whether the loss says that the path is congested.
    pub const fn is_congestion(self) -> bool {
        matches!(self, LossReason::QueueFull | LossReason::Notice | LossReason::EarlyDrop)
    }
}

/// What a link layer tells the host on its own side (hasegawa §3.2.1: the MAC method).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkReport {
    /// A packet with these sequence numbers was received with errors and given up.
    Discarded {
        /// Number of its first byte.
        seq: Seq,
        /// Payload, bytes.
        len: u32,
        /// Whether its header arrived sound, so that a host can have read it itself (HACK, Balan et al. 2001).
        readable: bool,
    },
    /// The link's rate towards the host is this from now on (koga §5.2.2).
    Rate {
        /// Bit/s.
        bps: u64,
    },
    /// The link's rate towards the host changes by plan, and this is what comes (Freeze-TCP: Goff et al. 2000).
    Plan {
        /// What it is from now on, bit/s.
        bps: u64,
        /// Until then.
        until: Time,
        /// What it will be then, bit/s.
        next_bps: u64,
    },
}

/// What waits in the host's own uplink interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets that wait, the one in transmission not counted.
    pub waiting: u32,
    /// Whether a packet is in transmission.
    pub in_service: bool,
    /// Bytes that wait.
    pub bytes: u64,
}

/// What a sending host has counted since the start, as a TCP option could carry it to the other end (miyoshi §2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounts {
    /// Segments with data sent, retransmissions included.
    pub sent: u64,
    /// Of these, those sent again, for whatever reason.
    pub sent_again: u64,
    /// Losses that duplicate ACKs told.
    pub told_by_duplicates: u64,
}

/// What a host's own uplink interface has counted since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UplinkCounts {
    /// Packets that joined its queue or tried to.
    pub offered: u64,
    /// Of these, those that the queue dropped.
    pub dropped: u64,
}
