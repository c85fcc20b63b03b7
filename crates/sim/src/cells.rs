//! Shared radio media. All links of one cell share a medium. The two directions of a link outside any cell may also
//! share a medium.

use crate::assemble::{channel_stream, pipe_of};
use lasthop_base::Stream;
use lasthop_engine::Engine;
use lasthop_net::arq::Member;
use lasthop_scenario::{Link, Scenario};

pub(crate) fn share(engine: &mut Engine, scenario: &Scenario, seed: u64) {
    for (first, link) in scenario.links.iter().enumerate() {
        let Some(medium) = link.down.medium() else { continue };
        let before = &scenario.links[..first];
        if link.cell.is_some() && before.iter().any(|other| other.cell == link.cell) {
            continue;
        }
        let is_in =
            |other: &Link| other.name == link.name || (link.cell.is_some() && other.cell == link.cell);
        let links = || scenario.links.iter().enumerate().filter(|(_, other)| is_in(other));
        let members: Vec<Member<'_>> = links()
            .flat_map(|(_, link)| {
                let down = link.down.member(link.from, channel_stream(link, "down", seed));
                [down, link.up.member(link.to, channel_stream(link, "up", seed))]
            })
            .collect();
        let pipes = links().flat_map(|(number, _)| [pipe_of(number, true), pipe_of(number, false)]).collect();
        let random = match &link.cell {
            Some(cell) => Stream::named(seed, &format!("cell.{cell}.stations")),
            None => Stream::named(seed, &format!("link.{}.stations", link.name)),
        };
        engine.share_medium((medium.arbiter)(&members, random), pipes);
    }
}
