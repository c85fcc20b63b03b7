//! Controls the window of packets in flight so that the bottleneck queue never runs empty.
//!
//! As in Winstein's saturatr (Sprout, NSDI 2013), the window grows while the queueing time is below 0.75 s. The window
//! shrinks while the queueing time is above 3 s. A probe is sent periodically, even if the window is closed. This
//! module differs from saturatr in two ways. The window follows the queueing time in the sending direction instead of
//! the RTT, so late reports do no harm. A queue that overflows counts as full at any queueing time.

use crate::message::Report;
use lasthop_base::{Duration, Time};

/// Queueing time up to which the window grows.
const MIN_WAIT: Duration = Duration::from_millis(750);
const MAX_WAIT: Duration = Duration::from_secs(3);
/// Queueing time in s that remains after a reduction of the window because of a queueing time above the maximum.
const TARGET_WAIT: f64 = 1.5;
const MIN_WINDOW: u64 = 20;
/// Maximum window, packets (94 MB).
const MAX_WINDOW: u64 = 1 << 16;
/// Share of lost packets above which the window shrinks. At such a share the queue is full, so a larger window would
/// only cause more losses.
const MAX_LOSS: f64 = 0.25;
/// Factor for the reduced window if the losses exceed [`MAX_LOSS`]. The window is multiplied by this factor and by the
/// share of packets received.
const ABOVE: f64 = 1.25;
/// Share of lost packets above which the queue counts as overflowing. The window then grows by only a sixteenth of the
/// received packets, while the queueing time is at least half of the queueing time at the overflow.
const OVERFLOW_LOSS: f64 = 0.05;
/// Smallest factor of one reduction after losses. A smaller factor could drain the queue, because no packets are sent
/// until the packets in flight fit into the reduced window.
const MIN_SHRINK: f64 = 0.8;
/// Longest time without a packet, after which a probe is sent.
const PROBE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Servo {
    window: u64,
    sent: u64,
    /// Highest packet number reported, plus one.
    acked: u64,
    received: u64,
    /// Packet number that ends the current round, which lasts a round trip.
    round: u64,
    /// Values of `acked` and `received` at the start of the round.
    since: [u64; 2],
    latest: Option<Time>,
    /// Queueing time at the last overflow; zero before the first overflow.
    full: Duration,
    /// Number of received packets that have not yet enlarged the window.
    grown: u64,
    /// Whether the losses of this round belong to packets sent before the last reduction.
    is_stale: bool,
}

impl Servo {
    pub(crate) fn new() -> Servo {
        Servo {
            window: MIN_WINDOW,
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

    pub(crate) fn count(&self) -> u64 {
        self.sent
    }

    pub(crate) fn is_open(&self) -> bool {
        self.sent - self.acked < self.window
    }

    pub(crate) fn next_probe(&self) -> Time {
        self.latest.map_or(Time::ZERO, |latest| latest + PROBE)
    }

    pub(crate) fn send(&mut self, now: Time) -> u64 {
        self.latest = Some(now);
        self.sent += 1;
        self.sent - 1
    }

    pub(crate) fn handle_report(&mut self, report: &Report) {
        let acked = report.highest.saturating_add(1);
        // Ignores a report that is old or has an invalid number.
        if acked <= self.acked || acked > self.sent {
            return;
        }
        // The path may duplicate packets, so the count of received packets is bounded.
        let received = report.received.min(acked).max(self.received);
        let arrived = received - self.received;
        (self.acked, self.received) = (acked, received);
        let waited = Duration::from_micros(report.waited_us.into());
        if waited < MIN_WAIT {
            self.grown += arrived;
            let each = if waited < self.full.divided_by(2) || self.full == Duration::ZERO { 1 } else { 16 };
            self.window = (self.window + self.grown / each).min(MAX_WINDOW);
            self.grown %= each;
        }
        if acked > self.round {
            self.check_queue(waited);
        }
    }

    /// Checks once per round trip whether the queue is too full.
    fn check_queue(&mut self, waited: Duration) {
        let [acked, received] = self.since;
        let share = (self.received - received) as f64 / (self.acked - acked).max(1) as f64;
        if 1.0 - share > OVERFLOW_LOSS {
            self.full = waited;
        }
        let is_stale = std::mem::take(&mut self.is_stale);
        if waited > MAX_WAIT && !is_stale {
            self.shrink(TARGET_WAIT / waited.as_secs());
        } else if 1.0 - share > MAX_LOSS && self.acked - acked >= MIN_WINDOW && !is_stale {
            self.shrink((share * ABOVE).max(MIN_SHRINK));
        }
        self.since = [self.acked, self.received];
        self.round = self.sent;
    }

    fn shrink(&mut self, share: f64) {
        self.window = ((self.window as f64 * share) as u64).max(MIN_WINDOW);
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
        assert_eq!(servo.count(), MIN_WINDOW);
        servo.handle_report(&report(19, 20, 100));
        assert_eq!(servo.window, 40);
        filled(&mut servo);
        servo.handle_report(&report(39, 40, 800));
        assert_eq!(servo.window, 40, "the window grew although packets wait for more than 750 ms");
        filled(&mut servo);
        servo.handle_report(&report(60, 61, 6000));
        assert_eq!(servo.window, MIN_WINDOW, "the window must not fall below the minimum");
    }

    #[test]
    fn a_queue_that_overflows_is_not_flooded() {
        let mut servo = Servo::new();
        for _ in 0..6 {
            filled(&mut servo);
            servo.handle_report(&report(servo.count() - 1, servo.count(), 50));
        }
        let (before, sent, received) = (servo.window, servo.count(), servo.received);
        filled(&mut servo);
        let half = (servo.count() - sent) / 2;
        servo.handle_report(&report(servo.count() - 1, received + half, 50));
        // The received packets first enlarge the window. The reduction then leaves four fifths (`MIN_SHRINK`).
        assert_eq!(servo.window, (before + half) * 4 / 5);
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let mut servo = Servo::new();
        filled(&mut servo);
        for odd in [report(u64::MAX, 5, 0), report(20, 5, 0)] {
            servo.handle_report(&odd);
            assert_eq!((servo.window, servo.acked), (MIN_WINDOW, 0), "{odd:?}");
        }
        servo.handle_report(&report(9, 20, 0));
        assert_eq!((servo.window, servo.received), (MIN_WINDOW + 10, 10));
    }

    #[test]
    fn something_is_sent_again_whatever_comes_back() {
        let mut servo = Servo::new();
        servo.send(Time::ZERO);
        assert_eq!(servo.next_probe(), Time::ZERO + PROBE);
    }
}
