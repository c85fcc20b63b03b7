//! Links on the route of real traffic, with the user's names.

use lasthop_emu::emulation::End;
use lasthop_engine::PipeId;
use lasthop_scenario::{Hop, Scenario};
use lasthop_sim::assemble::pipe_of;

#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) link: String,
    /// Table of the direction in a scenario: `down` or `up`.
    pub(super) table: &'static str,
    pub(super) to: End,
    pub(super) pipe: PipeId,
}

impl Way {
    /// Name in messages: `the link wireless, down`.
    pub(super) fn name(&self) -> String {
        format!("the link `{}`, {}", self.link, direction(self.to))
    }
}

pub(super) fn direction(to: End) -> &'static str {
    match to {
        End::Client => "down",
        End::Server => "up",
    }
}

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

pub(super) fn pipes(ways: &[Way], to: End) -> Vec<PipeId> {
    ways.iter().filter(|way| way.to == to).map(|way| way.pipe).collect()
}
