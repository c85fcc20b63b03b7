//! End of slow start before a loss occurs.
//!
//! If only a loss ends slow start, cwnd grows up to twice the capacity of path and queue. These mechanisms detect the
//! growing queue and end slow start earlier. Congestion avoidance follows.

mod hystart;
mod hystart_pp;
mod none;
mod round;

use super::ack_counting::{AckCounting, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Duration, Mechanism, Time, Values};

/// A new ACK in slow start, before the window grows.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartAck {
    /// Arrival time of the ACK.
    pub now: Time,
    /// First unacknowledged byte (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT). A round ends when `una` passes the value that `nxt` had at the start of the round.
    pub nxt: u64,
    /// Round-trip time measured by the ACK.
    pub rtt: Option<Duration>,
    /// cwnd, bytes.
    pub window: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Whether a [pacing rule](super::pacing::Pacing) spreads the segments of a round trip.
    pub is_paced: bool,
}

/// Growth of cwnd in slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// cwnd grows at full pace.
    Full,
    /// The growth of cwnd is divided by this number.
    DividedCounting(u64),
    /// Slow start ends, and congestion avoidance begins.
    Over,
}

/// Detector of a growing queue during slow start.
pub trait SlowStart: Send {
    /// Handles a new ACK in slow start outside of recovery.
    fn on_ack(&mut self, sample: &SlowStartAck) -> Growth;

    /// Handles an expiry of the retransmission timer, after which slow start begins again.
    fn on_timeout(&mut self);
}

/// Builds a detector; `None` means that only a loss, a mark or ssthresh ends slow start.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn SlowStart>> + Send + Sync;

/// All mechanisms that end slow start.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, hystart::MECHANISM, hystart_pp::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// ACK counting that divides the credit for an ACK in slow start by `by`.
pub(super) struct DividedCounting<'a> {
    pub(super) ack_counting: &'a mut dyn AckCounting,
    pub(super) by: u64,
}

impl AckCounting for DividedCounting<'_> {
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64 {
        let credit = self.ack_counting.credit(ack, mss, regime);
        if regime == Regime::Avoidance { credit } else { credit / self.by }
    }

    fn collects(&self) -> bool {
        self.ack_counting.collects()
    }

    fn counts_end(&self) -> bool {
        self.ack_counting.counts_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Choice, Value};

    pub(super) fn built(name: &str, values: &[(&'static str, Value)]) -> Box<dyn SlowStart> {
        let mut choice = Choice::named(ALL, name);
        values.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
        (choice.build)(&choice.values).expect("the mechanism has a detector")
    }

    pub(super) struct Rounds {
        pub(super) watch: Box<dyn SlowStart>,
        pub(super) window: u64,
        pub(super) is_paced: bool,
        now: Time,
        una: u64,
    }

    impl Rounds {
        pub(super) fn new(watch: Box<dyn SlowStart>) -> Rounds {
            Rounds { watch, window: 100, is_paced: false, now: Time::ZERO, una: 1 }
        }

        pub(super) fn play(&mut self, acks: u64, rtt: Duration, gap: Duration) -> Vec<Growth> {
            self.now += rtt;
            // SND.NXT at the first ACK of the round: the later ACKs acknowledge all data up to here, so the next call
            // begins a new round.
            let first = self.una + 1000;
            let one = |number: u64| {
                self.una += 1000;
                let sample = SlowStartAck {
                    now: self.now + gap * number,
                    una: self.una,
                    nxt: first + acks * 1000 - 1000,
                    rtt: Some(rtt),
                    window: self.window * 1000,
                    mss: 1000,
                    is_paced: self.is_paced,
                };
                self.watch.on_ack(&sample)
            };
            let grown = (0..acks).map(one).collect();
            self.now += gap * acks;
            grown
        }
    }
}
