//! TCP Westwood+: Westwood with a sample of the bandwidth per round-trip time.

use super::estimate::{Delivered, PerRtt};
use super::reno::Reno;
use super::westwood::{Rtt, TIMES};
use super::{AckEvent, Build, CongestionControl, LossEvent, Recovered};
use crate::sender::counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

/// See the file.
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
        ..Info::PLAIN
    },
    build: &|values, start| {
        Box::new(WestwoodPlus {
            window: Reno::plain(start),
            delivered: Delivered::new(start.mss),
            filter: PerRtt::new(values.number("weight")),
            rtt: Rtt::new(values),
        })
    },
};

struct WestwoodPlus {
    window: Reno,
    delivered: Delivered,
    filter: PerRtt,
    rtt: Rtt,
}

impl WestwoodPlus {
    fn adapt(&mut self) {
        self.window.set_ssthresh((self.filter.estimate() * self.rtt.secs()) as u64);
    }
}

impl CongestionControl for WestwoodPlus {
    fn window(&self) -> u64 {
        self.window.window()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn observes(&self) -> bool {
        true
    }

    fn observe(&mut self, news: &AckNews) {
        if let Some(rtt) = news.rtt {
            self.rtt.on_sample(rtt);
        }
        let bytes = self.delivered.count(news);
        self.filter.on_delivered(news.now, bytes, news.rtt);
    }

    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) {
        self.window.on_ack(ack, counting);
    }

    fn on_loss(&mut self, _: &LossEvent) {
        self.adapt();
        self.window.cap();
    }

    fn on_restart(&mut self, _: &LossEvent) {
        self.adapt();
        self.window.restart();
    }

    fn on_timeout(&mut self, _: &LossEvent, first: bool) {
        if first {
            self.adapt();
        }
        self.window.restart();
    }

    fn on_mark(&mut self, _: &LossEvent) {
        self.adapt();
        self.window.cap();
    }

    fn on_idle(&mut self, window: u64) {
        self.window.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.window.on_segment(mss);
        self.delivered.on_segment(mss);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        match recovered {
            // It was capped when the loss was found, and does not grow during recovery.
            Recovered::Kept => self.window.cap(),
            Recovered::Revised { .. } | Recovered::Probed { .. } => {
                self.window.on_recovered(flight, recovered)
            }
        }
    }
}
