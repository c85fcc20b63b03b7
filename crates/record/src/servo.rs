//! How many packets are in flight so that the queue at the bottleneck is never empty.
//!
//! As in Winstein's saturatr (Sprout, NSDI 2013): more while packets wait for less than 0.75 s there, fewer from 3 s on,
//! and one now and then whatever comes back. Different from it: what counts is the wait on the way there, not the round
//! trip, so that acknowledgements may be late; and a queue that overflows is full, too, however short the wait.

use crate::message::Report;
use lasthop_base::{Duration, Time};

/// Packets wait for at least so long, if the queue has room for it.
const LEAST_WAIT: Duration = Duration::from_millis(750);
/// For so long at most.
const MOST_WAIT: Duration = Duration::from_secs(3);
/// To where it is brought back from there.
const MEANT_WAIT: f64 = 1.5;
/// A window has at least so many packets.
const LEAST: u64 = 20;
/// And at most: 94 MB.
const MOST: u64 = 1 << 16;
/// If more than this share is lost the queue is full enough, and more would be waste.
const MOST_LOST: f64 = 0.25;
/// What is sent then above what comes through.
const ABOVE: f64 = 1.25;
/// If more than this share is lost the queue overflows, and the window grows no more by what comes, but by a
/// sixteenth, until packets wait for less than half as long.
const FEW_LOST: f64 = 0.05;
/// It shrinks to no less in one go: nothing is sent meanwhile, and the queue must not run empty.
const LEAST_LEFT: f64 = 0.8;
/// Something is sent at least so often.
const PROBE: Duration = Duration::from_millis(200);

/// A sender's window.
#[derive(Debug)]
pub(crate) struct Servo {
    window: u64,
    sent: u64,
    /// One more than the highest packet that has come.
    acked: u64,
    received: u64,
    /// The round ends when this has come: what was sent and received when it began.
    round: u64,
    since: [u64; 2],
    latest: Option<Time>,
    /// How long packets waited when the queue overflowed last, and what came since the window grew.
    full: Duration,
    grown: u64,
    /// What is lost in this round was sent before the window shrank.
    is_stale: bool,
}

impl Servo {
    pub(crate) fn new() -> Servo {
        Servo {
            window: LEAST,
            sent: 0,
            acked: 0,
            received: 0,
            round: 0,
            since: [0; 2],
            latest: None,
            full: Duration::ZERO,
            grown: 0,
            is_stale: false,
        }
    }

    /// How many were sent.
    pub(crate) fn count(&self) -> u64 {
        self.sent
    }

    /// Whether more may be in flight.
    pub(crate) fn is_open(&self) -> bool {
        self.sent - self.acked < self.window
    }

    /// When the next packet is to be sent whatever comes back.
    pub(crate) fn probes(&self) -> Time {
        self.latest.map_or(Time::ZERO, |latest| latest + PROBE)
    }

    /// A packet is sent now; its number.
    pub(crate) fn send(&mut self, now: Time) -> u64 {
        self.latest = Some(now);
        self.sent += 1;
        self.sent - 1
    }

    /// The receiver says what has come.
    pub(crate) fn heed(&mut self, report: &Report) {
        let acked = report.highest.saturating_add(1);
        // Of another time, or of nothing that was sent.
        if acked <= self.acked || acked > self.sent {
            return;
        }
        // The path may copy packets.
        let received = report.received.min(acked).max(self.received);
        let came = received - self.received;
        (self.acked, self.received) = (acked, received);
        let waited = Duration::from_micros(report.waited_us.into());
        if waited < LEAST_WAIT {
            self.grown += came;
            let each = if waited < self.full.divided_by(2) || self.full == Duration::ZERO { 1 } else { 16 };
            self.window = (self.window + self.grown / each).min(MOST);
            self.grown %= each;
        }
        if acked > self.round {
            self.judge(waited);
        }
    }

    /// Once in a round trip: whether the queue is too full.
    fn judge(&mut self, waited: Duration) {
        let [acked, received] = self.since;
        let share = (self.received - received) as f64 / (self.acked - acked).max(1) as f64;
        if 1.0 - share > FEW_LOST {
            self.full = waited;
        }
        let is_stale = std::mem::take(&mut self.is_stale);
        if waited > MOST_WAIT && !is_stale {
            self.shrink(MEANT_WAIT / waited.as_secs());
        } else if 1.0 - share > MOST_LOST && self.acked - acked >= LEAST && !is_stale {
            self.shrink((share * ABOVE).max(LEAST_LEFT));
        }
        self.since = [self.acked, self.received];
        self.round = self.sent;
    }

    fn shrink(&mut self, share: f64) {
        self.window = ((self.window as f64 * share) as u64).max(LEAST);
        self.is_stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(highest: u64, received: u64, waited_ms: u32) -> Report {
        Report { highest, received, waited_us: waited_ms * 1000 }
    }

    fn filled(servo: &mut Servo) {
        while servo.is_open() {
            servo.send(Time::ZERO);
        }
    }

    #[test]
    fn the_window_grows_until_packets_wait_and_shrinks_when_they_wait_too_long() {
        let mut servo = Servo::new();
        filled(&mut servo);
        assert_eq!(servo.count(), LEAST);
        servo.heed(&report(19, 20, 100));
        assert_eq!(servo.window, 40);
        filled(&mut servo);
        servo.heed(&report(39, 40, 800));
        assert_eq!(servo.window, 40, "long enough");
        filled(&mut servo);
        servo.heed(&report(60, 61, 6000));
        assert_eq!(servo.window, LEAST, "a quarter of it would be less");
    }

    #[test]
    fn a_queue_that_overflows_is_not_flooded() {
        let mut servo = Servo::new();
        for _ in 0..6 {
            filled(&mut servo);
            servo.heed(&report(servo.count() - 1, servo.count(), 50));
        }
        let (before, sent, received) = (servo.window, servo.count(), servo.received);
        filled(&mut servo);
        // Half of them came.
        let half = (servo.count() - sent) / 2;
        servo.heed(&report(servo.count() - 1, received + half, 50));
        // What came is added; four fifths of that are left.
        assert_eq!(servo.window, (before + half) * 4 / 5);
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let mut servo = Servo::new();
        filled(&mut servo);
        for odd in [report(u64::MAX, 5, 0), report(20, 5, 0)] {
            servo.heed(&odd);
            assert_eq!((servo.window, servo.acked), (LEAST, 0), "{odd:?}");
        }
        // Each one twice.
        servo.heed(&report(9, 20, 0));
        assert_eq!((servo.window, servo.received), (LEAST + 10, 10));
    }

    #[test]
    fn something_is_sent_again_whatever_comes_back() {
        let mut servo = Servo::new();
        servo.send(Time::ZERO);
        assert_eq!(servo.probes(), Time::ZERO + PROBE);
    }
}
