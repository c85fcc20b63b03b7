//! First screen of a run's report: a sentence, at most four numbers, and figures of goodput and queues.

use super::completion::Completion;
use super::glance::Glance;
use super::number::with_interval;
use super::{Runs, document, label, links, measure};
use crate::document::{FirstScreen, Tile};
use crate::figure::{Curve, Figure};
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};

/// Returns the first screen of a run. `outcomes` holds the results of the independent repetitions.
pub(super) fn of(scenario: &Scenario, runs: &Runs, outcomes: &[Outcome]) -> FirstScreen {
    FirstScreen {
        sentence: Glance::of(scenario, outcomes).sentence,
        tiles: tiles(outcomes),
        figures: figures(scenario, runs),
    }
}

/// Returns the figures of goodput and queues in the first repetition. A figure without points is omitted.
pub fn figures(scenario: &Scenario, runs: &Runs) -> Vec<Figure> {
    let mut queues = document::queues(scenario, &runs.samples.queues);
    // The plot draws the first curve as a solid line. The first curve is the queue that is longest on average.
    let sum = |curve: &Curve| curve.points.iter().map(|point| point.y).sum::<f64>();
    queues.curves.sort_by(|one, other| sum(other).total_cmp(&sum(one)));
    let mut all = vec![document::goodput(scenario, &runs.samples.flows), queues];
    all.retain(|figure| figure.curves.iter().any(|curve| !curve.points.is_empty()));
    // The figures of goodput and queues get the same time axis.
    let points = all.iter().flat_map(|figure| &figure.curves).flat_map(|curve| &curve.points);
    let end = points.map(|point| point.x).fold(0.0, f64::max);
    all.iter_mut().for_each(|figure| figure.x_range = Some([0.0, end]));
    all
}

fn tiles(outcomes: &[Outcome]) -> Vec<Tile> {
    let flows = outcomes.first().map_or(0, |outcome| outcome.flows.len());
    let mean = |name: &str| {
        let metric = FLOW_METRICS.iter().find(|metric| metric.name == name)?;
        estimate_by(outcomes, |outcome| measure::mean_of_flows(outcome, metric))
    };
    let of_flows = |name: &str| {
        let (words, unit) = label::words(name);
        let each = if flows > 1 { ", mean over flows" } else { "" };
        Some(tile(&format!("{words}{each}"), &mean(name)?, unit))
    };
    let lost = || {
        let lost = |outcome: &Outcome| {
            let metric = lasthop_sim::LINK_METRICS.iter().find(|metric| metric.name == "lost_packets")?;
            let sides = outcome.links.iter().flat_map(|link| &link.traffic);
            Some(sides.filter_map(metric.of).sum())
        };
        Some(tile("lost packets, all links", &estimate_by(outcomes, lost)?, ""))
    };
    let used = || {
        let (link, used) = links::busiest_link(outcomes)?;
        Some(tile(&format!("utilisation of {link}"), &used, "%"))
    };
    let answers = [
        completion(outcomes)
            .or_else(|| of_flows("exchange_p50_s"))
            .or_else(|| goodput(outcomes, &FLOW_METRICS[0])),
        of_flows("mean_rtt_ms"),
        of_flows("retransmissions").or_else(lost),
        used(),
    ];
    answers.into_iter().flatten().collect()
}

fn goodput(outcomes: &[Outcome], metric: &FlowMetric) -> Option<Tile> {
    let flows = outcomes.first()?.flows.len();
    let words = if flows > 1 { format!("goodput of {flows} flows together") } else { "goodput".to_owned() };
    let (_, unit) = label::words(metric.name);
    Some(tile(&words, &estimate_by(outcomes, |outcome| measure::of_all_flows(outcome, metric))?, unit))
}

/// Returns a tile with the median completion time. Returns `None` unless every flow is a finite transfer. The tile
/// shows the mean of the repetitions' medians. If some repetition has no median, the tile shows the median over all
/// transfers.
fn completion(outcomes: &[Outcome]) -> Option<Tile> {
    let is_finite =
        |flow: &FlowOutcome| flow.exchanges.is_none() && Completion::of([flow].into_iter()).is_some();
    if !outcomes.iter().flat_map(|outcome| &outcome.flows).all(is_finite) {
        return None;
    }
    let all = Completion::of_all(outcomes)?;
    let words = if all.transfers > outcomes.len() { "median completion time" } else { "completion time" };
    let medians: Option<Vec<f64>> =
        outcomes.iter().map(|outcome| Completion::quantile_of(outcome.flows.iter(), 0.5)).collect();
    Some(match medians.and_then(|medians| Estimate::of(&medians)) {
        Some(mean) => tile(words, &mean, "s"),
        None => {
            let [(_, value), ..] = all.rows();
            Tile { label: format!("{words}, {} completed", all.count()), value, unit: "s".to_owned() }
        }
    })
}

fn tile(label: &str, estimate: &Estimate, unit: &str) -> Tile {
    Tile { label: label.to_owned(), value: with_interval(estimate), unit: unit.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::Repetition;
    use lasthop_sim::Observation;

    fn screen(path: &str) -> FirstScreen {
        let scenario = Scenario::load(path).expect("a valid scenario");
        let mut runs = Runs::default();
        for seed in 1..=3 {
            let observation = Observation { probes: seed == 1, ..Observation::default() };
            let Repetition { outcome, observations, .. } = Repetition::run(&scenario, seed, observation);
            runs.outcomes.push(outcome);
            runs.samples = observations.map_or(runs.samples, |observations| observations.samples);
        }
        of(&scenario, &runs, &runs.outcomes)
    }

    fn labels(screen: &FirstScreen) -> Vec<&str> {
        screen.tiles.iter().map(|tile| tile.label.as_str()).collect()
    }

    #[test]
    fn four_numbers_have_intervals_and_two_figures_share_their_time() {
        let screen = screen("profile=plain,rate=2Mbit/s,rtt=40ms,loss=1%,duration=10s");
        assert_eq!(labels(&screen), ["goodput", "mean RTT", "retransmissions", "utilisation of path.down"]);
        assert!(screen.tiles.iter().all(|tile| tile.value.contains(" ± ")), "{:?}", screen.tiles);
        let [goodput, queues] = &screen.figures[..] else { panic!("two figures") };
        assert_eq!((&*goodput.y_label, &*queues.y_label), ("kbit/s", "packets"));
        assert!(goodput.x_range.is_some() && goodput.x_range == queues.x_range);
        // The bottleneck's queue of data packets is longer than its queue of ACKs. The data queue is therefore the
        // first curve.
        assert_eq!(queues.curves[0].name, "path down");
        assert!(screen.sentence.starts_with("bulk delivers "), "{}", screen.sentence);
    }

    #[test]
    fn finite_transfers_answer_with_their_completion_time() {
        let path = "profile=plain,rate=2Mbit/s,rtt=40ms,loss=1%,duration=10s,transfer=";
        let whole = screen(&format!("{path}100kB"));
        assert_eq!((labels(&whole)[0], &*whole.tiles[0].unit), ("completion time", "s"));
        assert!(whole.tiles[0].value.contains(" ± "), "{:?}", whole.tiles[0]);
        // At 2 Mbit/s, 100 MB need 400 s, so that no transfer completes within 10 s.
        let cut = screen(&format!("{path}100MB"));
        assert_eq!((labels(&cut)[0], &*cut.tiles[0].value), ("completion time, 0 of 3 completed", "> 10"));
    }
}
