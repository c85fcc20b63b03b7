//! Report of a run: means over repetitions, and figures of the first repetition over time.

use super::random::Determinism;
use super::{Runs, distribution, first_screen, limits, links, sequence, sizes, summary};
use crate::document::{Block, Chapter, Document};
use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_charts::time_series::{self, FlowSeries, figure};
use lasthop_scenario::{Scenario, Traffic};
use lasthop_sim::{FlowSample, QueueSample};
use lasthop_wire::LossReason;

/// Largest number of flows that have figures of windows and RTTs.
const MAX_FLOWS: usize = 4;
const MAX_CURVES: usize = 8;

/// Returns the report. The first screen shows goodput and queues. Means over all repetitions follow, then figures of
/// windows, RTTs and losses in the first repetition.
pub fn document(scenario: &Scenario, seed: u64, runs: &Runs) -> Document {
    let named = scenario.flows.iter().enumerate();
    let all: Vec<FlowSeries> =
        named.map(|(flow, it)| FlowSeries::of(&it.name, &runs.samples.flows, flow)).collect();
    let drawn = || all.iter().enumerate().filter(|(_, series)| !series.samples.is_empty());
    let determinism = Determinism::of(std::iter::once(scenario));
    let outcomes = determinism.independent(&runs.outcomes);
    let mut blocks = vec![Block::Text(match determinism.note() {
        Some(note) => format!("A run of {}; {note}.", scenario.duration),
        None => format!(
            "Means over {} repetitions of {} with their 95 % intervals. Seeds begin at {seed}.",
            outcomes.len(),
            scenario.duration
        ),
    })];
    blocks.push(Block::Table(summary::table(outcomes)));
    blocks.extend(limits::lines(scenario, outcomes).into_iter().map(Block::Text));
    blocks.extend(links::tables(outcomes).into_iter().map(Block::Table));
    let transfers = sizes::of_run(outcomes);
    blocks.extend(sizes::table(&transfers, "class").map(Block::Table));
    blocks.extend(distribution::of_transfers(&transfers).map(Block::Figure));
    blocks.extend(sizes::figure(&transfers).map(Block::Figure));
    blocks.push(Block::Heading(format!("The first repetition (seed {seed}) over time")));
    blocks.extend(sequence::of_run(scenario, &runs.segments));
    for (flow, series) in drawn().take(MAX_FLOWS) {
        blocks.extend(of_flow(flow, &series.name, std::slice::from_ref(series)).map(Block::Figure));
    }
    blocks.push(Block::Figure(losses(&runs.samples.queues)));
    let unseen = drawn().count().saturating_sub(MAX_FLOWS);
    if unseen > 0 {
        blocks.push(Block::Text(format!(
            "Windows and round-trip times of {unseen} further flows are not drawn."
        )));
    }
    if scenario.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Datagrams { .. })) {
        blocks.push(Block::Text(
            "Datagram flows appear only in the table, because they have no window.".into(),
        ));
    }
    let chapter = Chapter { id: "run".into(), title: "Results".into(), blocks };
    Document {
        title: scenario.title.clone(),
        first_screen: Some(first_screen::of(scenario, runs, outcomes)),
        introduction: scenario.source.as_ref().map_or(String::new(), |source| format!("Source: {source}.")),
        chapters: vec![chapter],
    }
}

/// Returns the figures of a flow's congestion window, RTT and bytes in flight. Each figure has one curve for each run
/// in `flow_series`.
pub(crate) fn of_flow(number: usize, flow: &str, flow_series: &[FlowSeries]) -> [Figure; 3] {
    [
        time_series::window(flow_series),
        time_series::round_trips(flow_series),
        time_series::in_flight(flow_series),
    ]
    .map(|figure| Figure {
        id: format!("{}-{number}", figure.id),
        title: format!("{flow}: {}", lowered(&figure.title)),
        ..figure
    })
}

fn lowered(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

pub(super) fn queues(scenario: &Scenario, samples: &[QueueSample]) -> Figure {
    let (mut curves, mut has_average) = (Vec::new(), false);
    for (index, link) in scenario.links.iter().enumerate() {
        for down in [true, false] {
            let of_this = || samples.iter().filter(|sample| sample.link == index && sample.down == down);
            if curves.len() < MAX_CURVES && of_this().any(|sample| sample.packets > 0) {
                let direction = if down { "down" } else { "up" };
                let name = format!("{} {direction}", link.name);
                let point = |sample: &QueueSample, y| Point::exact(sample.time.as_secs(), y);
                curves.push(Curve {
                    name: name.clone(),
                    kind: CurveKind::Steps,
                    points: of_this().map(|sample| point(sample, f64::from(sample.packets))).collect(),
                });
                let points: Vec<Point> =
                    of_this().filter_map(|sample| Some(point(sample, sample.average?))).collect();
                if !points.is_empty() {
                    curves.push(Curve { name: format!("{name}, average"), kind: CurveKind::Line, points });
                    has_average = true;
                }
            }
        }
    }
    let caption = match (curves.is_empty(), has_average) {
        (true, _) => "All queues were empty at all sampling times.",
        (false, false) => "Packets in the queues; link directions whose queue was always empty are left out.",
        (false, true) => {
            "Packets in the queues. The average, updated at each arrival, decides on drops and marks. \
             Link directions whose queue was always empty are left out."
        }
    };
    figure("queues", "Queue lengths", caption, "packets", curves)
}

pub(super) fn goodput(scenario: &Scenario, samples: &[FlowSample]) -> Figure {
    let named = scenario.flows.iter().enumerate();
    let each: Vec<(String, Vec<(f64, u64)>)> = named
        .map(|(flow, it)| FlowSeries::of(&it.name, samples, flow))
        .filter(|series| series.samples.len() > 1)
        .map(|series| (series.name.clone(), series.delivered()))
        .collect();
    let mut amounts = if each.len() <= MAX_CURVES { each.clone() } else { Vec::new() };
    if each.len() > 1 {
        amounts.push(("all flows".into(), together(each.iter().map(|(_, amounts)| amounts))));
    }
    time_series::goodput(&amounts, time_series::averaged_s(scenario.duration.as_secs()))
}

/// Returns the cumulative bytes of several flows together, at each sampling time. The flows must be sampled at the same
/// times.
pub(crate) fn together<'a>(flows: impl Iterator<Item = &'a Vec<(f64, u64)>>) -> Vec<(f64, u64)> {
    let mut total: Vec<(f64, u64)> = Vec::new();
    for amounts in flows {
        for (at, (time, bytes)) in amounts.iter().enumerate() {
            match total.get_mut(at) {
                Some((_, sum)) => *sum += bytes,
                None => total.push((*time, *bytes)),
            }
        }
    }
    total
}

fn losses(samples: &[QueueSample]) -> Figure {
    let instants = || samples.chunk_by(|one, next| one.time == next.time);
    let curves = LossReason::ALL.iter().filter_map(|reason| {
        let lost = |links: &[QueueSample]| links.iter().map(|link| link.lost[*reason]).sum::<u64>();
        let points: Vec<Point> =
            instants().map(|links| Point::exact(links[0].time.as_secs(), lost(links) as f64)).collect();
        let any = points.last().is_some_and(|last| last.y > 0.0);
        any.then(|| Curve { name: reason.name().to_owned(), kind: CurveKind::Steps, points })
    });
    let curves: Vec<Curve> = curves.collect();
    let caption = if curves.is_empty() {
        "No packet was lost."
    } else {
        "Cumulative number of packets (ACKs included) that all flows have lost on all links, by true cause."
    };
    figure("losses", "Losses by cause", caption, "packets", curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_drawn_whatever_their_cause() {
        let mut draft =
            lasthop_scenario::Draft::load("profile=plain,rate=10Mbit/s,rtt=20ms,loss=0.3%,duration=20s")
                .unwrap();
        draft.set("link.path.down.queue", "red").unwrap();
        let (outcome, samples) = lasthop_sim::run_probed(&draft.check().unwrap(), 1);
        let figure = losses(&samples.queues);
        let drawn: Vec<(&str, f64)> =
            figure.curves.iter().map(|curve| (&*curve.name, curve.points.last().unwrap().y)).collect();
        let lost = |reason: LossReason| {
            let by_link = outcome.links.iter().map(|link| link.down.lost[reason]);
            by_link.sum::<u64>() as f64
        };
        // The curve lacks the losses after the last sample, which is 0.1 s before the end of the run.
        for (reason, least) in [(LossReason::Channel, 30.0), (LossReason::EarlyDrop, 10.0)] {
            let (_, last) = drawn.iter().find(|(name, _)| *name == reason.name()).expect("a curve");
            assert!(*last >= least && lost(reason) - last < 20.0, "{reason:?}: {last} of {}", lost(reason));
        }
    }
}
