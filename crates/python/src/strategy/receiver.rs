//! Receiver mechanisms in Python: ACK policy, ACK splitting, advertised window, loss discrimination.

use super::Strategy;
use super::call::Object;
use super::link::Backlog;
use lasthop_base::{Duration, Rate, Stream, Values};
use lasthop_tcp::Range;
use lasthop_tcp::event::Cause;
use lasthop_tcp::receiver::ack_policy::{self, AckPolicy, AckTime};
use lasthop_tcp::receiver::ack_splitting::{self, AckForm, AckSplitting, Arrived, Needs};
use lasthop_tcp::receiver::loss_discrimination::{self, LossDiscriminator, Observation};
use lasthop_tcp::receiver::window::{self, AdvertisedWindow, PathSample, WindowInput};
use lasthop_tcp::receiver::window_estimate;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// An arrived data segment.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Arrival {
    /// Arrival time, virtual time, s.
    now_s: f64,
    /// Bytes received in order that the receiver has not acknowledged yet.
    unacknowledged_bytes: u64,
    /// Payload of a full segment, bytes.
    segment_bytes: u64,
    /// Whether an ACK is due at once: the segment opened or filled a gap, was a duplicate, or carried a mark (RFC 5681
    /// §4.2).
    urgent: bool,
    /// Whether all of the segment had arrived before.
    repeated: bool,
    /// Whether the advertised window grows with this segment.
    grows: bool,
}

/// An ACK that is due.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Due {
    /// First byte newly acknowledged.
    start: u64,
    /// Last byte newly acknowledged plus one; equal to `start` for a duplicate.
    end: u64,
    /// Payload of a full segment, bytes.
    segment_bytes: u64,
    /// Packets waiting in this host's uplink queue; only with `needs_uplink = True`.
    uplink_packets: u32,
}

/// Counters of the sender since the start of the connection. A TCP option could carry the counters (miyoshi §2.3).
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct SenderCounts {
    /// Data segments sent, retransmissions included.
    sent: u64,
    /// Segments retransmitted, for any reason.
    retransmitted: u64,
    /// Losses detected by duplicate ACKs.
    detected_by_duplicates: u64,
}

/// Counters of the receiver's own uplink interface since the start.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct UplinkCounts {
    /// Packets offered to the queue.
    offered: u64,
    /// Packets dropped by the queue.
    dropped: u64,
}

/// The receiver's estimate of the path.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct PathEstimate {
    /// Smoothed RTT, s; 0 before the first sample.
    srtt_s: f64,
    /// Minimum RTT, s.
    min_rtt_s: f64,
    /// Maximum RTT, s.
    max_rtt_s: f64,
    /// Latest RTT, s.
    latest_rtt_s: f64,
    /// Estimate of the sender's window, segments.
    cwnd_r_segments: f64,
}

/// A new gap in the sequence space.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Gap {
    /// First missing byte.
    start: u64,
    /// Last missing byte plus one.
    end: u64,
    /// Payload of a full segment, bytes.
    segment_bytes: u64,
}

impl From<&window_estimate::PathEstimate> for PathEstimate {
    fn from(path: &window_estimate::PathEstimate) -> PathEstimate {
        PathEstimate {
            srtt_s: path.srtt.as_secs(),
            min_rtt_s: path.min_rtt.as_secs(),
            max_rtt_s: path.max_rtt.as_secs(),
            latest_rtt_s: path.latest_rtt.as_secs(),
            cwnd_r_segments: path.cwnd_r,
        }
    }
}

pub fn ack_policy(strategy: Strategy) -> Arc<ack_policy::Build> {
    Arc::new(move |_: &Values| Box::new(PythonAckPolicy(Object::new(&strategy))))
}

struct PythonAckPolicy(Object);

impl AckPolicy for PythonAckPolicy {
    fn on_data(&mut self, arrival: &ack_policy::DataArrival) -> AckTime {
        let arrival = Arrival {
            now_s: arrival.now.as_secs(),
            repeated: arrival.repeated,
            unacknowledged_bytes: arrival.unacknowledged,
            segment_bytes: arrival.segment,
            urgent: arrival.urgent,
            grows: arrival.grows,
        };
        let after_s = self.0.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "on_data"), (arrival,))?;
            hooks.checked_number("on_data", &answer, 0.0)
        });
        match after_s {
            Some(after) if after > 0.0 => AckTime::After(Duration::from_secs_f64(after)),
            _ => AckTime::Now,
        }
    }
}

pub fn ack_splitting(strategy: Strategy) -> Arc<ack_splitting::Build> {
    Arc::new(move |_: &Values| {
        let mut object = Object::new(&strategy);
        let hooks = ["on_arrival", "on_counts", "on_sent", "on_loss"];
        let [arrivals, counts, overrides_on_sent, causes] =
            hooks.map(|hook| object.overrides("AckSplitting", hook));
        let needs = Needs {
            uplink: object.flag("needs_uplink") || overrides_on_sent,
            estimate: object.flag("needs_estimate"),
            arrivals,
            counts,
            causes,
        };
        Box::new(PythonAckSplitting { object, needs, overrides_on_sent })
    })
}

struct PythonAckSplitting {
    object: Object,
    needs: Needs,
    overrides_on_sent: bool,
}

impl AckSplitting for PythonAckSplitting {
    fn split(&mut self, due: &ack_splitting::DueAck, path: &window_estimate::PathEstimate) -> AckForm {
        let event = Due {
            start: due.advance.start,
            end: due.advance.end,
            segment_bytes: due.segment,
            uplink_packets: due.uplink.waiting,
        };
        let path = PathEstimate::from(path);
        let answer = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "split"), (event, path))?;
            if let Ok(copies @ 1..=1000) = answer.extract::<u32>() {
                return Ok(if copies == 1 { AckForm::Single } else { AckForm::Copies(copies) });
            }
            match answer.extract::<(u32, u64)>() {
                Ok((count @ 1..=100_000, start)) if start < due.advance.end => {
                    Ok(AckForm::Slices { count, of: Range { start, end: due.advance.end } })
                }
                _ => Err(hooks.wrong(
                    "split()",
                    &answer,
                    "a number of copies, 1 to 1000, or lasthop.Slices(pieces, start) with start before due.end",
                )),
            }
        });
        answer.unwrap_or(AckForm::Single)
    }

    fn on_loss(&mut self, cause: Cause, path: &window_estimate::PathEstimate) {
        let (cause, path) = (word(cause), PathEstimate::from(path));
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_loss"), (cause, path)).map(drop));
    }

    fn on_arrival(&mut self, arrived: &Arrived) {
        let arrived = (arrived.now.as_secs(), arrived.missing, arrived.repeated);
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_arrival"), arrived).map(drop));
    }

    fn on_counts(&mut self, sender: &lasthop_wire::SenderCounts, uplink: &lasthop_wire::UplinkCounts) {
        let sender = SenderCounts {
            sent: sender.sent,
            retransmitted: sender.retransmitted,
            detected_by_duplicates: sender.detected_by_duplicates,
        };
        let uplink = UplinkCounts { offered: uplink.offered, dropped: uplink.dropped };
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_counts"), (sender, uplink)).map(drop));
    }

    fn on_sent(&mut self, before: lasthop_wire::Backlog, after: lasthop_wire::Backlog) -> u32 {
        if !self.overrides_on_sent {
            return after.waiting;
        }
        let arguments = (Backlog::from(&before), Backlog::from(&after));
        let length = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "on_sent"), arguments)?;
            match answer.extract::<u32>() {
                Ok(length) => Ok(length),
                Err(_) => {
                    Err(hooks.wrong("on_sent()", &answer, "a number of packets, for instance after.packets"))
                }
            }
        });
        length.unwrap_or(after.waiting)
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

fn word(cause: Cause) -> &'static str {
    match cause {
        Cause::Congestion => "congestion",
        Cause::Wireless => "wireless",
    }
}

pub fn window(py: Python<'_>, strategy: Strategy) -> PyResult<Arc<window::Build>> {
    // Checks `largest_bytes` before the run, because the window scale depends on this value.
    let largest = strategy.copied(py)?.getattr(py, "largest_bytes")?;
    if !largest.extract::<f64>(py).is_ok_and(|bytes| (1.0..=LARGEST).contains(&bytes)) {
        let shown = largest.bind(py).repr()?.to_string();
        return Err(crate::error::bad_input(
            py,
            format!("{}.largest_bytes is {shown}: expected a number from 1 to {LARGEST}", strategy.name),
            "the window scale depends on largest_bytes (RFC 7323 §2.2)",
        ));
    }
    Ok(Arc::new(move |_: &Values| {
        let mut object = Object::new(&strategy);
        let largest = object.attempt(|hooks| hooks.number(intern!(hooks.py(), "largest_bytes"), 1.0));
        Box::new(PythonAdvertisedWindow {
            largest: largest.unwrap_or(LARGEST) as u64,
            shrinks: object.flag("shrinks"),
            overrides_on_arrival: object.overrides("AdvertisedWindow", "on_arrival"),
            is_growing: false,
            overrides_on_link_rate: object.overrides("AdvertisedWindow", "on_link_rate"),
            object,
        })
    }))
}

/// Largest window that a scaled 16-bit field can advertise (RFC 7323 §2.3), bytes.
const LARGEST: f64 = (1u64 << 30) as f64;

struct PythonAdvertisedWindow {
    object: Object,
    largest: u64,
    shrinks: bool,
    overrides_on_arrival: bool,
    /// Value of the object's `is_growing` after the last arrival.
    is_growing: bool,
    overrides_on_link_rate: bool,
}

impl AdvertisedWindow for PythonAdvertisedWindow {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        let (unread, segment) = (input.unread, input.segment);
        let bytes = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "window_bytes"), (unread, segment))?;
            hooks.checked_number("window_bytes", &answer, 0.0)
        });
        bytes.map_or(self.largest, |bytes| (bytes as u64).min(self.largest))
    }

    fn largest(&self) -> u64 {
        self.largest
    }

    fn on_arrival(&mut self, arrived: &PathSample) {
        let arrived = (arrived.now.as_secs(), arrived.bytes, arrived.rtt.map(|rtt| rtt.as_secs()));
        let is_growing = self.object.attempt(|hooks| {
            hooks.call(intern!(hooks.py(), "on_arrival"), arrived)?;
            hooks.object.getattr(intern!(hooks.py(), "is_growing"))?.is_truthy()
        });
        self.is_growing = is_growing.unwrap_or(false);
    }

    fn is_growing(&self) -> bool {
        self.is_growing
    }

    fn on_link_rate(&mut self, rate: Rate) {
        if self.overrides_on_link_rate {
            let rate = (rate.bps(),);
            self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_link_rate"), rate).map(drop));
        }
    }

    fn needs_arrivals(&self) -> bool {
        self.overrides_on_arrival
    }

    fn shrinks(&self) -> bool {
        self.shrinks
    }
}

pub fn loss_discriminator(strategy: Strategy) -> Arc<loss_discrimination::Build> {
    Arc::new(move |_: &Values| {
        let mut object = Object::new(&strategy);
        let [draws, needs_estimate] = ["draws", "needs_estimate"].map(|name| object.flag(name));
        let [observes, overrides_on_report] =
            ["observe", "on_report"].map(|hook| object.overrides("LossDiscriminator", hook));
        Box::new(PythonLossDiscriminator { object, draws, needs_estimate, observes, overrides_on_report })
    })
}

struct PythonLossDiscriminator {
    object: Object,
    draws: bool,
    needs_estimate: bool,
    observes: bool,
    overrides_on_report: bool,
}

impl LossDiscriminator for PythonLossDiscriminator {
    fn observe(&mut self, observation: &Observation) {
        if !self.observes {
            return;
        }
        let (now_s, range) = (observation.now.as_secs(), observation.range);
        let arguments = (now_s, range.start, range.end, observation.sent.map(|sent| sent.as_secs()));
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "observe"), arguments).map(drop));
    }

    fn on_report(&mut self, range: Range) {
        if self.overrides_on_report {
            let bytes = (range.start, range.end);
            self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_report"), bytes).map(drop));
        }
    }

    fn discriminate(
        &mut self,
        gap: &loss_discrimination::Gap,
        path: &window_estimate::PathEstimate,
        random: &mut Stream,
    ) -> Cause {
        let uniform = if self.draws { random.uniform() } else { 0.0 };
        let gap = Gap { start: gap.range.start, end: gap.range.end, segment_bytes: gap.segment };
        let path = PathEstimate::from(path);
        let cause = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "discriminate"), (gap, path, uniform))?;
            match answer.extract::<String>().as_deref() {
                Ok("congestion") => Ok(Cause::Congestion),
                Ok("wireless") => Ok(Cause::Wireless),
                _ => Err(hooks.wrong("discriminate()", &answer, "\"congestion\" or \"wireless\"")),
            }
        });
        cause.unwrap_or(Cause::Congestion)
    }

    fn needs_estimate(&self) -> bool {
        self.needs_estimate
    }

    fn draws(&self) -> bool {
        self.draws
    }
}
