//! One direction of a link: queue, service, channel, propagation delay.
//!
//! The queue is first in, first out, and nothing is removed from its middle. A packet's fate is therefore known when it
//! joins, and costs one call.
//!
//! * `config`: configuration of a direction, and its mechanisms. `line`: builds a [`Link`] or an element.
//! * `set`: run-time changes. `impaired`: duplicates, damage and residual losses. `light`: recorded trains.

mod config;
mod impaired;
mod light;
mod line;
mod set;

pub use config::{Catalogue, Config};
pub use line::Line;

use crate::admission::{Admission, Room, State, Verdict};
use crate::arq::{Arq, Carried};
use crate::channel::{Air, Channel, Reception};
use crate::element::Output;
use crate::propagation::Extra;
use crate::service::{Served, Server, Service};
use crate::trouble::Trouble;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// One direction of a link with a first-in-first-out queue. The first fields are those that each packet needs.
#[repr(C)]
pub struct Link {
    frees_at: Time,
    delay: Duration,
    /// A wire behind an unlimited queue: no losses, no backlog count.
    is_plain: bool,
    tracks: bool,
    keeps_order: bool,
    draws: bool,
    /// Whether trouble goes to `out` ([`Link::decide`]).
    tells_trouble: bool,
    server: Server,
    /// Waiting packets: time of leaving the queue, and bytes.
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    gate: Gate,
    last_arrival: Time,
    /// `None` for a lossless link without extra delay.
    air: Option<(Box<dyn Channel>, Box<dyn Arq>)>,
    extra: Option<Box<Extra>>,
    /// Trouble of the last packet that met some.
    trouble: Option<Trouble>,
}

enum Gate {
    Room(Room),
    Asked(Box<dyn Admission>),
}

impl Gate {
    fn average(&self) -> Option<f64> {
        match self {
            Gate::Room(_) => None,
            Gate::Asked(admission) => admission.average(),
        }
    }
}

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// The packet arrives at the other end.
    Arrives {
        /// Time of arrival.
        at: Time,
    },
    /// The packet is lost.
    Lost {
        /// Time of the decision; for a channel loss, when the receiver gives the packet up.
        at: Time,
        /// Reason of the loss.
        reason: LossReason,
        /// Whether the packet's header arrived intact.
        readable: bool,
    },
}

impl Link {
    /// A link of this rate and one-way delay.
    pub fn new(
        service: &Service,
        delay: Duration,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        Link::varying(service, delay, None, admission, channel, arq)
    }

    fn varying(
        service: &Service,
        delay: Duration,
        extra: Option<Box<Extra>>,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        let late = extra.as_ref();
        let room = admission.room();
        let tracks = !room.is_some_and(|room| room.is_unlimited());
        Link {
            server: Server::new(service),
            delay,
            tracks,
            is_plain: !tracks && channel.is_perfect() && late.is_none(),
            draws: admission.draws()
                || channel.draws()
                || service.draws()
                || late.is_some_and(|late| late.draws()),
            gate: room.map_or_else(|| Gate::Asked(admission), Gate::Room),
            keeps_order: arq.keeps_order() && !late.is_some_and(|late| late.reorders()),
            tells_trouble: false,
            air: (extra.is_some() || !channel.is_perfect()).then_some((channel, arq)),
            extra,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            frees_at: Time::ZERO,
            last_arrival: Time::ZERO,
            trouble: None,
        }
    }

    /// Returns the link layer's trouble with the last packet; call before the next packet joins.
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// Counts the backlog even behind an unlimited queue, for [`Link::backlog`].
    pub fn track_backlog(&mut self) {
        (self.tracks, self.is_plain) = (true, false);
    }

    /// Whether packets arrive in order.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order || self.air.is_none()
    }

    /// Whether the link draws random numbers.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// Whether the link loses nothing and counts no backlog.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns when a packet of `bytes` arrives over a [plain](Link::is_plain) link.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        let served = self.server.serve(now.max(self.frees_at), bytes);
        self.frees_at = served.ends;
        served.ends + self.delay
    }

    /// Carries a packet that joins at `now`, which never decreases. May mark the packet.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn carry(&mut self, now: Time, packet: &mut Packet) -> Passage {
        if self.tracks {
            let backlog = self.backlog(now);
            let verdict = match &mut self.gate {
                Gate::Room(room) => room.admit(packet.wire_bytes, &backlog),
                Gate::Asked(admission) => {
                    admission.admit(now, packet, &State { backlog, idle: now.since(self.frees_at) })
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
        self.fly(served, packet)
    }

    /// Carries a packet inside an element; its fate goes to `out`. `passes`: bypasses queue and service.
    #[inline(never)]
    fn decide(&mut self, now: Time, mut packet: Packet, passes: bool, out: &mut Vec<Output>) {
        self.trouble = None;
        let passage = if passes {
            self.fly(Served { begins: now, ends: now }, &packet)
        } else {
            self.carry(now, &mut packet)
        };
        if let Some(trouble) = self.trouble.take().filter(|_| self.tells_trouble) {
            out.push(Output::Troubled { packet, trouble });
        }
        out.push(match passage {
            Passage::Arrives { at } => Output::Arrives { packet, at },
            Passage::Lost { at, reason, readable } => Output::Lost { packet, at, reason, readable },
        });
    }

    #[inline(always)]
    fn fly(&mut self, served: Served, packet: &Packet) -> Passage {
        let Some((channel, arq)) = &mut self.air else {
            return Passage::Arrives { at: served.ends + self.delay };
        };
        let air = Air {
            start: served.begins,
            end: served.ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        if channel.transmit(&air) == Reception::Lost {
            let carried = arq.repeat(&air, &mut **channel);
            return self.carry_again(&air, &carried);
        }
        let at = self.arrival(served.ends, served.ends);
        Passage::Arrives { at }
    }

    /// Handles a lost first transmission after the ARQ.
    #[cold]
    fn carry_again(&mut self, air: &Air, carried: &Carried) -> Passage {
        self.trouble = Some(carried.trouble(air.end));
        self.frees_at = air.end + carried.holds;
        let at = self.arrival(air.end, air.end + carried.late);
        if carried.delivered {
            return Passage::Arrives { at };
        }
        let readable = self.air.as_ref().is_some_and(|(channel, _)| carried.is_readable(air, &**channel));
        Passage::Lost { at, reason: LossReason::Channel, readable }
    }

    /// Returns the arrival of a packet whose first transmission ends at `ends`, and whose last one ends at `done`. In
    /// order, later packets wait for earlier ones.
    #[inline]
    fn arrival(&mut self, ends: Time, done: Time) -> Time {
        let mut at = done + self.delay;
        if let Some(extra) = &mut self.extra {
            at += extra.late(ends);
        }
        if !self.keeps_order {
            return at;
        }
        self.last_arrival = at.max(self.last_arrival);
        self.last_arrival
    }

    /// Backlog at `now`, which never decreases; without the packet in transmission.
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
