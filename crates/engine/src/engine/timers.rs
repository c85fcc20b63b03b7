//! [`Engine`]: timers of endpoints, applications and datagram sources.

use super::flow_state::FlowState;
use super::sending::next_datagram;
use super::{Engine, timer_of};
use crate::flow::{FlowSide, NoEndpoint, TcpConnection, Traffic};
use lasthop_base::Time;
use lasthop_tcp::State;
use lasthop_wire::{FlowId, Packet};

impl Engine {
    /// Handles a timer. If the timer's deadline has moved to a later time, reschedules the timer.
    pub(super) fn handle_timer(&mut self, timer: u32, scratch: &mut Packet) {
        if !self.may_continue_at_timer(timer) {
            return;
        }
        let id = FlowId(timer / 2);
        let side = if timer.is_multiple_of(2) { FlowSide::Source } else { FlowSide::Destination };
        let now = self.now;
        let Some(FlowState { traffic, directions: [forward, _], priority, share, start, .. }) =
            self.flows.get_mut(id.0 as usize)
        else {
            return self.handle_node_timer(timer);
        };
        let (direction, priority, start) = (*forward, *priority, *start);
        let next = match traffic {
            Traffic::NoEndpoint(NoEndpoint::Datagrams(source)) if now < source.stop => {
                let number = (self.packets, id, direction.route());
                let mut packet = next_datagram(number, source, (direction.overhead(), priority));
                self.packets += 1;
                let (next, stop) = (source.next, source.stop);
                self.send(&mut packet, direction.first);
                if next < stop { next } else { Time::NEVER }
            }
            Traffic::NoEndpoint(NoEndpoint::Deferred(_)) => {
                self.create(id.0 as usize);
                return self.handle_timer(timer, scratch);
            }
            Traffic::NoEndpoint(NoEndpoint::Stack(_)) => return self.handle_stack_timer(timer, id, side),
            Traffic::NoEndpoint(_) => Time::NEVER,
            Traffic::Tcp(connection) => {
                let has_application = direction.needs_notices() && connection.application.is_some();
                let opener = if has_application { connection.opener() } else { FlowSide::Source };
                let endpoint = match side {
                    FlowSide::Source => &mut connection.source,
                    FlowSide::Destination => &mut connection.destination,
                };
                let has_turn = has_application && side == FlowSide::Source;
                if endpoint.state() != State::Closed && !has_turn {
                    let moved = endpoint.poll_timeout();
                    if moved > now {
                        return self.timers.reschedule(timer, moved);
                    }
                }
                if side == opener && endpoint.state() == State::Closed && now >= start {
                    endpoint.open(now);
                    self.concurrent.begin(share);
                    self.pump_with(id, side, scratch);
                } else if endpoint.poll_timeout() <= now {
                    endpoint.handle_timeout(now);
                    self.pump_with(id, side, scratch);
                }
                if has_turn && now >= start {
                    self.call_application(id);
                }
                self.deadline(id, side)
            }
        };
        self.timers.reschedule(timer, next);
    }

    fn deadline(&self, id: FlowId, side: FlowSide) -> Time {
        match (&self.flows[id.0 as usize].traffic, side) {
            (Traffic::Tcp(connection), FlowSide::Source) => {
                let application = connection.application.as_ref().map_or(Time::NEVER, |it| it.next());
                connection.source.poll_timeout().min(application)
            }
            (Traffic::Tcp(connection), FlowSide::Destination) => connection.destination.poll_timeout(),
            (Traffic::NoEndpoint(_), _) => Time::NEVER,
        }
    }

    /// Calls a connection's application after data has arrived or when the application's next action is due.
    #[cold]
    pub(super) fn call_application(&mut self, id: FlowId) {
        let now = self.now;
        let flow = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = &mut flow.traffic else { return };
        let TcpConnection { source, destination, application: Some(application), .. } = &mut **connection
        else {
            return;
        };
        let [source_has_output, destination_has_output] = application.act(now, source, destination);
        let (next, is_complete) = (application.next(), application.is_complete());
        if is_complete {
            flow.complete(&mut self.concurrent, now);
        }
        self.timers.at_latest(timer_of(id.0 as usize, FlowSide::Source), next);
        if source_has_output {
            self.pump(id, FlowSide::Source);
        }
        if destination_has_output {
            self.pump(id, FlowSide::Destination);
        }
    }
}
