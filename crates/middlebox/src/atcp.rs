//! A-TCP: the station retransmits as a snoop agent does, closes the sender's window if the mobile falls silent, and
//! limits the window in every ACK to its retransmission buffer (Seok, Joo and Kang, N+I 2001; Computer Communications
//! 26(17), 2003). Both ends are unchanged. ATCP of Liu and Singh, for ad hoc networks, is a different scheme.
//!
//! # Our choices
//! Sources: an abstract and koga §2.1.7. Retransmission follows the snoop agent with its defaults. Freezing uses
//! M-TCP's zero window, without withholding a byte. Except for freezing, the window's right edge never moves left. A
//! flow that the station meets in mid-connection keeps its windows, because the window scale is unknown. Each flow has
//! its own buffer. The soft handoff is not modelled.

use crate::acks::Acks;
use crate::directions::{Directions, Toward};
use crate::mtcp::{AWAY, SILENCE};
use crate::numbers::{distance, is_before};
use crate::silence::{Silence, ack_like};
use crate::snoop::{Snoop, snoop_rules};
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Rate, Time, Unit};
use lasthop_wire::{Body, Flags, FlowId, Packet, Segment, Seq};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "atcp",
        summary: "a snoop agent that also advertises its free buffer, and freezes the sender of a silent mobile",
        source: "Seok et al., Computer Communications 26(17) 2003 (abstract), koga §2.1.7; details are ours",
        parameters: &[
            Parameter {
                name: "buffer",
                unit: Unit::Bytes(1000, 1 << 30),
                default: Some("64 KiB"),
                doc: "buffer per flow, bytes, for outstanding and cached data together",
            },
            Parameter {
                name: "writes",
                unit: Unit::Word(&["free", "size"]),
                default: Some("free"),
                doc: "limit of the advertised window: the free buffer (koga), or the whole buffer (the abstract)",
            },
            Parameter {
                name: "silence",
                unit: SILENCE,
                default: Some("100 ms"),
                doc: "shortest silence of the mobile that closes the window; keep it below the sender's timeout",
            },
            Parameter {
                name: "freezes",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "closes the window at silence",
            },
            AWAY,
        ],
        only_if: &[OnlyIf { parameters: &["silence", "away"], other: "freezes", is: Is::This("true") }],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let silence = values.duration("silence");
        Some(Box::new(Atcp {
            snoop: Snoop::new(snoop_rules(), Duration::ZERO, place),
            buffer: values.bytes("buffer"),
            all: values.word("writes") == "size",
            freezes: values.flag("freezes"),
            away: values.rate("away"),
            flows: Directions::new(place, Toward::Mobile, |_| Watched::new(silence)),
            next: Time::NEVER,
        }))
    },
};

struct Atcp {
    snoop: Snoop,
    buffer: u64,
    all: bool,
    freezes: bool,
    away: Rate,
    flows: Directions<Watched>,
    next: Time,
}

struct Watched {
    acks: Acks,
    /// Window scales of the data's sender and of the mobile, from the SYNs.
    scales: [Option<u8>; 2],
    seen: [bool; 2],
    /// Right edge of the window advertised to the sender.
    edge: Option<Seq>,
    heard: Option<Packet>,
    sent: Option<Packet>,
    silence: Silence,
}

impl Middlebox for Atcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Onward>) {
        let first = out.len();
        self.snoop.handle_packet(now, packet, out);
        let Some(segment) = packet.segment() else { return };
        let (freezes, all) = (self.freezes, self.all);
        let room = if all { self.buffer } else { self.buffer.saturating_sub(self.snoop.kept_for(&packet)) };
        let [data, acknowledged] = self.flows.of(&packet);
        let mut next = Time::NEVER;
        if let Some(watched) = data {
            watched.pass_data(now, &packet, segment, freezes, out);
            next = next.min(watched.silence.deadline());
        }
        if let Some(watched) = acknowledged {
            let window = watched.acknowledge(now, &packet, segment, room, freezes);
            let went_on = out[first..].iter_mut().find(|one| **one == Onward::Same(packet));
            if let (true, Some(went_on)) = (window != segment.window, went_on) {
                let body = Body::Tcp(Segment { window, ..*segment });
                *went_on = Onward::Changed(Packet { body, ..packet });
            }
            next = next.min(watched.silence.deadline());
        }
        self.next = self.next.min(next);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Onward>) {
        if self.snoop.poll_timeout() <= now {
            self.snoop.handle_timeout(now, out);
        }
        if self.next <= now {
            self.next = Time::NEVER;
            for watched in self.flows.iter_mut() {
                watched.expire(now, out);
                self.next = self.next.min(watched.silence.deadline());
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next.min(self.snoop.poll_timeout())
    }

    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        self.snoop.handle_refused(now, packet);
    }

    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Onward>) {
        let away = rate < self.away;
        if let Some(watched) = self.flows.one(flow, forward) {
            watched.tell(now, away, out);
            self.next = self.next.min(watched.silence.deadline());
        }
    }

    fn asks_plan(&self) -> bool {
        self.freezes
    }

    fn draws(&self) -> bool {
        false
    }
}

impl Watched {
    fn new(silence: Duration) -> Watched {
        Watched {
            acks: Acks::default(),
            scales: [None; 2],
            seen: [false; 2],
            edge: None,
            heard: None,
            sent: None,
            silence: Silence::new(silence),
        }
    }

    fn reset(&mut self) {
        self.silence.reset();
        *self = Watched { silence: self.silence, ..Watched::new(Duration::ZERO) };
    }

    fn open(&mut self, end: usize, segment: &Segment) {
        (self.scales[end], self.seen[end]) = (segment.window_scale, true);
        self.edge = None;
    }

    fn shift(&self) -> Option<u8> {
        match (self.seen, self.scales) {
            ([true, true], [Some(_), Some(shift)]) => Some(shift.min(14)),
            ([true, true], _) => Some(0),
            _ => None,
        }
    }

    fn pass_data(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        freezes: bool,
        out: &mut Vec<Onward>,
    ) {
        if segment.flags.has(Flags::RST) {
            return self.reset();
        }
        if segment.flags.has(Flags::SYN) {
            self.acks = Acks::default();
            return self.open(0, segment);
        }
        if segment.sequence_space() == 0 || self.acks.last().is_none() {
            return;
        }
        self.acks.pass_data(segment);
        if segment.len > 0 {
            self.sent = Some(*packet);
        }
        if freezes && self.acks.is_awaiting() && self.silence.send(now) {
            self.close(out);
        }
    }

    /// Returns the window to advertise in a segment of the mobile.
    fn acknowledge(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        room: u64,
        freezes: bool,
    ) -> u16 {
        if segment.flags.has(Flags::RST) {
            self.reset();
            return segment.window;
        }
        if segment.flags.has(Flags::SYN) {
            self.open(1, segment);
        }
        if !segment.flags.has(Flags::ACK) {
            return segment.window;
        }
        self.acks.take(segment);
        if self.acks.last() != Some(segment.ack) {
            return segment.window;
        }
        if freezes {
            self.silence.hear(now, self.acks.is_awaiting());
        }
        self.heard = Some(*packet);
        if self.silence.is_away() && self.silence.is_frozen() {
            // The segment left the mobile before the outage.
            return 0;
        }
        let Some(shift) = self.shift().filter(|_| !segment.flags.has(Flags::SYN)) else {
            return segment.window;
        };
        let offered = u64::from(segment.window) << shift;
        // Never shrinks the advertised window.
        let promised = self.edge.map_or(0, |edge| distance(segment.ack, edge).max(0).unsigned_abs());
        let wanted = room.max(u64::from(promised)).min(offered);
        let units = wanted.div_ceil(1 << shift).min(u64::from(segment.window)) as u16;
        let edge = Seq(segment.ack.0.wrapping_add((u32::from(units)) << shift));
        if self.edge.is_none_or(|known| is_before(known, edge)) {
            self.edge = Some(edge);
        }
        units
    }

    fn tell(&mut self, now: Time, away: bool, out: &mut Vec<Onward>) {
        if !self.silence.tell(now, away, self.acks.is_awaiting()) {
            return;
        }
        if away {
            return self.close(out);
        }
        if let (Some(heard), Some(last)) = (&self.heard, self.acks.last()) {
            // Reopens the window to the edge advertised earlier.
            let shift = u32::from(self.shift().unwrap_or(0));
            let promised = self.edge.map_or(0, |edge| distance(last, edge).max(0).unsigned_abs()) >> shift;
            let window = if self.edge.is_some() { promised.min(0xffff) as u16 } else { self.acks.window() };
            out.extend(ack_like(heard, last, window).map(Onward::New));
        }
    }

    fn close(&self, out: &mut Vec<Onward>) {
        if let (Some(heard), Some(last)) = (&self.heard, self.acks.last()) {
            out.extend(ack_like(heard, last, 0).map(Onward::New));
        }
    }

    fn expire(&mut self, now: Time, out: &mut Vec<Onward>) {
        if self.heard.is_none() || self.acks.last().is_none() {
            return self.silence.reset();
        }
        match self.silence.expire(now) {
            Some(true) => self.close(out),
            Some(false) => out.extend(self.sent.map(Onward::Again)),
            None => {}
        }
    }
}
