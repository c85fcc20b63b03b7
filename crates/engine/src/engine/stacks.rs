//! [`Engine`]: flows between transport implementations of other projects.

use super::flow_state::{FlowState, side_index};
use super::sending::UDP_IPV4_HEADER;
use super::{Engine, timer_of};
use crate::flow::{FlowSide, NoEndpoint, Overhead, Traffic};
use crate::stack_flow::StackFlow;
use lasthop_base::Time;
use lasthop_stack::Layer;
use lasthop_wire::{Body, FlowId, Packet, Priority};
use std::io::Write;

/// Largest payload of a UDP datagram over IPv4, bytes.
const MAX_DATAGRAM: usize = 65_507;
/// Largest number of calls to the two stacks of a flow at one instant. A flow with more calls ends with a failure,
/// because one of its stacks would probably never stop.
const MAX_CALLS: u32 = 100_000;

impl Engine {
    /// Passes the first packet of a pipe to the stack at the pipe's end.
    #[cold]
    pub(super) fn deliver_to_stack(&mut self, pipe: u32, id: FlowId) {
        let now = self.now;
        let here = &mut self.pipes[pipe as usize];
        let Some(packet) = here.in_flight.first().map(|first| first.packet) else { return };
        self.duplicates.count_end(&packet, true);
        here.in_flight.drop_first();
        self.event_queue.set(pipe, here.due());
        let side = if packet.forward { FlowSide::Destination } else { FlowSide::Source };
        let Body::Datagram { number } = packet.body else { return };
        let Some(flow) = stack_flow(&mut self.flows[id.0 as usize]) else { return };
        flow.handle_datagram(side, now, number, packet.ecn);
        self.pump_stack(id, side);
    }

    /// Handles the start of a flow or the deadline of a stack.
    #[cold]
    pub(super) fn handle_stack_timer(&mut self, timer: u32, id: FlowId, side: FlowSide) {
        let now = self.now;
        let FlowState { traffic, start, share, .. } = &mut self.flows[id.0 as usize];
        let Traffic::NoEndpoint(NoEndpoint::Stack(flow)) = traffic else { return };
        if flow.failure.is_some() {
            return self.timers.reschedule(timer, Time::NEVER);
        }
        let mut side = side;
        if !flow.is_open && now >= *start {
            // An application's first action is due at the same time, and needs an open connection.
            (flow.is_open, side) = (true, flow.opener);
            flow.end(side).open(now);
            self.concurrent.begin(share);
        } else {
            let due = flow.end(side).poll_timeout(now);
            let action = if side == FlowSide::Source { flow.next_action() } else { Time::NEVER };
            if due.min(action) > now {
                return self.timers.reschedule(timer, due.min(action));
            }
            if due <= now {
                flow.end(side).handle_timeout(now);
            }
        }
        self.timers.reschedule(timer, Time::NEVER);
        self.pump_stack(id, side);
    }

    /// Lets the application of an end read and write, sends the end's datagrams, and sets the end's timer. Then does the
    /// same for the opposite end, if the opposite end's application has written data.
    pub(super) fn pump_stack(&mut self, id: FlowId, side: FlowSide) {
        let opposite = match side {
            FlowSide::Source => FlowSide::Destination,
            FlowSide::Destination => FlowSide::Source,
        };
        let has_output = self.run_application(id, side);
        self.send_datagrams(id, side);
        if has_output[side_index(opposite)] {
            self.send_datagrams(id, opposite);
        }
    }

    /// Passes the data that has arrived at an end to the end's application, and lets the application act. Returns whether
    /// each side has data to write.
    fn run_application(&mut self, id: FlowId, side: FlowSide) -> [bool; 2] {
        let now = self.now;
        let FlowState { traffic, account, share, .. } = &mut self.flows[id.0 as usize];
        let Traffic::NoEndpoint(NoEndpoint::Stack(flow)) = traffic else { return [false; 2] };
        if flow.failure.is_some() {
            return [false; 2];
        }
        let read = flow.read(side, now);
        let has_output = flow.act(now);
        let is_complete = match flow.application() {
            Some(application) if application.requests().is_some() => application.is_complete(),
            _ => side == FlowSide::Destination && flow.end(side).is_at_end(),
        };
        if side == FlowSide::Destination {
            self.concurrent.deliver(share, read);
        }
        if is_complete && !account.is_complete() {
            account.rest().completed = Some(now);
            self.concurrent.end(share);
        }
        if flow.application().is_some() {
            self.timers.at_latest(timer_of(id.0 as usize, FlowSide::Source), flow.next_action());
        }
        has_output
    }

    /// Passes the application's data to the stack of an end, sends the end's datagrams, and sets the end's timer.
    fn send_datagrams(&mut self, id: FlowId, side: FlowSide) {
        let now = self.now;
        let FlowState { traffic, directions, .. } = &mut self.flows[id.0 as usize];
        let direction = directions[side_index(side)];
        let Traffic::NoEndpoint(NoEndpoint::Stack(flow)) = traffic else { return };
        if flow.failure.is_some() {
            return;
        }
        flow.write(side, now);
        loop {
            let Some(flow) = stack_flow(&mut self.flows[id.0 as usize]) else { return };
            flow.calls = if flow.calls.0 == now { (now, flow.calls.1 + 1) } else { (now, 0) };
            if flow.calls.1 > MAX_CALLS {
                let reason = "sends datagrams without end, or requests deadlines in the past";
                return self.fail_stack(id, reason.to_owned());
            }
            let mut bytes = flow.in_flight.take();
            let Some(sent) = flow.end(side).poll_datagram(now, &mut bytes) else {
                flow.in_flight.give_back(bytes);
                if let Some(reason) = flow.end(side).failure() {
                    return self.fail_stack(id, reason);
                }
                let due = flow.end(side).poll_timeout(now).max(now);
                return self.timers.at_latest(timer_of(id.0 as usize, side), due);
            };
            let length = bytes.len();
            if length == 0 || length > MAX_DATAGRAM {
                return self.fail_stack(id, format!("sends a datagram of {length} bytes"));
            }
            let slot = flow.in_flight.insert(bytes);
            if let Some(observer) = &mut self.observer {
                let layer = flow.end(side).layer();
                observer.on_datagram(id, slot, layer, flow.in_flight.buffer(slot));
            }
            let headers = match (flow.end(side).layer(), direction.overhead()) {
                (Layer::Ip, _) => 0,
                (Layer::Udp, Overhead::Real) => UDP_IPV4_HEADER,
                (Layer::Udp, Overhead::Fixed(bytes)) => bytes,
            };
            let is_retransmission = sent.is_retransmission == Some(true);
            flow.count_sent(side);
            let mut packet = Packet {
                flow: id,
                route: direction.route(),
                wire_bytes: length as u32 + headers,
                forward: side == FlowSide::Source,
                is_retransmission,
                ecn: sent.ecn,
                body: Body::Datagram { number: slot },
                number: 0,
                before_first_loss: false,
                damaged: false,
                priority: Priority::NORMAL,
                hop: 0,
                enqueued_at: Time::ZERO,
            };
            self.send_from_host(&mut packet, direction.first, direction.host());
        }
    }

    /// Ends a flow because of a failure of its stack. The stack is not called again.
    #[cold]
    fn fail_stack(&mut self, id: FlowId, reason: String) {
        let FlowState { traffic, account, share, .. } = &mut self.flows[id.0 as usize];
        let Traffic::NoEndpoint(NoEndpoint::Stack(flow)) = traffic else { return };
        flow.failure = Some((self.now, reason));
        if flow.is_open && !account.is_complete() {
            self.concurrent.end(share);
        }
    }

    /// Frees the bytes of a lost packet, if the packet belongs to a stack.
    #[cold]
    pub(super) fn release_datagram(&mut self, packet: &Packet) {
        if let (Some(flow), Body::Datagram { number }) =
            (stack_flow(&mut self.flows[packet.flow.0 as usize]), packet.body)
        {
            flow.in_flight.release(number);
        }
    }

    /// Keeps the bytes of a datagram for a copy that a link makes, if the packet belongs to a stack.
    #[cold]
    pub(super) fn keep_for_copy(&mut self, packet: &Packet) {
        if let (Some(flow), Body::Datagram { number }) =
            (stack_flow(&mut self.flows[packet.flow.0 as usize]), packet.body)
        {
            flow.in_flight.add_copy(number);
        }
    }

    /// Passes a writer for the log of the stack at one side of a flow, before the flow starts. Returns false if the flow
    /// has no stacks, or if the stack has no log.
    pub fn write_stack_log(
        &mut self,
        flow: FlowId,
        side: FlowSide,
        writer: Box<dyn Write + Send + Sync>,
    ) -> bool {
        stack_flow(&mut self.flows[flow.0 as usize]).is_some_and(|flow| flow.end(side).write_log(writer))
    }

    /// Returns a flow between stacks; `None` for other flows.
    pub fn stack_flow(&self, flow: FlowId) -> Option<&StackFlow> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::NoEndpoint(NoEndpoint::Stack(flow)) => Some(flow),
            _ => None,
        }
    }
}

fn stack_flow(state: &mut FlowState) -> Option<&mut StackFlow> {
    match &mut state.traffic {
        Traffic::NoEndpoint(NoEndpoint::Stack(flow)) => Some(flow),
        _ => None,
    }
}
