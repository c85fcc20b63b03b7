//! A congestion control in a separate crate: general AIMD. Its window grows more slowly than Reno's and is reduced
//! less, so that the window varies less.
//!
//! A loss multiplies the window by β. Without losses the window grows by α segments per round trip. If α is
//! 4 (1 - β²) / 3, the mean square of the window equals Reno's (α = 1, β = 1/2; Yang and Lam 2000, Eq. 7).

use lasthop_base::{Info, Mechanism, Parameter, Unit, Values};
use lasthop_scenario::{Catalogue, Problem};
use lasthop_tcp::sender::ack_counting::AckCounting;
use lasthop_tcp::sender::congestion::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, RateHooks, Recovered, Start,
};

/// Description of the mechanism, for the catalogue.
pub const GAIMD: Mechanism<Build> = Mechanism {
    info: Info {
        name: "gaimd",
        summary: "general AIMD: a window with Reno's mean square and less variation",
        source: "Yang and Lam 2000, Eq. 7",
        parameters: &[Parameter {
            name: "keeps",
            unit: Unit::Number(0.5, 0.99),
            default: Some("0.875"),
            doc: "share of the window kept after a loss",
        }],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Gaimd::new(values, start)),
};

struct Gaimd {
    /// Congestion window, bytes.
    cwnd: f64,
    ssthresh: f64,
    mss: f64,
    keeps: f64,
}

impl Gaimd {
    fn new(values: &Values, start: Start) -> Gaimd {
        Gaimd {
            cwnd: start.window as f64,
            ssthresh: start.ssthresh as f64,
            mss: start.mss as f64,
            keeps: values.number("keeps"),
        }
    }

    /// Returns the growth of the window, segments per round trip.
    fn adds(&self) -> f64 {
        4.0 / 3.0 * (1.0 - self.keeps * self.keeps)
    }

    fn reduce(&mut self, loss: &LossEvent) {
        let flight = (loss.flight as f64).min(self.cwnd);
        self.ssthresh = (flight * self.keeps).max(2.0 * self.mss);
    }
}

impl CongestionControl for Gaimd {
    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh as u64
    }

    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    /// Uses its own byte counting (RFC 3465) instead of the scenario's `ack_counting`.
    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        if ack.held || ack.phase == LossPhase::Recovery {
            return;
        }
        let acked = ack.acked as f64;
        self.cwnd += if self.cwnd < self.ssthresh {
            acked.min(2.0 * self.mss)
        } else {
            self.adds() * self.mss * acked / self.cwnd
        };
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reduce(loss);
        self.cwnd = self.ssthresh;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.reduce(loss);
        self.cwnd = self.mss;
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        if first {
            self.reduce(loss);
        }
        self.cwnd = self.mss;
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.on_loss(loss);
    }

    fn on_idle(&mut self, window: u64) {
        self.cwnd = self.cwnd.min(window as f64);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss as f64;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        self.cwnd = match recovered {
            Recovered::Kept => self.ssthresh,
            Recovered::Probed { window } => window as f64,
            Recovered::Revised { to, .. } => {
                self.ssthresh = to.ssthresh as f64;
                to.window as f64
            }
        };
    }
}

impl RateHooks for Gaimd {}

/// Returns the mean goodput of five runs of 1 min with 0.2 % random loss, kbit/s.
pub fn goodput_kbps(congestion: &str) -> Result<f64, Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.tcp.congestion.add(&GAIMD);
    let mut draft = catalogue.load("rate=20Mbit/s,rtt=40ms,loss=0.2%,ack_counting=bytes")?;
    draft.set("congestion", congestion)?;
    let scenario = draft.check()?;
    let bytes: u64 = (1..=5).map(|seed| lasthop_sim::run(&scenario, seed).flows[0].delivered_bytes).sum();
    Ok(bytes as f64 * 8.0 / 1000.0 / 5.0 / scenario.duration.as_secs())
}

/// Prints one line for each of three senders.
pub fn main() -> Result<(), Problem> {
    for congestion in ["reno", "gaimd", r#"{ kind = "gaimd", keeps = 0.7 }"#] {
        println!("{congestion}: {:.0} kbit/s", goodput_kbps(congestion)?);
    }
    Ok(())
}
