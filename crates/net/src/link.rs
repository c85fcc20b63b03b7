//! One direction of a link, made of queue, service, channel and propagation delay.
//!
//! The queue is first in, first out, and no packet is removed from the middle. The call that passes a packet to the
//! link can therefore return the packet's arrival or loss.
//!
//! * `config`: configuration of a direction, and its mechanisms. `direction`: a direction, which is a [`Link`] or an
//!   element.
//! * `set`: run-time changes. `impaired`: duplicates, damage and residual losses. `light`: recorded packet trains.

mod config;
mod direction;
mod impaired;
mod light;
mod set;

pub use config::{Catalogue, Config};
pub use direction::LinkDirection;

use crate::admission::{Admission, ArrivalState, QueueLimit, Verdict};
use crate::arq::{Arq, ArqOutcome};
use crate::channel::{Channel, Reception, Transmission};
use crate::element::Output;
use crate::failures::TransmissionFailures;
use crate::propagation::VariableDelay;
use crate::service::{Served, Server, Service};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// One direction of a link with a first-in-first-out queue. Fields that each packet needs come first, so that they
/// share cache lines.
#[repr(C)]
pub struct Link {
    frees_at: Time,
    delay: Duration,
    /// Whether the link is lossless, without variable delay, and with an unlimited queue whose backlog is not counted.
    is_plain: bool,
    tracks: bool,
    keeps_order: bool,
    draws: bool,
    /// Whether [`Link::decide`] outputs failed transmissions.
    reports_failures: bool,
    server: Server,
    /// For each waiting packet, the time at which the packet leaves the queue, and the packet's size in bytes.
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    admission_gate: AdmissionGate,
    last_arrival: Time,
    /// Channel and ARQ; `None` if the link is lossless and has no variable delay.
    lossy_path: Option<(Box<dyn Channel>, Box<dyn Arq>)>,
    variable_delay: Option<Box<VariableDelay>>,
    /// Failed transmissions of the last packet, if any failed.
    failures: Option<TransmissionFailures>,
}

enum AdmissionGate {
    Limit(QueueLimit),
    Admission(Box<dyn Admission>),
}

impl AdmissionGate {
    fn average(&self) -> Option<f64> {
        match self {
            AdmissionGate::Limit(_) => None,
            AdmissionGate::Admission(admission) => admission.average(),
        }
    }
}

/// Arrival or loss of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// The packet arrives at the other end.
    Arrives {
        /// Time of arrival.
        at: Time,
    },
    /// The packet is lost.
    Lost {
        /// For a channel loss, time at which the receiver gives the packet up. Otherwise, time of the drop.
        at: Time,
        /// Reason for the loss.
        reason: LossReason,
        /// Whether the packet's header arrived intact.
        readable: bool,
    },
}

impl Link {
    /// Builds a link of this rate and one-way delay.
    pub fn new(
        service: &Service,
        delay: Duration,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        Link::with_variable_delay(service, delay, None, admission, channel, arq)
    }

    fn with_variable_delay(
        service: &Service,
        delay: Duration,
        variable_delay: Option<Box<VariableDelay>>,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        let delays = variable_delay.as_ref();
        let limit = admission.limit();
        let tracks = !limit.is_some_and(|limit| limit.is_unlimited());
        Link {
            server: Server::new(service),
            delay,
            tracks,
            is_plain: !tracks && channel.is_perfect() && delays.is_none(),
            draws: admission.draws()
                || channel.draws()
                || service.draws()
                || delays.is_some_and(|delays| delays.draws()),
            admission_gate: limit.map_or_else(|| AdmissionGate::Admission(admission), AdmissionGate::Limit),
            keeps_order: arq.keeps_order() && !delays.is_some_and(|delays| delays.reorders()),
            reports_failures: false,
            lossy_path: (variable_delay.is_some() || !channel.is_perfect()).then_some((channel, arq)),
            variable_delay,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            frees_at: Time::ZERO,
            last_arrival: Time::ZERO,
            failures: None,
        }
    }

    /// Returns the failed transmissions of the last packet. Call this before the next packet enters the link.
    pub fn take_failures(&mut self) -> Option<TransmissionFailures> {
        self.failures.take()
    }

    /// Starts to count the backlog even if the queue is unlimited. Without this call, [`Link::backlog`] is wrong for an
    /// unlimited queue.
    pub fn track_backlog(&mut self) {
        (self.tracks, self.is_plain) = (true, false);
    }

    /// Whether packets arrive in order.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order || self.lossy_path.is_none()
    }

    /// Whether the link draws random numbers.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// Whether the link is lossless, without variable delay, and counts no backlog.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Carries a packet of `bytes` over a [plain](Link::is_plain) link, and returns the packet's arrival time.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        let served = self.server.serve(now.max(self.frees_at), bytes);
        self.frees_at = served.ends;
        served.ends + self.delay
    }

    /// Carries a packet that enters the link at `now`, and returns the packet's arrival or loss. `now` never decreases.
    /// The queue may mark the packet (ECN).
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn carry(&mut self, now: Time, packet: &mut Packet) -> Passage {
        if self.tracks {
            let backlog = self.backlog(now);
            let verdict = match &mut self.admission_gate {
                AdmissionGate::Limit(limit) => limit.admit(packet.wire_bytes, &backlog),
                AdmissionGate::Admission(admission) => {
                    admission.admit(now, packet, &ArrivalState { backlog, idle: now.since(self.frees_at) })
                }
            };
            if let Verdict::Drop(reason) = verdict {
                return Passage::Lost { at: now, reason, readable: false };
            }
        }
        let served = self.server.serve(now.max(self.frees_at), packet.wire_bytes);
        if self.tracks && served.begins > now {
            self.waiting.push_back((served.begins, packet.wire_bytes));
            self.waiting_bytes += u64::from(packet.wire_bytes);
        }
        self.frees_at = served.ends;
        self.propagate(served, packet)
    }

    /// Carries a packet for an element that wraps this link, and outputs the packet's arrival or loss to `out`. If
    /// `bypasses_queue` is true, the packet skips queue and service.
    #[inline(never)]
    fn decide(&mut self, now: Time, mut packet: Packet, bypasses_queue: bool, out: &mut Vec<Output>) {
        self.failures = None;
        let passage = if bypasses_queue {
            self.propagate(Served { begins: now, ends: now }, &packet)
        } else {
            self.carry(now, &mut packet)
        };
        if let Some(failures) = self.failures.take().filter(|_| self.reports_failures) {
            out.push(Output::TransmissionFailed { packet, failures });
        }
        out.push(match passage {
            Passage::Arrives { at } => Output::Arrives { packet, at },
            Passage::Lost { at, reason, readable } => Output::Lost { packet, at, reason, readable },
        });
    }

    #[inline(always)]
    fn propagate(&mut self, served: Served, packet: &Packet) -> Passage {
        let Some((channel, arq)) = &mut self.lossy_path else {
            return Passage::Arrives { at: served.ends + self.delay };
        };
        let transmission = Transmission {
            start: served.begins,
            end: served.ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        if channel.transmit(&transmission) == Reception::Lost {
            let outcome = arq.retransmit(&transmission, &mut **channel);
            return self.carry_retransmitted(&transmission, &outcome);
        }
        let at = self.arrival(served.ends, served.ends);
        Passage::Arrives { at }
    }

    /// Returns the arrival or loss of a packet whose first transmission was lost. `outcome` is the outcome of the
    /// retransmissions.
    #[cold]
    fn carry_retransmitted(&mut self, transmission: &Transmission, outcome: &ArqOutcome) -> Passage {
        self.failures = Some(outcome.failures(transmission.end));
        self.frees_at = transmission.end + outcome.occupancy;
        let at = self.arrival(transmission.end, transmission.end + outcome.delay);
        if outcome.is_delivered {
            return Passage::Arrives { at };
        }
        let readable = self
            .lossy_path
            .as_ref()
            .is_some_and(|(channel, _)| outcome.is_readable(transmission, &**channel));
        Passage::Lost { at, reason: LossReason::Channel, readable }
    }

    /// Returns the arrival time of a packet whose first transmission ends at `ends` and whose last transmission ends at
    /// `done`. If the link keeps the order, a packet does not arrive before earlier packets.
    #[inline]
    fn arrival(&mut self, ends: Time, done: Time) -> Time {
        let mut at = done + self.delay;
        if let Some(variable_delay) = &mut self.variable_delay {
            at += variable_delay.delay(ends);
        }
        if !self.keeps_order {
            return at;
        }
        self.last_arrival = at.max(self.last_arrival);
        self.last_arrival
    }

    /// Returns the backlog at `now`, without the packet in transmission. `now` never decreases.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        while let Some((begins, bytes)) = self.waiting.front() {
            if *begins > now {
                break;
            }
            self.waiting_bytes -= u64::from(*bytes);
            self.waiting.pop_front();
        }
        Backlog {
            waiting: self.waiting.len() as u32,
            in_service: self.frees_at > now,
            bytes: self.waiting_bytes,
        }
    }
}
