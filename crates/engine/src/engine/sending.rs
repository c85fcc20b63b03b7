//! [`Engine`]: packets that hosts send, and the bookkeeping after an endpoint has acted.

use super::flow_state::{FlowDirection, FlowState, HostStep, endpoint_of, side_index};
use super::{Engine, timer_of};
use crate::event_queue::Timers;
use crate::flow::{Datagrams, FlowSide, Overhead, Traffic};
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_tcp::endpoint::SendInfo;
use lasthop_tcp::{Endpoint, Event, State};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority, Segment};

/// Size of IPv4 and TCP headers without options, bytes.
const TCP_IPV4_HEADER: u32 = 40;
/// Size of IPv4 and UDP headers, bytes.
pub(super) const UDP_IPV4_HEADER: u32 = 28;

impl Engine {
    /// Sends all segments that an endpoint has to send, and updates the endpoint's timer.
    pub(super) fn pump(&mut self, id: FlowId, side: FlowSide) {
        self.pump_with(id, side, &mut empty_packet());
    }

    /// Sends like [`Engine::pump`], but uses `packet` as scratch space for each packet that is sent.
    #[inline(never)]
    pub(super) fn pump_with(&mut self, id: FlowId, side: FlowSide, packet: &mut Packet) {
        let now = self.now;
        loop {
            let FlowState { traffic, directions, .. } = &mut self.flows[id.0 as usize];
            let direction = &directions[side_index(side)];
            let Some(endpoint) = endpoint_of(traffic, side) else { return };
            let Some(then) = emit(now, endpoint, (id, side), direction, &mut self.timers, packet) else {
                break;
            };
            let (first, host) = (direction.first, direction.host());
            self.send_from_host(packet, first, host);
            match then {
                NextStep::Done => return,
                NextStep::UpdateEndpoint => break,
                NextStep::SendMore => {}
            }
        }
        self.update_endpoint(id, side);
    }

    #[inline(always)]
    pub(super) fn send_from_host(&mut self, packet: &mut Packet, first: PipeId, host: Option<HostStep>) {
        match host {
            None => {
                self.assign_number(packet);
                self.send(packet, first);
            }
            Some(host) => self.send_in_host(packet, first, host),
        }
    }

    /// Updates an endpoint's timer, handles the endpoint's events, and handles the end of the connection.
    #[inline(never)]
    pub(super) fn update_endpoint(&mut self, id: FlowId, side: FlowSide) {
        let now = self.now;
        let flow = &mut self.flows[id.0 as usize];
        let Some(endpoint) = endpoint_of(&mut flow.traffic, side) else { return };
        if endpoint.state() == State::CloseWait {
            // The receiving application has read all data, so it closes the connection.
            endpoint.close();
            flow.complete(&mut self.concurrent, now);
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
            self.release(id);
        }
    }

    pub(super) fn drain_events(&mut self, id: FlowId, side: FlowSide) {
        let FlowState { traffic, account, .. } = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return };
        loop {
            let endpoint = match side {
                FlowSide::Source => &mut connection.source,
                FlowSide::Destination => &mut connection.destination,
            };
            let Some((time, event)) = endpoint.poll_event() else { return };
            if let Event::LossClassified { range, cause } = event {
                let accuracy = &mut account.rest().accuracy;
                let by_mark =
                    side == FlowSide::Source && connection.source.sender().discriminates_each_loss();
                if by_mark {
                    accuracy.classify_segment(&mut connection.unclassified, range, cause)
                } else {
                    accuracy.classify_gap(&mut connection.unclassified, range, cause)
                }
            }
            if let Some(observer) = &mut self.observer {
                observer.on_event(time, id, side, &event);
            }
        }
    }
}

/// Returns an empty packet, as scratch space for [`emit`].
pub(super) fn empty_packet() -> Packet {
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
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Tcp(Segment::default()),
    }
}

/// Work that remains after a packet was sent.
pub(super) enum NextStep {
    /// Nothing remains: no packet follows, and all bookkeeping is done.
    Done,
    UpdateEndpoint,
    SendMore,
}

/// Writes an endpoint's next segment to `packet`. Returns `None` if the endpoint has nothing to send. After the last
/// segment, also updates the endpoint's timer if no other bookkeeping is necessary.
#[inline(always)]
pub(super) fn emit(
    now: Time,
    endpoint: &mut Endpoint,
    (id, side): (FlowId, FlowSide),
    direction: &FlowDirection,
    timers: &mut Timers,
    packet: &mut Packet,
) -> Option<NextStep> {
    let Body::Tcp(segment) = &mut packet.body else { return None };
    let mut sent = SendInfo::default();
    if !endpoint.poll_segment_into(now, segment, &mut sent) {
        return None;
    }
    packet.before_first_loss = !endpoint.has_detected_loss();
    packet.wire_bytes = wire_bytes(segment, direction.overhead());
    packet.flow = id;
    packet.route = direction.route();
    packet.forward = side == FlowSide::Source;
    packet.is_retransmission = sent.is_retransmission;
    packet.damaged = false;
    packet.ecn = sent.ecn;
    packet.priority = sent.priority;
    packet.hop = 0;
    if sent.more {
        return Some(NextStep::SendMore);
    }
    if endpoint.state() == State::CloseWait || endpoint.has_events() {
        return Some(NextStep::UpdateEndpoint);
    }
    let timer = timer_of(id.0 as usize, side);
    if let Some(deadline) = endpoint.poll_earlier_timeout() {
        timers.at_latest(timer, deadline);
    }
    debug_assert!(timers.is_set_by(timer, endpoint.poll_timeout()));
    Some(NextStep::Done)
}

pub(super) fn wire_bytes(segment: &Segment, overhead: Overhead) -> u32 {
    segment.len
        + match overhead {
            Overhead::Real => TCP_IPV4_HEADER + segment.option_bytes(),
            Overhead::Fixed(bytes) => bytes,
        }
}

pub(super) fn next_datagram(
    (number, flow, route): (u64, FlowId, u32),
    source: &mut Datagrams,
    (overhead, priority): (Overhead, Priority),
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
        priority,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number: within_flow },
    }
}
