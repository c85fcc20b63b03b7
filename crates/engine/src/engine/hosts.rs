//! [`Engine`]: packets and link notices that reach an endpoint.

use super::Engine;
use super::carried::{Carried, end, endpoint_of};
use super::sending::{Then, emit};
use crate::flow::{Connection, Side, Traffic, Unanswered};
use crate::observer::Fate;
use crate::pipe::{Pipe, PipeId};
use lasthop_base::Time;
use lasthop_tcp::{Arriving, Endpoint, Notice, WantedNotices};
use lasthop_wire::{Body, FlowId, LinkReport, LossReason, Packet};

impl Engine {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn deliver(&mut self, pipe: u32, room: &mut Packet) {
        let Some(first) = self.pipes[pipe as usize].travelling.first() else { return };
        if first.packet.damaged {
            return self.deliver_damaged(pipe);
        }
        let (id, side) =
            (first.packet.flow, if first.packet.forward { Side::Destination } else { Side::Source });
        let is_told = self.flows[id.0 as usize].ways[end(side)].is_told();
        if is_told {
            self.tell_before(id, side);
        }
        self.hand_over(pipe, id, side, room);
        if is_told {
            self.tell_after(id, side);
        }
    }

    /// Gives an endpoint the notices that it wants before each segment.
    #[cold]
    fn tell_before(&mut self, id: FlowId, side: Side) {
        let Carried { traffic, ways, .. } = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return };
        let Connection { source, destination, .. } = &mut **connection;
        let (endpoint, peer) = match side {
            Side::Source => (source, destination),
            Side::Destination => (destination, source),
        };
        let uplink = ways[end(side)].first;
        tell(self.now, endpoint.wanted_notices(), endpoint, peer, &mut self.pipes[uplink.0 as usize]);
    }

    /// After a segment and its answer: reports the ACK backlog and calls the application.
    #[cold]
    fn tell_after(&mut self, id: FlowId, side: Side) {
        let Carried { traffic, ways, .. } = &mut self.flows[id.0 as usize];
        let uplink = ways[end(side)].first;
        let Traffic::Tcp(connection) = traffic else { return };
        let has_application = connection.application.is_some();
        let wants_backlog =
            endpoint_of(traffic, side).is_some_and(|endpoint| endpoint.wanted_notices().backlog);
        if wants_backlog {
            self.tell_backlog(id, side, uplink);
        }
        if has_application {
            self.ask_application(id);
        }
    }

    /// Lets the endpoint read a pipe's first packet in place, removes the packet, and sends the first answer.
    #[inline(always)]
    fn hand_over(&mut self, pipe: u32, id: FlowId, side: Side, room: &mut Packet) {
        let now = self.now;
        let Carried { traffic, ways, sharing, .. } = &mut self.flows[id.0 as usize];
        let way = &ways[end(side)];
        let Some(endpoint) = endpoint_of(traffic, side) else { return self.deliver_unanswered(pipe, id) };
        let here = &mut self.pipes[pipe as usize];
        let before = endpoint.delivered();
        if let Some(first) = here.travelling.first()
            && let Body::Tcp(segment) = &first.packet.body
        {
            endpoint.handle_segment(now, segment, &Arriving { ecn: first.packet.ecn });
        } else {
            notify(now, endpoint, here);
        }
        if side == Side::Destination {
            self.together.deliver(sharing, endpoint.delivered() - before);
        }
        here.travelling.drop_first();
        self.heads.set(pipe, here.due());
        let Some(then) = emit(now, endpoint, (id, side), way, &mut self.timers, room) else {
            return self.settle(id, side);
        };
        let (first, host) = (way.first, way.host());
        self.set_out_from(room, first, host);
        match then {
            Then::Nothing => {}
            Then::Settle => self.settle(id, side),
            Then::Ask => self.pump_through(id, side, room),
        }
    }

    /// Delivers a packet for which no simulated endpoint exists.
    #[cold]
    fn deliver_unanswered(&mut self, pipe: u32, id: FlowId) {
        let Carried { traffic, account, .. } = &mut self.flows[id.0 as usize];
        let here = &mut self.pipes[pipe as usize];
        if here.travelling.first().is_some_and(|first| self.twins.end(&first.packet, true)) {
            account.rest().datagrams += 1;
        }
        if let Traffic::Unanswered(Unanswered::External) = traffic
            && let Some(first) = here.travelling.first()
        {
            self.passing.note_left(&first.packet, self.now, None);
        }
        here.travelling.drop_first();
        self.heads.set(pipe, here.due());
    }

    /// Reports a packet that the link layer discarded to the receiving endpoint, if the link ends at its host.
    pub(super) fn report(&mut self, packet: &Packet, at_host: bool, readable: bool) {
        let (Body::Tcp(segment), true) = (&packet.body, at_host) else { return };
        let side = if packet.forward { Side::Destination } else { Side::Source };
        let report = LinkReport::Discarded { seq: segment.seq, len: segment.len, readable };
        let now = self.now;
        if let Some(endpoint) = endpoint_of(&mut self.flows[packet.flow.0 as usize].traffic, side) {
            endpoint.handle_notice(now, Notice::Link(report));
            if endpoint.has_special_segment() {
                self.pump(packet.flow, side);
            }
        }
    }

    /// Reports the uplink backlog, queued ACKs included, to an endpoint.
    pub(super) fn tell_backlog(&mut self, flow: FlowId, side: Side, uplink: PipeId) {
        let now = self.now;
        let after = self.pipes[uplink.0 as usize].line.backlog(now);
        if let Some(endpoint) = endpoint_of(&mut self.flows[flow.0 as usize].traffic, side) {
            endpoint.handle_notice(now, Notice::AcksQueued(after));
        }
        self.drain_events(flow, side);
    }

    /// Discards a damaged packet at its host (checksum). External packets go on: real hosts check for themselves.
    #[cold]
    fn deliver_damaged(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        let Some(packet) = here.travelling.first().map(|first| first.packet) else { return };
        if self.flows[packet.flow.0 as usize].traffic.is_external() {
            return self.deliver_unanswered(pipe, packet.flow);
        }
        here.travelling.drop_first();
        self.heads.set(pipe, here.due());
        if let Some(observer) = &mut self.observer {
            observer.on_fate(self.now, PipeId(pipe), &packet, Fate::Lost(LossReason::Corrupt));
        }
        self.lose(&packet, PipeId(pipe), LossReason::Corrupt);
    }

    pub(super) fn tell_hosts(&mut self, at: PipeId, report: &LinkReport) {
        let now = self.now;
        // Includes flows that have not begun.
        self.make_all();
        for carried in &mut self.flows {
            let is_last = carried.ways.map(|way| self.routes[way.route() as usize].last() == Some(&at));
            let [there, back] = [(is_last[0], Side::Destination), (is_last[1], Side::Source)]
                .map(|(is_last, side)| is_last.then_some(side));
            for side in [there, back].into_iter().flatten() {
                if let Some(endpoint) = endpoint_of(&mut carried.traffic, side) {
                    endpoint.handle_notice(now, Notice::Link(*report));
                }
            }
        }
    }
}

#[cold]
fn notify(now: Time, endpoint: &mut Endpoint, here: &Pipe) {
    if let Some(first) = here.travelling.first()
        && let Body::Notice(notice) = &first.packet.body
    {
        endpoint.handle_notice(now, Notice::Node(*notice));
    }
}

/// Gives an endpoint the notices that it wants before a segment.
fn tell(now: Time, wants: WantedNotices, endpoint: &mut Endpoint, peer: &Endpoint, uplink: &mut Pipe) {
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
