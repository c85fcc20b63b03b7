//! [`Engine`]: packets that reach an endpoint, and notices from links to an endpoint.

use super::Engine;
use super::flow_state::{FlowState, endpoint_of, side_index};
use super::sending::{NextStep, emit};
use crate::flow::{FlowSide, NoEndpoint, TcpConnection, Traffic};
use crate::observer::Fate;
use crate::pipe::{Pipe, PipeId};
use lasthop_base::Time;
use lasthop_tcp::{Arriving, Endpoint, Notice, WantedNotices};
use lasthop_wire::{Body, FlowId, LinkReport, LossReason, Packet};

impl Engine {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn deliver(&mut self, pipe: u32, scratch: &mut Packet) {
        let Some(first) = self.pipes[pipe as usize].in_flight.first() else { return };
        if first.packet.damaged {
            return self.deliver_damaged(pipe);
        }
        let (id, side) =
            (first.packet.flow, if first.packet.forward { FlowSide::Destination } else { FlowSide::Source });
        let needs_notices = self.flows[id.0 as usize].directions[side_index(side)].needs_notices();
        if needs_notices {
            self.send_notices_before(id, side);
        }
        self.deliver_first(pipe, id, side, scratch);
        if needs_notices {
            self.send_notices_after(id, side);
        }
    }

    /// Passes notices about peer and uplink to an endpoint before the endpoint handles a segment. The endpoint has
    /// requested these notices.
    #[cold]
    fn send_notices_before(&mut self, id: FlowId, side: FlowSide) {
        let FlowState { traffic, directions, .. } = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return };
        let TcpConnection { source, destination, .. } = &mut **connection;
        let (endpoint, peer) = match side {
            FlowSide::Source => (source, destination),
            FlowSide::Destination => (destination, source),
        };
        let uplink = directions[side_index(side)].first;
        send_notices(self.now, endpoint.wanted_notices(), endpoint, peer, &mut self.pipes[uplink.0 as usize]);
    }

    /// After an endpoint has responded to a segment, reports the backlog of ACKs to the endpoint, and calls the
    /// application.
    #[cold]
    fn send_notices_after(&mut self, id: FlowId, side: FlowSide) {
        let FlowState { traffic, directions, .. } = &mut self.flows[id.0 as usize];
        let uplink = directions[side_index(side)].first;
        let Traffic::Tcp(connection) = traffic else { return };
        let has_application = connection.application.is_some();
        let wants_backlog =
            endpoint_of(traffic, side).is_some_and(|endpoint| endpoint.wanted_notices().backlog);
        if wants_backlog {
            self.report_backlog(id, side, uplink);
        }
        if has_application {
            self.call_application(id);
        }
    }

    /// Passes a pipe's first packet to the endpoint without copying the packet, and removes the packet from the pipe.
    /// Then sends the first packet of the endpoint's response.
    #[inline(always)]
    fn deliver_first(&mut self, pipe: u32, id: FlowId, side: FlowSide, scratch: &mut Packet) {
        let now = self.now;
        let FlowState { traffic, directions, share, .. } = &mut self.flows[id.0 as usize];
        let direction = &directions[side_index(side)];
        let Some(endpoint) = endpoint_of(traffic, side) else {
            return self.deliver_without_endpoint(pipe, id);
        };
        let here = &mut self.pipes[pipe as usize];
        let before = endpoint.delivered();
        if let Some(first) = here.in_flight.first()
            && let Body::Tcp(segment) = &first.packet.body
        {
            endpoint.handle_segment(now, segment, &Arriving { ecn: first.packet.ecn });
        } else {
            handle_node_notice(now, endpoint, here);
        }
        if side == FlowSide::Destination {
            self.concurrent.deliver(share, endpoint.delivered() - before);
        }
        here.in_flight.drop_first();
        self.event_queue.set(pipe, here.due());
        let Some(then) = emit(now, endpoint, (id, side), direction, &mut self.timers, scratch) else {
            return self.update_endpoint(id, side);
        };
        let (first, host) = (direction.first, direction.host());
        self.send_from_host(scratch, first, host);
        match then {
            NextStep::Done => {}
            NextStep::UpdateEndpoint => self.update_endpoint(id, side),
            NextStep::SendMore => self.pump_with(id, side, scratch),
        }
    }

    /// Delivers a packet of a flow whose destination is not simulated: a datagram or an external packet.
    #[cold]
    fn deliver_without_endpoint(&mut self, pipe: u32, id: FlowId) {
        let FlowState { traffic, account, .. } = &mut self.flows[id.0 as usize];
        if let Traffic::NoEndpoint(NoEndpoint::Stack(_)) = traffic {
            return self.deliver_to_stack(pipe, id);
        }
        let here = &mut self.pipes[pipe as usize];
        if here.in_flight.first().is_some_and(|first| self.duplicates.count_end(&first.packet, true)) {
            account.rest().datagrams += 1;
        }
        if let Traffic::NoEndpoint(NoEndpoint::External) = traffic
            && let Some(first) = here.in_flight.first()
        {
            self.external_log.record_departure(&first.packet, self.now, None);
        }
        here.in_flight.drop_first();
        self.event_queue.set(pipe, here.due());
    }

    /// Reports that the link layer has discarded a packet. The report goes to the endpoint to which the packet was
    /// addressed, and only if the link ends at that endpoint's host.
    pub(super) fn report_discard(&mut self, packet: &Packet, at_host: bool, readable: bool) {
        let (Body::Tcp(segment), true) = (&packet.body, at_host) else { return };
        let side = if packet.forward { FlowSide::Destination } else { FlowSide::Source };
        let report = LinkReport::Discarded { seq: segment.seq, len: segment.len, readable };
        let now = self.now;
        if let Some(endpoint) = endpoint_of(&mut self.flows[packet.flow.0 as usize].traffic, side) {
            endpoint.handle_notice(now, Notice::Link(report));
            if endpoint.has_special_segment() {
                self.pump(packet.flow, side);
            }
        }
    }

    /// Reports the backlog of the uplink, including queued ACKs, to an endpoint.
    pub(super) fn report_backlog(&mut self, flow: FlowId, side: FlowSide, uplink: PipeId) {
        let now = self.now;
        let after = self.pipes[uplink.0 as usize].line.backlog(now);
        if let Some(endpoint) = endpoint_of(&mut self.flows[flow.0 as usize].traffic, side) {
            endpoint.handle_notice(now, Notice::AcksQueued(after));
        }
        self.drain_events(flow, side);
    }

    /// Discards a damaged packet at its host, because the checksum is wrong. External packets are delivered, because
    /// real hosts verify the checksum themselves.
    #[cold]
    fn deliver_damaged(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        let Some(packet) = here.in_flight.first().map(|first| first.packet) else { return };
        if self.flows[packet.flow.0 as usize].traffic.is_external() {
            return self.deliver_without_endpoint(pipe, packet.flow);
        }
        here.in_flight.drop_first();
        self.event_queue.set(pipe, here.due());
        if let Some(observer) = &mut self.observer {
            observer.on_fate(self.now, PipeId(pipe), &packet, Fate::Lost(LossReason::Corrupt));
        }
        self.handle_loss(&packet, PipeId(pipe), LossReason::Corrupt);
    }

    pub(super) fn report_to_hosts(&mut self, at: PipeId, report: &LinkReport) {
        let now = self.now;
        // Creates flows that have not begun, because their endpoints also receive the report.
        self.create_all();
        for flow in &mut self.flows {
            let is_last =
                flow.directions.map(|direction| self.routes[direction.route() as usize].last() == Some(&at));
            let [forward, backward] = [(is_last[0], FlowSide::Destination), (is_last[1], FlowSide::Source)]
                .map(|(is_last, side)| is_last.then_some(side));
            for side in [forward, backward].into_iter().flatten() {
                if let Some(endpoint) = endpoint_of(&mut flow.traffic, side) {
                    endpoint.handle_notice(now, Notice::Link(*report));
                }
            }
        }
    }
}

#[cold]
fn handle_node_notice(now: Time, endpoint: &mut Endpoint, here: &Pipe) {
    if let Some(first) = here.in_flight.first()
        && let Body::Notice(notice) = &first.packet.body
    {
        endpoint.handle_notice(now, Notice::Node(*notice));
    }
}

/// Passes to an endpoint the notices that the endpoint has requested for each segment: the peer's window, counters, and
/// the uplink's backlog.
fn send_notices(
    now: Time,
    wants: WantedNotices,
    endpoint: &mut Endpoint,
    peer: &Endpoint,
    uplink: &mut Pipe,
) {
    if wants.true_window {
        endpoint.handle_notice(now, Notice::TrueWindow(peer.window_in_segments()));
    }
    if wants.counts {
        let (peer, uplink) = (peer.counters().into(), uplink.account.uplink_counts());
        endpoint.handle_notice(now, Notice::Counts { peer, uplink });
    }
    if wants.backlog {
        endpoint.handle_notice(now, Notice::Backlog(uplink.line.backlog(now)));
    }
}
