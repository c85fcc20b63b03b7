//! Recorded segments in a report, and the limit of their number.

use crate::document::{Block, FlowSequence, Sequence};
use lasthop_charts::segments::{RecordingWindow, SegmentRecorder, Segments};
use lasthop_engine::Observer;
use lasthop_scenario::Scenario;
use std::any::Any;

/// Largest number of segments and ACKs in a report. At this number, the data takes about 0.4 MB.
const MAX_POINTS: usize = 50_000;
/// Largest number of flows of one run that have a time-sequence graph.
const MAX_FLOWS: usize = 4;

/// Returns observers that record the segments of a run's first TCP flows, at most `flows` of them. The report shows
/// `runs` runs. The largest number of recorded segments is divided equally among these runs.
pub fn recorders(scenario: &Scenario, runs: usize, flows: usize) -> Vec<Box<dyn Observer>> {
    let shown = shown(scenario, flows);
    let most = MAX_POINTS / (shown.len() * runs).max(1);
    let window = RecordingWindow { from_s: 0.0, to_s: scenario.duration.as_secs(), most };
    let recorder = |flow: usize| Box::new(SegmentRecorder::new(scenario, flow, window)) as Box<dyn Observer>;
    shown.into_iter().map(recorder).collect()
}

/// Returns the number of flows that have a time-sequence graph in a report of one run.
pub fn flows(scenario: &Scenario) -> usize {
    shown(scenario, MAX_FLOWS).len()
}

fn shown(scenario: &Scenario, flows: usize) -> Vec<usize> {
    let is_tcp = |flow: &usize| scenario.flows[*flow].is_tcp();
    (0..scenario.flows.len()).filter(is_tcp).take(flows).collect()
}

/// Returns the segments that these observers recorded.
pub fn finish_recorders(observers: Vec<Box<dyn Any>>) -> Vec<Segments> {
    observers.into_iter().filter_map(|one| Some(one.downcast::<SegmentRecorder>().ok()?.finish())).collect()
}

/// Returns the segments with their name and the properties of their run.
pub fn named(name: &str, scenario: &Scenario, segments: &Segments) -> FlowSequence {
    FlowSequence {
        name: name.to_owned(),
        duration_s: scenario.duration.as_secs(),
        links: scenario.links.iter().map(|link| link.name.clone()).collect(),
        segments: segments.clone(),
    }
}

/// Returns the graphs of the flows of one run. Returns `None` if no segment was recorded.
pub fn of_run(scenario: &Scenario, segments: &[Segments]) -> Option<Block> {
    let flows = shown(scenario, MAX_FLOWS).into_iter().zip(segments);
    block(flows.map(|(flow, its)| named(&scenario.flows[flow].name, scenario, its)).collect(), false)
}

/// Returns the graphs as a block. Returns `None` if no segment was recorded. If `is_comparison`, the page first shows
/// the first two graphs in one picture.
pub fn block(runs: Vec<FlowSequence>, is_comparison: bool) -> Option<Block> {
    let is_drawn = runs.iter().any(|run| !run.segments.data[0].is_empty());
    is_drawn.then(|| {
        Block::Sequence(Sequence {
            id: "sequence".into(),
            title: "Segments and ACKs".into(),
            caption: "Segments at the time of their transmission, the result of each transmission, and ACKs at the \
                      time of their arrival at the sender, as tcptrace draws a capture. The simulator \
                      reports the causes of losses and retransmissions."
                .into(),
            is_comparison,
            runs,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Chapter, Document};
    use lasthop_scenario::Draft;
    use lasthop_sim::Observation;

    /// A long and fast run records segments only up to the limit. `to_s` is the time at which the recording ends.
    #[test]
    fn a_long_run_has_a_small_report() {
        let scenario = Draft::load("rate=100Mbit/s,rtt=20ms,duration=8s").unwrap().check().unwrap();
        let observation = Observation { observers: recorders(&scenario, 1, 1), ..Observation::default() };
        let (_, _, observers) = lasthop_sim::run_observed(&scenario, 1, observation);
        let seen = finish_recorders(observers.into_iter().map(|one| one as Box<dyn Any>).collect());
        assert!(seen[0].to_s < 8.0, "{}", seen[0].to_s);
        let blocks = of_run(&scenario, &seen).into_iter().collect();
        let chapters = vec![Chapter { blocks, ..Chapter::default() }];
        let html = crate::report::html(&Document { chapters, ..Document::default() });
        assert!((100_000..800_000).contains(&html.len()), "{} bytes", html.len());
    }

    #[test]
    fn several_runs_share_the_room() {
        let scenario = Draft::load("rate=100Mbit/s,rtt=40ms,duration=2s").unwrap().check().unwrap();
        let observation = Observation { observers: recorders(&scenario, 50, 1), ..Observation::default() };
        let (_, _, observers) = lasthop_sim::run_observed(&scenario, 1, observation);
        let seen = finish_recorders(observers.into_iter().map(|one| one as Box<dyn Any>).collect());
        assert_eq!(seen[0].data[0].len() + seen[0].acks[0].len(), MAX_POINTS / 50);
    }
}
