//! Messages between the directions of a link: status reports carried by the other direction, and medium access.

use lasthop_base::Time;

/// Status report: reports which data units below a number had arrived at the time of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Time of the report.
    pub made: Time,
    /// First unit not covered by the report.
    pub until: u64,
}

/// Message of an element to the other direction of its link, or to or from the shared [medium](crate::arq::Medium).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Send this report with the next transmission.
    SendStatus(Status),
    /// A report for the other direction will arrive.
    StatusArrives {
        /// The report.
        status: Status,
        /// Time of arrival.
        at: Time,
    },
    /// A report for the other direction was destroyed.
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
    /// To a direction, once: announces its index.
    Joined,
    /// From a direction with data to send.
    HasData,
    /// To a direction: transmit now.
    Transmit,
    /// From a direction after `Transmit`: the medium is busy until this time, ACK included.
    Occupies(Time),
    /// From a direction after `Transmit`, if no data is left.
    NoData,
    /// To a direction that began: others began at the same time.
    Collision,
    /// From a direction: its transmission is over.
    Done {
        /// Whether a frame was acknowledged or discarded.
        is_settled: bool,
        /// Whether more data waits.
        has_data: bool,
    },
}
