//! [`Engine`]: packets at middleboxes, and reports of planned rates.

use super::Engine;
use super::carried::endpoint_of;
use super::plans::Turn;
use super::sending::wire_bytes;
use crate::flow::Side;
use crate::node::{Failing, Node, NodeAccount, NodeId, exits};
use crate::observer::Deed;
use crate::pipe::{Behind, PipeId};
use crate::routes::Nexts;
use lasthop_base::Time;
use lasthop_middlebox::{Middlebox, Onward};
use lasthop_net::Trouble;
use lasthop_net::service::Service;
use lasthop_tcp::{Endpoint, Notice};
use lasthop_wire::{Body, FlowId, LinkReport, LossReason, NodeNotice, Packet};
use std::collections::BinaryHeap;

impl Engine {
    /// Attaches a middlebox to the node where these pipes end. The middlebox sees each packet that arrives by one of
    /// them and continues. Call before the first event, and at most once for a pipe.
    pub fn stand(&mut self, node: NodeId, middlebox: Box<dyn Middlebox>, ending: &[PipeId]) {
        let place = self.nodes.len() as u32;
        for pipe in ending {
            self.pipes[pipe.0 as usize].behind = Behind::Middlebox(place);
        }
        let exits = exits(&self.routes, ending);
        for (route, exit) in self.routes.iter().zip(&exits) {
            if let Some(hop) = exit {
                let pipe = &mut self.pipes[route[usize::from(*hop)].0 as usize];
                // A middlebox may drop, delay and create packets.
                pipe.eager = false;
                if middlebox.asks_link() {
                    pipe.line.tell_trouble();
                }
            }
        }
        self.nexts = Nexts::of(&self.routes, &self.pipes);
        self.nodes.push(Node {
            id: node,
            middlebox,
            exits,
            account: NodeAccount::default(),
            failing: BinaryHeap::new(),
        });
        self.timers = self.timers.extended_to(2 * self.flows.len() + self.nodes.len());
    }

    /// Totals of a node's middlebox, if the node has one.
    pub fn node_account(&self, node: NodeId) -> Option<&NodeAccount> {
        self.nodes.iter().find(|one| one.id == node).map(|node| &node.account)
    }

    #[cold]
    pub(super) fn pass(&mut self, place: u32, packet: Packet) {
        let node = &mut self.nodes[place as usize];
        node.account.came += 1;
        // A middlebox that reads headers passes damaged packets on unread (wrong checksum).
        let is_closed = packet.damaged || self.flows[packet.flow.0 as usize].opaque;
        if is_closed && node.middlebox.reads_headers() {
            self.onward.push(Onward::Same(packet))
        } else {
            node.middlebox.handle_packet(self.now, packet, &mut self.onward)
        }
        self.take_onward(place);
        let deadline = self.nodes[place as usize].deadline();
        self.timers.at_latest(2 * self.flows.len() as u32 + place, deadline);
    }

    /// Handles a middlebox's timer, which may have moved to a later time.
    #[cold]
    pub(super) fn wake_node(&mut self, timer: u32) {
        let place = timer - 2 * self.flows.len() as u32;
        if place as usize == self.nodes.len() {
            return self.tell_plans(timer);
        }
        let node = &mut self.nodes[place as usize];
        while node.failing.peek().is_some_and(|failing| failing.at <= self.now) {
            let Some(failing) = node.failing.pop() else { break };
            let (packet, attempt) = (failing.packet, failing.attempt);
            node.failing.extend(failing.next());
            node.middlebox.handle_failure(self.now, &packet, attempt, &mut self.onward);
        }
        if node.middlebox.poll_timeout() <= self.now {
            node.middlebox.handle_timeout(self.now, &mut self.onward);
        }
        self.take_onward(place);
        let deadline = self.nodes[place as usize].deadline();
        self.timers.renew(timer, deadline);
    }

    pub(super) fn take_onward(&mut self, place: u32) {
        let mut onward = std::mem::take(&mut self.onward);
        for one in onward.drain(..) {
            match one {
                Onward::Same(packet) => {
                    self.nodes[place as usize].account.passed += 1;
                    self.leave(place, Packet { hop: packet.hop + 1, ..packet });
                }
                Onward::Changed(packet) => {
                    let node = &mut self.nodes[place as usize];
                    node.account.passed += 1;
                    node.account.changed += 1;
                    if let Some(observer) = &mut self.observer {
                        observer.on_node(self.now, node.id, &packet, Deed::Changed);
                    }
                    self.leave(place, Packet { hop: packet.hop + 1, ..packet });
                }
                Onward::Again(packet) => {
                    self.nodes[place as usize].account.repeated += 1;
                    self.set_out(place, Packet { is_retransmission: true, ..packet }, Deed::Repeated);
                }
                Onward::New(mut packet) => {
                    self.nodes[place as usize].account.made += 1;
                    let overhead = self.flows[packet.flow.0 as usize].overhead();
                    packet.wire_bytes = match &packet.body {
                        Body::Tcp(segment) => wire_bytes(segment, overhead),
                        Body::Notice(_) => NodeNotice::WIRE_BYTES,
                        Body::Datagram { .. } => packet.wire_bytes,
                    };
                    self.set_out(place, packet, Deed::Made);
                }
                Onward::Received(packet) => self.end(place, &packet, None),
                Onward::Dropped(packet, reason) => self.end(place, &packet, Some(reason)),
            }
        }
        self.onward = onward;
    }

    /// Sends a packet that a middlebox created, if the packet's flow passes this node in its direction.
    fn set_out(&mut self, place: u32, mut packet: Packet, deed: Deed) {
        let carried = &mut self.flows[packet.flow.0 as usize];
        let route = carried.ways[usize::from(!packet.forward)].route();
        let Node { id, exits, .. } = &self.nodes[place as usize];
        let (id, Some(hop)) = (*id, exits[route as usize]) else { return };
        carried.account.rest().born[usize::from(!packet.forward)] += 1;
        self.number(&mut packet);
        let packet = Packet { route, hop, ..packet };
        if let Some(observer) = &mut self.observer {
            observer.on_node(self.now, id, &packet, deed);
        }
        self.leave(place, packet);
    }

    fn leave(&mut self, place: u32, mut packet: Packet) {
        let next = self.routes[packet.route as usize][usize::from(packet.hop)];
        let sent = packet;
        let asks = self.nodes[place as usize].middlebox.asks_link();
        if asks {
            self.pipes[next.0 as usize].line.take_trouble();
        }
        self.send(&mut packet, next);
        if asks && let Some(trouble) = self.pipes[next.0 as usize].line.take_trouble() {
            self.note_failing(place, sent, trouble);
        }
    }

    /// Schedules the reports of failing transmissions of a packet behind a middlebox.
    fn note_failing(&mut self, place: u32, packet: Packet, trouble: Trouble) {
        let is_hidden =
            self.flows[packet.flow.0 as usize].opaque && self.nodes[place as usize].middlebox.reads_headers();
        if !is_hidden {
            self.nodes[place as usize].failing.extend(Failing::new(packet, trouble));
        }
    }

    /// Reports failing transmissions of a link to the middlebox before the link, if it wants them.
    #[cold]
    pub(super) fn tell_failing(&mut self, packet: &Packet, trouble: Trouble) {
        let asks =
            |node: &Node| node.exits[packet.route as usize] == Some(packet.hop) && node.middlebox.asks_link();
        let Some(place) = self.nodes.iter().position(asks) else { return };
        self.note_failing(place as u32, *packet, trouble);
        let deadline = self.nodes[place].deadline();
        self.timers.at_latest((2 * self.flows.len() + place) as u32, deadline);
    }

    /// Reports a packet that a queue dropped to the middlebox before the queue.
    #[cold]
    pub(super) fn tell_refused(&mut self, packet: &Packet) {
        let is_before = |node: &&mut Node| node.exits[packet.route as usize] == Some(packet.hop);
        if let Some(node) = self.nodes.iter_mut().find(is_before) {
            node.middlebox.handle_refused(self.now, packet);
        }
    }

    /// Ends a packet at a middlebox: received, or dropped for a reason.
    fn end(&mut self, place: u32, packet: &Packet, reason: Option<LossReason>) {
        self.twins.end(packet, reason.is_none());
        let node = &mut self.nodes[place as usize];
        let deed = match reason {
            None => Deed::Received,
            Some(reason) => Deed::Dropped(reason),
        };
        if let Some(observer) = &mut self.observer {
            observer.on_node(self.now, node.id, packet, deed);
        }
        let carried = &mut self.flows[packet.flow.0 as usize];
        let way = usize::from(!packet.forward);
        match reason {
            None => {
                node.account.received += 1;
                carried.account.rest().received[way] += 1;
            }
            Some(reason) => {
                node.account.dropped += 1;
                if packet.forward {
                    carried.account.lose(reason, false)
                } else {
                    carried.account.rest().lost_back[reason] += 1
                }
            }
        }
    }

    /// Declares a planned rate of this pipe. Call before the first event, after all middleboxes are attached. Reported
    /// only to a middlebox at its beginning that [asks](lasthop_middlebox::Middlebox::asks_plan) and to a receiver at
    /// its end that [does](Endpoint::uses_link_plan).
    pub fn tell_plan(&mut self, pipe: PipeId, service: &Service) {
        let asks = |place: &usize| {
            self.nodes[*place].middlebox.asks_plan() && !self.flows_leaving(*place, pipe).is_empty()
        };
        let is_asked_for = (0..self.nodes.len()).any(|place| asks(&place))
            || (0..self.flows.len()).any(|flow| self.asking_side(flow, pipe).is_some());
        if is_asked_for {
            self.plans.add(pipe, service);
            let last = 2 * self.flows.len() + self.nodes.len();
            self.timers = self.timers.extended_to(last + 1);
            self.timers.at_latest(last as u32, Time::ZERO);
        }
    }

    /// Reports all rate changes that are due.
    #[cold]
    fn tell_plans(&mut self, timer: u32) {
        let now = self.now;
        for at in 0..self.plans.len() {
            let Some(Turn { pipe, rate, until, next }) = self.plans.turn(at, now) else { continue };
            for place in 0..self.nodes.len() {
                if !self.nodes[place].middlebox.asks_plan() {
                    continue;
                }
                for (flow, forward) in self.flows_leaving(place, pipe) {
                    self.nodes[place].middlebox.handle_rate(now, flow, forward, rate, &mut self.onward);
                }
                self.take_onward(place as u32);
                let deadline = self.nodes[place].deadline();
                self.timers.at_latest(2 * self.flows.len() as u32 + place as u32, deadline);
            }
            let report = LinkReport::Plan { bps: rate.bps(), until, next_bps: next.bps() };
            for flow in 0..self.flows.len() {
                let Some(side) = self.asking_side(flow, pipe) else { continue };
                if let Some(endpoint) = endpoint_of(&mut self.flows[flow].traffic, side) {
                    endpoint.handle_notice(now, Notice::Link(report));
                    self.pump(FlowId(flow as u32), side);
                }
            }
        }
        self.timers.renew(timer, self.plans.due());
    }

    /// Flows and directions that leave a node by this pipe, except those whose headers its middlebox cannot read.
    fn flows_leaving(&self, place: usize, pipe: PipeId) -> Vec<(FlowId, bool)> {
        let node = &self.nodes[place];
        let leaves = |route: u32| {
            let hop = node.exits[route as usize];
            hop.is_some_and(|hop| self.routes[route as usize][usize::from(hop)] == pipe)
        };
        let mut leaving = Vec::new();
        for (flow, carried) in (0..).map(FlowId).zip(&self.flows) {
            let is_hidden = carried.opaque && node.middlebox.reads_headers();
            let ways = [true, false].into_iter().zip(carried.ways);
            let here = ways.filter(|(_, way)| !is_hidden && leaves(way.route()));
            leaving.extend(here.map(|(forward, _)| (flow, forward)));
        }
        leaving
    }

    /// The side of a flow whose host is at this pipe's end, if its endpoint wants planned rates.
    fn asking_side(&self, flow: usize, pipe: PipeId) -> Option<Side> {
        let carried = &self.flows[flow];
        let (source, destination) = self.endpoints(FlowId(flow as u32))?;
        let [there, back] = carried.ways.map(|way| &self.routes[way.route() as usize]);
        let ends = [(Side::Destination, there, destination), (Side::Source, back, source)];
        let asks = |(side, path, endpoint): (Side, &Vec<PipeId>, &Endpoint)| {
            (path.last() == Some(&pipe) && endpoint.uses_link_plan()).then_some(side)
        };
        ends.into_iter().find_map(asks)
    }
}
