//! [`Engine`]: packets that hosts send, and the bookkeeping after an endpoint has acted.

use super::carried::{Carried, Way, end, endpoint_of};
use super::{Engine, timer_of};
use crate::agenda::Timers;
use crate::flow::{Datagrams, Overhead, Side, Traffic};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_tcp::endpoint::SendInfo;
use lasthop_tcp::{Endpoint, Event, State};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority, Segment};

/// Bytes of IPv4 and TCP headers without options.
const TCP_IPV4_HEADER: u32 = 40;
/// Bytes of IPv4 and UDP headers.
const UDP_IPV4_HEADER: u32 = 28;

impl Engine {
    /// Sends all that an endpoint has to send, and updates its timer.
    pub(super) fn pump(&mut self, id: FlowId, side: Side) {
        self.pump_through(id, side, &mut blank());
    }

    /// The same with `packet` as scratch space.
    #[inline(never)]
    pub(super) fn pump_through(&mut self, id: FlowId, side: Side, packet: &mut Packet) {
        let now = self.now;
        loop {
            let Carried { traffic, ways, .. } = &mut self.flows[id.0 as usize];
            let way = &ways[end(side)];
            let Some(endpoint) = endpoint_of(traffic, side) else { return };
            let Some(then) = emit(now, endpoint, (id, side), way, &mut self.timers, packet) else {
                break;
            };
            let (first, host) = (way.first, way.host());
            self.set_out_from(packet, first, host);
            match then {
                Then::Nothing => return,
                Then::Settle => break,
                Then::Ask => {}
            }
        }
        self.settle(id, side);
    }

    #[inline(always)]
    pub(super) fn set_out_from(&mut self, packet: &mut Packet, first: PipeId, host: Option<PipeId>) {
        match host {
            None => {
                self.number(packet);
                self.send(packet, first);
            }
            Some(host) => self.pass_in_host(packet, host),
        }
    }

    /// Updates an endpoint's timer, and handles its events and its end.
    #[inline(never)]
    pub(super) fn settle(&mut self, id: FlowId, side: Side) {
        let now = self.now;
        let carried = &mut self.flows[id.0 as usize];
        let Some(endpoint) = endpoint_of(&mut carried.traffic, side) else { return };
        if endpoint.state() == State::CloseWait {
            // The receiving application closes once it has read everything.
            endpoint.close();
            carried.complete(&mut self.together, now);
            self.pump(id, side);
            return;
        }
        let deadline = endpoint.poll_timeout();
        let has_events = endpoint.has_events();
        let is_closed = endpoint.state() == State::Closed;
        self.timers.at_latest(timer_of(id.0 as usize, side), deadline);
        if has_events {
            self.drain_events(id, side);
        }
        if is_closed {
            self.give_up(id);
        }
    }

    pub(super) fn drain_events(&mut self, id: FlowId, side: Side) {
        let Carried { traffic, account, .. } = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return };
        loop {
            let endpoint = match side {
                Side::Source => &mut connection.source,
                Side::Destination => &mut connection.destination,
            };
            let Some((time, event)) = endpoint.poll_event() else { return };
            if let Event::LossClassified { range, cause } = event {
                let accuracy = &mut account.rest().accuracy;
                let by_mark = side == Side::Source && connection.source.sender().judges_one_by_one();
                if by_mark {
                    accuracy.settle_one(&mut connection.unjudged, range, cause)
                } else {
                    accuracy.settle(&mut connection.unjudged, range, cause)
                }
            }
            if let Some(observer) = &mut self.observer {
                observer.on_event(time, id, side, &event);
            }
        }
    }
}

/// An empty packet, the scratch space of [`emit`].
pub(super) fn blank() -> Packet {
    Packet {
        number: 0,
        flow: FlowId(0),
        route: 0,
        wire_bytes: 0,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::Normal,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Tcp(Segment::default()),
    }
}

/// Next step after a packet was sent.
pub(super) enum Then {
    /// No packet follows, and all bookkeeping is done.
    Nothing,
    Settle,
    Ask,
}

/// Fills `packet` with an endpoint's next segment, if any; settles at once after the last one, if that is simple.
#[inline(always)]
pub(super) fn emit(
    now: Time,
    endpoint: &mut Endpoint,
    (id, side): (FlowId, Side),
    way: &Way,
    timers: &mut Timers,
    packet: &mut Packet,
) -> Option<Then> {
    let Body::Tcp(segment) = &mut packet.body else { return None };
    let mut sent = SendInfo::default();
    if !endpoint.poll_segment_into(now, segment, &mut sent) {
        return None;
    }
    packet.before_first_loss = !endpoint.has_detected_loss();
    packet.wire_bytes = wire_bytes(segment, way.overhead());
    packet.flow = id;
    packet.route = way.route();
    packet.forward = side == Side::Source;
    packet.is_retransmission = sent.is_retransmission;
    packet.damaged = false;
    packet.ecn = sent.ecn;
    packet.priority = sent.priority;
    packet.hop = 0;
    if sent.more {
        return Some(Then::Ask);
    }
    if endpoint.state() == State::CloseWait || endpoint.has_events() {
        return Some(Then::Settle);
    }
    let timer = timer_of(id.0 as usize, side);
    if let Some(deadline) = endpoint.poll_earlier_timeout() {
        timers.at_latest(timer, deadline);
    }
    debug_assert!(timers.is_set_by(timer, endpoint.poll_timeout()));
    Some(Then::Nothing)
}

pub(super) fn wire_bytes(segment: &Segment, overhead: Overhead) -> u32 {
    segment.len
        + match overhead {
            Overhead::Real => TCP_IPV4_HEADER + segment.option_bytes(),
            Overhead::Fixed(bytes) => bytes,
        }
}

pub(super) fn datagram(
    (number, flow, route): (u64, FlowId, u32),
    source: &mut Datagrams,
    overhead: Overhead,
) -> Packet {
    let within_flow = source.emit();
    let header = match overhead {
        Overhead::Real => UDP_IPV4_HEADER,
        Overhead::Fixed(bytes) => bytes,
    };
    Packet {
        number,
        flow,
        route,
        wire_bytes: source.packet + header,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::Normal,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number: within_flow },
    }
}
