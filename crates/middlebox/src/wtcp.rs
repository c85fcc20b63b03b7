//! WTCP: the station retransmits wireless losses, and adds each packet's residence time to its timestamp. The source's
//! round-trip samples and timeout then exclude local recovery (Ratnam and Matta, ISCC 1998; International Journal of
//! Communication Systems 2003). The source needs timestamps only. The WTCP of Sinha et al. (1999), an end-to-end scheme
//! without a station, is a different one and the origin of the gains often quoted.
//!
//! # Our choices
//! Sources: abstracts; the rules are from memory. Acknowledged data is forwarded (the source drops it: a lost ACK would
//! then never be repeated). Out-of-order data is forwarded at once. A packet that exceeds the buffer is forwarded
//! without help, or dropped if only one packet may be in flight. The retransmission timer backs off exponentially. A
//! timestamp never decreases and never exceeds the source's current clock. The source's tick is learned from its
//! timestamps; no timestamp changes before these have grown by 100.

use crate::acks::{Acks, Kind};
use crate::directions::{Directions, Toward};
use crate::numbers::{distance, end_of, is_before};
use crate::{Build, Middlebox, Onward};
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
                doc: "smallest timeout; also exceeds the smoothed round trip by the link's plus 10 ms",
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
    build: &|values, place| {
        let rules = Rules { buffer: values.bytes("buffer"), tick: values.duration("tick") };
        let floor = values.duration("floor");
        Some(Box::new(Wtcp {
            rules,
            flows: Directions::new(place, Toward::Mobile, |exit| {
                Watched::new(floor, exit.round_trip + MARGIN)
            }),
            next: Time::NEVER,
        }))
    },
};

/// Processing time of mobile and station, in addition to the link's round trip.
const MARGIN: Duration = Duration::from_millis(10);
/// Smoothed round trip and variation before the first sample.
const START: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(250));
/// Growth of the timestamps, ticks, after which the tick is known.
const LEARNED: u32 = 100;
/// Largest number of timeout doublings.
const DOUBLINGS: u32 = 6;

#[derive(Clone, Copy)]
struct Rules {
    buffer: u64,
    tick: Duration,
}

struct Wtcp {
    rules: Rules,
    flows: Directions<Watched>,
    next: Time,
}

#[derive(Clone, Copy)]
struct Kept {
    packet: Packet,
    seq: Seq,
    end: Seq,
    arrived: Time,
    sent: Option<Time>,
    repeats: u32,
    /// Retransmitted by the source, or out of order: not a wireless loss.
    again: bool,
}

struct Watched {
    acks: Acks,
    kept: VecDeque<Kept>,
    bytes: u64,
    /// Only the first packet may be sent until a new ACK arrives.
    one: bool,
    /// Whether duplicates have caused a retransmission of the first packet.
    repaired: bool,
    /// Newest timestamp of the source and its arrival time.
    clock: Option<(u32, Time)>,
    first: Option<(u32, Time)>,
    stamped: Option<u32>,
    rtt: Option<(Duration, Duration)>,
    floor: Duration,
    margin: Duration,
    backoff: u32,
    timer: Time,
}

impl Middlebox for Wtcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Onward>) {
        let Some(segment) = packet.segment() else { return out.push(Onward::Same(packet)) };
        let rules = self.rules;
        let [data, acknowledged] = self.flows.of(&packet);
        let mut next = Time::NEVER;
        if segment.flags.has(Flags::RST) {
            data.into_iter().chain(acknowledged).for_each(|watched| watched.reset(out));
            return out.push(Onward::Same(packet));
        }
        let mut goes_on = true;
        if let Some(watched) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            goes_on = watched.acknowledge(now, &rules, segment, out);
            next = next.min(watched.timer);
        }
        if !goes_on {
            out.push(Onward::Dropped(packet, LossReason::MiddleboxRemoved));
        } else if let Some(watched) = data {
            watched.pass_data(now, &rules, &packet, segment, out);
            next = next.min(watched.timer);
        } else {
            out.push(Onward::Same(packet));
        }
        self.next = self.next.min(next);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Onward>) {
        let rules = self.rules;
        self.next = Time::NEVER;
        for watched in self.flows.iter_mut() {
            watched.expire(now, &rules, out);
            self.next = self.next.min(watched.timer);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        if let ([Some(watched), _], Some(segment)) = (self.flows.of(packet), packet.segment()) {
            watched.forget(now, segment.seq);
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

impl Watched {
    fn new(floor: Duration, margin: Duration) -> Watched {
        Watched {
            acks: Acks::default(),
            kept: VecDeque::new(),
            bytes: 0,
            one: false,
            repaired: false,
            clock: None,
            first: None,
            stamped: None,
            rtt: None,
            floor,
            margin,
            backoff: 0,
            timer: Time::NEVER,
        }
    }

    /// Resets the connection. Packets held back are forwarded unchanged.
    fn reset(&mut self, out: &mut Vec<Onward>) {
        out.extend(self.kept.iter().filter(|kept| kept.sent.is_none()).map(|kept| Onward::Same(kept.packet)));
        self.kept.clear();
        let kept = std::mem::take(&mut self.kept);
        *self = Watched { kept, rtt: self.rtt, ..Watched::new(self.floor, self.margin) };
    }

    fn pass_data(
        &mut self,
        now: Time,
        rules: &Rules,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Onward>,
    ) {
        if segment.flags.has(Flags::SYN) {
            self.reset(out);
        }
        let highest = self.acks.highest();
        self.acks.pass_data(segment);
        if let Some(stamps) = segment.timestamps
            && self.clock.is_none_or(|(value, _)| stamps.value.wrapping_sub(value) as i32 >= 0)
        {
            self.clock = Some((stamps.value, now));
            self.first.get_or_insert((stamps.value, now));
        }
        let last = self.acks.last();
        let (seq, end) = (segment.seq, end_of(segment));
        let bytes = u64::from(segment.sequence_space());
        let is_kept =
            bytes > 0 && !segment.flags.has(Flags::SYN) && last.is_some_and(|last| is_before(last, end));
        if !is_kept {
            self.note_stamp(segment);
            return out.push(Onward::Same(*packet));
        }
        let behind = self.kept.iter().rev().take_while(|kept| distance(kept.seq, seq) < 0).count();
        let place = self.kept.len() - behind;
        if let Some(known) = place.checked_sub(1).map(|before| &mut self.kept[before])
            && known.seq == seq
        {
            if known.sent.is_none() {
                // A packet held back was not lost: the copy is dropped.
                return out.push(Onward::Dropped(*packet, LossReason::MiddleboxRemoved));
            }
            *known = Kept { packet: *packet, end, arrived: now, sent: Some(now), again: true, ..*known };
            self.note_stamp(segment);
            self.restart(now);
            return out.push(Onward::Same(*packet));
        }
        let has_room = self.bytes + bytes <= rules.buffer;
        if self.one && !self.kept.is_empty() {
            if !has_room {
                return out.push(Onward::Dropped(*packet, LossReason::QueueFull));
            }
        } else if !has_room {
            self.note_stamp(segment);
            return out.push(Onward::Same(*packet));
        }
        let again = highest.is_some_and(|highest| is_before(seq, highest));
        let holds = self.one && !self.kept.is_empty() && place > 0;
        let sent = if holds { None } else { Some(now) };
        self.kept.insert(place, Kept { packet: *packet, seq, end, arrived: now, sent, repeats: 0, again });
        self.bytes += bytes;
        if !holds {
            self.note_stamp(segment);
            if place == 0 {
                self.restart(now);
            }
            out.push(Onward::Same(*packet));
        }
    }

    fn acknowledge(&mut self, now: Time, rules: &Rules, segment: &Segment, out: &mut Vec<Onward>) -> bool {
        match self.acks.take(segment) {
            Kind::New(_) => {
                self.advance(now, rules, segment.ack, out);
                true
            }
            Kind::Duplicate => self.duplicate(now, rules, segment.ack, out),
            Kind::Old | Kind::Other => true,
        }
    }

    fn advance(&mut self, now: Time, rules: &Rules, ack: Seq, out: &mut Vec<Onward>) {
        let (mut newest, mut once) = (None, true);
        while let Some(first) = self.kept.front()
            && !is_before(ack, first.end)
        {
            once &= first.repeats == 0 && !first.again;
            newest = first.sent;
            // The mobile has acknowledged this packet meanwhile.
            if first.sent.is_none() {
                out.push(Onward::Dropped(first.packet, LossReason::MiddleboxRemoved));
            }
            self.bytes -= u64::from(distance(first.seq, first.end).unsigned_abs()).min(self.bytes);
            self.kept.pop_front();
        }
        if let (true, Some(sent)) = (once, newest) {
            self.sample(now.since(sent));
        }
        (self.one, self.repaired, self.backoff) = (false, false, 0);
        for place in 0..self.kept.len() {
            if self.kept[place].sent.is_none() {
                self.let_go(now, rules, place, out);
            }
        }
        self.restart(now);
    }

    /// Retransmits the first packet at once; later duplicates report the same hole.
    fn duplicate(&mut self, now: Time, rules: &Rules, ack: Seq, out: &mut Vec<Onward>) -> bool {
        let Some(first) = self.kept.front() else { return true };
        let has_it = !is_before(ack, first.seq) && is_before(ack, first.end);
        if !has_it || first.again {
            return true;
        }
        if !self.repaired {
            self.repaired = true;
            self.repeat(now, rules, out);
            self.restart(now);
        } else if let Some(held) = self.kept.iter().position(|kept| kept.sent.is_none()) {
            // A packet has left the network.
            self.let_go(now, rules, held, out);
        }
        false
    }

    fn let_go(&mut self, now: Time, rules: &Rules, place: usize, out: &mut Vec<Onward>) {
        self.kept[place].sent = Some(now);
        let kept = self.kept[place];
        let stamped = self.stamped_again(now, rules, &kept);
        out.push(if stamped == kept.packet { Onward::Same(stamped) } else { Onward::Changed(stamped) });
    }

    fn expire(&mut self, now: Time, rules: &Rules, out: &mut Vec<Onward>) {
        if self.timer > now {
            return;
        }
        self.one = true;
        self.backoff = (self.backoff + 1).min(DOUBLINGS);
        self.repeat(now, rules, out);
        self.restart(now);
    }

    fn repeat(&mut self, now: Time, rules: &Rules, out: &mut Vec<Onward>) {
        let Some(first) = self.kept.front().copied() else { return };
        let packet = self.stamped_again(now, rules, &first);
        if let Some(first) = self.kept.front_mut() {
            first.sent = Some(now);
            first.repeats += 1;
        }
        out.push(Onward::Again(packet));
    }

    /// Adds the packet's residence time to its timestamp.
    fn stamped_again(&mut self, now: Time, rules: &Rules, kept: &Kept) -> Packet {
        let (Some(segment), Some((newest, at))) = (kept.packet.segment(), self.clock) else {
            return kept.packet;
        };
        let Some(stamps) = segment.timestamps else { return kept.packet };
        let Some(tick) = self.tick(rules) else { return kept.packet };
        let ticks = |span: Duration| (span.as_nanos() as f64 / tick) as u32;
        let later = |one: u32, other: u32| if one.wrapping_sub(other) as i32 >= 0 { one } else { other };
        let earlier = |one: u32, other: u32| if one.wrapping_sub(other) as i32 >= 0 { other } else { one };
        let spent = stamps.value.wrapping_add(ticks(now.since(kept.arrived)));
        let present = newest.wrapping_add(ticks(now.since(at)));
        let value = later(earlier(spent, present), self.stamped.unwrap_or(stamps.value));
        self.stamped = Some(value);
        let timestamps = Some(Timestamps { value, ..stamps });
        Packet { body: Body::Tcp(Segment { timestamps, ..*segment }), ..kept.packet }
    }

    /// The source's tick, ns, if known.
    fn tick(&self, rules: &Rules) -> Option<f64> {
        if rules.tick > Duration::ZERO {
            return Some(rules.tick.as_nanos() as f64);
        }
        let ((first, since), (newest, until)) = (self.first?, self.clock?);
        let grown = newest.wrapping_sub(first);
        (grown >= LEARNED)
            .then(|| until.since(since).as_nanos() as f64 / f64::from(grown))
            .filter(|tick| *tick >= 1.0)
    }

    fn note_stamp(&mut self, segment: &Segment) {
        if let Some(stamps) = segment.timestamps
            && self.stamped.is_none_or(|stamped| stamps.value.wrapping_sub(stamped) as i32 > 0)
        {
            self.stamped = Some(stamps.value);
        }
    }

    /// Handles a drop in the next queue: congestion, which the source must see.
    fn forget(&mut self, now: Time, seq: Seq) {
        if let Some(place) = self.kept.iter().rposition(|kept| kept.seq == seq && kept.repeats == 0) {
            let gone = self.kept[place];
            self.bytes -= u64::from(distance(gone.seq, gone.end).unsigned_abs()).min(self.bytes);
            self.kept.remove(place);
            self.restart(now);
        }
    }

    /// Restarts the timer if the mobile awaits the first packet.
    fn restart(&mut self, now: Time) {
        let is_awaited = match (self.kept.front(), self.acks.last()) {
            (Some(first), Some(ack)) => !is_before(ack, first.seq) && is_before(ack, first.end),
            _ => false,
        };
        let (smoothed, variation) = self.rtt.unwrap_or(START);
        let timeout = (smoothed + (variation * 4).max(self.margin)).max(self.floor);
        self.timer = if is_awaited { now + timeout * (1 << self.backoff) } else { Time::NEVER };
    }

    /// RFC 6298 §2.
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
