//! YeAH: Scalable TCP while the queue of the path is short, Reno otherwise.
//!
//! Once per round trip, the control estimates the number of queued segments, `Q = W (RTT - base) / RTT`, and the
//! congestion, `L = (RTT - base) / base`. W is cwnd, RTT the smallest RTT of the round, and base the smallest RTT of
//! the connection.
//! * Fast mode, if Q ≤ `most_queued` and L ≤ 1 / `phi`: a round trip adds 1 % of W, but at least one segment.
//! * Slow mode, in all other cases: Reno. If Q > `most_queued`, the control removes Q segments from W, but at most half
//!   of W (precautionary decongestion). W does not fall below the estimated cwnd of a competing Reno flow.
//!
//! A loss removes Q segments, but at least W / 8 and at most W / 2. After `rho` consecutive round trips in slow mode,
//! the control assumes that Reno flows compete, and a loss removes W / 2.
//!
//! The estimated cwnd of a competing Reno flow begins at W / 2, grows by a segment per round trip in slow mode, and is
//! halved at a loss.

use super::{AckEvent, Build, LossEvent, LossPhase, Nature, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "yeah",
        summary: "Scalable TCP while few segments are queued, otherwise Reno; empties the queue before it overflows",
        source: "Baiocchi, Castellani and Vacirca, PFLDnet 2007 (from descriptions and Linux's module)",
        parameters: &[
            Parameter {
                name: "most_queued",
                unit: Unit::Number(1.0, 1e6),
                default: Some("80"),
                doc: "segments in the queue above which the window is reduced",
            },
            Parameter {
                name: "phi",
                unit: Unit::Number(1.0, 1000.0),
                default: Some("8"),
                doc: "slow mode from a queueing delay of base RTT / phi on",
            },
            Parameter {
                name: "rho",
                unit: Unit::Number(0.0, 1e6),
                default: Some("16"),
                doc: "round trips in slow mode after which a loss halves the window",
            },
        ],
        linux_name: Some("yeah"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [most_queued, phi, rho] = ["most_queued", "phi", "rho"].map(|name| values.number(name));
        let (base, least) = (Duration::MAX, Duration::MAX);
        OnReno::boxed(
            &start,
            Yeah {
                most_queued,
                phi,
                rho,
                mss: start.mss as f64,
                base,
                least,
                until: 0,
                queued: 0.0,
                slow_rounds: 0,
                fast_rounds: 0,
                rival: SMALLEST,
            },
        )
    },
};

/// Smallest window of a competing Reno flow, segments.
const SMALLEST: f64 = 2.0;
/// Number of round trips in fast mode since the last loss after which the control assumes that no Reno flow competes.
const ALONE: u32 = 50;

struct Yeah {
    most_queued: f64,
    phi: f64,
    rho: f64,
    mss: f64,
    /// Smallest RTT of the connection.
    base: Duration,
    /// Smallest RTT of the current round.
    least: Duration,
    /// Next byte to send (SND.NXT) at the start of the round.
    until: u64,
    /// Q: estimated number of queued segments.
    queued: f64,
    /// Number of consecutive round trips in slow mode; 0 in fast mode.
    slow_rounds: u32,
    /// Number of round trips in fast mode since the last loss, or since the last reset of `rival`.
    fast_rounds: u32,
    /// Estimated cwnd of a competing Reno flow, segments.
    rival: f64,
}

impl Yeah {
    fn decide(&mut self, reno: &mut Reno) {
        let (window, excess) = (reno.exact_cwnd() / self.mss, self.least.as_secs() - self.base.as_secs());
        self.queued = window * excess / self.least.as_secs();
        let is_full = self.queued > self.most_queued;
        if !is_full && excess <= self.base.as_secs() / self.phi {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > ALONE {
                (self.rival, self.fast_rounds) = (SMALLEST, 0);
            }
            return;
        }
        if is_full && window > self.rival && !reno.in_slow_start() {
            let left = (window - self.queued.min(window / 2.0)).max(self.rival) * self.mss;
            reno.set_ssthresh(left as u64);
            reno.set_cwnd(left);
        }
        let half = (reno.exact_cwnd() / self.mss / 2.0).max(SMALLEST);
        self.rival = if self.rival <= SMALLEST { half } else { self.rival + 1.0 };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }

    /// Updates the state at a loss. Returns the share of cwnd that remains after the loss.
    fn react(&mut self, reno: &Reno) -> f64 {
        let window = reno.exact_cwnd() / self.mss;
        let is_alone = f64::from(self.slow_rounds) < self.rho;
        self.fast_rounds = 0;
        self.rival = (self.rival / 2.0).max(SMALLEST);
        if is_alone { 1.0 - (self.queued / window).clamp(0.125, 0.5) } else { 0.5 }
    }
}

impl Variant for Yeah {
    fn nature(&self) -> Nature {
        Nature { follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            (self.base, self.least) = (self.base.min(rtt), self.least.min(rtt));
        }
        if ack.phase == LossPhase::Open && self.least < Duration::MAX && ack.una > self.until {
            self.decide(reno);
            (self.until, self.least) = (ack.nxt, Duration::MAX);
        }
        let is_fast = self.slow_rounds == 0;
        let segments = if is_fast { (0.01 * reno.exact_cwnd() / self.mss).max(1.0) } else { 1.0 };
        reno.on_ack_adding(segments, ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        let share = self.react(reno);
        reno.keep(share, loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        let share = self.react(reno);
        reno.time_out_keeping(share, loss, first);
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

    /// Without queueing delay, a cwnd of 200 segments grows by 1 % per round trip. A queueing delay of base / 4 exceeds
    /// base / 8, so that cwnd grows by one segment per round trip.
    #[test]
    fn the_mode_follows_the_delay() {
        let grown = |rtt: f64| {
            let mut path = Rounds::of(&MECHANISM, 200);
            path.round(100.0);
            path.round(rtt);
            let before = path.segments();
            path.round(rtt) - before
        };
        assert!((grown(100.0) - 2.0).abs() < 0.1, "{}", grown(100.0));
        assert!((grown(125.0) - 1.0).abs() < 0.1, "{}", grown(125.0));
    }

    /// cwnd is 1000 segments, the RTT 110 ms and the base RTT 100 ms, so that 91 segments are queued. 91 exceeds
    /// `most_queued` (80), and the control removes 91 segments from cwnd.
    #[test]
    fn a_long_queue_is_emptied_before_it_overflows() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        path.round(100.0);
        let before = path.round(110.0);
        // The first ACK of the second round ends the first round at 110 ms.
        let after = path.round(110.0);
        let queued = before * 10.0 / 110.0;
        assert!((before - queued - after).abs() < 3.0, "{before} to {after}, {queued} queued");
    }

    /// A loss removes the queued segments, 200 × 40 / 140 = 57. Without a queue, a loss removes an eighth of cwnd.
    #[test]
    fn a_loss_removes_what_is_queued() {
        for (rtt, share) in [(100.0, 0.875), (140.0, 1.0 - 40.0 / 140.0)] {
            let mut path = Rounds::of(&MECHANISM, 200);
            path.round(100.0);
            path.round(rtt);
            path.round(rtt);
            let full = path.segments();
            let kept = path.lose() / full;
            assert!((kept - share).abs() < 0.01, "{rtt}: {kept}");
        }
    }

    fn yeah(base: f64, least: f64) -> Yeah {
        let seconds = Duration::from_secs_f64;
        Yeah {
            most_queued: 80.0,
            phi: 8.0,
            rho: 16.0,
            mss: 1000.0,
            base: seconds(base),
            least: seconds(least),
            until: 0,
            queued: 0.0,
            slow_rounds: 3,
            fast_rounds: 0,
            rival: SMALLEST,
        }
    }

    fn reno(window: u64, ssthresh: u64) -> Reno {
        Reno::plain(&Rounds::start(window, ssthresh))
    }

    /// The mode is fast up to a queueing delay of base / 8: 1/16 s for a base of 1/2 s. After 51 round trips in fast
    /// mode, the control assumes that no Reno flow competes.
    #[test]
    fn fast_mode_ends_above_an_eighth_of_the_base() {
        let decide = |least, fast_rounds| {
            let mut yeah = Yeah { fast_rounds, rival: 70.0, ..yeah(0.5, least) };
            yeah.decide(&mut reno(200, 2));
            (yeah.slow_rounds, yeah.fast_rounds, yeah.rival)
        };
        assert_eq!([decide(0.5, 0), decide(0.5625, 49)], [(0, 1, 70.0), (0, 50, 70.0)]);
        assert_eq!(decide(0.5625, 50), (0, 0, 2.0));
        assert_eq!(decide(0.5626, 50), (4, 50, 71.0));
        let mut first = yeah(0.5, 0.75);
        first.decide(&mut reno(120, 2));
        assert_eq!((first.rival, first.queued), (60.0, 40.0), "120 x 0.25 / 0.75, and half of the window");
        let mut small = yeah(0.5, 0.75);
        small.decide(&mut reno(3, 2));
        assert_eq!(small.rival, 2.0);
    }

    /// A window of 1000 segments at 0.5625 s has 1000 / 9 = 111.1 queued segments, more than 80. The control removes
    /// them, but at most half of the window, and leaves at least the competing flow's window. A window below the
    /// competing flow's window, and slow start, are not reduced.
    #[test]
    fn a_full_queue_is_removed() {
        let left = |window, ssthresh, least, rival| {
            let mut reno = reno(window, ssthresh);
            let mut yeah = Yeah { rival, ..yeah(0.5, least) };
            yeah.decide(&mut reno);
            (reno.exact_cwnd().round(), reno.ssthresh(), yeah.rival.round())
        };
        assert_eq!(left(1000, 2, 0.5625, 2.0), (888_889.0, 888_888, 444.0));
        assert_eq!(left(200, 2, 2.0, 2.0), (100_000.0, 100_000, 50.0));
        assert_eq!(left(1000, 2, 0.5625, 950.0), (950_000.0, 950_000, 951.0));
        assert_eq!(left(1000, 2, 0.5625, 1000.0), (1_000_000.0, 2000, 1001.0));
        assert_eq!(left(1000, 2000, 0.5625, 2.0), (1_000_000.0, 2_000_000, 500.0));
        // Exactly 80 queued segments (160 / 2) are not too many.
        assert_eq!(left(160, 2, 1.0, 2.0), (160_000.0, 2000, 80.0));
    }

    /// A loss removes the queued segments: an eighth to a half of the window. After 16 round trips in slow mode, a loss
    /// halves the window. The competing flow's window is halved, too.
    #[test]
    fn the_reduction_depends_on_the_mode() {
        let react = |queued, slow_rounds, rival| {
            let mut yeah = Yeah { queued, slow_rounds, rival, fast_rounds: 9, ..yeah(0.1, 0.1) };
            let share = yeah.react(&reno(100, 2));
            assert_eq!(yeah.fast_rounds, 0);
            (share, yeah.rival)
        };
        assert_eq!([react(25.0, 15, 100.0), react(25.0, 16, 3.0)], [(0.75, 50.0), (0.5, 2.0)]);
        assert_eq!([react(5.0, 0, 4.0), react(80.0, 0, 5.0)], [(0.875, 2.0), (0.5, 2.5)]);
    }

    /// In slow mode, cwnd grows by one segment per window. In fast mode, cwnd grows by 1 % per window, but by at least
    /// one segment. A round ends above the byte that was next to send at its start.
    #[test]
    fn growth_by_mode() {
        let grown = |window: u64, slow_rounds, una| {
            let (mut one, mut reno) = (Yeah { slow_rounds, until: 5000, ..yeah(0.5, 0.5) }, reno(window, 2));
            let mut counting = (crate::sender::ack_counting::DEFAULT.build)(&lasthop_base::Values::new());
            let acked = window * 1000;
            let segments = window as u32;
            let ack = AckEvent { una, nxt: 9000, acked, segments, delivered: acked, ..AckEvent::default() };
            one.on_ack(&mut reno, &ack, &mut *counting);
            (one.slow_rounds, one.until, one.least == Duration::MAX)
        };
        assert_eq!([grown(10, 3, 5000), grown(10, 3, 5001)], [(3, 5000, false), (0, 9000, true)]);
    }
}
