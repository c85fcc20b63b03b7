//! First screen of a run's report: a sentence, four numbers, and the figures that answer.

use super::completion::Completion;
use super::glance::Glance;
use super::number::with_interval;
use super::{Runs, document, label, links, measure};
use crate::document::{FirstScreen, Tile};
use crate::figure::Figure;
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};

/// First screen of these repetitions; `outcomes` are the independent ones.
pub(super) fn of(scenario: &Scenario, runs: &Runs, outcomes: &[Outcome]) -> FirstScreen {
    FirstScreen {
        sentence: Glance::of(scenario, outcomes).sentence,
        tiles: tiles(outcomes),
        figures: figures(scenario, runs),
    }
}

/// Figures of goodput and of queues in the first repetition; figures without points are left out.
pub fn figures(scenario: &Scenario, runs: &Runs) -> Vec<Figure> {
    let all =
        [document::goodput(scenario, &runs.samples.flows), document::queues(scenario, &runs.samples.queues)];
    let is_drawn = |figure: &Figure| figure.curves.iter().any(|curve| !curve.points.is_empty());
    all.into_iter().filter(is_drawn).collect()
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

/// Median completion time, if every flow is a finite transfer. Its mean over repetitions needs a median in each of
/// them; otherwise the tile shows the median over all transfers.
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
