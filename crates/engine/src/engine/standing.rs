//! Events at an instant that does not end.

use super::{Engine, across};
use crate::flow::Side;
use crate::pipe::PipeId;
use crate::stuck::{Source, Stuck};
use lasthop_wire::FlowId;

impl Engine {
    /// Why the run does not go on, if it does not: its time stands still. Nothing is due any more then.
    pub fn stuck(&self) -> Option<Stuck> {
        self.still.stuck()
    }

    /// A timer's place in the agenda has come up. Whether the run goes on.
    pub(super) fn goes_on_at_timer(&mut self, timer: u32) -> bool {
        !self.still.tick(self.now) || self.goes_on_counting(self.source_of(timer))
    }

    /// An element's deadline has come. Whether the run goes on.
    pub(super) fn goes_on_at_element(&mut self, pipe: u32) -> bool {
        !self.still.tick(self.now) || self.goes_on_counting(Source::Element(PipeId(pipe)))
    }

    /// The same at an instant with very many events.
    #[cold]
    #[inline(never)]
    fn goes_on_counting(&mut self, source: Source) -> bool {
        if !self.still.is_too_many(source) {
            return true;
        }
        self.heads = across::heads_of(&self.pipes);
        self.timers = self.timers.unset();
        false
    }

    fn source_of(&self, timer: u32) -> Source {
        let flow = timer / 2;
        if (flow as usize) < self.flows.len() {
            let side = if timer.is_multiple_of(2) { Side::Source } else { Side::Destination };
            return Source::Host(FlowId(flow), side);
        }
        let place = timer as usize - 2 * self.flows.len();
        self.nodes.get(place).map_or(Source::Plans, |node| Source::Node(node.id))
    }
}
