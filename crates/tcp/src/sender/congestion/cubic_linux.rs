//! Linux's CUBIC: RFC 8312 in whole segments, with Linux's estimate of Reno's window.
//!
//! Differences from RFC 9438, each a documented behaviour of the kernel:
//! * The window is a number of segments. ACKs in avoidance collect credit, and a segment is added when the credit
//!   reaches its cost. The cost is computed at an ACK and kept for 31 ms while cwnd is unchanged (netdev, August 2024,
//!   "tcp_cubic: fix to achieve at least the same throughput as Reno").
//! * The cost is at least two segments of credit, and at most 20 while no plateau is known: 5 % per round trip.
//! * Above its target, cwnd grows by a segment per hundred windows.
//! * The target is one smallest RTT ahead, and only the cost bounds the growth.
//! * Reno's window is estimated with α = 8/15 always, not 1 above the window before the loss (same thread), and lags by
//!   a round trip.
//! * ssthresh is 0.7 of cwnd, not of FlightSize.
//! * A timeout discards all state, the plateau included. Idle time does not count for the cubic.
//! * An undone reduction restores cwnd and ssthresh, but not the plateau.

use super::reno::Reno;
use super::{AckEvent, CongestionControl, Level, LossEvent, Nature, Phase, RateHooks, Recovered, Start};
use crate::sender::ack_counting::{AckCounting, Regime};
use lasthop_base::{Duration, Time, Values};

/// Lifetime of a computed cost while cwnd is unchanged.
const HOLDS: Duration = Duration::from_micros(31_250);
/// Time after the start of a stage in which RTT samples do not update the smallest RTT.
const UNSETTLED: Duration = Duration::from_secs(1);
/// Largest cost while no plateau is known, and smallest cost, segments of credit.
const DEAREST: f64 = 20.0;
const CHEAPEST: f64 = 2.0;

/// Linux's CUBIC. Windows in segments.
pub(super) struct CubicLinux {
    window: Reno,
    mss: u64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Windows of credit per segment of Reno's estimate; `None`: no Reno-friendly region.
    reno_pace: Option<f64>,
    /// W_max; 0: unknown.
    plateau: f64,
    /// Smallest RTT since the start or the last timeout.
    shortest: Option<Duration>,
    stage: Option<Stage>,
    collected: f64,
    /// Arrival of the last ACK, to exclude idle time.
    last_ack: Time,
    was_idle: bool,
}

struct Stage {
    began: Time,
    /// K, seconds.
    rise: f64,
    /// Plateau of the cubic.
    origin: f64,
    /// Credit towards the next segment of Reno's estimate, and the estimate.
    credit: f64,
    reno: f64,
    /// Cost of a segment, with the time and the cwnd of its computation.
    cost: f64,
    computed: Time,
    of: f64,
}

impl CubicLinux {
    pub(super) fn new(values: &Values, start: &Start) -> CubicLinux {
        let beta = values.number("beta");
        // The kernel's integer: eighths, rounded down.
        let eighths = libm::floor(8.0 * (1.0 + beta) / (3.0 * (1.0 - beta)));
        CubicLinux {
            window: Reno::plain(start),
            mss: start.mss,
            c: values.number("c"),
            beta,
            fast_convergence: values.flag("fast_convergence"),
            reno_pace: values.flag("reno_friendly").then_some(eighths / 8.0),
            plateau: 0.0,
            shortest: None,
            stage: None,
            collected: 0.0,
            last_ack: Time::ZERO,
            was_idle: false,
        }
    }

    fn segments(&self) -> f64 {
        (self.window.window() / self.mss) as f64
    }

    fn note_rtt(&mut self, ack: &AckEvent) {
        let is_settled = self.stage.as_ref().is_none_or(|stage| ack.now.since(stage.began) >= UNSETTLED);
        if let Some(rtt) = ack.rtt.filter(|_| is_settled) {
            self.shortest = Some(self.shortest.map_or(rtt, |known| known.min(rtt)));
        }
    }

    fn begin(&self, now: Time, cwnd: f64) -> Stage {
        let origin = self.plateau.max(cwnd);
        let rise = libm::cbrt((origin - cwnd) / self.c);
        Stage { began: now, rise, origin, credit: 0.0, reno: cwnd, cost: 0.0, computed: now, of: 0.0 }
    }

    /// Current cost of a segment, segments of credit; `acked` segments are newly credited.
    fn cost(&mut self, now: Time, acked: f64) -> f64 {
        let cwnd = self.segments();
        let mut stage = match self.stage.take() {
            Some(stage) => stage,
            None => self.begin(now, cwnd),
        };
        stage.credit += acked;
        let is_fresh = stage.of == cwnd && now.since(stage.computed) <= HOLDS;
        if !is_fresh {
            let ahead = now.since(stage.began) + self.shortest.unwrap_or(Duration::ZERO);
            let past = ahead.as_secs() - stage.rise;
            let target = stage.origin + self.c * past * past * past;
            stage.cost = if target > cwnd { cwnd / (target - cwnd) } else { 100.0 * cwnd };
            if self.plateau == 0.0 {
                stage.cost = stage.cost.min(DEAREST);
            }
            if let Some(pace) = self.reno_pace {
                let whole = libm::floor(cwnd * pace).max(1.0);
                let more = libm::ceil(stage.credit / whole) - 1.0;
                if more > 0.0 {
                    stage.credit -= more * whole;
                    stage.reno += more;
                }
                if stage.reno > cwnd {
                    stage.cost = stage.cost.min(cwnd / (stage.reno - cwnd));
                }
            }
            // The kernel uses integers.
            stage.cost = libm::floor(stage.cost).max(CHEAPEST);
            (stage.computed, stage.of) = (now, cwnd);
        }
        let cost = stage.cost;
        self.stage = Some(stage);
        cost
    }

    /// Sets and returns ssthresh, segments. The current window becomes the next stage's plateau.
    fn lower_ssthresh(&mut self) -> f64 {
        let cwnd = self.segments();
        let sinks = self.fast_convergence && cwnd < self.plateau;
        self.plateau = if sinks { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.stage = None;
        let left = libm::floor(cwnd * self.beta).max(2.0);
        self.window.set_ssthresh((left * self.mss as f64) as u64);
        left
    }
}

impl CongestionControl for CubicLinux {
    fn window(&self) -> u64 {
        self.window.window()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.note_rtt(ack);
        let since = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        if std::mem::take(&mut self.was_idle)
            && let Some(stage) = &mut self.stage
        {
            stage.began += since.saturating_sub(ack.rtt.unwrap_or(Duration::ZERO));
        }
        if ack.acked == 0 || ack.held || ack.phase == Phase::Recovery || self.window.is_full() {
            return;
        }
        if self.window.in_slow_start() {
            return self.window.on_ack(ack, ack_counting);
        }
        let acked = ack_counting.credit(ack, self.mss, Regime::Avoidance) as f64 / self.mss as f64;
        let cost = self.cost(ack.now, acked);
        let mut grown = self.window.exact();
        // Credit collected at a higher cost adds at most one segment.
        if self.collected >= cost {
            self.collected = 0.0;
            grown += self.mss as f64;
        }
        self.collected += acked;
        if self.collected >= cost {
            let more = libm::floor(self.collected / cost);
            self.collected -= more * cost;
            grown += more * self.mss as f64;
        }
        self.window.set(grown);
    }

    fn on_loss(&mut self, _: &LossEvent) {
        let left = self.lower_ssthresh();
        self.window.set(left * self.mss as f64);
    }

    fn on_restart(&mut self, _: &LossEvent) {
        self.lower_ssthresh();
        self.window.restart();
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        if first {
            self.lower_ssthresh();
        }
        self.plateau = 0.0;
        self.stage = None;
        self.shortest = None;
        self.collected = 0.0;
        self.window.restart_with_in_flight(loss.still_in_flight);
    }

    fn on_mark(&mut self, _: &LossEvent) {
        self.lower_ssthresh();
        self.window.cap();
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.was_idle = true;
        self.window.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        let more = self.mss as f64 / mss as f64;
        self.plateau *= more;
        self.stage = None;
        self.mss = mss;
        self.window.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.window.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        match recovered {
            Recovered::Kept => self.window.cap(),
            Recovered::Probed { .. } | Recovered::Revised { .. } => {
                self.window.on_recovered(flight, recovered);
            }
        }
    }
}

impl RateHooks for CubicLinux {}
