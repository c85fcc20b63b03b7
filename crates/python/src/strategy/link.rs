//! Queue admissions (decisions to enqueue, mark or drop) and queue disciplines in Python.

use super::Strategy;
use super::call::{Hooks, NEVER_S, Object};
use lasthop_base::{Duration, Time, Values};
use lasthop_net::admission::{Admission, ArrivalState, Build, QueueContext, Verdict};
use lasthop_net::discipline::Discipline;
use lasthop_net::queue::{Dropped, Queue};
use lasthop_wire::{Ecn, LossReason};
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A packet in the network.
#[pyclass(frozen, module = "lasthop")]
#[derive(Clone)]
pub struct Packet(lasthop_wire::Packet);

#[pymethods]
impl Packet {
    /// Number of the packet in the run.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    /// Index of the packet's flow in the scenario.
    #[getter]
    fn flow(&self) -> u32 {
        self.0.flow.0
    }

    /// Size of the packet on a link, bytes.
    #[getter]
    fn wire_bytes(&self) -> u32 {
        self.0.wire_bytes
    }

    /// Payload, bytes.
    #[getter]
    fn payload_bytes(&self) -> u32 {
        self.0.segment().map_or(self.0.wire_bytes, |segment| segment.len)
    }

    /// Whether the packet travels from the flow's source to its destination.
    #[getter]
    fn forward(&self) -> bool {
        self.0.forward
    }

    /// Whether the packet is ECN-capable, so that a queue may mark it (RFC 3168).
    #[getter]
    fn can_be_marked(&self) -> bool {
        self.0.ecn != Ecn::NotEct
    }

    /// Whether the sender gave the packet low priority.
    #[getter]
    fn low_priority(&self) -> bool {
        self.0.priority == lasthop_wire::Priority::LOW
    }

    fn __repr__(&self) -> String {
        format!("<Packet {} of flow {}: {} bytes>", self.0.number, self.0.flow.0, self.0.wire_bytes)
    }
}

/// State of a queue at the arrival of a packet.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct QueueState {
    /// Packets waiting, without the packet in transmission.
    packets: u32,
    /// Bytes waiting.
    bytes: u64,
    /// Whether a packet is in transmission.
    in_service: bool,
    /// Time for which the transmitter has been idle, s; 0 during a transmission.
    idle_s: f64,
}

/// Backlog of a host's own uplink interface.
#[pyclass(frozen, get_all, module = "lasthop")]
pub struct Backlog {
    /// Packets waiting, without the packet in transmission.
    packets: u32,
    /// Bytes waiting.
    bytes: u64,
    /// Whether a packet is in transmission.
    in_service: bool,
}

impl From<&lasthop_wire::Backlog> for Backlog {
    fn from(backlog: &lasthop_wire::Backlog) -> Backlog {
        Backlog { packets: backlog.waiting, bytes: backlog.bytes, in_service: backlog.in_service }
    }
}

pub fn admission(strategy: Strategy) -> Arc<Build> {
    Arc::new(move |_: &Values, mut place: QueueContext| {
        let mut object = Object::new(&strategy);
        let [draws, marks] = ["draws", "marks"].map(|name| object.flag(name));
        begin(&mut object, &mut place);
        Discipline::fifo(PythonAdmission { object, draws, marks })
    })
}

fn begin(object: &mut Object, place: &mut QueueContext) {
    let start = (place.rate.bps(), place.random.draw());
    object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_start"), start).map(drop));
}

struct PythonAdmission {
    object: Object,
    draws: bool,
    marks: bool,
}

impl Admission for PythonAdmission {
    fn admit(&mut self, now: Time, packet: &mut lasthop_wire::Packet, queue: &ArrivalState) -> Verdict {
        let state = QueueState {
            packets: queue.backlog.waiting,
            bytes: queue.backlog.bytes,
            in_service: queue.backlog.in_service,
            idle_s: queue.idle.as_secs(),
        };
        let arguments = (now.as_secs(), Packet(*packet), state);
        let verdict = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "admit"), arguments)?;
            if let Ok(admits) = answer.extract::<bool>() {
                return Ok(if admits {
                    AdmissionAnswer::Admit
                } else {
                    AdmissionAnswer::Drop(LossReason::QueueFull)
                });
            }
            match answer.extract::<String>().as_deref() {
                Ok("mark") => Ok(AdmissionAnswer::Mark),
                Ok("early_drop") => Ok(AdmissionAnswer::Drop(LossReason::EarlyDrop)),
                _ => Err(hooks.wrong("admit()", &answer, "True, False, \"mark\" or \"early_drop\"")),
            }
        });
        match verdict {
            Some(AdmissionAnswer::Drop(reason)) => Verdict::Drop(reason),
            Some(AdmissionAnswer::Mark) => {
                if packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                }
                Verdict::Admit
            }
            Some(AdmissionAnswer::Admit) | None => Verdict::Admit,
        }
    }

    fn marks(&self) -> bool {
        self.marks
    }

    fn draws(&self) -> bool {
        self.draws
    }
}

enum AdmissionAnswer {
    Admit,
    Mark,
    Drop(LossReason),
}

pub fn queue(strategy: Strategy) -> Arc<Build> {
    Arc::new(move |_: &Values, mut place: QueueContext| {
        let mut object = Object::new(&strategy);
        let [draws, marks] = ["draws", "marks"].map(|name| object.flag(name));
        let holds_back = object.overrides("Queue", "ready_at");
        begin(&mut object, &mut place);
        let (waiting, ready) = (BTreeMap::new(), Time::NEVER);
        Discipline::scheduled(PythonQueue { object, draws, marks, holds_back, waiting, bytes: 0, ready })
    })
}

struct PythonQueue {
    object: Object,
    draws: bool,
    marks: bool,
    /// Whether the class overrides `ready_at`. If so, `dequeue` may return None although packets wait.
    holds_back: bool,
    waiting: BTreeMap<u64, lasthop_wire::Packet>,
    bytes: u64,
    /// Time of the next call of `dequeue`.
    ready: Time,
}

impl PythonQueue {
    /// Applies the drops and marks that the object has requested since the last call.
    fn apply_changes(&mut self, dropped: &mut Dropped) {
        if self.marks {
            for number in self.take_listed("marked", "mark()") {
                if let Some(packet) = self.waiting.get_mut(&number).filter(|packet| packet.ecn != Ecn::NotEct)
                {
                    packet.ecn = Ecn::Ce;
                }
            }
        }
        for number in self.take_listed("dropped", "drop()") {
            if let Some(packet) = self.take(number) {
                dropped.push((packet, LossReason::QueueFull));
            }
        }
    }

    fn take_listed(&mut self, list: &str, hook: &str) -> Vec<u64> {
        let numbers = self.object.attempt(|hooks| {
            let list = hooks.object.getattr(list)?;
            if list.len()? == 0 {
                return Ok(Vec::new());
            }
            let packets = list.extract::<Vec<Bound<'_, PyAny>>>()?;
            list.call_method0(intern!(hooks.py(), "clear"))?;
            packets.iter().map(|packet| waiting_number(hooks, hook, packet, &self.waiting)).collect()
        });
        numbers.unwrap_or_default()
    }

    fn next_attempt(&mut self, now: Time) -> Time {
        let at_s = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "ready_at"), (now.as_secs(),))?;
            if answer.is_none() { Ok(None) } else { hooks.checked_number("ready_at", &answer, 0.0).map(Some) }
        });
        // The time must be later than `now`: a second call at the same time would cause an endless loop.
        let later =
            |at_s: f64| (Time::ZERO + Duration::from_secs_f64(at_s)).max(now + Duration::from_nanos(1));
        at_s.flatten().filter(|at_s| *at_s < NEVER_S).map_or(Time::NEVER, later)
    }

    fn take(&mut self, number: u64) -> Option<lasthop_wire::Packet> {
        let packet = self.waiting.remove(&number)?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }
}

/// Returns the number of a packet; fails if the packet is not waiting in this queue.
fn waiting_number(
    hooks: &Hooks<'_, '_>,
    hook: &str,
    packet: &Bound<'_, PyAny>,
    waiting: &BTreeMap<u64, lasthop_wire::Packet>,
) -> PyResult<u64> {
    match packet.cast::<Packet>() {
        Ok(packet) if waiting.contains_key(&packet.get().0.number) => Ok(packet.get().0.number),
        _ => Err(hooks.wrong(hook, packet, "a packet that waits in this queue, at most once")),
    }
}

impl Queue for PythonQueue {
    fn enqueue(&mut self, now: Time, packet: lasthop_wire::Packet, dropped: &mut Dropped) {
        self.bytes += u64::from(packet.wire_bytes);
        self.waiting.insert(packet.number, packet);
        let arguments = (now.as_secs(), Packet(packet));
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "enqueue"), arguments).map(drop));
        self.apply_changes(dropped);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<lasthop_wire::Packet> {
        let next = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "dequeue"), (now.as_secs(),))?;
            if answer.is_none() {
                Ok(None)
            } else {
                waiting_number(hooks, "dequeue()", &answer, &self.waiting).map(Some)
            }
        });
        // Marks first, because the object may also have marked the packet that `dequeue` returned.
        if self.marks {
            self.apply_changes(dropped);
        }
        let packet = next.flatten().and_then(|number| self.take(number));
        self.apply_changes(dropped);
        if self.holds_back && packet.is_none() {
            self.ready = if self.waiting.is_empty() { Time::NEVER } else { self.next_attempt(now) };
        }
        packet
    }

    fn ready_at(&self, _: Time) -> Time {
        self.ready
    }

    fn marks(&self) -> bool {
        self.marks
    }

    fn backlog(&self) -> lasthop_wire::Backlog {
        lasthop_wire::Backlog { waiting: self.waiting.len() as u32, in_service: false, bytes: self.bytes }
    }

    fn draws(&self) -> bool {
        self.draws
    }
}
