//! [`Engine`]: packets at middleboxes, and reports of planned rates.

use super::Engine;
use super::flow_state::endpoint_of;
use super::plans::RateChange;
use super::sending::wire_bytes;
use crate::flow::FlowSide;
use crate::node::{FailingTransmission, Node, NodeAccount, NodeId, exits};
use crate::observer::MiddleboxAction;
use crate::pipe::{PipeEnd, PipeId};
use crate::routes::NextHops;
use lasthop_base::{Rate, Time};
use lasthop_middlebox::{Decision, Middlebox};
use lasthop_net::TransmissionFailures;
use lasthop_net::service::Service;
use lasthop_tcp::{Endpoint, Notice};
use lasthop_wire::{Body, FlowId, LinkReport, LossReason, NodeNotice, Packet};
use std::collections::BinaryHeap;

impl Engine {
    /// Attaches a middlebox to the node where the pipes `ending` end. The middlebox sees each packet that arrives on
    /// one of these pipes and leaves on another pipe. Call before the first event, and at most once for a pipe.
    pub fn attach_middlebox(&mut self, node: NodeId, middlebox: Box<dyn Middlebox>, ending: &[PipeId]) {
        let node_index = self.nodes.len() as u32;
        for pipe in ending {
            self.pipes[pipe.0 as usize].end = PipeEnd::Middlebox(node_index);
        }
        let exits = exits(&self.routes, ending);
        for (route, exit) in self.routes.iter().zip(&exits) {
            if let Some(hop) = exit {
                let pipe = &mut self.pipes[route[usize::from(*hop)].0 as usize];
                // The hop into this pipe cannot be fused with the previous hop, because the middlebox before the pipe
                // may drop, delay and create packets.
                pipe.is_fusible = false;
                if middlebox.needs_failures() {
                    pipe.line.report_failures();
                }
            }
        }
        self.next_hops = NextHops::of(&self.routes, &self.pipes);
        self.nodes.push(Node {
            id: node,
            middlebox,
            exits,
            account: NodeAccount::default(),
            failing: BinaryHeap::new(),
        });
        self.timers = self.timers.extended_to(2 * self.flows.len() + self.nodes.len());
    }

    /// Totals of a node's middlebox; `None` if the node has no middlebox.
    pub fn node_account(&self, node: NodeId) -> Option<&NodeAccount> {
        self.nodes.iter().find(|one| one.id == node).map(|node| &node.account)
    }

    #[cold]
    pub(super) fn handle_at_node(&mut self, node_index: u32, packet: Packet) {
        let node = &mut self.nodes[node_index as usize];
        node.account.arrived += 1;
        // A middlebox that reads headers forwards a packet unread if the packet is damaged (wrong checksum) or opaque.
        let is_closed = packet.damaged || self.flows[packet.flow.0 as usize].opaque;
        if is_closed && node.middlebox.reads_headers() {
            self.node_decisions.push(Decision::Forward(packet))
        } else {
            node.middlebox.handle_packet(self.now, packet, &mut self.node_decisions)
        }
        self.apply_middlebox_output(node_index);
        let deadline = self.nodes[node_index as usize].deadline();
        self.timers.at_latest(2 * self.flows.len() as u32 + node_index, deadline);
    }

    /// Handles the timer of a middlebox, or the timer of the planned rates. If the deadline has moved to a later time,
    /// reschedules the timer.
    #[cold]
    pub(super) fn handle_node_timer(&mut self, timer: u32) {
        let node_index = timer - 2 * self.flows.len() as u32;
        if node_index as usize == self.nodes.len() {
            return self.report_plans(timer);
        }
        let node = &mut self.nodes[node_index as usize];
        while node.failing.peek().is_some_and(|failing| failing.at <= self.now) {
            let Some(failing) = node.failing.pop() else { break };
            let (packet, attempt) = (failing.packet, failing.attempt);
            node.failing.extend(failing.next());
            node.middlebox.handle_failure(self.now, &packet, attempt, &mut self.node_decisions);
        }
        if node.middlebox.poll_timeout() <= self.now {
            node.middlebox.handle_timeout(self.now, &mut self.node_decisions);
        }
        self.apply_middlebox_output(node_index);
        let deadline = self.nodes[node_index as usize].deadline();
        self.timers.reschedule(timer, deadline);
    }

    pub(super) fn apply_middlebox_output(&mut self, node_index: u32) {
        let mut node_decisions = std::mem::take(&mut self.node_decisions);
        for one in node_decisions.drain(..) {
            match one {
                Decision::Forward(packet) => {
                    self.nodes[node_index as usize].account.forwarded += 1;
                    self.send_from_node(node_index, Packet { hop: packet.hop + 1, ..packet });
                }
                Decision::Rewrite(packet) => {
                    let node = &mut self.nodes[node_index as usize];
                    node.account.forwarded += 1;
                    node.account.changed += 1;
                    if let Some(observer) = &mut self.observer {
                        observer.on_middlebox(self.now, node.id, &packet, MiddleboxAction::Changed);
                    }
                    self.send_from_node(node_index, Packet { hop: packet.hop + 1, ..packet });
                }
                Decision::Retransmit(packet) => {
                    self.nodes[node_index as usize].account.repeated += 1;
                    self.send_from_middlebox(
                        node_index,
                        Packet { is_retransmission: true, ..packet },
                        MiddleboxAction::Repeated,
                    );
                }
                Decision::Emit(mut packet) => {
                    self.nodes[node_index as usize].account.created += 1;
                    let overhead = self.flows[packet.flow.0 as usize].overhead();
                    packet.wire_bytes = match &packet.body {
                        Body::Tcp(segment) => wire_bytes(segment, overhead),
                        Body::Notice(_) => NodeNotice::WIRE_BYTES,
                        Body::Datagram { .. } => packet.wire_bytes,
                    };
                    self.send_from_middlebox(node_index, packet, MiddleboxAction::Created);
                }
                Decision::Consume(packet) => self.end_at_middlebox(node_index, &packet, None),
                Decision::Drop(packet, reason) => self.end_at_middlebox(node_index, &packet, Some(reason)),
            }
        }
        self.node_decisions = node_decisions;
    }

    /// Sends a packet that a middlebox created or repeated. Does nothing unless the flow's route in the packet's
    /// direction passes this node.
    fn send_from_middlebox(&mut self, node_index: u32, mut packet: Packet, action: MiddleboxAction) {
        let flow = &mut self.flows[packet.flow.0 as usize];
        let route = flow.directions[usize::from(!packet.forward)].route();
        let Node { id, exits, .. } = &self.nodes[node_index as usize];
        let (id, Some(hop)) = (*id, exits[route as usize]) else { return };
        flow.account.rest().created[usize::from(!packet.forward)] += 1;
        packet.priority = packet.priority.or(flow.priority);
        self.assign_number(&mut packet);
        let packet = Packet { route, hop, ..packet };
        if let Some(observer) = &mut self.observer {
            observer.on_middlebox(self.now, id, &packet, action);
        }
        self.send_from_node(node_index, packet);
    }

    fn send_from_node(&mut self, node_index: u32, mut packet: Packet) {
        let next = self.routes[packet.route as usize][usize::from(packet.hop)];
        let sent = packet;
        let wants = self.nodes[node_index as usize].middlebox.needs_failures();
        if wants {
            self.pipes[next.0 as usize].line.take_failures();
        }
        self.send(&mut packet, next);
        if wants && let Some(failures) = self.pipes[next.0 as usize].line.take_failures() {
            self.schedule_failure_reports(node_index, sent, failures);
        }
    }

    /// Schedules reports to a middlebox. Each report is about one failed transmission of this packet on the next link.
    fn schedule_failure_reports(&mut self, node_index: u32, packet: Packet, failures: TransmissionFailures) {
        let is_hidden = self.flows[packet.flow.0 as usize].opaque
            && self.nodes[node_index as usize].middlebox.reads_headers();
        if !is_hidden {
            self.nodes[node_index as usize].failing.extend(FailingTransmission::new(packet, failures));
        }
    }

    /// Schedules reports of a packet's failed transmissions to the middlebox at the start of the link, if that
    /// middlebox needs such reports.
    #[cold]
    pub(super) fn report_failures(&mut self, packet: &Packet, failures: TransmissionFailures) {
        let wants = |node: &Node| {
            node.exits[packet.route as usize] == Some(packet.hop) && node.middlebox.needs_failures()
        };
        let Some(node_index) = self.nodes.iter().position(wants) else { return };
        self.schedule_failure_reports(node_index as u32, *packet, failures);
        let deadline = self.nodes[node_index].deadline();
        self.timers.at_latest((2 * self.flows.len() + node_index) as u32, deadline);
    }

    /// Reports a packet that a queue dropped to the middlebox in front of that queue.
    #[cold]
    pub(super) fn report_queue_drop(&mut self, packet: &Packet) {
        let is_before = |node: &&mut Node| node.exits[packet.route as usize] == Some(packet.hop);
        if let Some(node) = self.nodes.iter_mut().find(is_before) {
            node.middlebox.handle_queue_drop(self.now, packet);
        }
    }

    /// Counts a packet whose path ends at a middlebox: received if `reason` is `None`, otherwise dropped.
    fn end_at_middlebox(&mut self, node_index: u32, packet: &Packet, reason: Option<LossReason>) {
        self.duplicates.count_end(packet, reason.is_none());
        self.release_datagram(packet);
        let node = &mut self.nodes[node_index as usize];
        let action = match reason {
            None => MiddleboxAction::Received,
            Some(reason) => MiddleboxAction::Dropped(reason),
        };
        if let Some(observer) = &mut self.observer {
            observer.on_middlebox(self.now, node.id, packet, action);
        }
        let flow = &mut self.flows[packet.flow.0 as usize];
        let direction = usize::from(!packet.forward);
        match reason {
            None => {
                node.account.received += 1;
                flow.account.rest().received[direction] += 1;
            }
            Some(reason) => {
                node.account.dropped += 1;
                if packet.forward {
                    flow.account.count_loss(reason, false)
                } else {
                    flow.account.rest().lost_backward[reason] += 1
                }
            }
        }
    }

    /// Declares that the rate of this pipe follows a plan. Call before the first event, after all middleboxes are
    /// attached. Two recipients get reports of the planned rates: a middlebox at the pipe's start that [needs
    /// rates](lasthop_middlebox::Middlebox::needs_rates), and an endpoint at the pipe's end that [uses the
    /// plan](Endpoint::uses_link_plan).
    pub fn declare_plan(&mut self, pipe: PipeId, service: &Service) {
        let wants = |node_index: &usize| {
            self.nodes[*node_index].middlebox.needs_rates()
                && !self.flows_leaving(*node_index, pipe).is_empty()
        };
        let is_wanted = (0..self.nodes.len()).any(|node_index| wants(&node_index))
            || (0..self.flows.len()).any(|flow| self.side_wanting_plan(flow, pipe).is_some());
        if is_wanted {
            self.plans.add(pipe, service);
            let last = 2 * self.flows.len() + self.nodes.len();
            self.timers = self.timers.extended_to(last + 1);
            self.timers.at_latest(last as u32, Time::ZERO);
        }
    }

    /// Replaces a pipe's declared plan, if any, by a constant rate from now on.
    pub(super) fn replace_plan(&mut self, pipe: PipeId, rate: Rate) {
        if self.plans.replace(pipe, rate, self.now) {
            let timer = 2 * self.flows.len() + self.nodes.len();
            self.timers.at_latest(timer as u32, self.now);
        }
    }

    /// Reports all rate changes that are due.
    #[cold]
    fn report_plans(&mut self, timer: u32) {
        let now = self.now;
        for at in 0..self.plans.len() {
            let Some(RateChange { pipe, rate, until, next }) = self.plans.poll_change(at, now) else {
                continue;
            };
            for node_index in 0..self.nodes.len() {
                if !self.nodes[node_index].middlebox.needs_rates() {
                    continue;
                }
                for (flow, forward) in self.flows_leaving(node_index, pipe) {
                    self.nodes[node_index].middlebox.handle_rate(
                        now,
                        flow,
                        forward,
                        rate,
                        &mut self.node_decisions,
                    );
                }
                self.apply_middlebox_output(node_index as u32);
                let deadline = self.nodes[node_index].deadline();
                self.timers.at_latest(2 * self.flows.len() as u32 + node_index as u32, deadline);
            }
            let report = LinkReport::Plan { bps: rate.bps(), until, next_bps: next.bps() };
            for flow in 0..self.flows.len() {
                let Some(side) = self.side_wanting_plan(flow, pipe) else { continue };
                if let Some(endpoint) = endpoint_of(&mut self.flows[flow].traffic, side) {
                    endpoint.handle_notice(now, Notice::Link(report));
                    self.pump(FlowId(flow as u32), side);
                }
            }
        }
        self.timers.reschedule(timer, self.plans.due());
    }

    /// Returns the flows whose packets leave the node by this pipe, each with the packets' direction (true: forward).
    /// Flows whose headers the node's middlebox cannot read are excluded.
    fn flows_leaving(&self, node_index: usize, pipe: PipeId) -> Vec<(FlowId, bool)> {
        let node = &self.nodes[node_index];
        let leaves = |route: u32| {
            let hop = node.exits[route as usize];
            hop.is_some_and(|hop| self.routes[route as usize][usize::from(hop)] == pipe)
        };
        let mut leaving = Vec::new();
        for (id, flow) in (0..).map(FlowId).zip(&self.flows) {
            let is_hidden = flow.opaque && node.middlebox.reads_headers();
            let directions = [true, false].into_iter().zip(flow.directions);
            let here = directions.filter(|(_, direction)| !is_hidden && leaves(direction.route()));
            leaving.extend(here.map(|(forward, _)| (id, forward)));
        }
        leaving
    }

    /// Returns the side of a flow whose host is at this pipe's end; `None` unless the endpoint of that side wants
    /// planned rates.
    fn side_wanting_plan(&self, index: usize, pipe: PipeId) -> Option<FlowSide> {
        let flow = &self.flows[index];
        let (source, destination) = self.endpoints(FlowId(index as u32))?;
        let [forward, backward] = flow.directions.map(|direction| &self.routes[direction.route() as usize]);
        let ends = [(FlowSide::Destination, forward, destination), (FlowSide::Source, backward, source)];
        let wants = |(side, path, endpoint): (FlowSide, &Vec<PipeId>, &Endpoint)| {
            (path.last() == Some(&pipe) && endpoint.uses_link_plan()).then_some(side)
        };
        ends.into_iter().find_map(wants)
    }
}
