//! One direction of a link with a queue that decides at dequeue or removes from the middle.

use crate::arq::{self, Arq, Carried};
use crate::change::{Change, Fixed, Setting};
use crate::channel::{self, Air, Channel};
use crate::element::{Element, Output, lacks};
use crate::propagation::Extra;
use crate::queue::{Dropped, Queue};
use crate::service::{Served, Server, Service};
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::{Backlog, LossReason, Packet};

/// Queue, service, channel and propagation delay, one packet at a time.
pub struct Scheduled {
    queue: Box<dyn Queue>,
    server: Server,
    delay: Duration,
    extra: Option<Box<Extra>>,
    keeps_order: bool,
    draws_rate: bool,
    channel: Box<dyn Channel>,
    arq: Box<dyn Arq>,
    is_sound: bool,
    tells_trouble: bool,
    waiting: u32,
    /// Whether the rate was set to 0.
    is_stopped: bool,
    frees_at: Time,
    /// Time of the next dequeue, [`Time::NEVER`] for an empty queue.
    asks_at: Time,
    last_arrival: Time,
    dropped: Dropped,
}

impl Scheduled {
    /// A direction of this rate and one-way delay.
    pub fn new(
        service: &Service,
        delay: Duration,
        queue: Box<dyn Queue>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Scheduled {
        Scheduled {
            queue,
            is_sound: channel.is_perfect(),
            tells_trouble: false,
            waiting: 0,
            channel,
            keeps_order: arq.keeps_order(),
            draws_rate: service.draws(),
            extra: None,
            arq,
            server: Server::new(service),
            delay,
            is_stopped: false,
            frees_at: Time::ZERO,
            asks_at: Time::NEVER,
            last_arrival: Time::ZERO,
            dropped: Dropped::new(),
        }
    }

    /// Adds planned delay and jitter.
    pub(crate) fn with(mut self, extra: Option<Box<Extra>>) -> Scheduled {
        self.keeps_order &= !extra.as_ref().is_some_and(|extra| extra.reorders());
        self.extra = extra;
        self
    }

    fn serve(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_stopped {
            self.asks_at = Time::NEVER;
            return;
        }
        if now < self.frees_at {
            self.asks_at = self.frees_at;
            return;
        }
        let packet = self.queue.dequeue(now, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.tell_dropped(now, out);
        }
        match &packet {
            Some(packet) => self.transmit(now, packet, out),
            None => self.asks_at = self.queue.ready_at(now),
        }
    }

    #[inline(never)]
    fn transmit(&mut self, now: Time, packet: &Packet, out: &mut Vec<Output>) {
        debug_assert_eq!(self.queue.backlog().waiting + 1, self.waiting);
        let served = self.server.serve(now, packet.wire_bytes);
        self.fly(served, packet, out);
        self.waiting -= 1;
        self.asks_at = if self.waiting > 0 { self.frees_at } else { Time::NEVER };
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn fly(&mut self, served: Served, packet: &Packet, out: &mut Vec<Output>) {
        if !self.is_sound {
            return self.fly_unsound(served, packet, out);
        }
        self.frees_at = served.ends;
        let at = self.arrival(served.ends, served.ends);
        out.push(Output::Arrives { packet: *packet, at });
    }

    #[inline(never)]
    fn fly_unsound(&mut self, served: Served, packet: &Packet, out: &mut Vec<Output>) {
        let air = Air {
            start: served.begins,
            end: served.ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        let carried = arq::carry(&air, &mut *self.channel, &mut *self.arq);
        self.frees_at = served.ends + carried.holds;
        let at = self.arrival(served.ends, served.ends + carried.late);
        if self.tells_trouble && carried != Carried::AT_ONCE {
            out.push(Output::Troubled { packet: *packet, trouble: carried.trouble(served.ends) });
        }
        out.push(if carried.delivered {
            Output::Arrives { packet: *packet, at }
        } else {
            let readable = carried.is_readable(&air, &*self.channel);
            Output::Lost { packet: *packet, at, reason: LossReason::Channel, readable }
        });
    }

    /// Arrival, or time of giving up, of a packet whose first transmission ends at `ends`, and its last one at `done`.
    #[inline(always)]
    fn arrival(&mut self, ends: Time, done: Time) -> Time {
        let mut at = done + self.delay;
        if let Some(extra) = &mut self.extra {
            at += extra.late(ends);
        }
        if self.keeps_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        at
    }

    #[cold]
    fn tell_dropped(&mut self, now: Time, out: &mut Vec<Output>) {
        self.waiting -= self.dropped.len() as u32;
        out.extend(self.dropped.drain(..).map(|(packet, reason)| Output::gone(packet, now, reason)));
    }
}

impl Element for Scheduled {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.waiting += 1;
        self.queue.enqueue(now, packet, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.tell_dropped(now, out);
        }
        self.serve(now, out);
    }

    fn handle_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.fly(Served { begins: now, ends: now }, &packet, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.asks_at {
            self.asks_at = Time::NEVER;
            self.serve(now, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.asks_at
    }

    fn tell_trouble(&mut self) -> bool {
        self.tells_trouble = true;
        true
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        let backlog = self.queue.backlog();
        debug_assert_eq!(backlog.waiting, self.waiting);
        Backlog { in_service: self.frees_at > now, ..backlog }
    }

    fn draws(&self) -> bool {
        self.queue.draws()
            || self.channel.draws()
            || self.draws_rate
            || self.extra.as_ref().is_some_and(|extra| extra.draws())
    }

    fn setting(&self) -> Option<Setting> {
        let bps = match &self.server {
            Server::Rate { rate, .. } => Some(if self.is_stopped { 0 } else { rate.bps() }),
            Server::Plan(_) | Server::Trace(_) => None,
        };
        Some(Setting { bps, delay: self.delay, loss: self.channel.share() })
    }

    fn refuses(&self, change: &Change) -> Option<Fixed> {
        let by_rate = match (&self.server, change.bps) {
            (_, None) | (Server::Rate { .. }, _) => None,
            (Server::Plan(_), Some(_)) => Some(Fixed("its rate follows a plan")),
            (Server::Trace(_), Some(_)) => Some(Fixed("its rate is recorded")),
        };
        by_rate.or_else(|| channel::refuses(&*self.channel, change))
    }

    /// The packet in transmission keeps its rate.
    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_share(share);
        }
        if let Some(bps) = change.bps {
            self.server = Server::new(&Service::Rate(Rate::from_bps(bps)));
            self.is_stopped = bps == 0;
            self.serve(now, out);
        }
    }

    fn wait(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, peer, pdus, average);
}
