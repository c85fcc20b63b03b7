//! Events at an instant that does not end.

use super::Engine;
use super::sending::blank;
use crate::flow::Side;
use crate::pipe::PipeId;
use crate::stuck::{Source, Stuck};
use lasthop_base::Time;
use lasthop_net::Line;
use lasthop_wire::{FlowId, Packet};

impl Engine {
    /// Why the run does not go on, if it does not: its time stands still. Neither [`Engine::run_until`] nor
    /// [`Engine::advance`] carries anything then.
    pub fn stuck(&self) -> Option<Stuck> {
        self.still.stuck()
    }

    /// Notes after some events whether time has moved since `before`.
    pub(super) fn note_pace(&mut self, before: Time, events: usize) {
        match self.now > before {
            true => self.still.clear(),
            false => self.still.add(events as u64),
        }
    }

    /// [`Engine::advance`] at an instant with very many events, until time moves.
    #[cold]
    #[inline(never)]
    pub(super) fn advance_counting(&mut self, until: Time, most: usize) -> bool {
        self.horizon = until;
        let mut room = blank();
        for _ in 0..most {
            if self.still.stuck().is_some() {
                return false;
            }
            let (before, source) = (self.now, self.next_source());
            if !self.step_apart(until, &mut room) {
                self.now = self.now.max(until);
                self.still.clear();
                return false;
            }
            if self.now > before {
                self.still.clear();
                return true;
            }
            self.still.count(self.now, source);
        }
        true
    }

    #[inline(never)]
    fn step_apart(&mut self, until: Time, room: &mut Packet) -> bool {
        self.step(until, room)
    }

    /// Source of the next event.
    fn next_source(&self) -> Source {
        let ((due, pipe), (time, timer)) = (self.heads.first(), self.timers.first());
        if time >= due {
            let id = PipeId(pipe);
            let here = &self.pipes[pipe as usize];
            let is_deadline = matches!(here.line, Line::Element(_))
                && here.travelling.first().is_none_or(|first| first.due > due);
            return if is_deadline { Source::Element(id) } else { Source::Arrival(id) };
        }
        let flow = timer / 2;
        if (flow as usize) < self.flows.len() {
            let side = if timer.is_multiple_of(2) { Side::Source } else { Side::Destination };
            return Source::Host(FlowId(flow), side);
        }
        let place = timer as usize - 2 * self.flows.len();
        self.nodes.get(place).map_or(Source::Plans, |node| Source::Node(node.id))
    }
}
