//! TCP Veno: Vegas' estimate of the number of queued segments distinguishes random losses from congestion.
//!
//! N = W (RTT - base) / RTT is the number of queued segments, where W is cwnd. If N is below `beta`, a loss counts as
//! random and reduces cwnd by a fifth. Otherwise, a loss halves cwnd, and congestion avoidance raises cwnd only at
//! every other ACK.

use super::{AckEvent, Build, CongestionControl, LossEvent, OnReno, Reno, Start, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "veno",
        summary: "Reno, but treats a loss as random while Vegas' estimate of queued segments is low",
        source: "Fu and Liew, IEEE JSAC 21(2), 2003 §3",
        parameters: &[
            Parameter {
                name: "beta",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("3"),
                doc: "queued segments from which the path counts as congested",
            },
            Parameter {
                name: "keeps",
                unit: Unit::Number(0.5, 1.0),
                default: Some("0.8"),
                doc: "share of the window that remains after a random loss",
            },
        ],
        linux_name: Some("veno"),
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Veno::new(values, &start)),
};

struct Veno {
    beta: f64,
    keeps: f64,
    mss: f64,
    /// Smallest RTT since the last loss (§3). `None` until the first RTT sample after a loss.
    base: Option<Duration>,
    rtt: Option<Duration>,
    /// Whether the last ACK that arrived with at least `beta` segments queued has raised cwnd.
    has_grown: bool,
}

impl Veno {
    fn new(values: &Values, start: &Start) -> Veno {
        Veno {
            beta: values.number("beta"),
            keeps: values.number("keeps"),
            mss: start.mss as f64,
            base: None,
            rtt: None,
            has_grown: false,
        }
    }

    /// Returns whether at least `beta` segments are queued (Eq. 1 and 2); `true` before the first RTT sample.
    fn is_congested(&self, window: f64) -> bool {
        let (Some(base), Some(rtt)) = (self.base, self.rtt) else { return true };
        let queueing = rtt.as_nanos().saturating_sub(base.as_nanos());
        window * queueing as f64 >= self.beta * self.mss * rtt.as_nanos() as f64
    }
}

impl Variant for Veno {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
        self.rtt = ack.srtt;
        let is_slow = self.base.is_some() && !reno.in_slow_start() && self.is_congested(reno.exact_cwnd());
        if ack.acked > 0 && is_slow {
            self.has_grown = !self.has_grown;
            if !self.has_grown {
                return;
            }
        }
        reno.on_ack(ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        if self.is_congested(reno.exact_cwnd()) {
            reno.on_loss(loss);
        } else {
            let whole = loss.flight.min(reno.window()) as f64;
            reno.set_ssthresh((self.keeps * whole) as u64);
            reno.set_cwnd(reno.ssthresh() as f64);
        }
        self.base = None;
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        reno.on_timeout(loss, first);
        self.base = None;
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::ack_counting;
    use lasthop_base::{Choice, Stream, Time};

    const MSS: u64 = 1000;

    /// Returns Veno in congestion avoidance with a cwnd of `window` segments, a smallest RTT of 100 ms and a smoothed
    /// RTT of `srtt_ms`.
    fn veno(window: u64, srtt_ms: u64) -> Box<dyn CongestionControl> {
        let random = Stream::named(1, "veno");
        let start = Start { window: window * MSS, ssthresh: 2 * MSS, mss: MSS, selective: true, random };
        let mut veno = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        ack(&mut *veno, 0, srtt_ms);
        veno
    }

    fn ack(veno: &mut dyn CongestionControl, acked: u64, srtt_ms: u64) {
        let ack_counting = Choice::of(&ack_counting::DEFAULT);
        let event = AckEvent {
            acked,
            segments: (acked / MSS) as u32,
            rtt: Some(Duration::from_millis(100)),
            srtt: Some(Duration::from_millis(srtt_ms)),
            ..AckEvent::default()
        };
        veno.on_ack(&event, &mut *(ack_counting.build)(&ack_counting.values));
    }

    fn after_loss(window: u64, srtt_ms: u64) -> u64 {
        let mut veno = veno(window, srtt_ms);
        let whole = window * MSS;
        veno.on_loss(&LossEvent { now: Time::ZERO, flight: whole, window: whole, ..LossEvent::default() });
        veno.window()
    }

    /// Fu and Liew §3.B: at an RTT of 150 ms, a third of cwnd is queued. With cwnd of 30, 9 and 8 segments, the queue
    /// holds 10, 3 and 2.7 segments. `beta` is 3.
    #[test]
    fn a_loss_costs_a_fifth_while_less_than_beta_waits_and_else_half() {
        assert_eq!([after_loss(30, 150), after_loss(9, 150)], [15 * MSS, 4500]);
        assert_eq!([after_loss(8, 150), after_loss(30, 100)], [6400, 24 * MSS]);
    }

    /// Fu and Liew §3.A: a window of ACKs adds a segment to cwnd, or half a segment with `beta` or more segments
    /// queued.
    #[test]
    fn a_full_queue_halves_the_growth() {
        for (srtt_ms, added) in [(100, 1.0), (150, 0.5)] {
            let mut veno = veno(20, srtt_ms);
            (0..20).for_each(|_| ack(&mut *veno, MSS, srtt_ms));
            // Each ACK adds MSS² / cwnd. cwnd grows from ACK to ACK, so that the sum is up to 2.5 % below `added`.
            let grown = (veno.window() - 20 * MSS) as f64 / MSS as f64;
            assert!((added * 0.97..=added).contains(&grown), "{grown} segments at {srtt_ms} ms");
        }
    }

    /// Fu and Liew §3: every loss resets the base RTT, so that another loss before the next RTT sample halves cwnd.
    #[test]
    fn a_second_loss_without_a_round_trip_between_halves() {
        let mut veno = veno(20, 100);
        let loss = |flight| LossEvent { now: Time::ZERO, flight, window: flight, ..LossEvent::default() };
        veno.on_loss(&loss(20 * MSS));
        assert_eq!(veno.window(), 16 * MSS);
        veno.on_loss(&loss(16 * MSS));
        assert_eq!(veno.window(), 8 * MSS);
    }
}
