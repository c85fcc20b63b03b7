//! TCP Vegas: keeps one to three segments in the queue of the path.
//!
//! Once per round trip, `extra = cwnd (RTT - BaseRTT) / RTT` gives the number of segments beyond the bandwidth-delay
//! product. If `extra` is below `alpha`, cwnd grows by a segment. If `extra` is above `beta`, cwnd shrinks by a
//! segment. Slow start doubles cwnd every other round trip and ends if `extra` is above `gamma`. BaseRTT is the
//! smallest RTT of the connection. RTT is the smallest RTT of the round.
//!
//! # Not modelled
//! Vegas' fine-grained retransmission timer and Vegas' reduction of cwnd by a quarter are not modelled. The sender's
//! recovery mechanism detects losses, and a loss halves cwnd as in Reno. A loss therefore reduces cwnd by more than in
//! the paper.

use super::{AckEvent, Build, CongestionControl, LossPhase, Nature, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

const SEGMENTS: Unit = Unit::Number(0.0, 1000.0);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "vegas",
        summary: "changes the window by at most a segment per round trip, to keep one to three segments queued",
        source: "Brakmo and Peterson, IEEE JSAC 13(8), 1995 (from descriptions)",
        parameters: &[
            Parameter {
                name: "alpha",
                unit: SEGMENTS,
                default: Some("1"),
                doc: "segments in the queue below which cwnd grows",
            },
            Parameter {
                name: "beta",
                unit: SEGMENTS,
                default: Some("3"),
                doc: "segments in the queue above which cwnd shrinks",
            },
            Parameter {
                name: "gamma",
                unit: SEGMENTS,
                default: Some("1"),
                doc: "segments in the queue above which slow start ends",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|name| values.number(name));
        let (base, least) = (Duration::MAX, Duration::MAX);
        OnReno::boxed(
            &start,
            Vegas { alpha, beta, gamma, mss: start.mss, base, least, until: 0, doubles: false },
        )
    },
};

struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    mss: u64,
    /// Smallest RTT of the connection (BaseRTT).
    base: Duration,
    /// Smallest RTT of the current round, including the ACK that ends the round.
    least: Duration,
    /// Next byte to send (SND.NXT) at the start of the round.
    until: u64,
    /// Whether slow start doubles cwnd in the current round. The first ACK begins the first round.
    doubles: bool,
}

impl Vegas {
    fn decide(&mut self, reno: &mut Reno, is_held: bool) {
        let extra = reno.exact_cwnd() / self.mss as f64 * (1.0 - self.base.as_secs() / self.least.as_secs());
        let mss = self.mss as f64;
        if reno.in_slow_start() {
            if extra > self.gamma {
                reno.leave_slow_start();
            } else {
                self.doubles = !self.doubles;
            }
        } else if extra > self.beta {
            reno.set_cwnd((reno.exact_cwnd() - mss).max(2.0 * mss));
        } else if extra < self.alpha && !is_held {
            reno.set_cwnd(reno.exact_cwnd() + mss);
        }
    }
}

impl Variant for Vegas {
    fn nature(&self) -> Nature {
        Nature { follows_delay: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            (self.base, self.least) = (self.base.min(rtt), self.least.min(rtt));
        }
        if ack.phase == LossPhase::Open && self.least < Duration::MAX && ack.una > self.until {
            self.decide(reno, ack.held);
            (self.until, self.least) = (ack.nxt, Duration::MAX);
        }
        if ack.phase != LossPhase::Open || (reno.in_slow_start() && self.doubles) {
            reno.on_ack(ack, ack_counting);
        }
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::congestion::Start;
    use lasthop_base::{Choice, Stream};

    const MSS: u64 = 1000;

    /// Returns cwnd in segments after each round. A round has the RTT given in `rounds_ms`, and one ACK per segment.
    /// BaseRTT is 100 ms.
    fn after(window: u64, ssthresh: u64, rounds_ms: &[u64]) -> Vec<f64> {
        let random = Stream::named(1, "vegas");
        let start =
            Start { window: window * MSS, ssthresh: ssthresh * MSS, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        let ack_counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        let mut ack_counting = (ack_counting.build)(&ack_counting.values);
        let (mut una, mut nxt) = (1, 1 + control.window());
        let mut round = |ms: u64| {
            for _ in 0..(nxt - una) / MSS {
                una += MSS;
                let rtt = Some(Duration::from_millis(ms));
                let ack = AckEvent { una, nxt, acked: MSS, segments: 1, rtt, ..AckEvent::default() };
                control.on_ack(&ack, &mut *ack_counting);
                nxt = nxt.max(una + control.window());
            }
            control.window() as f64 / MSS as f64
        };
        rounds_ms.iter().map(|ms| round(*ms)).collect()
    }

    /// With 20 segments in flight, 20 (1 - 100 / RTT) segments are queued. At 100 ms, no segment is queued, and cwnd
    /// grows by one segment. At 110 ms, 1.8 segments are queued, and cwnd stays. At 125 ms, 4 segments are queued, and
    /// cwnd shrinks by one segment.
    #[test]
    fn one_to_three_segments_wait() {
        assert_eq!(after(20, 1, &[100, 110, 110, 110]), [21.0, 22.0, 22.0, 22.0]);
        assert_eq!(after(20, 1, &[100, 125, 125, 125]), [21.0, 22.0, 21.0, 20.0]);
    }

    /// Slow start doubles cwnd in every other round. At 110 ms, 2.9 of 32 segments are queued, so that slow start ends.
    /// Each round at 100 ms adds a segment at the first ACK of the round. This ACK also ends the previous round, so
    /// that the RTT sample of this ACK counts in both rounds.
    #[test]
    fn slow_start_doubles_every_other_round() {
        assert_eq!(after(2, 1000, &[100, 100, 100, 100, 100]), [4.0, 4.0, 8.0, 8.0, 16.0]);
        assert_eq!(after(16, 1000, &[100, 110, 110, 100, 100, 100]), [32.0, 32.0, 32.0, 33.0, 34.0, 35.0]);
    }

    /// Brakmo and Peterson 1995: cwnd falls by a segment above beta queued segments, and grows by a segment below alpha.
    /// At twice the base RTT, half of the window is queued.
    #[test]
    fn the_window_follows_the_queued_segments() {
        let decide = |window: u64, ssthresh, is_held, [alpha, beta, gamma]: [f64; 3]| {
            let random = Stream::named(1, "sender");
            let start = Start { window: window * 1000, ssthresh, mss: 1000, selective: true, random };
            let mut reno = Reno::plain(&start);
            let (base, least) = (Duration::from_millis(500), Duration::from_secs(1));
            let mut vegas = Vegas { alpha, beta, gamma, mss: 1000, base, least, until: 0, doubles: false };
            vegas.decide(&mut reno, is_held);
            (reno.exact_cwnd(), reno.in_slow_start(), vegas.doubles)
        };
        let usual = [2.0, 4.0, 1.0];
        let windows = [3, 4, 8, 9].map(|window| decide(window, 1000, false, usual).0);
        assert_eq!(windows, [4000.0, 4000.0, 8000.0, 8000.0]);
        assert_eq!(decide(3, 1000, true, usual).0, 3000.0, "an unused window does not grow");
        assert_eq!([2, 3].map(|window| decide(window, 1000, false, [0.0, 0.5, 1.0]).0), [2000.0, 2000.0]);
        // Slow start doubles in every other round, and ends above gamma queued segments.
        assert_eq!(decide(2, 1 << 30, false, usual), (2000.0, true, true));
        assert!(!decide(3, 1 << 30, false, usual).1);
    }
}
