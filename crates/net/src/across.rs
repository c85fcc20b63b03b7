//! What one direction of a link tells the other: link-layer feedback that travels with the other direction's data.

use lasthop_base::Time;

/// A status report: which of a direction's data units below a number had arrived when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// When it was made.
    pub made: Time,
    /// Of this unit and those above nothing is said: they had not arrived, or the report was full.
    pub until: u64,
}

/// What an element tells the other direction of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// To be sent with what goes out there next.
    Send(Status),
    /// Sent for the other direction: it is there at this time.
    Arrives {
        /// The report.
        status: Status,
        /// When.
        at: Time,
    },
    /// Sent for the other direction, and destroyed.
    Lost,
    /// The medium that both share is taken.
    Busy {
        /// From when.
        from: Time,
        /// Until when, ACK included.
        until: Time,
    },
}
