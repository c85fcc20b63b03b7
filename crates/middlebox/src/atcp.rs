//! A-TCP: the base station retransmits as a snoop agent does, and closes the sender's window if the mobile sends
//! nothing for some time. The station also limits the window in every ACK to the free space (or the size) of the
//! station's retransmission buffer (Seok, Joo and Kang, N+I 2001; Computer Communications 26(17), 2003). Sender and
//! mobile are unchanged. ATCP by Liu and Singh, for ad hoc networks, is a different scheme.
//!
//! # Our choices
//! The sources are an abstract and koga §2.1.7. Retransmission follows the snoop agent's default rules. To freeze the
//! sender, the station advertises a zero window as M-TCP does, but does not withhold a byte. The station moves the
//! window's right edge to the left only to freeze the sender. If the station has not seen a flow's SYNs, it does not
//! change the flow's windows, because the window scale is unknown. Each flow has its own buffer. The soft handoff is
//! not modelled.

use crate::acks::Acks;
use crate::directions::{PerDirection, Toward};
use crate::mtcp::{AWAY, SILENCE};
use crate::sequence::{distance, is_before};
use crate::silence::{SilenceDetector, synthetic_ack};
use crate::snoop::{Snoop, snoop_rules};
use crate::{Build, Decision, Middlebox};
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
                doc: "limit of the advertised window: the free part of the buffer (koga), or the whole buffer \
                      (the source's abstract)",
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
                doc: "closes the sender's window while the mobile is silent",
            },
            AWAY,
        ],
        only_if: &[OnlyIf { parameters: &["silence", "away"], other: "freezes", is: Is::This("true") }],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let silence = values.duration("silence");
        Some(Box::new(Atcp {
            snoop: Snoop::new(snoop_rules(), Duration::ZERO, site),
            buffer: values.bytes("buffer"),
            advertises_size: values.word("writes") == "size",
            freezes: values.flag("freezes"),
            away: values.rate("away"),
            flows: PerDirection::new(site, Toward::Mobile, |_| AtcpFlow::new(silence)),
            next: Time::NEVER,
        }))
    },
};

struct Atcp {
    snoop: Snoop,
    buffer: u64,
    advertises_size: bool,
    freezes: bool,
    away: Rate,
    flows: PerDirection<AtcpFlow>,
    next: Time,
}

struct AtcpFlow {
    acks: Acks,
    /// Window scales from the SYNs: first the sender's scale, then the mobile's.
    scales: [Option<u8>; 2],
    has_syn: [bool; 2],
    /// Right edge of the window advertised to the sender.
    edge: Option<Seq>,
    last_from_mobile: Option<Packet>,
    last_data: Option<Packet>,
    silence: SilenceDetector,
}

impl Middlebox for Atcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let first = out.len();
        self.snoop.handle_packet(now, packet, out);
        let Some(segment) = packet.segment() else { return };
        let (freezes, advertises_size) = (self.freezes, self.advertises_size);
        let room = if advertises_size {
            self.buffer
        } else {
            self.buffer.saturating_sub(self.snoop.cached_bytes_for(&packet))
        };
        let [data, acknowledged] = self.flows.by_direction(&packet);
        let mut next = Time::NEVER;
        if let Some(flow) = data {
            flow.on_data(now, &packet, segment, freezes, out);
            next = next.min(flow.silence.deadline());
        }
        if let Some(flow) = acknowledged {
            let window = flow.on_ack(now, &packet, segment, room, freezes);
            let forwarded = out[first..].iter_mut().find(|one| **one == Decision::Forward(packet));
            if let (true, Some(forwarded)) = (window != segment.window, forwarded) {
                let body = Body::Tcp(Segment { window, ..*segment });
                *forwarded = Decision::Rewrite(Packet { body, ..packet });
            }
            next = next.min(flow.silence.deadline());
        }
        self.next = self.next.min(next);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        if self.snoop.poll_timeout() <= now {
            self.snoop.handle_timeout(now, out);
        }
        if self.next <= now {
            self.next = Time::NEVER;
            for flow in self.flows.iter_mut() {
                flow.on_timeout(now, out);
                self.next = self.next.min(flow.silence.deadline());
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next.min(self.snoop.poll_timeout())
    }

    fn handle_queue_drop(&mut self, now: Time, packet: &Packet) {
        self.snoop.handle_queue_drop(now, packet);
    }

    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Decision>) {
        let is_outage = rate < self.away;
        if let Some(flow) = self.flows.get_mut(flow, forward) {
            flow.on_link_report(now, is_outage, out);
            self.next = self.next.min(flow.silence.deadline());
        }
    }

    fn needs_rates(&self) -> bool {
        self.freezes
    }

    fn draws(&self) -> bool {
        false
    }
}

impl AtcpFlow {
    fn new(silence: Duration) -> AtcpFlow {
        AtcpFlow {
            acks: Acks::default(),
            scales: [None; 2],
            has_syn: [false; 2],
            edge: None,
            last_from_mobile: None,
            last_data: None,
            silence: SilenceDetector::new(silence),
        }
    }

    fn reset(&mut self) {
        self.silence.reset();
        *self = AtcpFlow { silence: self.silence, ..AtcpFlow::new(Duration::ZERO) };
    }

    fn on_syn(&mut self, end: usize, segment: &Segment) {
        (self.scales[end], self.has_syn[end]) = (segment.window_scale, true);
        self.edge = None;
    }

    fn window_shift(&self) -> Option<u8> {
        match (self.has_syn, self.scales) {
            ([true, true], [Some(_), Some(shift)]) => Some(shift.min(14)),
            ([true, true], _) => Some(0),
            _ => None,
        }
    }

    fn on_data(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        freezes: bool,
        out: &mut Vec<Decision>,
    ) {
        if segment.flags.has(Flags::RST) {
            return self.reset();
        }
        if segment.flags.has(Flags::SYN) {
            self.acks = Acks::default();
            return self.on_syn(0, segment);
        }
        if segment.sequence_space() == 0 || self.acks.last().is_none() {
            return;
        }
        self.acks.on_data(segment);
        if segment.len > 0 {
            self.last_data = Some(*packet);
        }
        if freezes && self.acks.has_outstanding() && self.silence.on_data(now) {
            self.close_window(out);
        }
    }

    /// Handles a segment from the mobile, and returns the window to put into that segment.
    fn on_ack(&mut self, now: Time, packet: &Packet, segment: &Segment, room: u64, freezes: bool) -> u16 {
        if segment.flags.has(Flags::RST) {
            self.reset();
            return segment.window;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn(1, segment);
        }
        if !segment.flags.has(Flags::ACK) {
            return segment.window;
        }
        self.acks.classify(segment);
        if self.acks.last() != Some(segment.ack) {
            return segment.window;
        }
        if freezes {
            self.silence.on_segment(now, self.acks.has_outstanding());
        }
        self.last_from_mobile = Some(*packet);
        if self.silence.is_in_outage() && self.silence.is_frozen() {
            // The mobile sent this segment before the outage, so the window stays closed.
            return 0;
        }
        let Some(shift) = self.window_shift().filter(|_| !segment.flags.has(Flags::SYN)) else {
            return segment.window;
        };
        let offered = u64::from(segment.window) << shift;
        // The station never moves the right edge of the advertised window to the left.
        let promised = self.edge.map_or(0, |edge| distance(segment.ack, edge).max(0).unsigned_abs());
        let wanted = room.max(u64::from(promised)).min(offered);
        let units = wanted.div_ceil(1 << shift).min(u64::from(segment.window)) as u16;
        let edge = Seq(segment.ack.0.wrapping_add((u32::from(units)) << shift));
        if self.edge.is_none_or(|known| is_before(known, edge)) {
            self.edge = Some(edge);
        }
        units
    }

    fn on_link_report(&mut self, now: Time, is_outage: bool, out: &mut Vec<Decision>) {
        if !self.silence.on_link_report(now, is_outage, self.acks.has_outstanding()) {
            return;
        }
        if is_outage {
            return self.close_window(out);
        }
        if let (Some(last_from_mobile), Some(last)) = (&self.last_from_mobile, self.acks.last()) {
            // Reopens the window to the right edge advertised before the freeze.
            let shift = u32::from(self.window_shift().unwrap_or(0));
            let promised = self.edge.map_or(0, |edge| distance(last, edge).max(0).unsigned_abs()) >> shift;
            let window = if self.edge.is_some() { promised.min(0xffff) as u16 } else { self.acks.window() };
            out.extend(synthetic_ack(last_from_mobile, last, window).map(Decision::Emit));
        }
    }

    fn close_window(&self, out: &mut Vec<Decision>) {
        if let (Some(last_from_mobile), Some(last)) = (&self.last_from_mobile, self.acks.last()) {
            out.extend(synthetic_ack(last_from_mobile, last, 0).map(Decision::Emit));
        }
    }

    fn on_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        if self.last_from_mobile.is_none() || self.acks.last().is_none() {
            return self.silence.reset();
        }
        match self.silence.expire(now) {
            Some(true) => self.close_window(out),
            Some(false) => out.extend(self.last_data.map(Decision::Retransmit)),
            None => {}
        }
    }
}
