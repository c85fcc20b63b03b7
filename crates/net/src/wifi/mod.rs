//! A Wi-Fi cell: an access point and stations on one shared medium (IEEE 802.11's DCF).
//!
//! * This file: one direction of a link, with its aggregates and frames.
//! * `medium`: contention for the medium. `backoff`: the back-off of one station. `load`: stations that occupy
//!   the medium, but carry no packets of a flow.
//!
//! A station with data waits until the medium has been free for DIFS. The station then waits for a random number of
//! slots, which count only while the medium is free. Stations that start in the same slot collide. A collision destroys
//! all frames of these stations, and each station then doubles its contention window. For each frame of an aggregate,
//! the `channel` decides separately whether the frame is lost. One ACK covers the aggregate, and lost frames are
//! retransmitted in the next aggregate. The receiver delivers in order: packets after a missing frame wait until that
//! frame arrives or is given up. The link's rate is the rate of frames over the air (for a trace, its mean rate).
//!
//! Links of one cell share the medium. All directions with the same sending node share a back-off, and take turns with
//! one aggregate each (Linux's access points also have a queue per station). The link's propagation delay is added
//! after the transmission over the air.
//!
//! # Not modelled
//! Hidden stations, capture, RTS and CTS, rate adaptation and power saving are not modelled. Access categories exist
//! only through the parameters of each direction. A collision occupies the medium until the ACK of its longest
//! transmission would have ended (EIFS is this time plus DIFS). In a planned outage (rate 0), this link layer sends at
//! 1 bit/s, so use `loss_plan` for outages.
//!
//! # Changes at run time
//! A new rate applies to the next aggregate. At rate 0, the direction does not contend for the medium. If the direction
//! already contends, it gives its turn up. A new delay applies to later deliveries, which keep their order.

mod backoff;
mod load;
mod medium;
mod parameters;

pub use parameters::MECHANISM;

use crate::arq::{Build, DirectionParts, Layer, Medium, Partner};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Reception, Transmission};
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::failures::TransmissionFailures;
use crate::link_queue::LinkQueue;
use crate::peer_message::{MediumMessage, PeerMessage};
use crate::service::Service;
use lasthop_base::{Duration, Mechanism, Rate, Time, Values};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// List of this module's link layers: `wifi`.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

struct WifiLayer {
    values: Values,
}

impl Layer for WifiLayer {
    fn build_direction(self: Box<Self>, parts: DirectionParts) -> Box<dyn Element> {
        Box::new(WifiDirection::new(&self.values, parts))
    }

    fn reports_failures(&self) -> bool {
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
            equal_in_cell: &["slot", "sifs"],
            equal_per_sender: &["difs", "cw_min", "cw_max"],
            equal_if_set: &["stations", "load", "access"],
            arbiter: |members, random| Box::new(medium::Arbiter::new(members, random)),
        })
    }
}

struct WifiDirection {
    /// Index of this direction among the medium's members.
    member: u32,
    transmissions: u32,
    max_frames: usize,
    airtime: Duration,
    sifs: Duration,
    preamble: Duration,
    ack: Duration,
    overhead: u64,
    service: Service,
    is_stopped: bool,
    delay: Duration,
    channel: Box<dyn Channel>,
    queue: LinkQueue,
    frames: VecDeque<MacFrame>,
    state: DirectionState,
    /// Time until which the last aggregate occupies the medium, ACK included.
    until: Time,
    last_arrival: Time,
    reports_failures: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DirectionState {
    /// The direction has nothing to send. The value is the time at which the queue may release a packet that it holds
    /// back, as a shaper does. The value is `Time::NEVER` if the queue is empty.
    Idle(Time),
    Contending,
    Starting(Time),
    Sending(Aggregate),
}

struct MacFrame {
    packet: Packet,
    sent: u32,
    state: FrameState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FrameState {
    ToSend,
    OnAir,
    Arrived,
    Discarded,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Aggregate {
    rate: Rate,
    begins: Time,
    ends: Time,
    collides: bool,
}

impl WifiDirection {
    fn new(values: &Values, parts: DirectionParts) -> WifiDirection {
        WifiDirection {
            member: 0,
            transmissions: values.count("transmissions") as u32,
            max_frames: values.count("frames") as usize,
            airtime: values.duration("airtime"),
            sifs: values.duration("sifs"),
            preamble: values.duration("preamble"),
            ack: values.duration("ack"),
            overhead: values.bytes("overhead"),
            service: parts.service,
            is_stopped: false,
            delay: parts.delay,
            channel: parts.channel,
            queue: LinkQueue::new(parts.queue),
            frames: VecDeque::new(),
            state: DirectionState::Idle(Time::NEVER),
            until: Time::ZERO,
            last_arrival: Time::ZERO,
            reports_failures: false,
        }
    }

    fn send_to_medium(&self, message: MediumMessage, out: &mut Vec<Output>) {
        out.push(Output::ToPeer(PeerMessage::Medium { member: self.member, message }));
    }

    fn request_access(&mut self, out: &mut Vec<Output>) {
        if self.may_send() {
            self.state = DirectionState::Contending;
            self.send_to_medium(MediumMessage::HasData, out);
        }
    }

    /// Whether the direction has data and its rate is above 0.
    fn may_send(&self) -> bool {
        !self.is_stopped && self.has_data()
    }

    fn has_data(&self) -> bool {
        self.queue.backlog().waiting > 0 || self.frames.iter().any(|frame| frame.state == FrameState::ToSend)
    }

    /// Sends an aggregate, with retransmissions first and then new packets.
    fn send_aggregate(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_stopped {
            self.state = DirectionState::Idle(Time::NEVER);
            return self.send_to_medium(MediumMessage::NoData, out);
        }
        let rate = self.service.rate_at(now);
        let time_of = |packet: &Packet, overhead: u64| rate.time_for(u64::from(packet.wire_bytes) + overhead);
        let first = now + self.preamble;
        let mut ends = first;
        let mut count = 0;
        for frame in &mut self.frames {
            let next = ends + time_of(&frame.packet, self.overhead);
            let fits = count == 0 || (count < self.max_frames && next.since(first) <= self.airtime);
            if frame.state == FrameState::ToSend && fits {
                frame.state = FrameState::OnAir;
                ends = next;
                count += 1;
            }
        }
        // The block ACK's window limits the number of frames that the receiver buffers, and so the length of `frames`.
        while count < self.max_frames
            && self.frames.len() < self.max_frames
            && (count == 0 || ends.since(first) < self.airtime)
        {
            let Some(packet) = self.queue.pop(now, out) else { break };
            ends += time_of(&packet, self.overhead);
            count += 1;
            self.frames.push_back(MacFrame { packet, sent: 0, state: FrameState::OnAir });
        }
        if count == 0 {
            let waits = self.queue.backlog().waiting > 0;
            self.state = DirectionState::Idle(if waits { self.queue.ready_at(now) } else { Time::NEVER });
            return self.send_to_medium(MediumMessage::NoData, out);
        }
        self.until = ends + self.sifs + self.ack;
        self.state = DirectionState::Sending(Aggregate { rate, begins: now, ends, collides: false });
        self.send_to_medium(MediumMessage::Occupies(self.until), out);
    }

    /// Handles the end of an aggregate. The ACK reports the frames that arrived.
    fn on_aggregate_end(&mut self, aggregate: &Aggregate, out: &mut Vec<Output>) {
        let (mut arrived, mut discarded) = (false, false);
        let rate = aggregate.rate;
        let mut start = aggregate.begins + self.preamble;
        for frame in self.frames.iter_mut().filter(|frame| frame.state == FrameState::OnAir) {
            let bytes = u64::from(frame.packet.wire_bytes) + self.overhead;
            let end = start + rate.time_for(bytes);
            let (bytes, priority) = (bytes as u32, frame.packet.priority);
            let reception = self.channel.transmit(&Transmission { start, end, bytes, priority, attempt: 0 });
            start = end;
            frame.sent += 1;
            frame.state = match reception {
                Reception::Intact if !aggregate.collides => FrameState::Arrived,
                _ if frame.sent >= self.transmissions => FrameState::Discarded,
                _ => FrameState::ToSend,
            };
            if self.reports_failures && frame.state != FrameState::Arrived {
                // The sender detects the loss when the ACK should have ended, one SIFS and one ACK duration after the
                // aggregate.
                let (before, since) = (frame.sent - 1, aggregate.ends);
                let failures = TransmissionFailures { before, failed: 1, since, apart: self.sifs + self.ack };
                out.push(Output::TransmissionFailed { packet: frame.packet, failures });
            }
            arrived |= frame.state == FrameState::Arrived;
            discarded |= frame.state == FrameState::Discarded;
        }
        self.deliver(aggregate.ends, out);
        let has_data = self.may_send();
        self.state = if has_data { DirectionState::Contending } else { DirectionState::Idle(Time::NEVER) };
        self.send_to_medium(MediumMessage::Done { is_settled: arrived || discarded, has_data }, out);
    }

    /// Delivers frames in order, and outputs the losses of frames that were given up.
    fn deliver(&mut self, ends: Time, out: &mut Vec<Output>) {
        while let Some(MacFrame { packet, state, .. }) = self.frames.front() {
            let at = (ends + self.delay).max(self.last_arrival);
            match state {
                FrameState::Arrived => out.push(Output::Arrives { packet: *packet, at }),
                FrameState::Discarded => {
                    out.push(Output::lost(*packet, at, LossReason::Channel));
                }
                FrameState::ToSend | FrameState::OnAir => return,
            }
            self.last_arrival = at;
            self.frames.pop_front();
        }
    }
}

impl Element for WifiDirection {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let is_busy = now < self.until || !self.frames.is_empty();
        self.queue.push(now, packet, is_busy, now.since(self.until), out);
        if let DirectionState::Idle(_) = self.state {
            self.request_access(out);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        match self.state {
            DirectionState::Idle(until) if until <= now => {
                self.state = DirectionState::Idle(Time::NEVER);
                self.request_access(out);
            }
            DirectionState::Starting(_) => self.send_aggregate(now, out),
            DirectionState::Sending(aggregate) if aggregate.ends <= now => {
                self.on_aggregate_end(&aggregate, out)
            }
            DirectionState::Idle(_) | DirectionState::Contending | DirectionState::Sending(_) => {}
        }
    }

    fn poll_timeout(&self) -> Time {
        match self.state {
            DirectionState::Idle(until) => until,
            DirectionState::Contending => Time::NEVER,
            DirectionState::Starting(at) => at,
            DirectionState::Sending(aggregate) => aggregate.ends,
        }
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        Backlog { in_service: now < self.until, ..self.queue.backlog() }
    }

    fn draws(&self) -> bool {
        true
    }

    fn report_failures(&mut self) -> bool {
        self.reports_failures = true;
        true
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    fn handle_peer_message(&mut self, now: Time, message: PeerMessage) {
        let PeerMessage::Medium { member, message } = message else { return };
        match (message, &mut self.state) {
            (MediumMessage::Joined, _) => self.member = member,
            (MediumMessage::Transmit, state) => *state = DirectionState::Starting(now),
            (MediumMessage::Collision, DirectionState::Sending(aggregate)) => aggregate.collides = true,
            _ => {}
        }
    }

    fn settings(&self) -> Option<LinkSettings> {
        let bps = if self.is_stopped { Some(0) } else { self.service.constant_bps() };
        Some(LinkSettings { bps, delay: self.delay, loss: self.channel.loss_probability() })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.channel, change)
    }

    fn change(&mut self, _: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        if let Some(bps) = change.bps {
            self.service = Service::Rate(Rate::from_bps(bps));
            self.is_stopped = bps == 0;
            if let DirectionState::Idle(_) = self.state {
                self.request_access(out);
            }
        }
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        None
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let in_service = now < self.until || !self.frames.is_empty();
        self.queue.replace(now, queue, &Backlog { in_service, ..Backlog::default() }, out);
        if let DirectionState::Idle(_) = self.state {
            self.state = DirectionState::Idle(Time::NEVER);
            self.request_access(out);
        }
    }

    fn queueing_delay(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, bypass, pdus);
}

#[cfg(test)]
mod tests {
    use super::parameters::MECHANISM;
    use super::*;
    use crate::discipline::QueueContext;
    use crate::testing::{Losing, MS, at, packet};
    use lasthop_base::{Rate, Stream, Value};
    use lasthop_wire::LossReason;

    fn micros(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// A direction of 8 Mbit/s with a delay of 5 ms, on which a frame of 960 + 40 bytes takes 1 ms. The preamble takes
    /// 40 us, and SIFS and ACK together take 48 us.
    fn direction(settings: &[(&'static str, Value)], lost: &[usize]) -> WifiDirection {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let rate = Rate::from_bps(8_000_000);
        let queue = crate::admission::DEFAULT;
        let context = QueueContext { rate, random: Stream::named(1, "queue"), hosts: None };
        let parts = DirectionParts {
            service: Service::Rate(rate),
            delay: MS * 5,
            queue: (queue.build)(&queue.info.defaults(), context),
            channel: Box::new(Losing::new(lost)),
            random: Stream::named(1, "arq"),
        };
        WifiDirection::new(&values, parts)
    }

    fn message(one: &mut WifiDirection, now: Time, message: MediumMessage) {
        one.handle_peer_message(now, PeerMessage::Medium { member: 3, message });
    }

    /// Transmits an aggregate at `now`. Returns the direction's outputs at the start and at the end.
    fn aggregate(one: &mut WifiDirection, now: Time) -> (Vec<Output>, Vec<Output>) {
        message(one, now, MediumMessage::Transmit);
        assert_eq!(one.poll_timeout(), now);
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        one.handle_timeout(now, &mut begin);
        if one.poll_timeout() < Time::NEVER {
            one.handle_timeout(one.poll_timeout(), &mut end);
        }
        (begin, end)
    }

    fn to_medium(message: MediumMessage) -> Output {
        Output::ToPeer(PeerMessage::Medium { member: 3, message })
    }

    fn offer(one: &mut WifiDirection, now: Time, numbers: std::ops::Range<u64>) -> Vec<Output> {
        let mut out = Vec::new();
        numbers.for_each(|number| one.handle_packet(now, packet(number, 960), &mut out));
        out
    }

    fn arrives(number: u64, at: Time) -> Output {
        Output::Arrives { packet: packet(number, 960), at }
    }

    /// Three frames begin at 10.04 ms and end at 13.04 ms. Frame 1 is lost, so frame 2 waits. Frame 1 is retransmitted
    /// alone from 20.04 to 21.04 ms.
    #[test]
    fn lost_frames_delay_later_frames() {
        let mut one = direction(&[], &[1]);
        message(&mut one, at(0), MediumMessage::Joined);
        assert!(one.report_failures());
        assert_eq!(offer(&mut one, at(0), 0..3), [to_medium(MediumMessage::HasData)]);
        assert_eq!(one.poll_timeout(), Time::NEVER, "the medium decides when to transmit");
        let (begin, end) = aggregate(&mut one, at(10));
        assert_eq!(begin, [to_medium(MediumMessage::Occupies(micros(13_088)))]);
        let apart = Duration::from_micros(48);
        let failures = TransmissionFailures { before: 0, failed: 1, since: micros(13_040), apart };
        let done = |has_data| to_medium(MediumMessage::Done { is_settled: true, has_data });
        let failed = Output::TransmissionFailed { packet: packet(1, 960), failures };
        assert_eq!(end, [failed, arrives(0, micros(18_040)), done(true)]);
        assert!(one.backlog(micros(13_087)).in_service && !one.backlog(micros(13_088)).in_service);
        let (_, end) = aggregate(&mut one, at(20));
        assert_eq!(end, [arrives(1, micros(26_040)), arrives(2, micros(26_040)), done(false)]);
        assert_eq!(one.poll_timeout(), Time::NEVER);
        assert_eq!(offer(&mut one, at(30), 3..4), [to_medium(MediumMessage::HasData)]);
    }

    /// All frames of a collision are lost. After two transmissions, a frame is given up.
    #[test]
    fn collisions_destroy_all_frames() {
        let mut one = direction(&[("transmissions", Value::Count(2))], &[]);
        message(&mut one, at(0), MediumMessage::Joined);
        assert!(offer(&mut one, at(0), 0..2).len() == 1);
        for (now, is_last) in [(10, false), (20, true)] {
            message(&mut one, at(now), MediumMessage::Transmit);
            one.handle_timeout(at(now), &mut Vec::new());
            message(&mut one, at(now), MediumMessage::Collision);
            let mut end = Vec::new();
            assert_eq!(one.poll_timeout(), at(now) + Duration::from_micros(2040));
            one.handle_timeout(one.poll_timeout() - Duration::from_nanos(1), &mut end);
            assert!(end.is_empty(), "the aggregate has not ended");
            one.handle_timeout(one.poll_timeout(), &mut end);
            let lost = |number| Output::lost(packet(number, 960), micros(27_040), LossReason::Channel);
            let done = to_medium(MediumMessage::Done { is_settled: is_last, has_data: !is_last });
            assert_eq!(end, if is_last { vec![lost(0), lost(1), done] } else { vec![done] });
        }
    }

    /// An aggregate has at most `frames` frames. A new frame begins only within `airtime`; a retransmitted frame must
    /// end within `airtime`, unless the frame is the first.
    #[test]
    fn limits_of_an_aggregate() {
        let sent = |settings: &[(&'static str, Value)]| {
            let mut one = direction(settings, &[]);
            offer(&mut one, at(0), 0..10);
            aggregate(&mut one, at(10));
            10 - one.backlog(at(10)).waiting
        };
        let airtime = |micros| ("airtime", Value::Duration(Duration::from_micros(micros)));
        assert_eq!(sent(&[("frames", Value::Count(4)), airtime(50_000)]), 4);
        assert_eq!([0, 1, 1000, 1001, 3000].map(|micros| sent(&[airtime(micros)])), [1, 1, 1, 2, 3]);
        let resent = |micros| {
            let mut one = direction(&[airtime(50_000), ("frames", Value::Count(4))], &[0, 1, 2, 3]);
            message(&mut one, at(0), MediumMessage::Joined);
            offer(&mut one, at(0), 0..10);
            aggregate(&mut one, at(10));
            one.airtime = Duration::from_micros(micros);
            let (begin, _) = aggregate(&mut one, at(20));
            begin
        };
        let until = |frames: u64| to_medium(MediumMessage::Occupies(micros(20_088 + 1000 * frames)));
        assert_eq!([500, 1999, 2000, 4000].map(resent), [1, 1, 2, 4].map(|frames| [until(frames)]));
        // A receiver with room for 4 frames holds 2 frames, which wait for 2 missing frames.
        let mut one = direction(&[("frames", Value::Count(4))], &[0, 1]);
        offer(&mut one, at(0), 0..10);
        aggregate(&mut one, at(10));
        aggregate(&mut one, at(20));
        assert_eq!(one.backlog(at(30)).waiting, 6, "the second aggregate has only the lost frames");
    }

    /// A direction that is permitted to transmit without data returns the medium.
    #[test]
    fn a_direction_without_data_returns_the_medium() {
        let mut one = direction(&[], &[]);
        message(&mut one, at(0), MediumMessage::Joined);
        let (begin, end) = aggregate(&mut one, at(10));
        assert_eq!((begin, end), (vec![to_medium(MediumMessage::NoData)], vec![]));
        assert_eq!(one.poll_timeout(), Time::NEVER);
    }
}
