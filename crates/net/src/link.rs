//! One direction of a link: queue, then service, then the air, then the propagation delay.
//!
//! The queue is first in, first out, and nothing is removed from its middle, so a
//! packet's whole passage is known when it joins. A packet costs one call.
//!
//! * `config`: parts of a direction and every mechanism for them; `line`: of which kind it is then, this one or an
//!   element, and how it is built;
//! * `set`: what of it may be changed while it runs; `impaired`: which packets join twice, and which are damaged;
//!   `light`: recorded trains.

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

/// One direction of a link whose queue is first in, first out.
///
/// First what each packet touches.
#[repr(C)]
pub struct Link {
    frees_at: Time,
    delay: Duration,
    /// Whether nothing is lost and what waits is not counted: a wire behind an unlimited queue.
    is_plain: bool,
    /// Whether what waits is counted.
    tracks: bool,
    keeps_order: bool,
    draws: bool,
    /// Whether trouble goes to `out` where a packet's fate does ([`Link::decide`]).
    tells_trouble: bool,
    server: Server,
    /// Packets that wait: when each leaves the queue, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    gate: Gate,
    last_arrival: Time,
    /// `None` when nothing is ever lost or late.
    air: Option<(Box<dyn Channel>, Box<dyn Arq>)>,
    /// What comes to the delay.
    extra: Option<Box<Extra>>,
    /// Of the packet that met some last.
    trouble: Option<Trouble>,
}

/// Who decides what may join.
enum Gate {
    /// The room alone: nobody need be asked.
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

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// It reaches the other side.
    Arrives {
        /// When.
        at: Time,
    },
    /// It is lost.
    Lost {
        /// When that is decided; for a loss on the air, when the receiving side gives it up.
        at: Time,
        /// Why.
        reason: LossReason,
        /// Whether its header arrived sound all the same.
        readable: bool,
    },
}

impl Link {
    /// A link of this rate and one-way delay in its initial state.
    pub fn new(
        service: &Service,
        delay: Duration,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        Link::varying(service, delay, None, admission, channel, arq)
    }

    /// The same, with what comes to its delay.
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

    /// The link layer's trouble with the packet that joined last, if it is asked before the next one joins and nothing was
    /// left from before.
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// Has the link count what waits even if its queue is unlimited, so that [`Link::backlog`] is true.
    pub fn track_backlog(&mut self) {
        (self.tracks, self.is_plain) = (true, false);
    }

    /// Whether packets arrive in the order in which they joined.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order || self.air.is_none()
    }

    /// Whether anything of it draws random numbers.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// Whether all packets pass: nothing is lost, and what waits is not counted.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Of a [plain](Link::is_plain) link: when a packet of so many bytes reaches the other side that joins at `now`.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        let served = self.server.serve(now.max(self.frees_at), bytes);
        self.frees_at = served.ends;
        served.ends + self.delay
    }

    /// A packet joins at `now`, which never decreases. It may come out marked.
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

    /// A packet joins inside an element, and its fate goes to `out`. One that passes neither waits nor takes time to be sent.
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

    /// A packet's way through the air.
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

    /// The first transmission was lost, and the ARQ has seen to it.
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

    /// When a packet is there whose first transmission ends at `ends`, and its last one at `done`. What comes behind one that is
    /// being repeated, or that is late, waits until that is there, or given up.
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

    /// What waits at `now`, which never decreases; the packet in transmission is told apart.
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
