//! TCP Westwood: after a loss or a mark, ssthresh is the measured delivery rate times the RTT, instead of half of
//! FlightSize.

use super::estimate::{Delivered, Tustin};
use super::{Build, CongestionControl, LossEvent, Nature, OnReno, Recovered, Reno, Start, Variant};
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "westwood",
        summary: "sets ssthresh after a loss to the estimated bandwidth times the smallest RTT",
        source: "Mascolo, Casetti, Gerla, Sanadidi, Wang: TCP Westwood, MobiCom 2001 §2.2 to §3",
        parameters: PARAMETERS,
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Westwood::new(values, &start)),
};

pub(super) const PARAMETERS: &[Parameter] = &[TIME_CONSTANT, IDLE, TIMES];

pub(super) const TIME_CONSTANT: Parameter = Parameter {
    name: "time_constant",
    unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(1000)),
    default: Some("500 ms"),
    doc: "time constant of the low-pass filter (tau)",
};

pub(super) const IDLE: Parameter = Parameter {
    name: "idle_samples",
    unit: Unit::Count(2, 1000),
    default: Some("2"),
    doc: "m: number of zero samples added per time constant without an ACK",
};

pub(super) const TIMES: Parameter = Parameter {
    name: "times",
    unit: Unit::Word(&["smallest", "latest"]),
    default: Some("smallest"),
    doc: "RTT by which the bandwidth estimate is multiplied: the smallest or the latest",
};

/// Westwood's bandwidth estimate and reactions to losses. [`super::w_cw`] uses the estimate with other reactions.
pub(super) struct Westwood {
    delivered: Delivered,
    filter: Tustin,
    rtt: Rtt,
}

impl Westwood {
    pub(super) fn new(values: &Values, start: &Start) -> Westwood {
        Westwood {
            delivered: Delivered::new(start.mss),
            filter: Tustin::new(values.duration(TIME_CONSTANT.name), values.count(IDLE.name)),
            rtt: Rtt::new(values),
        }
    }

    fn adapt(&mut self, reno: &mut Reno, now: Time) {
        let bytes = self.filter.estimate(now) * self.rtt.secs();
        reno.set_ssthresh(bytes as u64);
    }
}

pub(super) struct Rtt {
    latest: bool,
    value: Option<Duration>,
}

impl Rtt {
    pub(super) fn new(values: &Values) -> Rtt {
        Rtt { latest: values.word(TIMES.name) == "latest", value: None }
    }

    pub(super) fn on_sample(&mut self, rtt: Duration) {
        let keeps = self.value.filter(|known| !self.latest && *known <= rtt);
        self.value = Some(keeps.unwrap_or(rtt));
    }

    /// Returns the RTT, seconds; zero before the first sample.
    pub(super) fn secs(&self) -> f64 {
        self.value.map_or(0.0, Duration::as_secs)
    }
}

impl Variant for Westwood {
    fn nature(&self) -> Nature {
        Nature { observes: true, ..Nature::FIXED }
    }

    fn observe(&mut self, news: &AckNews) {
        if let Some(rtt) = news.rtt {
            self.rtt.on_sample(rtt);
        }
        let bytes = self.delivered.count(news);
        self.filter.on_delivered(news.now, bytes);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.adapt(reno, loss.now);
        reno.cap_at_ssthresh();
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        if first {
            self.adapt(reno, loss.now);
        }
        reno.restart_with_in_flight(loss.still_in_flight);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
    }

    fn on_segment(&mut self, mss: u64) {
        self.delivered.on_segment(mss);
    }

    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        match recovered {
            // cwnd was limited to ssthresh at the loss and has not grown during recovery.
            Recovered::Kept => reno.cap_at_ssthresh(),
            Recovered::Revised { .. } | Recovered::Probed { .. } => reno.on_recovered(flight, recovered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path has 100 kB/s and a smallest RTT of 80 ms. A loss lowers a cwnd above 8000 bytes to 8000 bytes; a cwnd
    /// below 8000 bytes stays.
    #[test]
    fn the_window_after_a_loss_is_the_pipe() {
        for (initial, after) in [(30_000, 8000), (5000, 5000)] {
            let start = Start {
                window: initial,
                ssthresh: 1 << 30,
                mss: 1000,
                selective: true,
                random: lasthop_base::Stream::named(1, "sender"),
            };
            let mut westwood = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
            let at = |millis| Time::ZERO + Duration::from_millis(millis);
            for k in 0..2000 {
                let rtt = Some(Duration::from_millis(if k == 700 { 80 } else { 120 }));
                westwood.observe(&AckNews { now: at(10 * k), acked: 1000, rtt, ..AckNews::default() });
            }
            let loss =
                LossEvent { now: at(19_990), flight: initial, window: initial, ..LossEvent::default() };
            westwood.on_loss(&loss);
            assert!(westwood.ssthresh().abs_diff(8000) <= 1, "{}", westwood.ssthresh());
            westwood.on_recovered(initial, Recovered::Kept);
            assert!(westwood.window().abs_diff(after) <= 1, "{}", westwood.window());
            westwood.on_timeout(&loss, true);
            assert_eq!(westwood.window(), 1000);
        }
    }
}
