//! Report of a comparison: the table, and figures that overlay the first repetitions of the compared cases.

use super::Comparison;
use crate::document::{Block, Chapter, Document};
use crate::figure::{Curve, CurveKind, Figure};
use crate::runs::classes::is_named;
use crate::runs::document::of_flow;
use crate::runs::sizes::NamedTransfers;
use crate::runs::{Observations, distribution, sequence, sizes};
use lasthop_charts::segments::Segments;
use lasthop_charts::time_series::{self, FlowSeries, figure};
use lasthop_sim::{FlowOutcome, Samples};

/// Observations of a case's first repetition.
#[derive(Default)]
pub struct FirstRunRecord {
    /// Samples of flows and queues over time.
    pub samples: Samples,
    /// Segments of the first TCP flow.
    pub segments: Vec<Segments>,
}

impl From<Observations> for FirstRunRecord {
    fn from(mut observations: Observations) -> FirstRunRecord {
        FirstRunRecord { segments: observations.segments(), samples: observations.samples }
    }
}

/// Largest number of curves in a figure, which is also the largest number of cases in the figures.
pub const MAX_CASES: usize = 8;
/// Largest number of flows that have figures in the report.
const MAX_FLOWS: usize = 4;
const MAX_QUEUES: usize = 4;

impl Comparison {
    /// Returns the report. `seed` is the seed of the first repetition. `first_runs` holds the observations of the first
    /// `MAX_CASES` cases.
    pub fn document(&self, seed: u64, first_runs: &[FirstRunRecord]) -> Document {
        let runs = self.outcomes.first().map_or(0, Vec::len);
        let Some(first) = self.cases.first() else { return Document::default() };
        let mut blocks = vec![
            Block::Text(format!(
                "Means over {runs} repetitions of {} with their 95 % intervals. Seeds begin at {seed}; all cases \
                 have the same random losses. Differences are relative to {}, paired by seed.",
                first.scenario.duration,
                self.baseline.words(&self.paths)
            )),
            Block::Table(self.table()),
        ];
        let named = self.transfers();
        blocks.extend(sizes::table(&named, &self.paths.join(", ")).map(Block::Table));
        let drawn = &named[..named.len().min(MAX_CASES)];
        blocks.extend(distribution::of_transfers(drawn).map(Block::Figure));
        blocks.extend(sizes::figure(drawn).map(Block::Figure));
        blocks.extend([
            Block::Heading(format!("The first repetition (seed {seed}) over time")),
            Block::Figure(self.goodput(first_runs)),
        ]);
        blocks.extend(self.sequence(first_runs));
        let flows = first.scenario.flows.iter().map(|flow| flow.name.as_str());
        for (number, flow) in flows.take(MAX_FLOWS).enumerate() {
            blocks.extend(self.flow(number, flow, first_runs).into_iter().map(Block::Figure));
        }
        blocks.extend(self.queues(first_runs).into_iter().map(Block::Figure));
        let cases_without_run = self.cases.len().saturating_sub(first_runs.len());
        if cases_without_run > 0 {
            blocks.push(Block::Text(format!("{cases_without_run} further values appear only in the table.")));
        }
        let chapter = Chapter { id: "compared".into(), title: "Results".into(), blocks };
        Document {
            title: format!("{}: {} compared", first.scenario.title, self.paths.join(", ")),
            first_screen: Some(self.first_screen()),
            introduction: first.scenario.source.as_ref().map_or(String::new(), |it| format!("Source: {it}.")),
            chapters: vec![chapter],
        }
    }

    /// Calls `of` for each case that has a record in `first_runs`. The arguments are the index of the case, its values
    /// as a name, and its samples. Returns the results that are not `None`.
    fn overlay<'a, T>(
        &self,
        first_runs: &'a [FirstRunRecord],
        of: impl Fn(usize, &str, &'a Samples) -> Option<T>,
    ) -> Vec<T> {
        let cases = self.cases.iter().zip(first_runs).enumerate();
        cases
            .filter_map(|(at, (case, first_runs))| of(at, &case.values.join(", "), &first_runs.samples))
            .collect()
    }

    fn goodput(&self, first_runs: &[FirstRunRecord]) -> Figure {
        let amounts = self.overlay(first_runs, |_, name, samples| {
            let mut delivered: Vec<(f64, u64)> = Vec::new();
            for instant in samples.flows.chunk_by(|one, next| one.time == next.time) {
                let bytes = instant.iter().map(|sample| sample.delivered_bytes).sum();
                delivered.push((instant[0].time.as_secs(), bytes));
            }
            (delivered.len() > 1).then(|| (name.to_owned(), delivered))
        });
        let longest = self.cases.iter().map(|case| case.scenario.duration.as_secs()).fold(0.0, f64::max);
        let goodput = time_series::goodput(&amounts, time_series::averaged_s(longest));
        Figure { caption: format!("{} All flows together.", goodput.caption), ..goodput }
    }

    /// Returns the finite transfers of each case, over all flows and repetitions.
    pub fn transfers(&self) -> Vec<NamedTransfers> {
        let cases = self.cases.iter().zip(&self.outcomes);
        let named = cases.map(|(case, outcomes)| {
            let flows = outcomes.iter().flat_map(|outcome| &outcome.flows);
            let only = self.only.as_deref();
            let flows = flows.filter(|flow| only.is_none_or(|only| is_named(&flow.name, only)));
            (case.values.join(", "), flows.flat_map(FlowOutcome::transfers).collect())
        });
        named.collect()
    }

    fn sequence(&self, first_runs: &[FirstRunRecord]) -> Option<Block> {
        let cases = self.cases.iter().zip(first_runs);
        let runs = cases.filter_map(|(case, first_runs)| {
            Some(sequence::named(&case.values.join(", "), &case.scenario, first_runs.segments.first()?))
        });
        sequence::block(runs.collect(), true)
    }

    /// Returns figures of a flow's window, RTT and bytes in flight. Returns an empty list for a flow that is not TCP.
    fn flow(&self, number: usize, flow: &str, first_runs: &[FirstRunRecord]) -> Vec<Figure> {
        let flow_series = self.overlay(first_runs, |at, name, samples| {
            let index = self.cases[at].scenario.flows.iter().position(|other| other.name == flow)?;
            Some(FlowSeries::of(name, &samples.flows, index)).filter(|series| !series.samples.is_empty())
        });
        if flow_series.is_empty() { Vec::new() } else { of_flow(number, flow, &flow_series).to_vec() }
    }

    fn queues(&self, first_runs: &[FirstRunRecord]) -> Vec<Figure> {
        let Some(first) = self.cases.first() else { return Vec::new() };
        let mut figures = Vec::new();
        for (number, link) in first.scenario.links.iter().enumerate() {
            for (down, direction) in [(true, "down"), (false, "up")] {
                let curves = self.overlay(first_runs, |at, name, samples| {
                    let links = &self.cases[at].scenario.links;
                    let index = links.iter().position(|other| other.name == link.name)?;
                    let points = time_series::waiting(&samples.queues, index, down);
                    let curve = Curve { name: name.to_owned(), kind: CurveKind::Steps, points };
                    curve.points.iter().any(|point| point.y > 0.0).then_some(curve)
                });
                if !curves.is_empty() {
                    let name = format!("{} {direction}", link.name);
                    let (id, title) =
                        (format!("queue-{number}-{direction}"), format!("{name}: queue length"));
                    figures.push(figure(&id, &title, "Packets waiting.", "packets", curves));
                }
            }
        }
        figures.truncate(MAX_QUEUES);
        figures
    }
}
