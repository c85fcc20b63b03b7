//! Eifel detection (RFC 3522): the first acceptable ACK after a retransmission echoes the timestamp of the original, so
//! nothing was lost.
//!
//! The segment that fills the first hole supplies the echoed timestamp (RFC 7323 §4.3). An echo older than the first
//! retransmission means that an original filled the hole.
//!
//! # Difference between Linux and the RFC
//! By RFC 3522 step 5 an ACK of all outstanding data is inconclusive unless the receiver has ever sent a D-SACK: the
//! ACKs of the originals may have been lost. With `undo = "linux"`, such an ACK counts too.

use lasthop_base::{Duration, Time};

/// The relevant content of an ACK that advances.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Echo {
    /// Bytes newly acknowledged.
    pub(in crate::sender) acked: u64,
    /// Upper bound of the sending time of the segment that filled the first hole.
    pub(in crate::sender) sent_before: Option<Time>,
    /// Whether the ACK is a D-SACK.
    pub(in crate::sender) twice: bool,
}

/// End of the echoed tick, given the age of the echo in whole ticks. The ACK does not answer data sent at or after that
/// time.
pub(in crate::sender) fn end_of_echo(now: Time, tick: Duration, age: Duration) -> Time {
    let tick = tick.as_nanos().max(1);
    let echoed = (now.as_nanos() / tick).saturating_sub(age.as_nanos() / tick);
    Time::from_nanos((echoed + 1) * tick)
}

/// Kind of a spurious repair that is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refuted {
    /// The repair includes a timeout.
    Timeout,
    Recovery,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In whole ticks: an echo of the retransmission's tick may be that of the copy.
    #[test]
    fn an_echo_is_older_by_a_tick_at_least() {
        let (ms, at) = (Duration::from_millis, |micros: u64| Time::ZERO + Duration::from_micros(micros));
        // Retransmitted at 10.9 ms, tick 10; ACK at 15.2 ms, tick 15. Tick 10 is 5 ticks ago, tick 9 is 6.
        let (sent, now) = (at(10_900), at(15_200));
        assert!(sent < end_of_echo(now, ms(1), ms(5)));
        assert!(sent >= end_of_echo(now, ms(1), ms(6)));
        // A clock of 10 ms cannot distinguish the two.
        assert!(sent < end_of_echo(now, ms(10), ms(0)));
        assert!(sent >= end_of_echo(now, ms(10), ms(10)));
    }
}
