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

#[cfg(test)]
mod tests {
    use super::super::rounds::{MSS, Rounds};
    use super::*;

    /// C = 0.4 and β = 0.7, without the Reno-friendly region unless `reno_pace` is set.
    fn cubic(window: u64) -> CubicLinux {
        CubicLinux {
            window: Reno::plain(&Rounds::start(window, 2)),
            mss: MSS,
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_pace: None,
            plateau: 0.0,
            shortest: None,
            epoch: None,
            collected: 0.0,
            last_ack: Time::ZERO,
            was_idle: false,
        }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// The target is C t^3 above the plateau, at a time one RTT ahead. At a plateau of 100 segments and t = 2 s, the
    /// target is 103.2 segments, so that one segment of growth costs 100 / 3.2 = 31.25 segments, rounded down.
    #[test]
    fn the_cost_follows_the_cubic_function() {
        let cost = |plateau, ahead: u64, window| {
            let shortest = Some(Duration::from_millis(ahead));
            let mut cubic = CubicLinux { plateau, shortest, ..cubic(window) };
            cubic.cost(at(500), 1.0)
        };
        assert_eq!(cost(100.0, 2000, 100), 31.0);
        assert_eq!(cost(100.0, 0, 100), 10_000.0, "no growth at the plateau");
        assert_eq!(cost(0.0, 0, 100), 20.0, "the plateau is unknown");
        assert_eq!(cost(0.0, 9000, 100), 2.0, "at most one segment for two");
        // 30 segments below the plateau of 100, K is cbrt(30 / 0.4) = 4.217 s. After 1 s the target is 100 - 0.4 x
        // 3.217^3 = 86.68 segments, so that a segment costs 70 / 16.68 = 4.2 segments.
        assert_eq!(cost(100.0, 1000, 70), 4.0);
        assert_eq!(cost(50.0, 2000, 100), 31.0, "a window above the plateau is the new origin");
    }

    /// The cost applies for 31.25 ms, unless cwnd changes.
    #[test]
    fn the_cost_is_cached() {
        let mut cubic = CubicLinux { plateau: 100.0, ..cubic(100) };
        let mut cost = |micros, cwnd| {
            cubic.window.set_cwnd(cwnd);
            cubic.cost(Time::ZERO + Duration::from_micros(micros), 1.0)
        };
        assert_eq!(cost(0, 1e5), 10_000.0);
        assert_eq!(cost(31_250, 1e5), 10_000.0);
        // At 31.251 ms, the target is 1.2e-5 segments above the plateau, which costs more than 100 windows.
        assert!(cost(31_251, 1e5) > 1e6);
        assert!(cost(31_252, 99_000.0) < 100.0, "cwnd has changed");
    }

    /// Reno's estimate grows by one segment for each 1.875 windows of credit beyond the first. 800 segments of credit at
    /// a cwnd of 100 (187 segments per step) are ceil(800 / 187) - 1 = 4 segments, so that a segment costs 100 / 4.
    #[test]
    fn the_estimate_of_reno_bounds_the_cost() {
        let after = |credit| {
            let mut cubic = CubicLinux { plateau: 100.0, reno_pace: Some(1.875), ..cubic(100) };
            let cost = cubic.cost(at(0), credit);
            let epoch = cubic.epoch.expect("an epoch");
            (cost, epoch.reno, epoch.credit)
        };
        assert_eq!(after(800.0), (25.0, 104.0, 52.0));
        assert_eq!([after(187.0), after(188.0)], [(10_000.0, 100.0, 187.0), (100.0, 101.0, 1.0)]);
        let values = super::super::cubic::MECHANISM.info.defaults();
        let pace = CubicLinux::new(&values, &Rounds::start(10, 2)).reno_pace;
        assert_eq!(pace, Some(15.0 / 8.0), "8 x 1.7 / 0.9 = 15.1 eighths");
    }

    /// Fast convergence applies only below the plateau: `cwnd < last_max_cwnd` in `cubictcp_recalc_ssthresh`.
    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let plateau = |window, plateau, fast_convergence| {
            let mut cubic = CubicLinux { plateau, fast_convergence, ..cubic(window) };
            assert_eq!(cubic.lower_ssthresh(), (window * 7 / 10) as f64);
            (cubic.plateau, cubic.ssthresh())
        };
        assert_eq!([plateau(100, 100.0, true), plateau(100, 99.0, true)], [(100.0, 70_000); 2]);
        assert_eq!(
            [plateau(100, 101.0, true), plateau(100, 101.0, false)],
            [(85.0, 70_000), (100.0, 70_000)]
        );
    }

    /// RTT samples in the first second of an epoch do not count.
    #[test]
    fn round_trips_settle_for_a_second() {
        let mut cubic = cubic(100);
        let mut note = |now, rtt| {
            cubic.note_rtt(&AckEvent {
                now: at(now),
                rtt: Some(Duration::from_millis(rtt)),
                ..AckEvent::default()
            });
            cubic.shortest.map(|shortest| shortest.as_millis())
        };
        assert_eq!([note(0, 50), note(1, 60), note(2, 40)], [Some(50.0), Some(50.0), Some(40.0)]);
        cubic.cost(at(100), 1.0);
        let mut note = |now, rtt| {
            cubic.note_rtt(&AckEvent {
                now: at(now),
                rtt: Some(Duration::from_millis(rtt)),
                ..AckEvent::default()
            });
            cubic.shortest.map(|shortest| shortest.as_millis())
        };
        assert_eq!([note(1099, 30), note(1100, 35)], [Some(40.0), Some(35.0)]);
    }

    /// At a cost of 10,000, credit only collects. After a timeout, plateau, epoch, RTT and credit are discarded. Idle time
    /// does not count as time of the epoch.
    #[test]
    fn events_reset_the_epoch() {
        let mut counting = (crate::sender::ack_counting::DEFAULT.build)(&Values::new());
        let mut cubic = CubicLinux { plateau: 100.0, ..cubic(100) };
        let ack = AckEvent {
            now: at(100),
            acked: MSS,
            segments: 1,
            delivered: MSS,
            rtt: Some(Duration::from_millis(10)),
            ..AckEvent::default()
        };
        cubic.on_ack(&ack, &mut *counting);
        assert_eq!((cubic.collected, cubic.window()), (1.0, 100 * MSS));
        for ack in [AckEvent { held: true, ..ack }, AckEvent { phase: LossPhase::Recovery, ..ack }] {
            cubic.on_ack(&ack, &mut *counting);
        }
        assert_eq!(cubic.collected, 1.0);
        let began = |cubic: &CubicLinux| cubic.epoch.as_ref().map(|epoch| epoch.began);
        assert_eq!(began(&cubic), Some(at(100)));
        cubic.on_idle(100 * MSS);
        cubic.on_ack(&AckEvent { now: at(1110), ..ack }, &mut *counting);
        assert_eq!(began(&cubic), Some(at(1100)), "idle for 1010 ms, less the RTT");
        cubic.on_ack(&AckEvent { now: at(1200), ..ack }, &mut *counting);
        assert_eq!(began(&cubic), Some(at(1100)));
        cubic.on_segment(500);
        assert_eq!((cubic.plateau, cubic.mss, cubic.epoch.is_none()), (200.0, 500, true));
        cubic.on_timeout(&LossEvent { still_in_flight: 3000, ..LossEvent::default() }, true);
        assert_eq!((cubic.plateau, cubic.shortest, cubic.collected), (0.0, None, 0.0));
        let ssthresh = cubic.ssthresh();
        cubic.on_timeout(&LossEvent::default(), false);
        assert_eq!(cubic.ssthresh(), ssthresh, "a repeated timeout keeps ssthresh");
    }

    /// At a cost of 10, ten segments of credit add one segment. Credit from a higher cost adds at most one segment.
    #[test]
    fn credit_becomes_growth() {
        let mut counting = (crate::sender::ack_counting::DEFAULT.build)(&Values::new());
        let mut grown = |collected, segments: u64| {
            let began = at(100);
            let epoch = Epoch {
                began,
                rise: 0.0,
                origin: 100.0,
                credit: 0.0,
                reno: 100.0,
                cost: 10.0,
                computed_at: began,
                at_cwnd: 100.0,
            };
            let mut cubic = CubicLinux { plateau: 100.0, collected, epoch: Some(epoch), ..cubic(100) };
            let acked = segments * MSS;
            let ack = AckEvent {
                now: began,
                acked,
                segments: segments as u32,
                delivered: acked,
                ..AckEvent::default()
            };
            cubic.on_ack(&ack, &mut *counting);
            (cubic.window() / MSS, cubic.collected)
        };
        assert_eq!([grown(0.0, 1), grown(8.0, 1), grown(9.0, 1)], [(100, 1.0), (100, 9.0), (101, 0.0)]);
        assert_eq!([grown(10.0, 1), grown(35.0, 1)], [(101, 1.0), (101, 1.0)]);
    }
}
