//! The distinct routes of a run, and the hops that can be fused (moved in one event).

use crate::pipe::{Pipe, PipeId};
use lasthop_net::LinkDirection;
use lasthop_wire::Packet;

/// Returns the index of a route in the list. Adds the route if it is new.
pub(crate) fn number_of(routes: &mut Vec<Vec<PipeId>>, route: &[PipeId]) -> u32 {
    let known = routes.iter().position(|known| known == route);
    let number = known.unwrap_or_else(|| {
        routes.push(route.to_vec());
        routes.len() - 1
    });
    number as u32
}

/// Marks each pipe whose hop can be fused with the previous hop. All packets of such a pipe come from one other pipe,
/// which must keep the order of packets.
pub(crate) fn fuse(pipes: &mut [Pipe], routes: &[Vec<PipeId>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Feeder {
        None,
        One(PipeId),
        Several,
    }
    let mut feeders = vec![Feeder::None; pipes.len()];
    for path in routes {
        for (hop, pipe) in path.iter().enumerate() {
            let feeder = &mut feeders[pipe.0 as usize];
            let from = if hop == 0 { Feeder::Several } else { Feeder::One(path[hop - 1]) };
            *feeder = if *feeder == Feeder::None || *feeder == from { from } else { Feeder::Several };
        }
    }
    for (index, feeder) in feeders.iter().enumerate() {
        pipes[index].is_fusible = match feeder {
            Feeder::One(from) => {
                pipes[from.0 as usize].line.keeps_order()
                    && matches!(pipes[index].line, LinkDirection::Link(_))
            }
            Feeder::None | Feeder::Several => false,
        };
    }
}

/// Table of the pipe that follows each hop of each route.
pub(crate) struct NextHops {
    table: Vec<NextHop>,
    width: usize,
}

/// Number of the next pipe, or `NO_NEXT_HOP`. The highest bit marks a pipe whose hop can be fused with the previous hop
/// ([`Pipe::is_fusible`]).
#[derive(Clone, Copy)]
pub(crate) struct NextHop(u32);

const FUSIBLE: u32 = 1 << 31;
const NO_NEXT_HOP: NextHop = NextHop(FUSIBLE - 1);

impl NextHop {
    pub(crate) fn pipe(self) -> Option<PipeId> {
        let number = self.0 & !FUSIBLE;
        (number != NO_NEXT_HOP.0).then_some(PipeId(number))
    }

    pub(crate) fn fusible(self) -> Option<PipeId> {
        (self.0 & FUSIBLE != 0).then_some(PipeId(self.0 & !FUSIBLE))
    }
}

impl NextHops {
    /// Builds the table. Rebuild the table whenever [`Pipe::is_fusible`] changes.
    pub(crate) fn of(routes: &[Vec<PipeId>], pipes: &[Pipe]) -> NextHops {
        let width = 1 + routes.iter().map(Vec::len).max().unwrap_or(0);
        let next =
            |pipe: &PipeId| NextHop(pipe.0 | if pipes[pipe.0 as usize].is_fusible { FUSIBLE } else { 0 });
        let row = |route: &Vec<PipeId>| {
            (0..width).map(|hop| route.get(hop).map_or(NO_NEXT_HOP, next)).collect::<Vec<_>>()
        };
        NextHops { table: routes.iter().flat_map(row).collect(), width }
    }

    /// Returns the pipe that follows the packet's current pipe, which the packet has entered or is about to enter.
    /// Returns `None` at the end of the route.
    pub(crate) fn after(&self, packet: &Packet) -> Option<PipeId> {
        self.at(self.index_of(packet)).pipe()
    }

    /// Returns the table index of the pipe that [`NextHops::after`] returns. The next table index has the pipe after
    /// that pipe.
    pub(crate) fn index_of(&self, packet: &Packet) -> usize {
        let hop = usize::from(packet.hop.wrapping_add(1));
        packet.route as usize * self.width + hop
    }

    pub(crate) fn at(&self, index: usize) -> NextHop {
        self.table[index]
    }
}
