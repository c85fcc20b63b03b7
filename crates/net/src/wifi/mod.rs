//! A Wi-Fi cell: an access point and stations on one shared medium (IEEE 802.11's DCF).
//!
//! * This file: one direction of a link, its aggregates and frames.
//! * `medium`: contention. `backoff`: one station's back-off. `load`: stations without packets.
//!
//! A station with data waits until the medium was free for DIFS and for its drawn number of slots, counted only while
//! the medium is free. Stations that begin in the same slot collide: nothing arrives, and each draws from twice as many
//! slots. Frames of an aggregate are lost one by one (`channel`), acknowledged together, and retransmitted with the
//! next aggregate. The receiver delivers in order; packets behind a missing frame wait until that arrives or is given
//! up. The link's rate is that of frames over the air (a trace counts with its mean).
//!
//! Links of one cell share the medium. All directions of one node share a back-off and take turns, an aggregate each
//! (Linux's access points have a queue per station, too). The propagation delay lies behind the cell.
//!
//! # Not modelled
//! Hidden stations, capture, RTS and CTS, rate adaptation, power saving; access categories except by each direction's
//! parameters. A collision takes the medium until the longest one's ACK would be over (EIFS is that and DIFS). A
//! planned outage has a rate of 1 bit/s: use `loss_plan` for outages.

mod backoff;
mod load;
mod medium;
mod parameters;

pub use parameters::MECHANISM;

use crate::across::{Across, Word};
use crate::arq::{Build, Layer, Medium, Partner, Parts};
use crate::channel::{Air, Channel, Reception};
use crate::element::{Element, Output, lacks};
use crate::service::Service;
use crate::store::Store;
use crate::trouble::Trouble;
use lasthop_base::{Duration, Mechanism, Time, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// All link layers of this kind.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

struct Cell {
    values: Values,
}

impl Layer for Cell {
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element> {
        Box::new(Station::new(&self.values, parts))
    }

    fn reports_trouble(&self) -> bool {
        true
    }

    fn partner(&self) -> Option<Partner> {
        Some(Partner {
            why: "Wi-Fi's medium is shared, so the other direction needs the same link layer",
            remedy: "set arq in the link's own table, for both directions",
        })
    }

    fn medium(&self) -> Option<Medium> {
        Some(Medium {
            alike: &["slot", "sifs"],
            alike_of_sender: &["difs", "cw_min", "cw_max"],
            alike_if_said: &["stations", "load", "access"],
            arbiter: |members, random| Box::new(medium::Arbiter::new(members, random)),
        })
    }
}

struct Station {
    /// Index at the medium.
    member: u32,
    transmissions: u32,
    most: usize,
    airtime: Duration,
    sifs: Duration,
    preamble: Duration,
    ack: Duration,
    overhead: u64,
    service: Service,
    delay: Duration,
    channel: Box<dyn Channel>,
    store: Store,
    frames: VecDeque<Frame>,
    does: Does,
    /// End of the last aggregate's use of the medium, ACK included.
    until: Time,
    last_arrival: Time,
    tells_trouble: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    /// Idle until then: the queue is empty, or keeps its packets.
    Rests(Time),
    Contends,
    Begins(Time),
    Sends(Aggregate),
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Aggregate {
    begins: Time,
    ends: Time,
    collides: bool,
}

impl Station {
    fn new(values: &Values, parts: Parts) -> Station {
        Station {
            member: 0,
            transmissions: values.count("transmissions") as u32,
            most: values.count("frames") as usize,
            airtime: values.duration("airtime"),
            sifs: values.duration("sifs"),
            preamble: values.duration("preamble"),
            ack: values.duration("ack"),
            overhead: values.bytes("overhead"),
            service: parts.service,
            delay: parts.delay,
            channel: parts.channel,
            store: Store::new(parts.queue),
            frames: VecDeque::new(),
            does: Does::Rests(Time::NEVER),
            until: Time::ZERO,
            last_arrival: Time::ZERO,
            tells_trouble: false,
        }
    }

    fn say(&self, word: Word, out: &mut Vec<Output>) {
        out.push(Output::Across(Across::Air { member: self.member, word }));
    }

    fn ask(&mut self, out: &mut Vec<Output>) {
        if self.has_something() {
            self.does = Does::Contends;
            self.say(Word::Wants, out);
        }
    }

    fn has_something(&self) -> bool {
        self.store.backlog().waiting > 0 || self.frames.iter().any(|frame| frame.state == Sent::Waits)
    }

    /// Sends an aggregate: retransmissions first, then new packets.
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
        // The block ACK's window limits the receiver's buffer.
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
            let waits = self.store.backlog().waiting > 0;
            self.does = Does::Rests(if waits { self.store.ready_at(now) } else { Time::NEVER });
            return self.say(Word::Nothing, out);
        }
        self.until = ends + self.sifs + self.ack;
        self.does = Does::Sends(Aggregate { begins: now, ends, collides: false });
        self.say(Word::Takes(self.until), out);
    }

    /// Handles the aggregate's end; the ACK reports the frames that arrived.
    fn end(&mut self, aggregate: &Aggregate, out: &mut Vec<Output>) {
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
            if self.tells_trouble && frame.state != Sent::Arrived {
                // The sender learns of the loss from the ACK.
                let (before, since) = (frame.sent - 1, aggregate.ends);
                let trouble = Trouble { before, failed: 1, since, apart: self.sifs + self.ack };
                out.push(Output::Troubled { packet: frame.packet, trouble });
            }
            arrived |= frame.state == Sent::Arrived;
            gave_up |= frame.state == Sent::GivenUp;
        }
        self.hand_on(aggregate.ends, out);
        let wants = self.has_something();
        self.does = if wants { Does::Contends } else { Does::Rests(Time::NEVER) };
        self.say(Word::Done { is_settled: arrived || gave_up, wants }, out);
    }

    /// Delivers in order; outputs losses of frames given up.
    fn hand_on(&mut self, ends: Time, out: &mut Vec<Output>) {
        while let Some(Frame { packet, state, .. }) = self.frames.front() {
            let at = (ends + self.delay).max(self.last_arrival);
            match state {
                Sent::Arrived => out.push(Output::Arrives { packet: *packet, at }),
                Sent::GivenUp => {
                    out.push(Output::gone(*packet, at, LossReason::Channel));
                }
                Sent::Waits | Sent::OnAir => return,
            }
            self.last_arrival = at;
            self.frames.pop_front();
        }
    }
}

impl Element for Station {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let is_busy = now < self.until || !self.frames.is_empty();
        self.store.push(now, packet, is_busy, now.since(self.until), out);
        if let Does::Rests(_) = self.does {
            self.ask(out);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        match self.does {
            Does::Rests(until) if until <= now => {
                self.does = Does::Rests(Time::NEVER);
                self.ask(out);
            }
            Does::Begins(_) => self.begin(now, out),
            Does::Sends(aggregate) if aggregate.ends <= now => self.end(&aggregate, out),
            Does::Rests(_) | Does::Contends | Does::Sends(_) => {}
        }
    }

    fn poll_timeout(&self) -> Time {
        match self.does {
            Does::Rests(until) => until,
            Does::Contends => Time::NEVER,
            Does::Begins(at) => at,
            Does::Sends(aggregate) => aggregate.ends,
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        Backlog { in_service: now < self.until, ..self.store.backlog() }
    }

    fn draws(&self) -> bool {
        true
    }

    fn tell_trouble(&mut self) -> bool {
        self.tells_trouble = true;
        true
    }

    fn average(&self) -> Option<f64> {
        self.store.average()
    }

    fn handle_across(&mut self, now: Time, across: Across) {
        let Across::Air { member, word } = across else { return };
        match (word, &mut self.does) {
            (Word::Joined, _) => self.member = member,
            (Word::Begin, does) => *does = Does::Begins(now),
            (Word::Collides, Does::Sends(aggregate)) => aggregate.collides = true,
            _ => {}
        }
    }

    lacks!(copies, passing, pdus, settings, changes);
}
