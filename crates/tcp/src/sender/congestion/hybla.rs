//! TCP Hybla: cwnd of a path with a long RTT grows so fast that the rate grows as on a path with a short RTT.
//!
//! `ρ = max(RTT / RTT0, 1)`. For each acknowledged segment, slow start adds `2^ρ - 1` segments, and avoidance adds `ρ²
//! / W` segments, where W is cwnd. W is ρ times the cwnd of a Reno flow with the round-trip time RTT0. A loss halves W.
//!
//! As in Linux, ρ changes only when the smoothed RTT reaches a new minimum, and the initial window is at least ρ
//! segments. Slow start ends exactly at ssthresh, and the parameter `exponent` limits ρ in `2^ρ`. After a timeout, cwnd
//! grows as in Reno until the data outstanding at the timeout is acknowledged.
//!
//! # Not modelled
//! Pacing, and the paper's initial ssthresh by Hoe's estimate, are not modelled. Without `initial_ssthresh`, cwnd of a
//! satellite path reaches millions of segments within a round trip. Only the receive window and the queue then limit
//! the sender.

use super::{AckEvent, Build, CongestionControl, LossPhase, OnReno, Reno, Start, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hybla",
        summary: "grows as fast per second as on a path with an RTT of 25 ms: 2^rho - 1 or rho squared times as fast \
                  per ACK, rho = RTT / 25 ms",
        source: "Caini and Firrincieli, Int. J. Satell. Commun. 22, 2004 (from lecture notes and Linux's description)",
        parameters: &[
            Parameter {
                name: "rtt0",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(10)),
                default: Some("25 ms"),
                doc: "RTT0: round-trip time of the reference path",
            },
            Parameter {
                name: "exponent",
                unit: Unit::Number(1.0, 30.0),
                default: Some("16"),
                doc: "largest rho in 2^rho (Linux: 16; the paper has no bound)",
            },
            Parameter {
                name: "scales",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "initial window of at least rho segments, and initial_ssthresh multiplied by rho",
            },
        ],
        linux_name: Some("hybla"),
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Hybla::new(values, &start)),
};

struct Hybla {
    rtt0: Duration,
    exponent: f64,
    scales: bool,
    mss: u64,
    unlimited: bool,
    smallest: Option<Duration>,
    rho: f64,
}

impl Hybla {
    fn new(values: &Values, start: &Start) -> Hybla {
        Hybla {
            rtt0: values.duration("rtt0"),
            exponent: values.number("exponent"),
            scales: values.flag("scales"),
            mss: start.mss,
            unlimited: start.ssthresh >= 1 << 30,
            smallest: None,
            rho: 1.0,
        }
    }

    fn update_rho(&mut self, reno: &mut Reno, srtt: Duration) {
        if self.smallest.is_some_and(|known| known <= srtt) {
            return;
        }
        self.rho = (srtt.as_secs() / self.rtt0.as_secs()).max(1.0);
        let is_first = self.smallest.replace(srtt).is_none();
        if is_first && self.scales {
            reno.set_cwnd(reno.exact_cwnd().max(self.rho * self.mss as f64));
            if !self.unlimited {
                reno.set_ssthresh((self.rho * reno.ssthresh() as f64) as u64);
            }
        }
    }
}

impl Variant for Hybla {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if let Some(srtt) = ack.srtt {
            self.update_rho(reno, srtt);
        }
        if ack.phase == LossPhase::Restart {
            return reno.on_ack(ack, ack_counting);
        }
        if ack.acked == 0 || ack.held || ack.phase == LossPhase::Recovery || reno.is_full() {
            return;
        }
        let (window, mss) = (reno.exact_cwnd(), self.mss as f64);
        // The growth counts acknowledged bytes, not ACKs: a delayed ACK for two segments counts twice.
        let acked = ack.acked as f64;
        if reno.in_slow_start() {
            let grown = window + acked * (libm::exp2(self.rho.min(self.exponent)) - 1.0);
            reno.set_cwnd(grown.min((reno.ssthresh() as f64).max(window)));
        } else {
            reno.set_cwnd(window + acked * self.rho * self.rho * mss / window);
        }
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::congestion::LossEvent;
    use lasthop_base::{Choice, Stream, Time};

    const MSS: u64 = 1000;

    /// Returns cwnd divided by rho, in segments, after `seconds` of whole round trips on a path without a queue.
    fn grown(rtt_ms: u64, ssthresh: u64, seconds: f64) -> f64 {
        let random = Stream::named(1, "hybla");
        let start = Start { window: MSS, ssthresh, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        let ack_counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        let mut ack_counting = (ack_counting.build)(&ack_counting.values);
        let rtt = Duration::from_millis(rtt_ms);
        let event =
            AckEvent { acked: MSS, segments: 1, rtt: Some(rtt), srtt: Some(rtt), ..AckEvent::default() };
        control.on_ack(&AckEvent { acked: 0, ..event }, &mut *ack_counting);
        let mut elapsed = 0.0;
        while elapsed + rtt.as_secs() <= seconds + 1e-9 {
            for _ in 0..control.window() / MSS {
                control.on_ack(&event, &mut *ack_counting);
            }
            elapsed += rtt.as_secs();
        }
        control.window() as f64 / MSS as f64 / (rtt_ms as f64 / 25.0)
    }

    /// Avoidance begins at ssthresh, rho times 20 segments. cwnd / rho then grows by one segment per 25 ms at every
    /// RTT: 20 + 60 s / 25 ms = 2420 segments. With a long RTT, growth is slightly slower: an ACK adds rho² / W, and
    /// earlier ACKs of the round trip have already raised W.
    #[test]
    fn avoidance_is_the_same_in_time() {
        for rtt_ms in [25, 100, 600] {
            let windows = grown(rtt_ms, 20 * MSS, 60.0);
            assert!((windows / 2420.0 - 1.0).abs() < 0.05, "{rtt_ms} ms: {windows}");
        }
    }

    /// Slow start doubles cwnd / rho every 25 ms, so that cwnd / rho grows by the factor 2^8 in 200 ms.
    #[test]
    fn slow_start_is_the_same_in_time() {
        for rtt_ms in [25, 50, 100] {
            let windows = grown(rtt_ms, 1 << 30, 0.2);
            assert!((windows / 256.0 - 1.0).abs() < 0.05, "{rtt_ms} ms: {windows}");
        }
    }

    /// At an RTT below 25 ms, Hybla equals Reno: slow start ends at ssthresh, and a loss halves cwnd.
    #[test]
    fn a_short_path_is_renos() {
        assert!((grown(10, 2 * MSS, 1.0) * 0.4 - 102.0).abs() < 5.0);
        let random = Stream::named(1, "hybla");
        let start = Start { window: 10 * MSS, ssthresh: 15 * MSS, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        let ack_counting = Choice::of(&crate::sender::ack_counting::DEFAULT);
        let srtt = Some(Duration::from_millis(250));
        let ack = AckEvent { acked: MSS, segments: 1, srtt, ..AckEvent::default() };
        control.on_ack(&ack, &mut *(ack_counting.build)(&ack_counting.values));
        // rho is 10, so that ssthresh is 150 segments. An increase by 2^10 - 1 = 1023 segments would exceed ssthresh.
        assert_eq!((control.window(), control.ssthresh()), (150 * MSS, 150 * MSS));
        let window = 150 * MSS;
        control.on_loss(&LossEvent { now: Time::ZERO, flight: window, window, ..LossEvent::default() });
        assert_eq!(control.window(), 75 * MSS);
    }
}
