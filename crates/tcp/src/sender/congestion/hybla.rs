//! TCP Hybla: a long path grows as fast, in time, as a short one would.
//!
//! `ρ = max(RTT / RTT0, 1)`. For each segment acknowledged slow start adds `2^ρ - 1` segments and avoidance `ρ² / W`: the window
//! is ρ times that of a Reno flow whose round trip is RTT0, at any time. A loss halves.
//!
//! As in Linux ρ is computed anew only when the smoothed RTT is smaller than ever, the window begins at ρ segments at least,
//! slow start ends at ssthresh exactly, the exponent is bounded, and until what a timeout left outstanding is acknowledged the
//! window is Reno's.
//!
//! # What is absent
//! The paper's first threshold by Hoe's estimate, and pacing. Without a threshold (`initial_ssthresh`) the window of a
//! satellite path asks within a round trip for millions of segments: only the receiver's window and the queue bound it.

use super::{AckEvent, Build, CongestionControl, OnReno, Phase, Reno, Start, Variant};
use crate::sender::counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Values};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hybla",
        summary: "grows by 2^rho - 1 and rho squared, rho = RTT / 25 ms: as fast in time as a short path",
        source: "Caini and Firrincieli, Int. J. Satell. Commun. 22, 2004 (by lecture notes and Linux's description)",
        parameters: &[
            Parameter {
                name: "rtt0",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(10)),
                default: Some("25 ms"),
                doc: "round-trip time of the path that is equalled (RTT0)",
            },
            Parameter {
                name: "exponent",
                unit: Unit::Number(1.0, 30.0),
                default: Some("16"),
                doc: "the largest rho in 2^rho (Linux: 16; the paper has no bound)",
            },
            Parameter {
                name: "scales",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether the first window is rho segments at least, and a given initial_ssthresh times rho",
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
    /// The smallest smoothed RTT, and what follows from it.
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

    fn learn(&mut self, reno: &mut Reno, srtt: Duration) {
        if self.smallest.is_some_and(|known| known <= srtt) {
            return;
        }
        self.rho = (srtt.as_secs() / self.rtt0.as_secs()).max(1.0);
        let is_first = self.smallest.replace(srtt).is_none();
        if is_first && self.scales {
            reno.set(reno.exact().max(self.rho * self.mss as f64));
            if !self.unlimited {
                reno.set_ssthresh((self.rho * reno.ssthresh() as f64) as u64);
            }
        }
    }
}

impl Variant for Hybla {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, counting: &mut dyn AckCounting) {
        if let Some(srtt) = ack.srtt {
            self.learn(reno, srtt);
        }
        if ack.phase == Phase::Restart {
            return reno.on_ack(ack, counting);
        }
        if ack.acked == 0 || ack.held || ack.phase == Phase::Recovery || reno.is_full() {
            return;
        }
        let (window, mss) = (reno.exact(), self.mss as f64);
        // Segments, not ACKs: a delayed ACK counts for two.
        let acked = ack.acked as f64;
        if reno.in_slow_start() {
            let grown = window + acked * (libm::exp2(self.rho.min(self.exponent)) - 1.0);
            reno.set(grown.min((reno.ssthresh() as f64).max(window)));
        } else {
            reno.set(window + acked * self.rho * self.rho * mss / window);
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

    /// A path without a queue: the window in segments over rho after so many seconds, in whole round trips. Each round trip
    /// acknowledges the window that it began with.
    fn grown(rtt_ms: u64, ssthresh: u64, seconds: f64) -> f64 {
        let random = Stream::named(1, "hybla");
        let start = Start { window: MSS, ssthresh, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        let counting = Choice::of(&crate::sender::counting::DEFAULT);
        let mut counting = (counting.build)(&counting.values);
        let rtt = Duration::from_millis(rtt_ms);
        let event =
            AckEvent { acked: MSS, segments: 1, rtt: Some(rtt), srtt: Some(rtt), ..AckEvent::default() };
        control.on_ack(&AckEvent { acked: 0, ..event }, &mut *counting);
        let mut elapsed = 0.0;
        while elapsed + rtt.as_secs() <= seconds + 1e-9 {
            for _ in 0..control.window() / MSS {
                control.on_ack(&event, &mut *counting);
            }
            elapsed += rtt.as_secs();
        }
        control.window() as f64 / MSS as f64 / (rtt_ms as f64 / 25.0)
    }

    /// From ssthresh (20 segments, times rho) on a segment in 25 ms, whatever the round trip: 20 + 60 s / 25 ms = 2420 segments
    /// over rho. A long round trip lags a little, since each of its ACKs sees a window that the ACKs before it have raised, by
    /// more as long as it is small.
    #[test]
    fn avoidance_is_the_same_in_time() {
        for rtt_ms in [25, 100, 600] {
            let windows = grown(rtt_ms, 20 * MSS, 60.0);
            assert!((windows / 2420.0 - 1.0).abs() < 0.05, "{rtt_ms} ms: {windows}");
        }
    }

    /// Slow start doubles in 25 ms: 2^8 after 200 ms.
    #[test]
    fn slow_start_is_the_same_in_time() {
        for rtt_ms in [25, 50, 100] {
            let windows = grown(rtt_ms, 1 << 30, 0.2);
            assert!((windows / 256.0 - 1.0).abs() < 0.05, "{rtt_ms} ms: {windows}");
        }
    }

    /// Below 25 ms it is Reno, at the end of slow start it stops at ssthresh, and a loss halves.
    #[test]
    fn a_short_path_is_renos() {
        assert!((grown(10, 2 * MSS, 1.0) * 0.4 - 102.0).abs() < 5.0);
        let random = Stream::named(1, "hybla");
        let start = Start { window: 10 * MSS, ssthresh: 15 * MSS, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        let counting = Choice::of(&crate::sender::counting::DEFAULT);
        let srtt = Some(Duration::from_millis(250));
        let ack = AckEvent { acked: MSS, segments: 1, srtt, ..AckEvent::default() };
        control.on_ack(&ack, &mut *(counting.build)(&counting.values));
        // rho = 10: the threshold is 150 segments, 1023 a segment would pass it.
        assert_eq!((control.window(), control.ssthresh()), (150 * MSS, 150 * MSS));
        let window = 150 * MSS;
        control.on_loss(&LossEvent { now: Time::ZERO, flight: window, window, ..LossEvent::default() });
        assert_eq!(control.window(), 75 * MSS);
    }
}
