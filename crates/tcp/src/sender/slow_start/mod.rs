//! Leaving slow start: what ends it, beside a loss?
//!
//! A slow start that only a loss ends overshoots by up to a whole window. What is asked here sees the queue build and ends
//! it before that. The congestion control is told and goes on in avoidance from where it is.

mod hystart;
mod hystart_pp;
mod none;
mod round;

use super::counting::{AckCounting, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Duration, Mechanism, Time, Values};

/// A new ACK in slow start, before the window grows by it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When it came.
    pub now: Time,
    /// First byte not acknowledged, and first byte not sent: what ends a round and where the next one will end.
    pub una: u64,
    /// See `una`.
    pub nxt: u64,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Duration>,
    /// cwnd, bytes.
    pub window: u64,
    /// A full segment's payload, bytes.
    pub mss: u64,
}

/// How slow start goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// As it is.
    Full,
    /// By so many times less.
    Divided(u64),
    /// Not at all: avoidance begins.
    Over,
}

/// Watches slow start for signs that the path is full.
pub trait SlowStart: Send {
    /// A new ACK in slow start, no loss being repaired.
    fn on_ack(&mut self, sample: &Sample) -> Growth;

    /// The retransmission timer expired: what follows is another slow start.
    fn on_timeout(&mut self);
}

/// How one is built; `None`: a loss alone ends slow start, and nobody is asked.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn SlowStart>> + Send + Sync;

/// All ways of leaving slow start.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, hystart::MECHANISM, hystart_pp::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// An ACK is worth so many times less while slow start lasts.
pub(super) struct Divided<'a> {
    pub(super) counting: &'a mut dyn AckCounting,
    pub(super) by: u64,
}

impl AckCounting for Divided<'_> {
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64 {
        let credit = self.counting.credit(ack, mss, regime);
        if regime == Regime::Avoidance { credit } else { credit / self.by }
    }

    fn collects(&self) -> bool {
        self.counting.collects()
    }

    fn counts_end(&self) -> bool {
        self.counting.counts_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Choice, Value};

    /// One of the list with some of its parameters set.
    pub(super) fn built(name: &str, values: &[(&'static str, Value)]) -> Box<dyn SlowStart> {
        let mut choice = Choice::named(ALL, name);
        values.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
        (choice.build)(&choice.values).expect("it watches")
    }

    /// Rounds of a slow start, in segments of 1000 bytes.
    pub(super) struct Rounds {
        pub(super) watch: Box<dyn SlowStart>,
        /// cwnd, segments.
        pub(super) window: u64,
        now: Time,
        una: u64,
    }

    impl Rounds {
        pub(super) fn new(watch: Box<dyn SlowStart>) -> Rounds {
            Rounds { watch, window: 100, now: Time::ZERO, una: 1 }
        }

        /// A round of so many ACKs, each with this round-trip time, `gap` apart.
        pub(super) fn play(&mut self, acks: u64, rtt: Duration, gap: Duration) -> Vec<Growth> {
            self.now += rtt;
            // By the round's first ACK all of it is acknowledged but what the others acknowledge.
            let first = self.una + 1000;
            let one = |number: u64| {
                self.una += 1000;
                let sample = Sample {
                    now: self.now + gap * number,
                    una: self.una,
                    nxt: first + acks * 1000 - 1000,
                    rtt: Some(rtt),
                    window: self.window * 1000,
                    mss: 1000,
                };
                self.watch.on_ack(&sample)
            };
            let grown = (0..acks).map(one).collect();
            self.now += gap * acks;
            grown
        }
    }
}
