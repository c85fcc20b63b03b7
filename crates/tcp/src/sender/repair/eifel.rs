//! Eifel detection (RFC 3522). If an ACK echoes a timestamp older than the first retransmission, the original segment
//! filled the first hole (RFC 7323 §4.3). The repair was then spurious.
//!
//! An ACK of all outstanding data is inconclusive, unless the receiver has sent a D-SACK before (RFC 3522 step 5): the
//! ACKs of the originals may have been lost. With `undo = "linux"` such an ACK counts, too.

use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Echo {
    pub(in crate::sender) acked: u64,
    /// Upper bound of the sending time of the segment that filled the first hole.
    pub(in crate::sender) sent_before: Option<Time>,
    /// Whether the ACK is a D-SACK.
    pub(in crate::sender) is_dsack: bool,
}

/// Returns the end of the echoed tick; `age` is the age of the echo in whole ticks. The ACK does not answer data sent
/// at or after that time.
pub(in crate::sender) fn end_of_echo(now: Time, tick: Duration, age: Duration) -> Time {
    let tick = tick.as_nanos().max(1);
    let echoed = (now.as_nanos() / tick).saturating_sub(age.as_nanos() / tick);
    Time::from_nanos((echoed + 1) * tick)
}

/// Kind of a spurious repair that is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpuriousRepair {
    Timeout,
    Recovery,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times are compared in whole ticks: an echo of the tick of the retransmission may come from the retransmitted
    /// copy.
    #[test]
    fn an_echo_is_older_by_a_tick_at_least() {
        let (ms, at) = (Duration::from_millis, |micros: u64| Time::ZERO + Duration::from_micros(micros));
        // The segment was retransmitted at 10.9 ms, in tick 10. The ACK arrives at 15.2 ms, in tick 15. Tick 10 is 5
        // ticks ago, tick 9 is 6.
        let (sent, now) = (at(10_900), at(15_200));
        assert!(sent < end_of_echo(now, ms(1), ms(5)));
        assert!(sent >= end_of_echo(now, ms(1), ms(6)));
        assert!(sent < end_of_echo(now, ms(10), ms(0)));
        assert!(sent >= end_of_echo(now, ms(10), ms(10)));
    }
}
