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
pub enum Across {
    /// Send this report with the next transmission.
    Send(Status),
    /// A report for the other direction will arrive.
    Arrives {
        /// The report.
        status: Status,
        /// Time of arrival.
        at: Time,
    },
    /// A report for the other direction was destroyed.
    Lost(Status),
    /// Message between a direction and its shared medium.
    Air {
        /// Index of the direction among the medium's members.
        member: u32,
        /// The message.
        word: Word,
    },
}

/// Message between a direction and the medium that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// To a direction, once: announces its index.
    Joined,
    /// From a direction with data to send.
    Wants,
    /// To a direction: transmit now.
    Begin,
    /// From a direction after `Begin`: the medium is busy until this time, ACK included.
    Takes(Time),
    /// From a direction after `Begin`, if no data is left.
    Nothing,
    /// To a direction that began: others began at the same time.
    Collides,
    /// From a direction: its transmission is over.
    Done {
        /// Whether a frame was acknowledged or discarded.
        is_settled: bool,
        /// Whether more data waits.
        wants: bool,
    },
}
