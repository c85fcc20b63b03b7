//! WTCP: the base station retransmits wireless losses, and adds the time that each packet has spent at the station to
//! the packet's timestamp. The time of local recovery then does not count in the source's round-trip samples and
//! timeout (Ratnam and Matta, ISCC 1998; International Journal of Communication Systems 2003). The source needs only
//! the timestamps option. The WTCP of Sinha et al. (1999) is a different scheme, which works end to end without a
//! station. The gains often quoted for WTCP are those of the scheme of Sinha et al.
//!
//! # Our choices
//! The sources are abstracts; the rules are from memory. The station forwards retransmissions of acknowledged data. The
//! original scheme drops such retransmissions, so the mobile would never repeat a lost ACK. Out-of-order data is
//! forwarded at once. A packet for which the buffer has no room is forwarded without local recovery. While only one
//! packet may be in flight, such a packet is instead dropped. The retransmission timer backs off exponentially. A
//! timestamp never decreases and never exceeds the source's current clock. The station computes the length of the
//! source's clock tick from the source's timestamps. Until the timestamps have grown by 100 ticks, the station changes
//! no timestamp.

use crate::acks::{AckKind, Acks};
use crate::directions::{PerDirection, Toward};
use crate::sequence::{distance, end_of, is_before};
use crate::{Build, Decision, Middlebox};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, LossReason, Packet, Segment, Seq, Timestamps};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "wtcp",
        summary: "retransmits wireless losses, and adds the recovery time to the source's timestamps",
        source: "Ratnam and Matta, ISCC 1998; IJCS 2003 (abstracts; rules from memory)",
        parameters: &[
            Parameter {
                name: "buffer",
                unit: Unit::Bytes(1000, 1 << 30),
                default: Some("64 KiB"),
                doc: "cache per flow, bytes",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("20 ms"),
                doc: "smallest timeout; the timeout also exceeds the smoothed round trip by at least the link's \
                      round trip plus 10 ms",
            },
            Parameter {
                name: "tick",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(1)),
                default: Some("0 s"),
                doc: "tick of the source's timestamps; 0 s: learned from the timestamps",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let rules = WtcpRules { buffer: values.bytes("buffer"), tick: values.duration("tick") };
        let floor = values.duration("floor");
        Some(Box::new(Wtcp {
            rules,
            flows: PerDirection::new(site, Toward::Mobile, |exit| {
                WtcpFlow::new(floor, exit.round_trip + MARGIN)
            }),
            next: Time::NEVER,
        }))
    },
};

/// Allowance for the processing time of mobile and station, in addition to the link's round trip.
const MARGIN: Duration = Duration::from_millis(10);
/// Initial values of the smoothed round trip and of its variation, before the first sample (the snoop agent's values).
const START: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(250));
/// Number of ticks by which the timestamps must have grown before the station computes the length of a tick.
const TICK_LEARNED_AFTER: u32 = 100;
/// Largest number of times that the timeout is doubled.
const DOUBLINGS: u32 = 6;

#[derive(Clone, Copy)]
struct WtcpRules {
    buffer: u64,
    tick: Duration,
}

struct Wtcp {
    rules: WtcpRules,
    flows: PerDirection<WtcpFlow>,
    next: Time,
}

#[derive(Clone, Copy)]
struct BufferedPacket {
    packet: Packet,
    seq: Seq,
    end: Seq,
    arrived_at: Time,
    sent_at: Option<Time>,
    retransmissions: u32,
    /// Whether the source retransmitted the packet, or the packet arrived out of order. In either case, an earlier loss
    /// of the data was not wireless.
    is_sender_retransmission: bool,
}

struct WtcpFlow {
    acks: Acks,
    buffer: VecDeque<BufferedPacket>,
    bytes: u64,
    /// Whether only the first packet of the buffer may be sent, until a new ACK arrives.
    single_packet_mode: bool,
    /// Whether duplicate ACKs have caused a retransmission of the first packet.
    has_retransmitted: bool,
    /// Newest timestamp of the source, and the arrival time of this timestamp.
    newest_stamp: Option<(u32, Time)>,
    first_stamp: Option<(u32, Time)>,
    last_stamp: Option<u32>,
    rtt: Option<(Duration, Duration)>,
    floor: Duration,
    margin: Duration,
    backoff: u32,
    timer: Time,
}

impl Middlebox for Wtcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let rules = self.rules;
        let [data, acknowledged] = self.flows.by_direction(&packet);
        let mut next = Time::NEVER;
        if segment.flags.has(Flags::RST) {
            data.into_iter().chain(acknowledged).for_each(|flow| flow.reset(out));
            return out.push(Decision::Forward(packet));
        }
        let mut is_forwarded = true;
        if let Some(flow) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            is_forwarded = flow.on_ack(now, &rules, segment, out);
            next = next.min(flow.timer);
        }
        if !is_forwarded {
            out.push(Decision::Drop(packet, LossReason::MiddleboxRemoved));
        } else if let Some(flow) = data {
            flow.on_data(now, &rules, &packet, segment, out);
            next = next.min(flow.timer);
        } else {
            out.push(Decision::Forward(packet));
        }
        self.next = self.next.min(next);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        let rules = self.rules;
        self.next = Time::NEVER;
        for flow in self.flows.iter_mut() {
            flow.on_timeout(now, &rules, out);
            self.next = self.next.min(flow.timer);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_queue_drop(&mut self, now: Time, packet: &Packet) {
        if let ([Some(flow), _], Some(segment)) = (self.flows.by_direction(packet), packet.segment()) {
            flow.on_queue_drop(now, segment.seq);
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

impl WtcpFlow {
    fn new(floor: Duration, margin: Duration) -> WtcpFlow {
        WtcpFlow {
            acks: Acks::default(),
            buffer: VecDeque::new(),
            bytes: 0,
            single_packet_mode: false,
            has_retransmitted: false,
            newest_stamp: None,
            first_stamp: None,
            last_stamp: None,
            rtt: None,
            floor,
            margin,
            backoff: 0,
            timer: Time::NEVER,
        }
    }

    /// Discards the connection's state. Packets that are held back are forwarded unchanged.
    fn reset(&mut self, out: &mut Vec<Decision>) {
        out.extend(
            self.buffer
                .iter()
                .filter(|buffered| buffered.sent_at.is_none())
                .map(|buffered| Decision::Forward(buffered.packet)),
        );
        self.buffer.clear();
        let buffer = std::mem::take(&mut self.buffer);
        *self = WtcpFlow { buffer, rtt: self.rtt, ..WtcpFlow::new(self.floor, self.margin) };
    }

    fn on_data(
        &mut self,
        now: Time,
        rules: &WtcpRules,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Decision>,
    ) {
        if segment.flags.has(Flags::SYN) {
            self.reset(out);
        }
        let highest = self.acks.highest();
        self.acks.on_data(segment);
        if let Some(stamps) = segment.timestamps
            && self.newest_stamp.is_none_or(|(value, _)| stamps.value.wrapping_sub(value) as i32 >= 0)
        {
            self.newest_stamp = Some((stamps.value, now));
            self.first_stamp.get_or_insert((stamps.value, now));
        }
        let last = self.acks.last();
        let (seq, end) = (segment.seq, end_of(segment));
        let bytes = u64::from(segment.sequence_space());
        let is_buffered =
            bytes > 0 && !segment.flags.has(Flags::SYN) && last.is_some_and(|last| is_before(last, end));
        if !is_buffered {
            self.record_stamp(segment);
            return out.push(Decision::Forward(*packet));
        }
        let behind = self.buffer.iter().rev().take_while(|buffered| distance(buffered.seq, seq) < 0).count();
        let index = self.buffer.len() - behind;
        if let Some(known) = index.checked_sub(1).map(|before| &mut self.buffer[before])
            && known.seq == seq
        {
            if known.sent_at.is_none() {
                // The station still holds the original packet back, so the original packet was not lost. The
                // retransmitted packet is dropped.
                return out.push(Decision::Drop(*packet, LossReason::MiddleboxRemoved));
            }
            *known = BufferedPacket {
                packet: *packet,
                end,
                arrived_at: now,
                sent_at: Some(now),
                is_sender_retransmission: true,
                ..*known
            };
            self.record_stamp(segment);
            self.restart_timer(now);
            return out.push(Decision::Forward(*packet));
        }
        let has_room = self.bytes + bytes <= rules.buffer;
        if self.single_packet_mode && !self.buffer.is_empty() {
            if !has_room {
                return out.push(Decision::Drop(*packet, LossReason::QueueFull));
            }
        } else if !has_room {
            self.record_stamp(segment);
            return out.push(Decision::Forward(*packet));
        }
        let is_sender_retransmission = highest.is_some_and(|highest| is_before(seq, highest));
        let is_held = self.single_packet_mode && !self.buffer.is_empty() && index > 0;
        let sent_at = if is_held { None } else { Some(now) };
        self.buffer.insert(
            index,
            BufferedPacket {
                packet: *packet,
                seq,
                end,
                arrived_at: now,
                sent_at,
                retransmissions: 0,
                is_sender_retransmission,
            },
        );
        self.bytes += bytes;
        if !is_held {
            self.record_stamp(segment);
            if index == 0 {
                self.restart_timer(now);
            }
            out.push(Decision::Forward(*packet));
        }
    }

    fn on_ack(&mut self, now: Time, rules: &WtcpRules, segment: &Segment, out: &mut Vec<Decision>) -> bool {
        match self.acks.classify(segment) {
            AckKind::New(_) => {
                self.advance(now, rules, segment.ack, out);
                true
            }
            AckKind::Duplicate => self.on_duplicate(now, rules, segment.ack, out),
            AckKind::Old | AckKind::Other => true,
        }
    }

    fn advance(&mut self, now: Time, rules: &WtcpRules, ack: Seq, out: &mut Vec<Decision>) {
        let (mut newest, mut once) = (None, true);
        while let Some(first) = self.buffer.front()
            && !is_before(ack, first.end)
        {
            once &= first.retransmissions == 0 && !first.is_sender_retransmission;
            newest = first.sent_at;
            // The packet was held back, but the mobile has already acknowledged its data.
            if first.sent_at.is_none() {
                out.push(Decision::Drop(first.packet, LossReason::MiddleboxRemoved));
            }
            self.bytes -= u64::from(distance(first.seq, first.end).unsigned_abs()).min(self.bytes);
            self.buffer.pop_front();
        }
        if let (true, Some(sent)) = (once, newest) {
            self.sample(now.since(sent));
        }
        (self.single_packet_mode, self.has_retransmitted, self.backoff) = (false, false, 0);
        for index in 0..self.buffer.len() {
            if self.buffer[index].sent_at.is_none() {
                self.release(now, rules, index, out);
            }
        }
        self.restart_timer(now);
    }

    /// Handles a duplicate ACK. The first duplicate triggers a retransmission of the first packet in the buffer. Later
    /// duplicates report the same hole. Returns whether to forward the ACK.
    fn on_duplicate(&mut self, now: Time, rules: &WtcpRules, ack: Seq, out: &mut Vec<Decision>) -> bool {
        let Some(first) = self.buffer.front() else { return true };
        let covers_ack = !is_before(ack, first.seq) && is_before(ack, first.end);
        if !covers_ack || first.is_sender_retransmission {
            return true;
        }
        if !self.has_retransmitted {
            self.has_retransmitted = true;
            self.retransmit_first(now, rules, out);
            self.restart_timer(now);
        } else if let Some(held) = self.buffer.iter().position(|buffered| buffered.sent_at.is_none()) {
            // The duplicate ACK shows that a packet has left the network, so one packet that is held back may be sent.
            self.release(now, rules, held, out);
        }
        false
    }

    fn release(&mut self, now: Time, rules: &WtcpRules, index: usize, out: &mut Vec<Decision>) {
        self.buffer[index].sent_at = Some(now);
        let buffered = self.buffer[index];
        let last_stamp = self.with_residence_time(now, rules, &buffered);
        out.push(if last_stamp == buffered.packet {
            Decision::Forward(last_stamp)
        } else {
            Decision::Rewrite(last_stamp)
        });
    }

    fn on_timeout(&mut self, now: Time, rules: &WtcpRules, out: &mut Vec<Decision>) {
        if self.timer > now {
            return;
        }
        self.single_packet_mode = true;
        self.backoff = (self.backoff + 1).min(DOUBLINGS);
        self.retransmit_first(now, rules, out);
        self.restart_timer(now);
    }

    fn retransmit_first(&mut self, now: Time, rules: &WtcpRules, out: &mut Vec<Decision>) {
        let Some(first) = self.buffer.front().copied() else { return };
        let packet = self.with_residence_time(now, rules, &first);
        if let Some(first) = self.buffer.front_mut() {
            first.sent_at = Some(now);
            first.retransmissions += 1;
        }
        out.push(Decision::Retransmit(packet));
    }

    /// Returns the packet with a later timestamp: adds the time that the packet has spent at the station.
    fn with_residence_time(&mut self, now: Time, rules: &WtcpRules, buffered: &BufferedPacket) -> Packet {
        let (Some(segment), Some((newest, at))) = (buffered.packet.segment(), self.newest_stamp) else {
            return buffered.packet;
        };
        let Some(stamps) = segment.timestamps else { return buffered.packet };
        let Some(tick) = self.tick(rules) else { return buffered.packet };
        let ticks = |span: Duration| (span.as_nanos() as f64 / tick) as u32;
        let later = |single_packet_mode: u32, other: u32| {
            if single_packet_mode.wrapping_sub(other) as i32 >= 0 { single_packet_mode } else { other }
        };
        let earlier = |single_packet_mode: u32, other: u32| {
            if single_packet_mode.wrapping_sub(other) as i32 >= 0 { other } else { single_packet_mode }
        };
        let spent = stamps.value.wrapping_add(ticks(now.since(buffered.arrived_at)));
        let present = newest.wrapping_add(ticks(now.since(at)));
        let value = later(earlier(spent, present), self.last_stamp.unwrap_or(stamps.value));
        self.last_stamp = Some(value);
        let timestamps = Some(Timestamps { value, ..stamps });
        Packet { body: Body::Tcp(Segment { timestamps, ..*segment }), ..buffered.packet }
    }

    /// Returns the length in ns of a tick of the source's clock; `None` if the length is unknown.
    fn tick(&self, rules: &WtcpRules) -> Option<f64> {
        if rules.tick > Duration::ZERO {
            return Some(rules.tick.as_nanos() as f64);
        }
        let ((first, since), (newest, until)) = (self.first_stamp?, self.newest_stamp?);
        let grown = newest.wrapping_sub(first);
        (grown >= TICK_LEARNED_AFTER)
            .then(|| until.since(since).as_nanos() as f64 / f64::from(grown))
            .filter(|tick| *tick >= 1.0)
    }

    fn record_stamp(&mut self, segment: &Segment) {
        if let Some(stamps) = segment.timestamps
            && self.last_stamp.is_none_or(|last_stamp| stamps.value.wrapping_sub(last_stamp) as i32 > 0)
        {
            self.last_stamp = Some(stamps.value);
        }
    }

    /// Handles a drop in the next link's queue. The loss is congestion, so the station does not recover the packet.
    fn on_queue_drop(&mut self, now: Time, seq: Seq) {
        if let Some(index) =
            self.buffer.iter().rposition(|buffered| buffered.seq == seq && buffered.retransmissions == 0)
        {
            let dropped = self.buffer[index];
            self.bytes -= u64::from(distance(dropped.seq, dropped.end).unsigned_abs()).min(self.bytes);
            self.buffer.remove(index);
            self.restart_timer(now);
        }
    }

    /// Restarts the timer if the mobile awaits the first packet of the buffer; otherwise stops the timer.
    fn restart_timer(&mut self, now: Time) {
        let is_awaited = match (self.buffer.front(), self.acks.last()) {
            (Some(first), Some(ack)) => !is_before(ack, first.seq) && is_before(ack, first.end),
            _ => false,
        };
        let (smoothed, variation) = self.rtt.unwrap_or(START);
        let timeout = (smoothed + (variation * 4).max(self.margin)).max(self.floor);
        self.timer = if is_awaited { now + timeout * (1 << self.backoff) } else { Time::NEVER };
    }

    /// Adds a round-trip sample (RFC 6298 §2).
    fn sample(&mut self, rtt: Duration) {
        let part = |old: Duration, new: Duration, of: u64| {
            Duration::from_nanos(((of - 1) * old.as_nanos() + new.as_nanos()) / of)
        };
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt.divided_by(2)),
            Some((smoothed, variation)) => {
                (part(smoothed, rtt, 8), part(variation, smoothed.abs_diff(rtt), 4))
            }
        });
    }
}
