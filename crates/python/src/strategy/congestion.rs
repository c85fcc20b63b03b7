//! A congestion control in Python. After each hook, this module reads the attributes `cwnd`, `ssthresh` and `mss` of
//! the Python object, all in bytes.

use super::Strategy;
use super::call::{Hooks, Object, overrides};
use lasthop_base::{Duration, Rate, Time, Values};
use lasthop_tcp::sender::ack_counting::{AckCounting, Regime};
use lasthop_tcp::sender::congestion::{
    self, AckEvent, Build, CongestionControl, LossEvent, LossPhase, MarkPace, Nature, RateHooks, SentEvent,
};
use lasthop_tcp::sender::recovery::AckNews;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// Initial state of a congestion control.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Start {
    /// Initial window, bytes.
    window_bytes: u64,
    /// Initial slow start threshold, bytes.
    ssthresh_bytes: u64,
    /// Payload of a full segment, bytes.
    mss_bytes: u64,
    /// Seed for random.Random, different for each flow and repetition.
    seed: u64,
}

/// One acknowledgement, new or duplicate.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Ack {
    /// Arrival time, virtual time, s.
    now_s: f64,
    /// Phase of the sender: "open", "recovery" (fast recovery, including its last ACK) or "restart" (after a timeout).
    phase: &'static str,
    /// First byte not acknowledged after this ACK (SND.UNA).
    una: u64,
    /// First byte not sent before this ACK (SND.NXT).
    nxt: u64,
    /// Bytes newly and cumulatively acknowledged; 0 for a duplicate.
    acked_bytes: u64,
    /// Number of segments completely acknowledged by this ACK.
    segments: u32,
    /// Bytes that this ACK reports as delivered for the first time, SACK included.
    delivered_bytes: u64,
    /// Part of `delivered_bytes` that SACK reports above the cumulative ACK.
    reported_bytes: u64,
    /// Bytes newly reported as received with a congestion mark (AccECN, RFC 9768).
    marked_bytes: u64,
    /// RTT sample of this ACK, s; None if there is none.
    rtt_s: Option<f64>,
    /// Smoothed RTT after this ACK, s.
    srtt_s: Option<f64>,
    /// Bytes in flight after this ACK.
    in_flight_bytes: u64,
    /// Bytes declared lost since the previous ACK.
    lost_bytes: u64,
    /// Whether the window must not grow: the ACK echoes a congestion mark, or the window was not fully used.
    held: bool,
    /// Window credit of this ACK by the scenario's ACK counting, bytes; 0 for a duplicate ACK, during recovery, and if
    /// `held` is true.
    credit_bytes: u64,
    /// Whether congestion avoidance adds a whole segment per window of credit (RFC 3465 §2.1), not a fraction per ACK.
    collects: bool,
    /// Delivery rate of the path, bit/s; only with `rate_samples = True`.
    rate_bps: Option<f64>,
    /// Whether the application limits the rate sample, so that the path may be faster than the sample.
    app_limited: bool,
}

/// A congestion event: loss, timeout or mark.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Loss {
    /// Virtual time, s.
    now_s: f64,
    /// First byte not acknowledged (SND.UNA).
    una: u64,
    /// First byte not sent yet (SND.NXT).
    nxt: u64,
    /// FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
    flight_bytes: u64,
    /// min(cwnd, advertised window), bytes.
    window_bytes: u64,
    /// Whether the duplicate ACK that reports the loss echoes a congestion mark.
    marked: bool,
}

/// A segment declared lost.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct LostSegment {
    /// Time of the declaration, virtual time, s.
    now_s: f64,
    /// First byte.
    start: u64,
    /// Last byte plus one.
    end: u64,
    /// Bytes in flight when the segment was sent, including the segment.
    in_flight_bytes: u64,
    /// Bytes declared lost since the segment was sent, including the segment.
    lost_bytes: u64,
    /// Bytes delivered so far on the connection.
    delivered_bytes: u64,
    /// Whether the application limited the sender when the segment was sent.
    app_limited: bool,
}

/// Outcome of the window reduction at the end of a recovery.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Recovered {
    /// "kept": the reduction remains in effect. "revised": the reduction is undone. "probed": F-RTO tests the reduction
    /// with two segments (RFC 5682).
    kind: &'static str,
    /// New cwnd, bytes; None if kept.
    window_bytes: Option<u64>,
    /// New ssthresh, bytes; only if revised.
    ssthresh_bytes: Option<u64>,
}

/// Returns the constructor of congestion controls that use this strategy.
pub fn build(strategy: Strategy) -> Arc<Build> {
    Arc::new(move |_: &Values, start: congestion::Start| {
        Box::new(PythonCongestionControl::new(&strategy, start))
    })
}

/// Largest window that a scaled 16-bit field can advertise (RFC 7323 §2.3), bytes.
const FULL: f64 = (1u64 << 30) as f64;

struct PythonCongestionControl {
    object: Object,
    /// Congestion window after the last hook, bytes.
    cwnd: f64,
    ssthresh: u64,
    mss: u64,
    pacing: Option<Rate>,
    holds_back: bool,
    nature: Nature,
    overrides_on_sent: bool,
    overrides_on_lost: bool,
}

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

impl PythonCongestionControl {
    fn new(strategy: &Strategy, mut start: congestion::Start) -> PythonCongestionControl {
        let mut object = Object::new(strategy);
        let flags = ["draws", "rate_samples", "conserves", "is_scalable", "discriminates_by_mark"];
        let [draws, uses_rate_samples, conserves, is_scalable, discriminates_by_mark] =
            flags.map(|name| object.flag(name));
        let read = object.attempt(|hooks| {
            let object = hooks.object;
            object.setattr("cwnd", start.window)?;
            object.setattr("ssthresh", start.ssthresh)?;
            object.setattr("mss", start.mss)?;
            let has_own = |hook: &str| overrides(hooks, BASE, hook);
            Ok((mark_pace(hooks)?, has_own("observe")?, has_own("on_sent")?, has_own("on_lost")?))
        });
        let (mark_pace, observes, overrides_on_sent, overrides_on_lost) = read.unwrap_or_default();
        let nature = Nature {
            observes,
            uses_rate_samples,
            conserves,
            draws,
            is_scalable,
            sends_ect1: is_scalable,
            follows_delay: true,
            mark_pace,
            judges_by_mark: discriminates_by_mark,
            ..Nature::FIXED
        };
        let mut control = PythonCongestionControl {
            object,
            cwnd: start.window as f64,
            ssthresh: start.ssthresh,
            mss: start.mss,
            pacing: None,
            holds_back: false,
            nature,
            overrides_on_sent,
            overrides_on_lost,
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

    #[inline]
    fn after(&mut self, hook: impl for<'py> FnOnce(&Hooks<'_, 'py>) -> PyResult<Bound<'py, PyAny>>) {
        let samples = self.nature.uses_rate_samples;
        let read = self.object.attempt(|hooks| {
            hook(hooks)?;
            let py = hooks.py();
            let cwnd = hooks.number(intern!(py, "cwnd"), 1.0)?;
            let ssthresh = hooks.number(intern!(py, "ssthresh"), 0.0)?;
            let (pacing, holds_back) = if samples {
                (
                    hooks.object.getattr(intern!(py, "pacing_rate_bps"))?.extract::<Option<f64>>()?,
                    hooks.object.getattr(intern!(py, "holds_back"))?.is_truthy()?,
                )
            } else {
                (None, false)
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

    /// Returns the window credit of an ACK, bytes. Like in the engine's Reno, the credit is 0 for a duplicate ACK,
    /// during recovery, if the window must not grow, and at the maximum window.
    fn credit(&self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) -> u64 {
        if ack.acked == 0 || ack.held || ack.phase == LossPhase::Recovery || self.cwnd >= FULL {
            return 0;
        }
        let regime = match (self.cwnd < self.ssthresh as f64, ack.phase) {
            (false, _) => Regime::Avoidance,
            (true, LossPhase::Restart) => Regime::AfterTimeout,
            (true, _) => Regime::SlowStart,
        };
        ack_counting.credit(ack, self.mss, regime)
    }
}

const BASE: &str = "CongestionControl";

impl CongestionControl for PythonCongestionControl {
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

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        let rate = ack.rate.filter(|rate| rate.reliable);
        let event = Ack {
            now_s: ack.now.as_secs(),
            phase: match ack.phase {
                LossPhase::Open => "open",
                LossPhase::Recovery => "recovery",
                LossPhase::Restart => "restart",
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
            credit_bytes: self.credit(ack, ack_counting),
            collects: ack_counting.collects(),
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

impl RateHooks for PythonCongestionControl {
    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        let rtt_s = rtt.map(|rtt| rtt.as_secs());
        self.after(|hooks| hooks.call(intern!(hooks.py(), "on_open"), (rtt_s,)));
    }

    fn on_lost(&mut self, now: Time, lost: &congestion::LostSegment) {
        if self.overrides_on_lost {
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
        if self.overrides_on_sent {
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
