//! What is noted once an endpoint has acted: its next deadline, its events, its end.

use super::carried::{Carried, endpoint_of};
use super::{Engine, timer_of};
use crate::flow::{Side, Traffic};
use crate::together::Together;
use lasthop_base::Time;
use lasthop_tcp::{Event, State};
use lasthop_wire::FlowId;

impl Engine {
    /// After an endpoint has acted: its deadline, its events, its end.
    #[inline(never)]
    pub(super) fn settle(&mut self, id: FlowId, side: Side) {
        let now = self.now;
        let carried = &mut self.flows[id.0 as usize];
        let Some(endpoint) = endpoint_of(&mut carried.traffic, side) else { return };
        if endpoint.state() == State::CloseWait {
            // The receiving application has read everything and closes its side too.
            endpoint.close();
            note_completion(carried, &mut self.together, now);
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
            if let Event::Judged { range, cause } = event {
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

pub(super) fn note_completion(carried: &mut Carried, together: &mut Together, now: Time) {
    let Carried { traffic, account, sharing, .. } = carried;
    if !account.is_complete()
        && let Traffic::Tcp(connection) = traffic
    {
        let account = account.rest();
        account.completed = Some(now);
        account.limited = connection.source.sender().limited(now);
        together.end(sharing);
    }
}
