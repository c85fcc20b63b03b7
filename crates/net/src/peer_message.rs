//! Messages between the two directions of a link, for status reports, and between a direction and its shared medium.

use lasthop_base::Time;

/// A status report on all data units (PDUs or bytes) before `until`. The list of missing data units is not in this
/// message; the sender finds the list by the report's time, `made`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Time of the report.
    pub made: Time,
    /// Number of the first data unit that the report does not cover.
    pub until: u64,
}

/// Message from an element to the opposite direction of its link, or between a direction and its
/// [medium](crate::arq::Medium).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Requests that the opposite direction sends this report with its next transmission.
    SendStatus(Status),
    /// Announces the arrival of a report that the sender of this message has transmitted.
    StatusArrives {
        /// The report.
        status: Status,
        /// Time of arrival.
        at: Time,
    },
    /// Announces the loss of a report that the sender of this message has transmitted.
    StatusLost(Status),
    /// Message between a direction and its shared medium.
    Medium {
        /// Index of the direction among the medium's members.
        member: u32,
        /// The message.
        message: MediumMessage,
    },
}

/// Message between a direction and the medium that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediumMessage {
    /// Sent to a direction once, to announce its index (`member`).
    Joined,
    /// Sent by a direction that has data to send.
    HasData,
    /// Sent to a direction that has to transmit now.
    Transmit,
    /// Sent by a direction after `Transmit`. The medium is busy until this time, at which the ACK of the frame ends.
    Occupies(Time),
    /// Sent by a direction after `Transmit` if no data is left.
    NoData,
    /// Sent to a transmitting direction if other stations started to transmit at the same time.
    Collision,
    /// Sent by a direction at the end of its transmission.
    Done {
        /// Whether the transmission delivered or discarded a frame; false if all frames failed and will be
        /// retransmitted.
        is_settled: bool,
        /// Whether more data waits.
        has_data: bool,
    },
}
