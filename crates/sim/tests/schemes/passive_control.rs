//! Congestion control for measurements, which contains several controls. One control determines the window, and the
//! others only estimate the rate from the same ACKs.

use super::{EventLog, Setting, observed, path_with};
use lasthop_base::{Duration, Info, Time};
use lasthop_scenario::Catalogue;
use lasthop_sim::FlowOutcome;
use lasthop_tcp::sender::ack_counting::AckCounting;
use lasthop_tcp::sender::congestion::{
    self, AckEvent, CongestionControl, Level, LossEvent, Nature, RateHooks, Recovered, Start,
};
use lasthop_tcp::sender::recovery::AckNews;
use std::sync::{Arc, Mutex};

const NAME: &str = "watching";

static INFO: Info = Info {
    name: NAME,
    summary: "delegates to another control, and records estimates",
    source: "a test",
    ..Info::PLAIN
};

#[derive(Clone, Default)]
pub(super) struct Log {
    /// Time of each ACK, with the estimates of all observing controls at that time, bytes/s.
    pub(super) rates: Vec<(Time, Vec<f64>)>,
    /// Time of each loss, and cwnd in bytes before and after the reaction of the control that sets cwnd.
    pub(super) losses: Vec<(Time, [u64; 2])>,
}

impl Log {
    /// Returns the estimates of the observing control number `which` between the times `from` and `to`, s.
    pub(super) fn of(&self, which: usize, from: f64, to: f64) -> Vec<f64> {
        let within = |(at, _): &&(Time, Vec<f64>)| (from..to).contains(&at.as_secs());
        self.rates.iter().filter(within).map(|(_, rates)| rates[which]).collect()
    }
}

struct PassiveControls {
    drives: Box<dyn CongestionControl>,
    others: Vec<Box<dyn CongestionControl>>,
    smallest: Option<Duration>,
    log: Arc<Mutex<Log>>,
}

fn built(name: &str, start: Start) -> Box<dyn CongestionControl> {
    let mechanism = congestion::ALL.iter().find(|known| known.info.name == name).expect("a known control");
    (mechanism.build)(&mechanism.info.defaults(), start)
}

impl CongestionControl for PassiveControls {
    fn window(&self) -> u64 {
        self.drives.window()
    }

    fn ssthresh(&self) -> u64 {
        self.drives.ssthresh()
    }

    fn nature(&self) -> Nature {
        Nature { observes: true, ..self.drives.nature() }
    }

    fn observe(&mut self, news: &AckNews) {
        self.drives.observe(news);
        self.smallest = [self.smallest, news.rtt].into_iter().flatten().min();
        let Some(smallest) = self.smallest else { return };
        // On a congestion mark, each observing control sets ssthresh to its rate estimate times the smallest RTT. A
        // mark therefore reveals the estimate. The windows of the observing controls are not used.
        let mark = LossEvent { now: news.now, flight: 0, window: 0, marked: true, ..LossEvent::default() };
        let rates = self.others.iter_mut().map(|other| {
            other.observe(news);
            other.on_mark(&mark);
            other.ssthresh() as f64 / smallest.as_secs()
        });
        let rates = rates.collect();
        self.log.lock().expect("one thread").rates.push((news.now, rates));
    }

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.drives.on_ack(ack, ack_counting);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let before = self.drives.window();
        self.drives.on_loss(loss);
        let windows = [before, self.drives.window()];
        self.log.lock().expect("one thread").losses.push((loss.now, windows));
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.drives.on_restart(loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.drives.on_timeout(loss, first);
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.drives.on_mark(loss);
    }

    fn leave_slow_start(&mut self) {
        self.drives.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.drives.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.drives.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.drives.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.drives.on_recovered(flight, recovered);
    }
}

impl RateHooks for PassiveControls {}

/// Runs a flow from the server to the client. Returns the first flow's outcome, the log of its sender, and all observed
/// packets and events.
pub(super) fn run_with_estimates(
    drives: &'static str,
    others: &'static [&'static str],
    tables: &str,
    settings: &[&[Setting<'_>]],
    seed: u64,
) -> (FlowOutcome, Log, EventLog) {
    let logs: Arc<Mutex<Vec<Arc<Mutex<Log>>>>> = Arc::default();
    let all = logs.clone();
    let build = move |_: &_, start: Start| -> Box<dyn CongestionControl> {
        let log = Arc::default();
        all.lock().expect("one thread").push(Arc::clone(&log));
        let others = others.iter().map(|other| built(other, start.clone())).collect();
        Box::new(PassiveControls { drives: built(drives, start), others, smallest: None, log })
    };
    let mut catalogue = Catalogue::default();
    catalogue.tcp.congestion.add_with_constructor(&INFO, Arc::new(build));
    let driven: &[Setting<'_>] = &[("flow.bulk.sender.congestion", NAME)];
    let scenario = path_with(&catalogue, false, tables, &[&[driven], settings].concat());
    let (outcome, _, recorded) = observed(&scenario, seed);
    // Both ends have a sender and a log. The log of the destination is nearly empty, so the longer log is the source's.
    let logs = logs.lock().expect("one thread");
    let logs = logs.iter().map(|log| log.lock().expect("one thread").clone());
    (outcome, logs.max_by_key(|log| log.rates.len()).expect("a sender"), recorded)
}
