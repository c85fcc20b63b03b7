//! [`Engine`]: timers of endpoints, applications and datagram sources.

use super::carried::Carried;
use super::sending::datagram;
use super::{Engine, timer_of};
use crate::flow::{Connection, Side, Traffic, Unanswered};
use lasthop_base::Time;
use lasthop_tcp::State;
use lasthop_wire::{FlowId, Packet};

impl Engine {
    /// Handles a timer, whose deadline may have moved to a later time.
    pub(super) fn fire(&mut self, timer: u32, room: &mut Packet) {
        if !self.goes_on_at_timer(timer) {
            return;
        }
        let id = FlowId(timer / 2);
        let side = if timer.is_multiple_of(2) { Side::Source } else { Side::Destination };
        let now = self.now;
        let Some(Carried { traffic, ways: [there, _], sharing, start, .. }) =
            self.flows.get_mut(id.0 as usize)
        else {
            return self.wake_node(timer);
        };
        let (way, start) = (*there, *start);
        let next = match traffic {
            Traffic::Unanswered(Unanswered::Datagrams(source)) if now < source.stop => {
                let mut packet = datagram((self.packets, id, way.route()), source, way.overhead());
                self.packets += 1;
                let (next, stop) = (source.next, source.stop);
                self.send_datagram(&mut packet);
                if next < stop { next } else { Time::NEVER }
            }
            Traffic::Unanswered(Unanswered::Later(_)) => {
                self.make(id.0 as usize);
                return self.fire(timer, room);
            }
            Traffic::Unanswered(_) => Time::NEVER,
            Traffic::Tcp(connection) => {
                let has_application = way.is_told() && connection.application.is_some();
                let opener = if has_application { connection.opener() } else { Side::Source };
                let endpoint = match side {
                    Side::Source => &mut connection.source,
                    Side::Destination => &mut connection.destination,
                };
                let is_asked = has_application && side == Side::Source;
                if endpoint.state() != State::Closed && !is_asked {
                    let moved = endpoint.poll_timeout();
                    if moved > now {
                        return self.timers.renew(timer, moved);
                    }
                }
                if side == opener && endpoint.state() == State::Closed && now >= start {
                    endpoint.open(now);
                    self.together.begin(sharing);
                    self.pump_through(id, side, room);
                } else if endpoint.poll_timeout() <= now {
                    endpoint.handle_timeout(now);
                    self.pump_through(id, side, room);
                }
                if is_asked && now >= start {
                    self.ask_application(id);
                }
                self.deadline(id, side)
            }
        };
        self.timers.renew(timer, next);
    }

    fn deadline(&self, id: FlowId, side: Side) -> Time {
        match (&self.flows[id.0 as usize].traffic, side) {
            (Traffic::Tcp(connection), Side::Source) => {
                let application = connection.application.as_ref().map_or(Time::NEVER, |it| it.next());
                connection.source.poll_timeout().min(application)
            }
            (Traffic::Tcp(connection), Side::Destination) => connection.destination.poll_timeout(),
            (Traffic::Unanswered(_), _) => Time::NEVER,
        }
    }

    /// Calls a connection's application on new data or at its time.
    #[cold]
    pub(super) fn ask_application(&mut self, id: FlowId) {
        let now = self.now;
        let carried = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = &mut carried.traffic else { return };
        let Connection { source, destination, application: Some(application), .. } = &mut **connection else {
            return;
        };
        let [of_source, of_destination] = application.act(now, source, destination);
        let (next, is_over) = (application.next(), application.is_over());
        if is_over {
            carried.complete(&mut self.together, now);
        }
        self.timers.at_latest(timer_of(id.0 as usize, Side::Source), next);
        if of_source {
            self.pump(id, Side::Source);
        }
        if of_destination {
            self.pump(id, Side::Destination);
        }
    }
}
