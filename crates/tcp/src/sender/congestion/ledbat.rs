//! LEDBAT: a background flow that keeps the queueing delay at a target and yields to all other flows.
//!
//! With `queueing = current - base` and `off = (target - queueing) / target`, an ACK adds `gain × off × acked × MSS /
//! cwnd` bytes to cwnd. Above the target, `off` is negative, and cwnd shrinks. cwnd is at least two segments, and at
//! most the bytes in flight plus `ALLOWED_INCREASE` segments.
//!
//! `current` is the smallest of the last four delay samples. `base` is the smallest delay sample of the last ten
//! minutes, stored as one minimum per minute. A loss halves cwnd once per round trip. A timeout sets cwnd to one
//! segment. The control has no slow start. The initial window is two segments.
//!
//! # Not modelled
//! The RFC measures one-way delays. The samples here are round-trip times, so that a queue of ACKs also counts as
//! queueing delay.

use super::{AckEvent, Build, LossEvent, LossPhase, Nature, OnReno, Reno, Start, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ledbat",
        summary: "keeps the queueing delay at a target of 100 ms and yields to flows that fill the queue",
        source: "RFC 6817 §2.4 (round-trip times instead of one-way delays)",
        parameters: &[
            Parameter {
                name: "target",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(10)),
                default: Some("100 ms"),
                doc: "queueing delay that the flow aims at (RFC 6817 §2.5: at most 100 ms)",
            },
            Parameter {
                name: "gain",
                unit: Unit::Number(0.001, 1.0),
                default: Some("1"),
                doc: "segments added per round trip without queueing delay (RFC 6817 §2.5: at most 1)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let ledbat = Ledbat {
            target: values.duration("target").as_secs(),
            gain: values.number("gain"),
            mss: start.mss as f64,
            delays: Delays::new(),
        };
        // cwnd is never below ssthresh, so that the control has no slow start.
        let window = INITIAL_SEGMENTS * start.mss;
        OnReno::boxed(&Start { window, ssthresh: window, ..start }, ledbat)
    },
};

/// INIT_CWND and MIN_CWND of RFC 6817 §2.5, segments.
const INITIAL_SEGMENTS: u64 = 2;
/// ALLOWED_INCREASE of RFC 6817 §2.5, segments.
const ALLOWED_INCREASE: f64 = 1.0;

struct Ledbat {
    /// Target queueing delay, seconds.
    target: f64,
    gain: f64,
    mss: f64,
    delays: Delays,
}

/// Base delay and current delay (RFC 6817 §2.4.2, `update_base_delay` and `update_current_delay`).
pub(super) struct Delays {
    /// Smallest sample of each of the last ten minutes. The current minute is the last entry.
    minutes: [Duration; BASE_HISTORY],
    minute: u64,
    latest: [Duration; CURRENT_FILTER],
    next: usize,
}

const BASE_HISTORY: usize = 10;
const CURRENT_FILTER: usize = 4;

impl Delays {
    pub(super) fn new() -> Delays {
        let (minutes, latest) = ([Duration::MAX; BASE_HISTORY], [Duration::MAX; CURRENT_FILTER]);
        Delays { minutes, minute: 0, latest, next: 0 }
    }

    pub(super) fn record(&mut self, now: Time, sample: Duration) {
        let minute = now.since(Time::ZERO).as_nanos() / Duration::from_secs(60).as_nanos();
        while self.minute < minute {
            let new = (minute - self.minute).min(BASE_HISTORY as u64) as usize;
            self.minutes.rotate_left(new);
            self.minutes[BASE_HISTORY - new..].fill(Duration::MAX);
            self.minute = minute;
        }
        let newest = &mut self.minutes[BASE_HISTORY - 1];
        *newest = sample.min(*newest);
        self.latest[self.next % CURRENT_FILTER] = sample;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    /// Returns the smallest sample of the last ten minutes; `None` before the first sample.
    pub(super) fn base(&self) -> Option<Duration> {
        self.minutes.iter().min().copied().filter(|base| *base < Duration::MAX)
    }

    /// Returns the queueing delay, seconds; `None` before the first sample.
    pub(super) fn queueing(&self) -> Option<f64> {
        let (base, current) = (self.base()?, self.latest.iter().min()?);
        Some(current.as_secs() - base.as_secs())
    }
}

/// Halves cwnd, but to at least two segments (RFC 6817 §2.4.2).
pub(super) fn halve_cwnd(reno: &mut Reno) {
    reno.set_ssthresh((reno.exact_cwnd() / 2.0) as u64);
    reno.cap_at_ssthresh();
}

impl Variant for Ledbat {
    fn nature(&self) -> Nature {
        Nature { follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, _: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            self.delays.record(ack.now, rtt);
        }
        let Some(queueing) = self.delays.queueing() else { return };
        if ack.acked == 0 || ack.phase == LossPhase::Recovery {
            return;
        }
        let off = (self.target - queueing) / self.target;
        if ack.held && off > 0.0 {
            return;
        }
        let (cwnd, acked) = (reno.exact_cwnd(), ack.acked as f64);
        let flight = ack.in_flight as f64 + acked;
        let allowed = flight + ALLOWED_INCREASE * self.mss;
        let aim = cwnd + self.gain * off * acked * self.mss / cwnd;
        // Our choice: the upper limit does not lower a cwnd that is not fully used.
        let aim = if off > 0.0 { aim.min(allowed.max(cwnd)) } else { aim };
        reno.set_cwnd(aim.max(INITIAL_SEGMENTS as f64 * self.mss));
    }

    /// Halves cwnd, not FlightSize (RFC 6817 §2.4.2).
    fn on_loss(&mut self, reno: &mut Reno, _: &LossEvent) {
        halve_cwnd(reno);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, _: bool) {
        // The control has no slow start, so that ssthresh has no effect.
        reno.restart_with_in_flight(loss.still_in_flight);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl;
    use super::super::rounds::Rounds;
    use super::*;

    /// RFC 6817 §2.4.2: a round trip adds gain × off segments. The target is 100 ms. Queueing delays of 0, 50, 100 and
    /// 150 ms add 1, 0.5, 0 and -0.5 segments.
    #[test]
    fn growth_is_proportional_to_the_distance_from_the_target() {
        for (queueing, segments) in [(0.0, 1.0), (50.0, 0.5), (100.0, 0.0), (150.0, -0.5)] {
            let mut path = Rounds::of(&MECHANISM, 2);
            for _ in 0..40 {
                path.round(100.0);
            }
            // The current delay is the smallest of the last four samples. After this round, all four samples have the
            // new delay.
            path.round(100.0 + queueing);
            let before = path.segments();
            let grown = path.round(100.0 + queueing) - before;
            assert!((grown - segments).abs() < 0.1 * segments.abs() + 0.03, "{queueing}: {grown}");
        }
    }

    #[test]
    fn the_first_window_has_two_segments_and_a_loss_halves() {
        let mut path = Rounds::of(&MECHANISM, 10);
        assert_eq!(path.segments(), 2.0);
        for _ in 0..20 {
            path.round(100.0);
        }
        let full = path.segments();
        // cwnd grows by at most one segment per round trip. The fractional part of cwnd sends no segment and obtains no
        // ACK, so that the growth is slightly less than one segment.
        assert!((20.0..=22.0).contains(&full), "{full}");
        assert!((path.lose() / full - 0.5).abs() < 0.01);
    }

    /// RFC 6817 §2.4.2: a loss halves cwnd, even if more than cwnd is outstanding.
    #[test]
    fn a_loss_halves_the_window_and_not_the_flight() {
        let mut reno = Reno::plain(&Rounds::start(20, 2));
        halve_cwnd(&mut reno);
        assert_eq!(reno.exact_cwnd(), 10_000.0);
        reno.set_cwnd(3_000.0);
        halve_cwnd(&mut reno);
        assert_eq!(reno.exact_cwnd(), 2_000.0);
    }

    /// BASE_HISTORY = 10: a base delay expires after ten minutes.
    #[test]
    fn a_base_delay_is_forgotten_after_ten_minutes() {
        let mut delays = Delays::new();
        let at = |minutes: u64| Time::ZERO + Duration::from_secs(60 * minutes + 1);
        delays.record(at(0), Duration::from_millis(10));
        for minute in 1..10 {
            delays.record(at(minute), Duration::from_millis(50));
            assert_eq!(delays.base(), Some(Duration::from_millis(10)), "{minute}");
        }
        delays.record(at(10), Duration::from_millis(50));
        assert_eq!(delays.base(), Some(Duration::from_millis(50)));
        delays.record(at(1_000_000), Duration::from_millis(70));
        assert_eq!(delays.base(), Some(Duration::from_millis(70)));
    }

    /// The base delay is the smallest sample of ten minutes (RFC 6817 §2.4.2). The current delay is the smallest of four
    /// samples.
    #[test]
    fn delays_have_their_histories() {
        let ms = Duration::from_millis;
        let at = |minutes: u64| Time::ZERO + Duration::from_secs(60 * minutes);
        let mut delays = Delays::new();
        assert_eq!((delays.base(), delays.queueing()), (None, None));
        delays.record(at(1), ms(100));
        delays.record(at(5), ms(150));
        delays.record(at(10), ms(180));
        assert_eq!(delays.base(), Some(ms(100)));
        assert_eq!(delays.queueing(), Some(0.0));
        delays.record(at(11), ms(170));
        assert_eq!(delays.base(), Some(ms(150)));
        delays.record(at(11), ms(175));
        assert_eq!(delays.queueing(), Some(0.0), "150 ms is one of the last four samples");
        delays.record(at(11), ms(190));
        assert!((delays.queueing().expect("samples") - 0.020).abs() < 1e-9);
        delays.record(at(11), ms(160));
        assert!((delays.queueing().expect("samples") - 0.010).abs() < 1e-9);
        delays.record(at(100), ms(300));
        assert_eq!(delays.base(), Some(ms(300)));
    }

    /// A loss halves cwnd, and ssthresh is the halved cwnd.
    #[test]
    fn a_loss_halves_the_window() {
        let mut reno = Reno::plain(&Rounds::start(100, 2));
        halve_cwnd(&mut reno);
        assert_eq!((reno.exact_cwnd(), reno.ssthresh()), (50_000.0, 50_000));
        let mut reno = Reno::plain(&Rounds::start(3, 2));
        halve_cwnd(&mut reno);
        assert_eq!(reno.exact_cwnd(), 2000.0);
    }
}
