//! Linux's CUBIC: RFC 8312 in whole segments, with Linux's estimate of Reno's cwnd.
//!
//! The kernel differs from RFC 9438 in these points:
//! * cwnd is a number of segments. In congestion avoidance, acknowledged segments count as credit. When the credit
//!   reaches the cost of a segment, cwnd grows by a segment. A computed cost applies for 31 ms unless cwnd changes
//!   (netdev, August 2024, "tcp_cubic: fix to achieve at least the same throughput as Reno").
//! * The cost is at least two segments of credit. Before the first loss, the cost is at most 20 segments, so that cwnd
//!   grows by at least 5 % per round trip.
//! * If cwnd exceeds the target of the cubic function, cwnd grows by one segment per hundred windows of credit.
//! * The target is the value of the cubic function one smallest RTT in the future. RFC 9438 limits the target to 1.5
//!   cwnd; the kernel has no such limit, so that only the smallest cost limits the growth.
//! * Reno's cwnd is always estimated with α = 8/15. RFC 9438 uses α = 1 above the cwnd of the last loss (netdev, August
//!   2024, same thread). The estimate lags by a round trip.
//! * ssthresh is 0.7 of cwnd, not of FlightSize.
//! * A timeout discards all state, including the plateau. Idle time does not advance the cubic function.
//! * The undo of a window reduction restores cwnd and ssthresh, but not the plateau.

use super::reno::Reno;
use super::{AckEvent, CongestionControl, Level, LossEvent, LossPhase, Nature, RateHooks, Recovered, Start};
use crate::sender::ack_counting::{AckCounting, Regime};
use lasthop_base::{Duration, Time, Values};

/// Time for which a computed cost of growth applies if cwnd is unchanged.
const COST_LIFETIME: Duration = Duration::from_micros(31_250);
/// Time after the start of an epoch during which RTT samples do not update the smallest RTT.
const RTT_SETTLING: Duration = Duration::from_secs(1);
/// Largest cost before the plateau is known: acknowledged segments per segment of growth.
const MAX_COST: f64 = 20.0;
/// Smallest cost: acknowledged segments per segment of growth.
const MIN_COST: f64 = 2.0;

/// Linux's CUBIC. All windows are in segments.
pub(super) struct CubicLinux {
    window: Reno,
    mss: u64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Number of acknowledged windows per segment of growth of Reno's cwnd. `None`: no Reno-friendly region.
    reno_pace: Option<f64>,
    /// W_max, the plateau; 0 if unknown.
    plateau: f64,
    /// Smallest RTT since the start of the connection or since the last timeout.
    shortest: Option<Duration>,
    epoch: Option<Epoch>,
    collected: f64,
    /// Arrival time of the last ACK, for the exclusion of idle time.
    last_ack: Time,
    was_idle: bool,
}

struct Epoch {
    began: Time,
    /// K, seconds: time from the start of the epoch to the plateau.
    rise: f64,
    /// Plateau of the cubic function in this epoch.
    origin: f64,
    /// Credit collected towards the next segment of `reno`, segments.
    credit: f64,
    /// Estimate of Reno's cwnd.
    reno: f64,
    /// Cost: acknowledged segments per segment of growth.
    cost: f64,
    computed_at: Time,
    /// cwnd for which `cost` was computed.
    at_cwnd: f64,
}

impl CubicLinux {
    pub(super) fn new(values: &Values, start: &Start) -> CubicLinux {
        let beta = values.number("beta");
        // The kernel computes with integers: `reno_pace` is a multiple of 1/8, rounded down.
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
            epoch: None,
            collected: 0.0,
            last_ack: Time::ZERO,
            was_idle: false,
        }
    }

    fn segments(&self) -> f64 {
        (self.window.window() / self.mss) as f64
    }

    fn note_rtt(&mut self, ack: &AckEvent) {
        let is_settled = self.epoch.as_ref().is_none_or(|epoch| ack.now.since(epoch.began) >= RTT_SETTLING);
        if let Some(rtt) = ack.rtt.filter(|_| is_settled) {
            self.shortest = Some(self.shortest.map_or(rtt, |known| known.min(rtt)));
        }
    }

    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let origin = self.plateau.max(cwnd);
        let rise = libm::cbrt((origin - cwnd) / self.c);
        Epoch { began: now, rise, origin, credit: 0.0, reno: cwnd, cost: 0.0, computed_at: now, at_cwnd: 0.0 }
    }

    /// Adds `acked` segments, the credit of the ACK, to the estimate of Reno's cwnd. Returns the current cost:
    /// acknowledged segments per segment of growth.
    fn cost(&mut self, now: Time, acked: f64) -> f64 {
        let cwnd = self.segments();
        let mut epoch = match self.epoch.take() {
            Some(epoch) => epoch,
            None => self.begin(now, cwnd),
        };
        epoch.credit += acked;
        let is_fresh = epoch.at_cwnd == cwnd && now.since(epoch.computed_at) <= COST_LIFETIME;
        if !is_fresh {
            let ahead = now.since(epoch.began) + self.shortest.unwrap_or(Duration::ZERO);
            let past = ahead.as_secs() - epoch.rise;
            let target = epoch.origin + self.c * past * past * past;
            epoch.cost = if target > cwnd { cwnd / (target - cwnd) } else { 100.0 * cwnd };
            if self.plateau == 0.0 {
                epoch.cost = epoch.cost.min(MAX_COST);
            }
            if let Some(pace) = self.reno_pace {
                let whole = libm::floor(cwnd * pace).max(1.0);
                let more = libm::ceil(epoch.credit / whole) - 1.0;
                if more > 0.0 {
                    epoch.credit -= more * whole;
                    epoch.reno += more;
                }
                if epoch.reno > cwnd {
                    epoch.cost = epoch.cost.min(cwnd / (epoch.reno - cwnd));
                }
            }
            epoch.cost = libm::floor(epoch.cost).max(MIN_COST);
            (epoch.computed_at, epoch.at_cwnd) = (now, cwnd);
        }
        let cost = epoch.cost;
        self.epoch = Some(epoch);
        cost
    }

    /// Sets ssthresh and returns its value in segments. The current cwnd becomes the plateau of the next epoch; fast
    /// convergence lowers that plateau.
    fn lower_ssthresh(&mut self) -> f64 {
        let cwnd = self.segments();
        let sinks = self.fast_convergence && cwnd < self.plateau;
        self.plateau = if sinks { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.epoch = None;
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
            && let Some(epoch) = &mut self.epoch
        {
            epoch.began += since.saturating_sub(ack.rtt.unwrap_or(Duration::ZERO));
        }
        if ack.acked == 0 || ack.held || ack.phase == LossPhase::Recovery || self.window.is_full() {
            return;
        }
        if self.window.in_slow_start() {
            return self.window.on_ack(ack, ack_counting);
        }
        let acked = ack_counting.credit(ack, self.mss, Regime::Avoidance) as f64 / self.mss as f64;
        let cost = self.cost(ack.now, acked);
        let mut grown = self.window.exact_cwnd();
        // If the cost has fallen, the credit collected earlier adds at most one segment.
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
        self.window.set_cwnd(grown);
    }

    fn on_loss(&mut self, _: &LossEvent) {
        let left = self.lower_ssthresh();
        self.window.set_cwnd(left * self.mss as f64);
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
        self.epoch = None;
        self.shortest = None;
        self.collected = 0.0;
        self.window.restart_with_in_flight(loss.still_in_flight);
    }

    fn on_mark(&mut self, _: &LossEvent) {
        self.lower_ssthresh();
        self.window.cap_at_ssthresh();
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
        self.epoch = None;
        self.mss = mss;
        self.window.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.window.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        match recovered {
            Recovered::Kept => self.window.cap_at_ssthresh(),
            Recovered::Probed { .. } | Recovered::Revised { .. } => {
                self.window.on_recovered(flight, recovered);
            }
        }
    }
}

impl RateHooks for CubicLinux {}
