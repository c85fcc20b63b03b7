//! Eifel detection (RFC 3522). If an ACK echoes a timestamp older than the first retransmission, the original segment
//! filled the first hole (RFC 7323 §4.3). The retransmission was then spurious.
//!
//! An ACK of all outstanding data is inconclusive, because the ACKs of the original segments may have been lost. Such
//! an ACK is conclusive only if the receiver has sent a D-SACK before (RFC 3522 step 5), or if `undo = "linux"`.

use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Echo {
    pub(in crate::sender) acked: u64,
    /// Upper bound of the sending time of the segment that filled the first hole.
    pub(in crate::sender) sent_before: Option<Time>,
    pub(in crate::sender) is_dsack: bool,
}

/// Returns the time at which the echoed tick ended. `age`: time from the echoed tick to the tick of `now`. Data sent at
/// or after the returned time did not cause the ACK.
pub(in crate::sender) fn end_of_echo(now: Time, tick: Duration, age: Duration) -> Time {
    let tick = tick.as_nanos().max(1);
    let echoed = (now.as_nanos() / tick).saturating_sub(age.as_nanos() / tick);
    Time::from_nanos((echoed + 1) * tick)
}

/// Kind of a spurious repair: retransmission after a timeout, or fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpuriousRepair {
    Timeout,
    Recovery,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An echo proves a spurious retransmission only if the echoed tick precedes the tick of the retransmission. In the
    /// same tick, the echo may come from the retransmitted copy.
    #[test]
    fn an_echo_is_older_by_a_tick_at_least() {
        let (ms, at) = (Duration::from_millis, |micros: u64| Time::ZERO + Duration::from_micros(micros));
        // The segment was retransmitted at 10.9 ms, in tick 10. The ACK arrives at 15.2 ms, in tick 15. Tick 10 is five
        // ticks ago, and tick 9 is six ticks ago.
        let (sent, now) = (at(10_900), at(15_200));
        assert!(sent < end_of_echo(now, ms(1), ms(5)));
        assert!(sent >= end_of_echo(now, ms(1), ms(6)));
        assert!(sent < end_of_echo(now, ms(10), ms(0)));
        assert!(sent >= end_of_echo(now, ms(10), ms(10)));
    }
}
