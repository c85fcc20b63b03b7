//! Eifel detection (RFC 3522): the first acceptable ACK after a retransmission echoes the timestamp of the original, so that
//! nothing was lost.
//!
//! The segment that fills the first hole gives its timestamp to the echo (RFC 7323 §4.3): an echo older than the first
//! retransmission means that an original filled it.
//!
//! # Linux does not ask further
//! RFC 3522 step 5 says nothing of an ACK that covers all that is outstanding unless the receiver was ever heard to send
//! D-SACK: the ACKs of the originals may have been lost. Where all of the window is given back (`undo = "linux"`), that ACK
//! counts, too.

use lasthop_base::{Duration, Time};

/// An ACK that advances, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Echo {
    /// Bytes newly acknowledged.
    pub(in crate::sender) acked: u64,
    /// What filled the first hole went out before this time.
    pub(in crate::sender) sent_before: Option<Time>,
    /// It says that something arrived twice.
    pub(in crate::sender) twice: bool,
}

/// The end of the tick that is echoed by an ACK which says that it is so old, in whole ticks: what went out then or later is
/// not what it answers.
pub(in crate::sender) fn end_of_echo(now: Time, tick: Duration, age: Duration) -> Time {
    let tick = tick.as_nanos().max(1);
    let echoed = (now.as_nanos() / tick).saturating_sub(age.as_nanos() / tick);
    Time::from_nanos((echoed + 1) * tick)
}

/// A repair that was for nothing, if it still lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refuted {
    /// A timeout is part of it.
    Timeout,
    /// Fast recovery alone.
    Recovery,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole ticks count: an echo of the same tick as the retransmission may be that of the copy.
    #[test]
    fn an_echo_is_older_by_a_tick_at_least() {
        let (ms, at) = (Duration::from_millis, |micros: u64| Time::ZERO + Duration::from_micros(micros));
        // Sent again at 10.9 ms, tick 10; heard at 15.2 ms, tick 15. Tick 10 is 5 ticks ago, tick 9 is 6.
        let (sent, now) = (at(10_900), at(15_200));
        assert!(sent < end_of_echo(now, ms(1), ms(5)));
        assert!(sent >= end_of_echo(now, ms(1), ms(6)));
        // A clock of 10 ms cannot tell them apart.
        assert!(sent < end_of_echo(now, ms(10), ms(0)));
        assert!(sent >= end_of_echo(now, ms(10), ms(10)));
    }
}
