//! The links that real traffic passes, by the names under which the user knows them.

use lasthop_emu::emulation::End;
use lasthop_engine::PipeId;
use lasthop_scenario::{Hop, Scenario};
use lasthop_sim::assemble::pipe_of;

/// One direction of a link on the path.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The link's name.
    pub(super) link: String,
    /// Its table in a scenario: `down` or `up`.
    pub(super) table: &'static str,
    /// Where its packets go.
    pub(super) to: End,
    pub(super) pipe: PipeId,
}

impl Way {
    /// As messages call it: `the link wireless, down`.
    pub(super) fn name(&self) -> String {
        format!("the link `{}`, {}", self.link, direction(self.to))
    }
}

/// What a direction is called: that of the traffic, to the client or to the server.
pub(super) fn direction(to: End) -> &'static str {
    match to {
        End::Client => "down",
        End::Server => "up",
    }
}

/// All of them, on the way of a flow, down first.
pub(super) fn of(scenario: &Scenario, replaced: usize) -> Vec<Way> {
    let route = &scenario.routes[replaced];
    let way = |to: End| {
        move |hop: &Hop| Way {
            link: scenario.links[hop.link].name.clone(),
            table: if hop.is_down { "down" } else { "up" },
            to,
            pipe: pipe_of(hop.link, hop.is_down),
        }
    };
    route.there.iter().map(way(End::Client)).chain(route.back.iter().map(way(End::Server))).collect()
}

/// The pipes to one end.
pub(super) fn pipes(ways: &[Way], to: End) -> Vec<PipeId> {
    ways.iter().filter(|way| way.to == to).map(|way| way.pipe).collect()
}
