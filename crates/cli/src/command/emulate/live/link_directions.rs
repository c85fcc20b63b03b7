//! Directions of the links on the route of real traffic, with the links' names in the scenario.

use lasthop_emu::emulation::End;
use lasthop_engine::PipeId;
use lasthop_scenario::{Hop, Scenario};
use lasthop_sim::assemble::pipe_of;

#[derive(Clone, Debug)]
pub(super) struct LinkDirection {
    pub(super) link: String,
    /// Table of this direction in a scenario: `down` or `up`.
    pub(super) table: &'static str,
    pub(super) to: End,
    pub(super) pipe: PipeId,
}

impl LinkDirection {
    /// Returns the name for messages, for example "the link `wireless`, down" for the direction `down`.
    pub(super) fn name(&self) -> String {
        format!("the link `{}`, {}", self.link, direction_name(self.to))
    }
}

pub(super) fn direction_name(to: End) -> &'static str {
    match to {
        End::Client => "down",
        End::Server => "up",
    }
}

pub(super) fn of(scenario: &Scenario, replaced: usize) -> Vec<LinkDirection> {
    let route = &scenario.routes[replaced];
    let direction = |to: End| {
        move |hop: &Hop| LinkDirection {
            link: scenario.links[hop.link].name.clone(),
            table: if hop.is_down { "down" } else { "up" },
            to,
            pipe: pipe_of(hop.link, hop.is_down),
        }
    };
    route
        .there
        .iter()
        .map(direction(End::Client))
        .chain(route.back.iter().map(direction(End::Server)))
        .collect()
}

pub(super) fn pipes(directions: &[LinkDirection], to: End) -> Vec<PipeId> {
    directions.iter().filter(|direction| direction.to == to).map(|direction| direction.pipe).collect()
}
