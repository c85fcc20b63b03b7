//! A congestion control that is a Python object.
//!
//! The object keeps `cwnd`, `ssthresh` and `mss` in bytes as attributes; after each hook they are read.

use super::Strategy;
use super::call::{Hooks, Object, overrides};
use lasthop_base::{Duration, Rate, Time, Values};
use lasthop_tcp::sender::congestion::{
    self, AckEvent, Build, CongestionControl, LossEvent, MarkPace, Nature, Phase, RateHooks, SentEvent,
};
use lasthop_tcp::sender::counting::{AckCounting, Regime};
use lasthop_tcp::sender::recovery::AckNews;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// What the window's rules start from.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Start {
    /// Initial window, bytes.
    window_bytes: u64,
    /// Initial slow start threshold, bytes.
    ssthresh_bytes: u64,
    /// A full segment's payload, bytes.
    mss_bytes: u64,
    /// For random.Random: another number for each flow and repetition.
    seed: u64,
}

/// One acknowledgement, new or duplicate.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Ack {
    /// When it came, virtual time, s.
    now_s: f64,
    /// "open", "recovery" (fast recovery, the ACK that ends it included) or "restart" (after a timeout).
    phase: &'static str,
    /// First byte that is not acknowledged after it.
    una: u64,
    /// First byte that was not sent before it.
    nxt: u64,
    /// Bytes newly and cumulatively acknowledged; 0 for a duplicate.
    acked_bytes: u64,
    /// Segments completed by it.
    segments: u32,
    /// Bytes that it reports for the first time, SACK included.
    delivered_bytes: u64,
    /// Of these, bytes that SACK reports beyond it.
    reported_bytes: u64,
    /// Bytes that it says arrived with a congestion mark and were not known to (AccECN, RFC 9768).
    marked_bytes: u64,
    /// The round-trip time it measured, s; None if it did not.
    rtt_s: Option<f64>,
    /// The smoothed round-trip time after it, s.
    srtt_s: Option<f64>,
    /// Bytes in the network after it.
    in_flight_bytes: u64,
    /// Bytes found lost since the last one.
    lost_bytes: u64,
    /// No reason to grow: it echoes a congestion mark, or the window was not used.
    held: bool,
    /// What it is worth by the scenario's `counting`, bytes; 0 where there is no reason to grow: duplicates, in recovery,
    /// held.
    credit_bytes: u64,
    /// Whether the counting wants credit to be collected until it makes a segment (RFC 3465 §2.1).
    collects: bool,
    /// The rate at which the path delivers, bit/s; only for classes with `rate_samples = True`.
    rate_bps: Option<f64>,
    /// The application had too little to send: the path may be faster.
    app_limited: bool,
}

/// What went wrong.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Loss {
    /// When, virtual time, s.
    now_s: f64,
    /// First byte that is not acknowledged.
    una: u64,
    /// First byte that was not sent yet.
    nxt: u64,
    /// FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
    flight_bytes: u64,
    /// min(cwnd, advertised window), bytes.
    window_bytes: u64,
    /// The duplicate ACK that told it echoes a congestion mark.
    marked: bool,
}

/// A segment that is found lost.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct LostSegment {
    /// When it is found lost, virtual time, s.
    now_s: f64,
    /// Its first byte.
    start: u64,
    /// The byte behind its last.
    end: u64,
    /// Bytes in the network when it was sent, itself included.
    in_flight_bytes: u64,
    /// Bytes found lost since then, itself included.
    lost_bytes: u64,
    /// All bytes delivered so far.
    delivered_bytes: u64,
    /// The application had too little to send then.
    app_limited: bool,
}

/// What becomes of the reduction with which a recovery began.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Recovered {
    /// "kept": it was right. "revised": it is taken back. "probed": two segments are to find out (RFC 5682).
    kind: &'static str,
    /// cwnd to go on with, bytes; None if it was kept.
    window_bytes: Option<u64>,
    /// ssthresh to go on with, bytes; only if it is taken back.
    ssthresh_bytes: Option<u64>,
}

/// How the strategy's object is built for a flow.
pub fn build(strategy: Strategy) -> Arc<Build> {
    Arc::new(move |_: &Values, start: congestion::Start| Box::new(Control::new(&strategy, start)))
}

/// The largest window that a scaled 16-bit field can advertise (RFC 7323 §2.3): none grows beyond.
const FULL: f64 = (1u64 << 30) as f64;

struct Control {
    object: Object,
    /// Bytes, as read after the last hook.
    cwnd: f64,
    ssthresh: u64,
    mss: u64,
    pacing: Option<Rate>,
    holds_back: bool,
    nature: Nature,
    is_told_of_sent: bool,
    is_told_of_lost: bool,
}

/// How often it reacts to marks, by the words of the class.
const PACES: [(&str, MarkPace); 3] =
    [("window", MarkPace::Window), ("rtt", MarkPace::Rtt), ("every", MarkPace::Every)];

fn mark_pace(hooks: &Hooks<'_, '_>) -> PyResult<MarkPace> {
    let value = hooks.object.getattr(intern!(hooks.py(), "mark_pace"))?;
    let word = value.extract::<String>().unwrap_or_default();
    match PACES.iter().find(|(known, _)| *known == word) {
        Some((_, pace)) => Ok(*pace),
        None => Err(hooks.wrong("mark_pace", &value, "\"window\", \"rtt\" or \"every\"")),
    }
}

impl Control {
    fn new(strategy: &Strategy, mut start: congestion::Start) -> Control {
        let mut object = Object::new(strategy);
        let flags = ["draws", "rate_samples", "conserves", "is_scalable", "judges_by_mark"];
        let [draws, samples, conserves, is_scalable, judges_by_mark] = flags.map(|name| object.flag(name));
        let read = object.attempt(|hooks| {
            let object = hooks.object;
            object.setattr("cwnd", start.window)?;
            object.setattr("ssthresh", start.ssthresh)?;
            object.setattr("mss", start.mss)?;
            let told = |hook: &str| overrides(hooks, BASE, hook);
            Ok((mark_pace(hooks)?, told("observe")?, told("on_sent")?, told("on_lost")?))
        });
        let (mark_pace, observes, is_told_of_sent, is_told_of_lost) = read.unwrap_or_default();
        let nature = Nature {
            observes,
            samples,
            conserves,
            draws,
            is_scalable,
            mark_pace,
            judges_by_mark,
            ..Nature::FIXED
        };
        let mut control = Control {
            object,
            cwnd: start.window as f64,
            ssthresh: start.ssthresh,
            mss: start.mss,
            pacing: None,
            holds_back: false,
            nature,
            is_told_of_sent,
            is_told_of_lost,
        };
        control.after(|hooks| {
            let start = Start {
                window_bytes: start.window,
                ssthresh_bytes: start.ssthresh,
                mss_bytes: start.mss,
                seed: start.random.draw(),
            };
            hooks.call(intern!(hooks.py(), "on_start"), (start,))
        });
        control
    }

    /// Calls a hook, and reads what it made of the window.
    #[inline]
    fn after(&mut self, hook: impl for<'py> FnOnce(&Hooks<'_, 'py>) -> PyResult<Bound<'py, PyAny>>) {
        let samples = self.nature.samples;
        let read = self.object.attempt(|hooks| {
            hook(hooks)?;
            let py = hooks.py();
            let cwnd = hooks.number(intern!(py, "cwnd"), 1.0)?;
            let ssthresh = hooks.number(intern!(py, "ssthresh"), 0.0)?;
            let (pacing, holds_back) = match samples {
                true => (
                    hooks.object.getattr(intern!(py, "pacing_rate_bps"))?.extract::<Option<f64>>()?,
                    hooks.object.getattr(intern!(py, "holds_back"))?.is_truthy()?,
                ),
                false => (None, false),
            };
            Ok((cwnd, ssthresh, pacing, holds_back))
        });
        if let Some((cwnd, ssthresh, pacing, holds_back)) = read {
            self.cwnd = cwnd.min(2.0 * FULL);
            self.ssthresh = ssthresh as u64;
            self.holds_back = holds_back;
            self.pacing = pacing.filter(|bps| *bps >= 1.0).map(|bps| Rate::from_bps(bps as u64));
        }
    }

    fn on_reduction(&mut self, name: &str, loss: &LossEvent) {
        let loss = Loss::from(loss);
        self.after(|hooks| hooks.object.call_method1(name, (loss,)));
    }

    /// What an ACK is worth: asked where Reno would.
    fn credit(&self, ack: &AckEvent, counting: &mut dyn AckCounting) -> u64 {
        if ack.acked == 0 || ack.held || ack.phase == Phase::Recovery || self.cwnd >= FULL {
            return 0;
        }
        let regime = match (self.cwnd < self.ssthresh as f64, ack.phase) {
            (false, _) => Regime::Avoidance,
            (true, Phase::Restart) => Regime::AfterTimeout,
            (true, _) => Regime::SlowStart,
        };
        counting.credit(ack, self.mss, regime)
    }
}

const BASE: &str = "CongestionControl";

impl CongestionControl for Control {
    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn nature(&self) -> Nature {
        self.nature
    }

    fn observe(&mut self, news: &AckNews) {
        let (now_s, acked, duplicate) = (news.now.as_secs(), news.acked, news.duplicate);
        self.after(|hooks| hooks.call(intern!(hooks.py(), "observe"), (now_s, acked, duplicate)));
    }

    fn leave_slow_start(&mut self) {
        self.after(|hooks| hooks.object.call_method0(intern!(hooks.py(), "leave_slow_start")));
    }

    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) {
        let rate = ack.rate.filter(|rate| rate.reliable);
        let event = Ack {
            now_s: ack.now.as_secs(),
            phase: match ack.phase {
                Phase::Open => "open",
                Phase::Recovery => "recovery",
                Phase::Restart => "restart",
            },
            una: ack.una,
            nxt: ack.nxt,
            acked_bytes: ack.acked,
            segments: ack.segments,
            delivered_bytes: ack.delivered,
            reported_bytes: ack.reported,
            marked_bytes: ack.marked,
            rtt_s: ack.rtt.map(|rtt| rtt.as_secs()),
            srtt_s: ack.srtt.map(|srtt| srtt.as_secs()),
            in_flight_bytes: ack.in_flight,
            lost_bytes: ack.lost,
            held: ack.held,
            credit_bytes: self.credit(ack, counting),
            collects: counting.collects(),
            rate_bps: rate.map(|rate| 8.0 * rate.bytes_per_sec()),
            app_limited: rate.is_some_and(|rate| rate.app_limited),
        };
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_ack"), (event,)));
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.on_reduction("on_loss", loss);
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_reduction("on_restart", loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        let loss = Loss::from(loss);
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_timeout"), (loss, first)));
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.on_reduction("on_mark", loss);
    }

    fn on_idle(&mut self, window: u64) {
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_idle"), (window,)));
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
        self.after(|hooks| {
            hooks.object.setattr(intern!(hooks.py(), "mss"), mss)?;
            hooks.call(intern!(hooks.py(), "on_segment"), (mss,))
        });
    }

    fn on_recovered(&mut self, flight: u64, recovered: congestion::Recovered) {
        let recovered = match recovered {
            congestion::Recovered::Kept => {
                Recovered { kind: "kept", window_bytes: None, ssthresh_bytes: None }
            }
            congestion::Recovered::Revised { to, .. } => Recovered {
                kind: "revised",
                window_bytes: Some(to.window),
                ssthresh_bytes: Some(to.ssthresh),
            },
            congestion::Recovered::Probed { window } => {
                Recovered { kind: "probed", window_bytes: Some(window), ssthresh_bytes: None }
            }
        };
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_recovered"), (flight, recovered)));
    }
}

impl RateHooks for Control {
    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        let rtt_s = rtt.map(|rtt| rtt.as_secs());
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_open"), (rtt_s,)));
    }

    fn on_lost(&mut self, now: Time, lost: &congestion::LostSegment) {
        if self.is_told_of_lost {
            let lost = LostSegment {
                now_s: now.as_secs(),
                start: lost.range.start,
                end: lost.range.end,
                in_flight_bytes: lost.in_flight,
                lost_bytes: lost.lost,
                delivered_bytes: lost.delivered,
                app_limited: lost.app_limited,
            };
            self.after(|hooks| hooks.call(intern!(hooks.py(), "on_lost"), (lost,)));
        }
    }

    fn on_sent(&mut self, sent: &SentEvent) {
        if self.is_told_of_sent {
            let sent = (sent.now.as_secs(), sent.bytes, sent.in_flight);
            self.after(|hooks| hooks.call(intern!(hooks.py(), "on_sent"), sent));
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }
}

impl From<&LossEvent> for Loss {
    fn from(loss: &LossEvent) -> Loss {
        Loss {
            now_s: loss.now.as_secs(),
            una: loss.una,
            nxt: loss.nxt,
            flight_bytes: loss.flight,
            window_bytes: loss.window,
            marked: loss.marked,
        }
    }
}
