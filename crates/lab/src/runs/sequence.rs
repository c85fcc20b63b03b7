//! Which segments of a run a report shows, and how many it has room for.

use crate::document::{Block, Sequence, Sequenced};
use lasthop_charts::segments::{Segments, Taker, Window};
use lasthop_engine::Observer;
use lasthop_scenario::{Scenario, Traffic};
use std::any::Any;

/// Segments and ACKs in a report: some 0.4 MB.
const MOST: usize = 50_000;
/// Flows with graphs.
const MOST_FLOWS: usize = 4;

/// What takes notes of a run's first flows of TCP, of which a report has `runs`.
pub fn takers(scenario: &Scenario, runs: usize, flows: usize) -> Vec<Box<dyn Observer>> {
    let shown = shown(scenario, flows);
    let most = MOST / (shown.len() * runs).max(1);
    let window = Window { from_s: 0.0, to_s: scenario.duration.as_secs(), most };
    let taker = |flow: usize| Box::new(Taker::new(scenario, flow, window)) as Box<dyn Observer>;
    shown.into_iter().map(taker).collect()
}

/// The flows with graphs of a run that is drawn by itself.
pub fn flows(scenario: &Scenario) -> usize {
    shown(scenario, MOST_FLOWS).len()
}

fn shown(scenario: &Scenario, flows: usize) -> Vec<usize> {
    let is_tcp = |flow: &usize| matches!(scenario.flows[*flow].traffic, Traffic::Tcp { .. });
    (0..scenario.flows.len()).filter(is_tcp).take(flows).collect()
}

/// What they saw.
pub fn taken(observers: Vec<Box<dyn Any>>) -> Vec<Segments> {
    observers.into_iter().filter_map(|one| Some(one.downcast::<Taker>().ok()?.finish())).collect()
}

/// One of them, with what a reader wants to know of its run.
pub fn named(name: &str, scenario: &Scenario, segments: &Segments) -> Sequenced {
    Sequenced {
        name: name.to_owned(),
        duration_s: scenario.duration.as_secs(),
        links: scenario.links.iter().map(|link| link.name.clone()).collect(),
        segments: segments.clone(),
    }
}

/// The graphs of a run's flows.
pub fn of_run(scenario: &Scenario, segments: &[Segments]) -> Option<Block> {
    let flows = shown(scenario, MOST_FLOWS).into_iter().zip(segments);
    block(flows.map(|(flow, its)| named(&scenario.flows[flow].name, scenario, its)).collect(), false)
}

/// The graphs, if there is anything in them; `together`: to be compared in one picture.
pub fn block(runs: Vec<Sequenced>, together: bool) -> Option<Block> {
    let is_drawn = runs.iter().any(|run| !run.segments.data[0].is_empty());
    is_drawn.then(|| {
        Block::Sequence(Sequence {
            id: "sequence".into(),
            title: "Segments and ACKs".into(),
            caption: "Each segment when it sets out at the sender, what became of it, and each ACK when it arrives there: what \
                      tcptrace draws of a capture, with causes that no capture knows."
                .into(),
            together,
            runs,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Chapter, Document};
    use lasthop_scenario::Draft;
    use lasthop_sim::Watch;

    /// The longest and fastest run fills no more than a report has room for, and says where it ends.
    #[test]
    fn a_long_run_has_a_small_report() {
        let scenario = Draft::load("rate=100Mbit/s,rtt=20ms,duration=8s").unwrap().check().unwrap();
        let watch = Watch { observers: takers(&scenario, 1, 1), ..Watch::default() };
        let (_, _, observers) = lasthop_sim::run_watched(&scenario, 1, watch);
        let seen = taken(observers.into_iter().map(|one| one as Box<dyn Any>).collect());
        assert!(seen[0].to_s < 8.0, "{}", seen[0].to_s);
        let blocks = of_run(&scenario, &seen).into_iter().collect();
        let chapters = vec![Chapter { blocks, ..Chapter::default() }];
        let html = crate::report::html(&Document { chapters, ..Document::default() });
        assert!((100_000..800_000).contains(&html.len()), "{} bytes", html.len());
    }

    #[test]
    fn several_runs_share_the_room() {
        let scenario = Draft::load("rate=100Mbit/s,rtt=40ms,duration=2s").unwrap().check().unwrap();
        let watch = Watch { observers: takers(&scenario, 50, 1), ..Watch::default() };
        let (_, _, observers) = lasthop_sim::run_watched(&scenario, 1, watch);
        let seen = taken(observers.into_iter().map(|one| one as Box<dyn Any>).collect());
        assert_eq!(seen[0].data[0].len() + seen[0].acks[0].len(), MOST / 50);
    }
}
