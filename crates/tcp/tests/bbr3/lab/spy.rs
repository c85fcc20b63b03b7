//! A congestion control that delegates every call to BBRv3 and records BBR's state.

use lasthop_base::{Duration, Rate, Time};
use lasthop_tcp::sender::ack_counting::AckCounting;
use lasthop_tcp::sender::congestion::bbr3::{Bbr3, Bbr3State, ModelSnapshot};
use lasthop_tcp::sender::congestion::{
    AckEvent, CongestionControl, LossEvent, LostSegment, Nature, RateHooks, Recovered, SentEvent,
};
use std::sync::{Arc, Mutex};

/// State of BBR and of the connection after an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub at: Time,
    pub snapshot: ModelSnapshot,
    pub in_flight: u64,
    pub cwnd: u64,
    /// Delivery rate sample of the ACK, bytes per second.
    pub delivery_rate: Option<f64>,
    /// Whether the rate sample is application-limited.
    pub app_limited: bool,
    pub rtt: Option<Duration>,
    /// Bytes marked lost so far.
    pub lost: u64,
}

/// Records of a run.
#[derive(Default)]
pub struct Observations {
    pub snapshot: Option<ModelSnapshot>,
    pub rows: Vec<Row>,
    /// Each state of BBR that was entered, with the time of entry.
    pub states: Vec<(Time, Bbr3State)>,
}

impl Observations {
    fn note(&mut self, now: Time, snapshot: ModelSnapshot) {
        if self.snapshot.is_none_or(|known| known.state != snapshot.state) {
            self.states.push((now, snapshot.state));
        }
        self.snapshot = Some(snapshot);
    }
}

pub struct Spy {
    pub inner: Bbr3,
    pub observations: Arc<Mutex<Observations>>,
    pub lost: u64,
    pub now: Time,
}

impl Spy {
    fn note(&mut self, now: Time) {
        self.now = now;
        self.observations
            .lock()
            .expect("no test panics while holding the lock")
            .note(now, self.inner.snapshot());
    }
}

impl CongestionControl for Spy {
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn ssthresh(&self) -> u64 {
        self.inner.ssthresh()
    }
    fn nature(&self) -> Nature {
        self.inner.nature()
    }
    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.inner.on_ack(ack, ack_counting);
        self.lost += ack.lost;
        let row = Row {
            at: ack.now,
            snapshot: self.inner.snapshot(),
            in_flight: ack.in_flight,
            cwnd: self.inner.window(),
            delivery_rate: ack.rate.filter(|rate| rate.reliable).map(|rate| rate.bytes_per_sec()),
            app_limited: ack.rate.is_some_and(|rate| rate.app_limited),
            rtt: ack.rtt,
            lost: self.lost,
        };
        let mut observations = self.observations.lock().expect("no test panics while holding the lock");
        observations.note(row.at, row.snapshot);
        observations.rows.push(row);
    }
    fn on_loss(&mut self, loss: &LossEvent) {
        self.inner.on_loss(loss);
    }
    fn on_restart(&mut self, loss: &LossEvent) {
        self.inner.on_restart(loss);
    }
    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.inner.on_timeout(loss, first);
    }
    fn on_mark(&mut self, loss: &LossEvent) {
        self.inner.on_mark(loss);
    }
    fn on_idle(&mut self, window: u64) {
        self.inner.on_idle(window);
    }
    fn on_segment(&mut self, mss: u64) {
        self.inner.on_segment(mss);
    }
    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.inner.on_recovered(flight, recovered);
        self.note(self.now);
    }
}

impl RateHooks for Spy {
    fn holds_back(&self) -> bool {
        self.inner.holds_back()
    }
    fn on_open(&mut self, rtt: Option<Duration>) {
        self.inner.on_open(rtt);
    }
    fn on_sent(&mut self, sent: &SentEvent) {
        self.inner.on_sent(sent);
        self.note(sent.now);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        self.inner.on_lost(now, lost);
        self.note(now);
    }
}
