//! Round trips for judges that ask for them, and windows counted in round trips.

use lasthop_base::{Duration, Time};

/// A measured round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// When its ACK came.
    pub now: Time,
    /// The round-trip time.
    pub rtt: Duration,
    /// The receiver's clock when it sent the ACK, without its wraps, if timestamps are in use; only differences mean something.
    pub clock: Option<Time>,
    /// The first byte not acknowledged after the ACK.
    pub una: u64,
    /// Bytes outstanding after the ACK.
    pub outstanding: u64,
    /// A full segment's payload, bytes.
    pub mss: u64,
}

impl Measured {
    /// Time from the departure of the segment to the receiver's ACK, ns, plus a constant of the two clocks; the round trip if
    /// timestamps are off.
    pub fn forward_delay(&self) -> i64 {
        let sent = self.now.as_nanos() as i64 - self.rtt.as_nanos() as i64;
        match self.clock {
            Some(clock) => clock.as_nanos() as i64 - sent,
            None => self.rtt.as_nanos() as i64,
        }
    }
}

/// A round: from an ACK until the ACK of the next segment sent after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    end: u64,
    /// Bytes outstanding at its start.
    pub(super) window: u64,
}

impl Round {
    pub(super) fn begin(sample: &Measured) -> Round {
        Round { end: sample.una + sample.outstanding, window: sample.outstanding }
    }

    pub(super) fn is_over(&self, sample: &Measured) -> bool {
        sample.una > self.end
    }
}

/// Samples of a path for the tests of judges.
#[cfg(test)]
pub(super) mod samples {
    use super::*;
    use crate::ranges::Range;
    use crate::sender::judge::LossJudge;

    const MSS: u64 = 1000;
    pub(in crate::sender::judge) const LOST: Range = Range { start: 1, end: 1001 };

    /// Where the last sample was taken.
    pub(in crate::sender::judge) struct Path {
        pub(in crate::sender::judge) stamps: bool,
        pub(in crate::sender::judge) now: Time,
        pub(in crate::sender::judge) una: u64,
    }

    impl Default for Path {
        fn default() -> Path {
            Path { stamps: false, now: Time::ZERO + Duration::from_secs(1), una: 1 }
        }
    }

    impl Path {
        /// A window of so many segments is acknowledged, the ACKs spread over its round trip, ms, of which the way back lasts `back`
        /// ms longer than the shortest one.
        pub(in crate::sender::judge) fn round(
            &mut self,
            judge: &mut dyn LossJudge,
            window: u64,
            rtt: u64,
            back: u64,
        ) {
            for _ in 0..window {
                self.now += Duration::from_nanos(rtt * 1_000_000 / window);
                self.una += MSS;
                let clock = Time::from_nanos(self.now.as_nanos() - back * 1_000_000);
                judge.on_measured(&Measured {
                    now: self.now,
                    rtt: Duration::from_millis(rtt),
                    clock: self.stamps.then_some(clock),
                    una: self.una,
                    outstanding: window * MSS,
                    mss: MSS,
                });
            }
        }
    }
}
