//! TCP Westwood+: Westwood with one bandwidth sample per RTT.

use super::estimate::{Delivered, PerRtt};
use super::westwood::{Rtt, TIMES};
use super::{Build, CongestionControl, LossEvent, Nature, OnReno, Recovered, Reno, Variant};
use crate::sender::recovery::AckNews;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "westwood_plus",
        summary: "Westwood with one bandwidth sample per RTT",
        source: "Grieco and Mascolo, ACM CCR 34(2), 2004 §2",
        parameters: &[
            Parameter {
                name: "weight",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.1"),
                doc: "weight of a new sample in the estimate (alpha = 0.9; Linux: 0.125)",
            },
            TIMES,
        ],
        linux_name: Some("westwood"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let plus = WestwoodPlus {
            delivered: Delivered::new(start.mss),
            filter: PerRtt::new(values.number("weight")),
            rtt: Rtt::new(values),
        };
        OnReno::boxed(&start, plus)
    },
};

struct WestwoodPlus {
    delivered: Delivered,
    filter: PerRtt,
    rtt: Rtt,
}

impl WestwoodPlus {
    fn adapt(&mut self, reno: &mut Reno) {
        reno.set_ssthresh((self.filter.estimate() * self.rtt.secs()) as u64);
    }
}

impl Variant for WestwoodPlus {
    fn nature(&self) -> Nature {
        Nature { observes: true, ..Nature::FIXED }
    }

    fn observe(&mut self, news: &AckNews) {
        if let Some(rtt) = news.rtt {
            self.rtt.on_sample(rtt);
        }
        let bytes = self.delivered.count(news);
        self.filter.on_delivered(news.now, bytes, news.rtt);
    }

    fn on_loss(&mut self, reno: &mut Reno, _: &LossEvent) {
        self.adapt(reno);
        reno.cap_at_ssthresh();
    }

    fn on_timeout(&mut self, reno: &mut Reno, _: &LossEvent, first: bool) {
        if first {
            self.adapt(reno);
        }
        reno.restart();
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
