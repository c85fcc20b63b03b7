//! TCP Jersey: cwnd follows the delivery rate. A loss without a router's warning (congestion mark) counts as a random
//! error.
//!
//! * A marked ACK triggers rate control: ssthresh becomes the estimated bandwidth times the smallest RTT, and cwnd
//!   falls to ssthresh.
//! * Three duplicate ACKs cause rate control and recovery if the third is marked. If the third is unmarked, the sender
//!   only retransmits the segment ("explicit retransmit"), and cwnd and ssthresh stay.
//! * A timeout sets ssthresh to the estimated bandwidth times the smallest RTT, and cwnd to one segment.
//!
//! # Warnings
//! The paper's routers mark every packet while the average queue exceeds a threshold (`queue = "warn"`). The receiver
//! must echo the mark of each packet (`ecn_echo = "per_packet"`). RFC 3168's ECE lasts until CWR arrives and would mark
//! duplicate ACKs for unmarked packets. **Without a warning router, no loss reduces cwnd**, because the control does
//! not detect a full queue.
//!
//! # Our choices
//! The algorithm is known from memory and from saad §3.B. Our choices are:
//! * Rate control acts at most once per smoothed RTT (`marks`).
//! * Rate control never raises cwnd (`raises`).
//! * The response to a timeout.

use super::estimate::{Delivered, Sliding};
use super::non_congestion::NonCongestion;
use super::{Build, CongestionControl, LossEvent, MarkPace, Nature, OnReno, Recovered, Reno, Start, Variant};
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "jersey",
        summary: "sets ssthresh from the rate of ACKs at a router's warning; keeps the window at a loss without a \
                  warning",
        source: "Xu, Tian, Ansari, IEEE JSAC 22(4), 2004, from memory; saad §3.B; details are ours",
        parameters: PARAMETERS,
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Jersey::new(values, &start, DeliveryClock::Arrival)),
};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "marks",
        unit: Unit::Word(&["rtt", "window", "every"]),
        default: Some("rtt"),
        doc: "pace of rate control by marked ACKs: once per smoothed RTT (our choice), once per window of data, or \
              every ACK",
    },
    Parameter {
        name: "raises",
        unit: Unit::Flag,
        default: Some("false"),
        doc: "rate control in avoidance may raise cwnd to the estimate (the paper's wording, from memory), not only \
              lower it",
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DeliveryClock {
    /// The sender's clock, which gives the arrival times of the ACKs.
    Arrival,
    /// The receiver's clock, which gives the timestamps in the ACKs.
    Receiver,
}

pub(super) struct Jersey {
    clock: DeliveryClock,
    pace: MarkPace,
    raises: bool,
    delivered: Delivered,
    filter: Sliding,
    latest: Option<Duration>,
    smallest: Option<Duration>,
    non_congestion: NonCongestion,
}

impl Jersey {
    pub(super) fn new(values: &Values, start: &Start, clock: DeliveryClock) -> Jersey {
        Jersey {
            clock,
            pace: match values.word("marks") {
                "window" => MarkPace::Window,
                "every" => MarkPace::Every,
                _ => MarkPace::Rtt,
            },
            raises: values.flag("raises"),
            delivered: Delivered::new(start.mss),
            filter: Sliding::default(),
            latest: None,
            smallest: None,
            non_congestion: NonCongestion::default(),
        }
    }

    /// Returns the optimal window (ownd), bytes: estimated bandwidth times smallest RTT. `None` without an RTT sample.
    fn optimum(&self) -> Option<u64> {
        let rtt = self.smallest?.as_secs();
        Some((rtt * self.filter.estimate()) as u64)
    }

    fn control_rate(&mut self, reno: &mut Reno, loss: &LossEvent) {
        let Some(optimum) = self.optimum() else { return reno.on_mark(loss) };
        let is_avoiding = !reno.in_slow_start();
        reno.set_ssthresh(optimum);
        if self.raises && is_avoiding {
            reno.set_cwnd(reno.ssthresh() as f64);
        } else {
            reno.cap_at_ssthresh();
        }
    }
}

impl Variant for Jersey {
    fn nature(&self) -> Nature {
        Nature { observes: true, mark_pace: self.pace, judges_by_mark: true, ..Nature::FIXED }
    }

    fn observe(&mut self, news: &AckNews) {
        if let Some(rtt) = news.rtt {
            self.latest = Some(rtt);
            self.smallest = Some(self.smallest.map_or(rtt, |known| known.min(rtt)));
        }
        let bytes = self.delivered.count(news);
        let at = match self.clock {
            DeliveryClock::Arrival => Some(news.now),
            DeliveryClock::Receiver => news.clock,
        };
        if let (Some(at), Some(rtt)) = (at, self.latest) {
            self.filter.on_delivered(at, bytes, rtt);
        }
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        if loss.marked {
            self.non_congestion.forget();
            self.control_rate(reno, loss);
        } else {
            self.non_congestion.note(reno);
        }
    }

    fn on_restart(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_timeout(reno, loss, true);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        self.non_congestion.forget();
        match (first, self.optimum()) {
            (true, Some(optimum)) => {
                reno.set_ssthresh(optimum);
                reno.restart_with_in_flight(loss.still_in_flight);
            }
            _ => reno.on_timeout(loss, first),
        }
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.control_rate(reno, loss);
    }

    fn on_segment(&mut self, mss: u64) {
        self.delivered.on_segment(mss);
    }

    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        self.non_congestion.on_recovered(reno, flight, recovered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::congestion::new_jersey;
    use lasthop_base::{Stream, Time, Value};

    const MSS: u64 = 1000;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// Returns a control with a cwnd of 40 segments on a path with 250 kB/s, a smallest RTT of 80 ms and an RTT of 100
    /// ms. The bandwidth-delay product is 20 segments.
    fn loaded(
        mechanism: &Mechanism<Build>,
        raises: bool,
        arrival: impl Fn(u64) -> u64,
    ) -> Box<dyn CongestionControl> {
        let mut values = mechanism.info.defaults();
        values.set("raises", Value::Flag(raises));
        let random = Stream::named(1, "jersey");
        let start = Start { window: 40 * MSS, ssthresh: 30 * MSS, mss: MSS, selective: true, random };
        let mut control = (mechanism.build)(&values, start);
        for n in 0..1000 {
            let rtt = Some(Duration::from_millis(if n == 0 { 80 } else { 100 }));
            let now = Time::ZERO + Duration::from_micros(arrival(n));
            let clock = Some(at(4 * n));
            control.observe(&AckNews { now, acked: MSS, rtt, clock, mss: MSS, ..AckNews::default() });
        }
        control
    }

    fn loss(marked: bool) -> LossEvent {
        LossEvent { now: at(4000), flight: 40 * MSS, window: 40 * MSS, marked, ..LossEvent::default() }
    }

    fn segments(control: &dyn CongestionControl) -> (u64, u64) {
        ((control.window() + MSS / 2) / MSS, (control.ssthresh() + MSS / 2) / MSS)
    }

    /// The bandwidth-delay product is 250 kB/s x 80 ms = 20 segments. A mark sets cwnd to this value, and a timeout
    /// sets ssthresh to this value. A loss without a mark leaves cwnd unchanged.
    #[test]
    fn only_a_warned_loss_costs_something() {
        for mechanism in [&MECHANISM, &new_jersey::MECHANISM] {
            let fresh = || loaded(mechanism, false, |n| 4000 * n);
            let mut control = fresh();
            control.on_loss(&loss(false));
            assert_eq!(segments(&*control), (40, 30));
            control.on_recovered(10 * MSS, Recovered::Kept);
            assert_eq!(segments(&*control), (40, 30));
            control.on_loss(&loss(true));
            assert_eq!(segments(&*control), (20, 20));
            control.on_recovered(10 * MSS, Recovered::Kept);
            assert_eq!(segments(&*control), (20, 20));
            let mut control = fresh();
            control.on_mark(&loss(true));
            assert_eq!(segments(&*control), (20, 20));
            let mut control = fresh();
            control.on_timeout(&loss(false), true);
            assert_eq!(segments(&*control), (1, 20));
        }
    }

    #[test]
    fn a_warning_raises_nothing_unless_asked() {
        for (raises, window) in [(false, 15), (true, 20)] {
            let mut control = loaded(&MECHANISM, raises, |n| 4000 * n);
            control.on_idle(15 * MSS);
            // The sender is in congestion avoidance, because cwnd exceeds ssthresh.
            let level = super::super::Level { window: 15 * MSS, ssthresh: 10 * MSS };
            control.on_recovered(0, Recovered::Revised { from: level, to: level });
            control.on_mark(&loss(true));
            assert_eq!(segments(&*control), (window, 20), "{raises}");
        }
    }

    /// The return path delivers ACKs in bursts of 25 every 100 ms. The estimate decays by half between bursts, and
    /// hardly any time passes within a burst. New Jersey uses the receiver's clock, by which the ACKs are evenly
    /// spaced.
    #[test]
    fn the_receivers_clock_does_not_mind_bunches() {
        let bunched = |n: u64| n / 25 * 100_000 + n % 25;
        let mut plain = loaded(&MECHANISM, false, bunched);
        let mut new = loaded(&new_jersey::MECHANISM, false, bunched);
        plain.on_mark(&loss(true));
        new.on_mark(&loss(true));
        let [plain, new] = [plain.ssthresh(), new.ssthresh()].map(|bytes| bytes as f64 / 20_000.0);
        assert!((new - 1.0).abs() < 0.05, "{new}");
        assert!((plain - 1.0).abs() > 0.2, "{plain}");
    }
}
