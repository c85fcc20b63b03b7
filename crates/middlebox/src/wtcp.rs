//! WTCP: the station repeats what the air lost, and adds the time that a packet spends there to its timestamp, so that the
//! source's round trips, and its timeout, know nothing of the repairs (Ratnam and Matta, ISCC 1998; International Journal of
//! Communication Systems 2003). The source needs timestamps, nothing else. The WTCP of Sinha et al. (1999), at both ends
//! and without a station, is something else; the gains that are often told of are its.
//!
//! # What is ours
//! Abstracts were at hand; the rules are from memory. Data that is acknowledged already goes on (the source drops it: but
//! then a lost ACK would never be told again). Data that comes out of order goes on at once. What finds no room goes on
//! without help, but for what is held back while only one packet may go: that is dropped. Repeats of the timer are twice as
//! far apart each time. A timestamp never moves back, and never beyond what the source's clock shows by now. The source's tick
//! is learned from how its timestamps grow; until they have grown by a hundred, nothing is hidden.

use crate::acks::{Acks, Kind};
use crate::directions::{Directions, Toward};
use crate::numbers::{distance, end_of, is_before};
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, LossReason, Packet, Segment, Seq, Timestamps};
use std::collections::VecDeque;

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "wtcp",
        summary: "repeats what the air lost, and hides from the source's timestamps how long that takes",
        source: "Ratnam and Matta, ISCC 1998; IJCS 2003 (abstracts; rules from memory)",
        parameters: &[
            Parameter {
                name: "buffer",
                unit: Unit::Bytes(1000, 1 << 30),
                default: Some("64 KiB"),
                doc: "most bytes of a flow that it keeps",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("20 ms"),
                doc: "smallest timeout; later than the smoothed round trip by that of the link and 10 ms anyway",
            },
            Parameter {
                name: "tick",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(1)),
                default: Some("0 s"),
                doc: "tick of the source's timestamps; 0 s: learned from them",
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

/// Beside the link's round trip, what the mobile and the station may take to answer.
const MARGIN: Duration = Duration::from_millis(10);
/// Before the first sample.
const START: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(250));
/// Ticks after which the tick's length is known.
const LEARNED: u32 = 100;
/// The timeout doubles so often at most.
const DOUBLINGS: u32 = 6;

#[derive(Clone, Copy)]
struct Rules {
    buffer: u64,
    tick: Duration,
}

/// See the file.
struct Wtcp {
    rules: Rules,
    flows: Directions<Watched>,
    /// No timer expires before.
    next: Time,
}

/// A packet that the mobile has not acknowledged.
#[derive(Clone, Copy)]
struct Kept {
    packet: Packet,
    seq: Seq,
    end: Seq,
    arrived: Time,
    /// When it went on last; `None`: it is held back.
    sent: Option<Time>,
    repeats: u32,
    /// The source sent it again, or it came out of order: its loss is not the air's.
    again: bool,
}

/// One direction of a flow's data.
struct Watched {
    acks: Acks,
    kept: VecDeque<Kept>,
    bytes: u64,
    /// Only the first packet may go, until a new ACK comes.
    one: bool,
    /// The first packet was repeated because of duplicates.
    repaired: bool,
    /// The source's newest timestamp and when it came; and the highest one that went on.
    clock: Option<(u32, Time)>,
    /// The first one, from which its tick is learned.
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
            out.push(Onward::Dropped(packet, LossReason::Suppressed));
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

    /// Forgets the connection. What is held back goes on, as it came.
    fn reset(&mut self, out: &mut Vec<Onward>) {
        out.extend(self.kept.iter().filter(|kept| kept.sent.is_none()).map(|kept| Onward::Same(kept.packet)));
        self.kept.clear();
        let kept = std::mem::take(&mut self.kept);
        *self = Watched { kept, rtt: self.rtt, ..Watched::new(self.floor, self.margin) };
    }

    /// Data on its way down: it goes on, is held back or is dropped.
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
                // One that is held back was not lost: the copy ends here.
                return out.push(Onward::Dropped(*packet, LossReason::Suppressed));
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

    /// Whether an ACK goes on.
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
            // One that was held back all the while need not go on any more: the mobile has it.
            if first.sent.is_none() {
                out.push(Onward::Dropped(first.packet, LossReason::Suppressed));
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

    /// The first one is repeated at once; those that follow tell of the same hole.
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
            // A packet has left the air.
            self.let_go(now, rules, held, out);
        }
        false
    }

    /// One that was held back goes on.
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

    /// The packet with the time that it has spent here on its timestamp.
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

    /// The source's tick, ns, if it is known.
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

    /// The queue behind had no room: the source is to see that.
    fn forget(&mut self, now: Time, seq: Seq) {
        if let Some(place) = self.kept.iter().rposition(|kept| kept.seq == seq && kept.repeats == 0) {
            let gone = self.kept[place];
            self.bytes -= u64::from(distance(gone.seq, gone.end).unsigned_abs()).min(self.bytes);
            self.kept.remove(place);
            self.restart(now);
        }
    }

    /// The timer is that of the first packet, if the mobile waits for it.
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
