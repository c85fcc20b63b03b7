//! What one direction of a link tells the other: link-layer feedback that travels with the other direction's data, and who
//! may use a medium that several share.

use lasthop_base::Time;

/// A status report: which of a direction's data units below a number had arrived when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// When it was made.
    pub made: Time,
    /// Of this unit and those above nothing is said: they had not arrived, or the report was full.
    pub until: u64,
}

/// What an element tells the other direction of its link, or the [medium](crate::arq::Medium) that it shares.
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
    Lost(Status),
    /// Between one direction of a link and the medium that it shares.
    Air {
        /// The direction, by its place among those that share the medium.
        member: u32,
        /// What is said.
        word: Word,
    },
}

/// What is said between a direction of a link and the medium that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// To a direction, once: this is its place.
    Joined,
    /// From a direction: it has something to send.
    Wants,
    /// To a direction: it begins now.
    Begin,
    /// From a direction that was to begin: the medium is taken until then, ACK included.
    Takes(Time),
    /// From a direction that was to begin: it has nothing to send after all.
    Nothing,
    /// To a direction that began: others did so at the same time.
    Collides,
    /// From a direction: what it sent is over.
    Done {
        /// Whether something of it was acknowledged, or the last transmission of a frame was among it.
        is_settled: bool,
        /// Whether it has more to send.
        wants: bool,
    },
}
