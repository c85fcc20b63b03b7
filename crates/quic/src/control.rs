//! The congestion controls of `lasthop-tcp` as controls of noq-proto.
//!
//! The adapter passes the events of QUIC's loss recovery (RFC 9002) to a [`CongestionWindow`], which TCP senders also
//! use. A control finds these differences between TCP and QUIC:
//!
//! * Amounts are bytes of UDP payload, and a segment is a full datagram. TCP counts payload.
//! * Each packet has its own number, so every RTT sample is unambiguous, even for a retransmission.
//! * `una` is the end of the newest packet that an ACK has reported. QUIC has no cumulative ACK.
//! * A window reduction takes effect at once (RFC 9002 §7.3.2), never gradually.
//! * Recovery ends with the first ACK for a packet sent after the reduction. Packets sent before the reduction earn no
//!   credit.
//! * A timeout changes no window. Only persistent congestion (RFC 9002 §7.6) has the effect of TCP's timeout.
//! * If the library finds that a loss was spurious, because the packets are acknowledged late, the window is restored.
//! * An idle time changes no window.
//! * With `validate_window`, the window grows only while the sender uses the window, by Linux's rule, whatever
//!   `validate_by` is.

use crate::sampler::{Sampler, Stamp};
use crate::{Congestion, Settings, time};
use lasthop_base::{Duration, Stream, Time};
use lasthop_tcp::Config;
use lasthop_tcp::sender::MaxOutstanding;
use lasthop_tcp::sender::congestion::{
    AckEvent, Level, LossEvent, LossPhase, Nature, Recovered, SentEvent, Start,
};
use lasthop_tcp::sender::recovery::AckNews;
use lasthop_tcp::sender::window::CongestionWindow;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Builds the congestion control of one end.
pub(crate) struct ControlFactory {
    config: Arc<Config>,
    /// Initial window, bytes; `None`: the initial window of the configuration, which counts datagrams.
    initial_window: Option<u64>,
    is_paced: bool,
    random: Stream,
}

impl ControlFactory {
    pub(crate) fn new(config: &Arc<Config>, settings: &Settings) -> ControlFactory {
        debug_assert!(matches!(settings.congestion, Congestion::Lasthop(_)), "another control is selected");
        ControlFactory {
            config: config.clone(),
            initial_window: settings.initial_window,
            is_paced: settings.stack.is_paced,
            random: Stream::named(settings.seed, "quic.congestion"),
        }
    }

    fn start(&self, mtu: u16) -> Control {
        let mss = u64::from(mtu);
        let start = Start {
            window: self.initial_window.unwrap_or(u64::from(self.config.initial_window) * mss),
            ssthresh: self.config.initial_ssthresh.unwrap_or(1 << 30),
            mss,
            selective: true,
            random: self.random.clone(),
        };
        let window = CongestionWindow::new(&self.config, start, self.is_paced);
        Control {
            nature: window.control().nature(),
            window,
            mss,
            sampler: Sampler::default(),
            una: 0,
            phase: LossPhase::Open,
            reduced_at: None,
            before: None,
            lost_known: 0,
            acked: Acked::default(),
            is_open: false,
            usage: self.config.validates_window.then(MaxOutstanding::default),
        }
    }
}

impl ControllerFactory for ControlFactory {
    fn build(self: Arc<Self>, _: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = self.start(mtu);
        let window = control.window.bytes();
        let mut adapter = Adapter {
            control: Mutex::new(control),
            factory: self,
            mtu,
            initial_window: window,
            metrics: Metrics::default(),
        };
        adapter.change(|_| {});
        Box::new(adapter)
    }
}

/// Values that the library may read between two events.
#[derive(Clone, Copy, Default)]
struct Metrics {
    window: u64,
    ssthresh: u64,
    /// Pacing rate, bytes/s.
    pacing_rate: Option<u64>,
}

struct Adapter {
    /// The mutex makes the control shareable between threads, as the library requires. Two threads never use the
    /// control at the same time.
    control: Mutex<Control>,
    factory: Arc<ControlFactory>,
    mtu: u16,
    initial_window: u64,
    metrics: Metrics,
}

impl Adapter {
    fn change(&mut self, change: impl FnOnce(&mut Control)) {
        let control = self.control.get_mut().unwrap_or_else(PoisonError::into_inner);
        change(control);
        control.window.update_cwnd();
        let level = control.window.level();
        self.metrics = Metrics {
            window: level.window,
            ssthresh: level.ssthresh,
            pacing_rate: control.window.control().pacing_rate().map(|rate| rate.bps() / 8),
        };
    }
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {} bytes", self.factory.config.congestion.info.name, self.metrics.window)
    }
}

impl Controller for Adapter {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.change(|control| control.on_sent(time(now), number, u64::from(bytes)));
    }

    fn on_ack(
        &mut self,
        _: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let control = self.control.get_mut().unwrap_or_else(PoisonError::into_inner);
        control.on_delivered(number, time(sent), bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.change(|control| control.on_ack(time(now), in_flight, app_limited));
    }

    fn on_packet_lost(&mut self, _: u16, number: u64, now: Instant) {
        self.change(|control| {
            if let Some(lost) = control.sampler.on_lost(number)
                && control.nature.uses_rate_samples
            {
                control.window.on_lost(time(now), &lost);
            }
        });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        bytes: u64,
        _: u64,
    ) {
        self.change(|control| control.on_congestion(time(now), time(sent), is_persistent, is_ecn, bytes));
    }

    fn on_spurious_congestion_event(&mut self) {
        self.change(Control::undo);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.mtu = mtu;
        self.change(|control| {
            control.mss = u64::from(mtu);
            control.window.on_segment(control.mss);
        });
    }

    fn window(&self) -> u64 {
        self.metrics.window.max(u64::from(self.mtu))
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = Some(self.metrics.ssthresh).filter(|ssthresh| *ssthresh < 1 << 30);
        metrics.pacing_rate = self.metrics.pacing_rate;
        metrics
    }

    /// Returns a control in its initial state, because the library copies a control only for another network path.
    fn clone_box(&self) -> Box<dyn Controller> {
        self.factory.clone().build(Instant::now(), self.mtu)
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Packets that one ACK has newly acknowledged.
#[derive(Default)]
struct Acked {
    bytes: u64,
    /// Bytes of packets sent after the last reduction, which earn window credit.
    credited: u64,
    packets: u32,
    app_limited: bool,
    newest: Option<Stamp>,
    srtt: Option<Duration>,
    smallest_rtt: Option<Duration>,
}

/// Congestion control of a QUIC sender.
struct Control {
    window: CongestionWindow,
    nature: Nature,
    /// UDP payload of a full datagram, bytes.
    mss: u64,
    sampler: Sampler,
    /// Offset after the newest acknowledged packet, in the byte count of [`Sampler`].
    una: u64,
    phase: LossPhase,
    /// Time of the last reduction. Losses of packets sent up to this time do not reduce the window again (RFC 9002
    /// §7.3.2).
    reduced_at: Option<Time>,
    /// Window before the last reduction by a loss.
    before: Option<Level>,
    /// Total number of bytes lost on the connection, as known at the last ACK.
    lost_known: u64,
    acked: Acked,
    is_open: bool,
    /// Use of the window; `None`: the window grows even while the sender does not use the window.
    usage: Option<MaxOutstanding>,
}

impl Control {
    fn is_after_reduction(&self, sent: Time) -> bool {
        self.reduced_at.is_none_or(|reduced_at| sent > reduced_at)
    }

    fn on_sent(&mut self, now: Time, number: u64, bytes: u64) {
        let limited = self.sampler.is_limited();
        let range = self.sampler.on_sent(now, number, bytes);
        if self.nature.uses_rate_samples {
            self.window.on_sent(&SentEvent {
                now,
                una: self.una,
                nxt: range.end,
                start: range.start,
                bytes,
                in_flight: self.sampler.in_flight(),
                limited,
            });
        }
    }

    fn on_delivered(&mut self, number: u64, sent: Time, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        let is_credited = self.is_after_reduction(sent);
        let acked = &mut self.acked;
        acked.bytes += bytes;
        acked.packets += 1;
        acked.app_limited |= app_limited;
        if is_credited {
            acked.credited += bytes;
        }
        let duration = |it: std::time::Duration| Duration::from_nanos(it.as_nanos() as u64);
        (acked.srtt, acked.smallest_rtt) = (Some(duration(rtt.get())), Some(duration(rtt.min())));
        if let Some(stamp) = self.sampler.take_delivered(number)
            && acked.newest.is_none_or(|newest| newest.range.end < stamp.range.end)
        {
            acked.newest = Some(stamp);
        }
    }

    fn on_ack(&mut self, now: Time, in_flight: u64, app_limited: bool) {
        let acked = std::mem::take(&mut self.acked);
        self.sampler.on_ack(now, acked.bytes, in_flight);
        let Some(newest) = acked.newest else { return };
        let before = in_flight + acked.bytes;
        let (nxt, level) = (self.sampler.nxt(), self.window.level());
        let is_used = self.usage.as_mut().is_none_or(|usage| {
            usage.update(nxt - before.min(nxt), nxt, before + self.mss > level.window);
            usage.uses(level.window, level.ssthresh)
        });
        let rtt = now.since(newest.sent_at);
        let (mut srtt, mut smallest_rtt) = (acked.srtt, acked.smallest_rtt);
        if !std::mem::replace(&mut self.is_open, true) {
            // The library's estimates do not include this ACK yet. At the first ACK, the estimates are still the
            // library's initial RTT.
            (srtt, smallest_rtt) = (Some(rtt), Some(rtt));
            if self.nature.uses_rate_samples {
                self.window.on_open(Some(rtt));
            }
        }
        let rate = self.nature.uses_rate_samples.then(|| self.sampler.sample(now, &newest, smallest_rtt));
        if self.nature.observes {
            let (rtt, mss) = (Some(rtt), self.mss);
            self.window.observe(&AckNews { now, acked: acked.bytes, rtt, mss, ..AckNews::default() });
        }
        if self.phase != LossPhase::Open && self.is_after_reduction(newest.sent_at) {
            if self.phase == LossPhase::Recovery {
                self.window.on_recovered(in_flight, Recovered::Kept);
            }
            self.phase = LossPhase::Open;
        }
        self.una = self.una.max(newest.range.end);
        let lost = self.sampler.lost() - std::mem::replace(&mut self.lost_known, self.sampler.lost());
        let is_growing = self.phase != LossPhase::Recovery;
        let event = AckEvent {
            now,
            phase: self.phase,
            una: self.una,
            nxt: self.sampler.nxt(),
            acked: if is_growing { acked.credited } else { acked.bytes },
            segments: acked.packets,
            delivered: acked.bytes,
            reported: 0,
            marked: 0,
            rtt: Some(rtt),
            srtt,
            in_flight,
            lost,
            rate: rate.as_ref(),
            held: acked.app_limited || !is_used,
        };
        self.window.grow_monitored(&event, self.mss);
        if self.nature.uses_rate_samples && (app_limited || self.window.control().holds_back()) {
            self.sampler.mark_app_limited();
        }
    }

    fn on_congestion(&mut self, now: Time, sent: Time, is_persistent: bool, is_ecn: bool, lost: u64) {
        let loss = LossEvent {
            now,
            una: self.una,
            nxt: self.sampler.nxt(),
            flight: self.sampler.in_flight() + lost,
            window: self.window.bytes(),
            ..LossEvent::default()
        };
        if self.is_after_reduction(sent) {
            self.reduced_at = Some(now);
            if is_ecn {
                self.window.on_mark(&loss);
                self.before = None;
            } else {
                self.before = Some(self.window.level());
                self.window.on_loss(&loss);
            }
            self.phase = LossPhase::Recovery;
        }
        if is_persistent {
            self.window.on_timeout(&loss, true);
            self.phase = LossPhase::Restart;
        }
    }

    /// Restores the window to its value before a reduction, because no packet was lost.
    fn undo(&mut self) {
        if let Some(before) = self.before.take() {
            let (from, to) = (self.window.level(), before);
            self.window.on_recovered(self.sampler.in_flight(), Recovered::Revised { from, to });
            self.phase = LossPhase::Open;
        }
    }
}
