//! A Wi-Fi cell of two stations, the access point and the host: the two directions of a link share one medium (IEEE
//! 802.11's DCF), so that ACKs cost the data their time.
//!
//! * This file: who may send, aggregates, what becomes of their frames.
//! * `store`: what waits. `parameters`: what can be set.
//!
//! A station with something to send waits until the medium was free for DIFS and for as many slots as it has drawn, which it
//! counts only while the medium is free. Who starts in the same slot as the other one collides: nothing arrives, and both
//! draw from twice as many slots. An aggregate's frames are destroyed one by one (`channel`), acknowledged together, and
//! sent again with the next one. The receiver hands packets on in order; what comes behind a missing one waits until that
//! is there or given up. The link's rate is that of frames on the air (a trace counts with its mean).
//!
//! The directions tell each other when they begin and until when the medium is taken; the propagation delay is that
//! behind the cell, on the air there is none.
//!
//! # What is not modelled
//! Other stations, hidden ones, RTS and CTS, rate adaptation, power saving, access categories. A collision lasts as long as
//! the longer one of the two, ACK included. In an outage by `plan` the rate is 1 bit/s: `loss_plan` has outages here.

mod parameters;
mod store;

pub use parameters::MECHANISM;

use crate::across::Across;
use crate::arq::{Build, Layer, Partner, Parts};
use crate::channel::{Air, Channel, Reception};
use crate::element::{Element, Output};
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Stream, Time, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;
use store::Store;

/// All link layers of this kind.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

struct Cell {
    values: Values,
}

impl Layer for Cell {
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element> {
        Box::new(Station::new(&self.values, parts))
    }

    fn partner(&self) -> Option<Partner> {
        Some(Partner {
            why: "Wi-Fi's medium is shared, so the other direction needs the same link layer",
            remedy: "arq in the link's own table, for both directions",
        })
    }
}

/// One direction of the cell.
struct Station {
    transmissions: u32,
    most: usize,
    airtime: Duration,
    slot: Duration,
    sifs: Duration,
    difs: Duration,
    preamble: Duration,
    ack: Duration,
    overhead: u64,
    narrowest: u64,
    widest: u64,
    service: Service,
    delay: Duration,
    channel: Box<dyn Channel>,
    random: Stream,
    store: Store,
    /// Frames that were sent and are not handed on yet, in order.
    frames: VecDeque<Frame>,
    on_air: Option<Aggregate>,
    /// Slots to wait for are 0 to this, and how many are left.
    window: u64,
    backoff: u64,
    /// When the medium is free, as far as known.
    free_at: Time,
    /// When it sends, [`Time::NEVER`] without anything to send.
    starts_at: Time,
    /// When the other station began last.
    heard_at: Time,
    last_arrival: Time,
}

struct Frame {
    packet: Packet,
    sent: u32,
    state: Sent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sent {
    Waits,
    OnAir,
    Arrived,
    GivenUp,
}

struct Aggregate {
    begins: Time,
    /// When its last frame is sent, and when the ACK is over.
    ends: Time,
    until: Time,
    collides: bool,
}

impl Station {
    fn new(values: &Values, parts: Parts) -> Station {
        let mut random = parts.random;
        let narrowest = values.count("cw_min");
        let widest = values.count("cw_max").max(narrowest);
        Station {
            transmissions: values.count("transmissions") as u32,
            most: values.count("frames") as usize,
            airtime: values.duration("airtime"),
            slot: values.duration("slot"),
            sifs: values.duration("sifs"),
            difs: values.duration("difs"),
            preamble: values.duration("preamble"),
            ack: values.duration("ack"),
            overhead: values.bytes("overhead"),
            narrowest,
            widest,
            service: parts.service,
            delay: parts.delay,
            channel: parts.channel,
            store: Store::new(parts.queue),
            frames: VecDeque::new(),
            on_air: None,
            window: narrowest,
            backoff: drawn(&mut random, narrowest),
            random,
            free_at: Time::ZERO,
            starts_at: Time::NEVER,
            heard_at: Time::NEVER,
            last_arrival: Time::ZERO,
        }
    }

    /// When it sends next, if it has something to.
    fn plan(&mut self, now: Time) {
        let has_frames = self.frames.iter().any(|frame| frame.state == Sent::Waits);
        self.starts_at = match self.on_air.is_none() && (has_frames || self.store.backlog().waiting > 0) {
            true => now.max(self.free_at + self.difs + self.slot * self.backoff),
            false => Time::NEVER,
        };
    }

    /// Puts an aggregate on the air: what has to be sent again, then what waits.
    fn begin(&mut self, now: Time, out: &mut Vec<Output>) {
        let rate = self.service.rate_at(now);
        let time_of = |packet: &Packet, overhead: u64| rate.time_for(u64::from(packet.wire_bytes) + overhead);
        let first = now + self.preamble;
        let mut ends = first;
        let mut count = 0;
        for frame in &mut self.frames {
            let next = ends + time_of(&frame.packet, self.overhead);
            let fits = count == 0 || (count < self.most && next.since(first) <= self.airtime);
            if frame.state == Sent::Waits && fits {
                frame.state = Sent::OnAir;
                ends = next;
                count += 1;
            }
        }
        // The receiver holds no more than an ACK can tell of.
        while count < self.most
            && self.frames.len() < self.most
            && (count == 0 || ends.since(first) < self.airtime)
        {
            let Some(packet) = self.store.pop(now, out) else { break };
            ends += time_of(&packet, self.overhead);
            count += 1;
            self.frames.push_back(Frame { packet, sent: 0, state: Sent::OnAir });
        }
        if count == 0 {
            // A queue that keeps its packets for now.
            self.starts_at = self.store.ready_at(now);
            return;
        }
        let until = ends + self.sifs + self.ack;
        self.on_air = Some(Aggregate { begins: now, ends, until, collides: self.heard_at == now });
        self.starts_at = Time::NEVER;
        self.free_at = self.free_at.max(until);
        out.push(Output::Across(Across::Busy { from: now, until }));
    }

    /// The ACK is over, or would have been.
    fn end(&mut self, now: Time, aggregate: &Aggregate, out: &mut Vec<Output>) {
        let (mut arrived, mut gave_up) = (false, false);
        let rate = self.service.rate_at(aggregate.begins);
        let mut start = aggregate.begins + self.preamble;
        for frame in self.frames.iter_mut().filter(|frame| frame.state == Sent::OnAir) {
            let bytes = u64::from(frame.packet.wire_bytes) + self.overhead;
            let end = start + rate.time_for(bytes);
            let (bytes, priority) = (bytes as u32, frame.packet.priority);
            let reception = self.channel.transmit(&Air { start, end, bytes, priority, attempt: 0 });
            start = end;
            frame.sent += 1;
            frame.state = match reception {
                Reception::Intact if !aggregate.collides => Sent::Arrived,
                _ if frame.sent >= self.transmissions => Sent::GivenUp,
                _ => Sent::Waits,
            };
            arrived |= frame.state == Sent::Arrived;
            gave_up |= frame.state == Sent::GivenUp;
        }
        self.window = match arrived || gave_up {
            true => self.narrowest,
            false => (2 * self.window + 1).min(self.widest),
        };
        self.backoff = drawn(&mut self.random, self.window);
        self.hand_on(aggregate.ends, out);
        self.plan(now);
    }

    /// What is there, in order, and what is given up.
    fn hand_on(&mut self, ends: Time, out: &mut Vec<Output>) {
        while let Some(Frame { packet, state, .. }) = self.frames.front() {
            let at = (ends + self.delay).max(self.last_arrival);
            match state {
                Sent::Arrived => out.push(Output::Arrives { packet: *packet, at }),
                Sent::GivenUp => {
                    out.push(Output::Lost { packet: *packet, at, reason: LossReason::Channel });
                }
                Sent::Waits | Sent::OnAir => return,
            }
            self.last_arrival = at;
            self.frames.pop_front();
        }
    }
}

/// 0 to `most`, each alike.
fn drawn(random: &mut Stream, most: u64) -> u64 {
    (random.uniform() * (most + 1) as f64) as u64
}

impl Element for Station {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let is_busy = self.on_air.is_some() || !self.frames.is_empty();
        self.store.push(now, packet, is_busy, now.since(self.free_at), out);
        if self.starts_at == Time::NEVER {
            self.plan(now);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Some(aggregate) = self.on_air.take_if(|aggregate| aggregate.until <= now) {
            self.end(now, &aggregate, out);
        } else if self.starts_at <= now {
            // A queue may have named a time at which the medium is not its own; who begins with the other one knows no better.
            let may = self.free_at + self.difs + self.slot * self.backoff;
            match may <= now || self.heard_at == now {
                true => self.begin(now, out),
                false => self.starts_at = may,
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.on_air.as_ref().map_or(self.starts_at, |aggregate| aggregate.until)
    }

    fn backlog(&mut self, _: Time) -> Backlog {
        Backlog { in_service: self.on_air.is_some(), ..self.store.backlog() }
    }

    fn handle_across(&mut self, now: Time, across: Across) {
        let Across::Busy { from, until } = across else { return };
        self.heard_at = from;
        let idle_from = self.free_at + self.difs;
        self.free_at = self.free_at.max(until);
        match &mut self.on_air {
            // Both began at once.
            Some(aggregate) => aggregate.collides |= aggregate.begins == from,
            // It is to begin now, too, and does not know better.
            None if self.starts_at == from => {}
            None => {
                let passed = from.since(idle_from).as_nanos() / self.slot.as_nanos().max(1);
                self.backoff = self.backoff.saturating_sub(passed);
                self.plan(now);
            }
        }
    }
}
