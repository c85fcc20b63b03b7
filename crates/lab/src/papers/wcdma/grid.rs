//! Scenarios by series and abscissa, repeated.

use crate::progress::Progress;
use crate::repeat::{estimate_by, repeat};
use crate::stats::Estimate;
use lasthop_scenario::{Draft, Problem, Scenario};
use lasthop_sim::Outcome;

/// What changes in a scenario: path and value.
pub(crate) type Changes = Vec<(&'static str, String)>;

/// A point to be measured.
pub(crate) struct GridPoint {
    pub(crate) series: String,
    pub(crate) x: f64,
    pub(crate) changes: Changes,
}

/// Points with their outcomes, by repetition; repetitions of the same number meet the same channel.
pub(crate) struct Grid {
    points: Vec<GridPoint>,
    outcomes: Vec<Vec<Outcome>>,
}

/// A number of an outcome.
pub(crate) type Of = fn(&Outcome) -> Option<f64>;

impl Grid {
    /// Measures all points of a scenario's text.
    pub(crate) fn run(
        text: &str,
        points: Vec<GridPoint>,
        runs: u32,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Grid, Problem> {
        let scenarios: Result<Vec<Scenario>, Problem> = points
            .iter()
            .map(|point| {
                let mut draft = Draft::parse(text, "the chapter's scenario")?;
                for (path, value) in &point.changes {
                    draft.set(path, value)?;
                }
                draft.check()
            })
            .collect();
        let scenarios = scenarios?;
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        progress.begin("wireless links", scenarios.len() as u64 * u64::from(runs));
        let outcomes = repeat(&scenarios, runs, seed, progress);
        progress.end();
        Ok(Grid { points, outcomes })
    }

    /// Adds another grid's points behind its own.
    pub(crate) fn join(&mut self, other: Grid) {
        self.points.extend(other.points);
        self.outcomes.extend(other.outcomes);
    }

    /// The series, each once, in their order.
    pub(crate) fn series(&self) -> Vec<&str> {
        let mut series: Vec<&str> = Vec::new();
        for point in &self.points {
            if !series.contains(&point.series.as_str()) {
                series.push(&point.series);
            }
        }
        series
    }

    /// The abscissae of a series, in their order.
    pub(crate) fn xs(&self, series: &str) -> Vec<f64> {
        self.points.iter().filter(|point| point.series == series).map(|point| point.x).collect()
    }

    /// The repetitions of a point; none if there is no such point.
    pub(crate) fn outcomes(&self, series: &str, x: f64) -> &[Outcome] {
        let place = self.points.iter().position(|point| point.series == series && same(point.x, x));
        place.and_then(|place| self.outcomes.get(place)).map_or(&[], Vec::as_slice)
    }

    /// A number with its interval.
    pub(crate) fn estimate(&self, series: &str, x: f64, of: Of) -> Option<Estimate> {
        estimate_by(self.outcomes(series, x), of)
    }

    /// How much more a number is at one point than at another, paired by repetition.
    pub(crate) fn difference(&self, more: (&str, f64), less: (&str, f64), of: Of) -> Option<Estimate> {
        let pairs = self.outcomes(more.0, more.1).iter().zip(self.outcomes(less.0, less.1));
        let values: Vec<f64> =
            pairs.filter_map(|(more, less)| of(more).zip(of(less))).map(|(more, less)| more - less).collect();
        Estimate::of(&values)
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Goodput of the only flow, kbit/s.
pub(crate) fn goodput(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().map(|flow| flow.goodput_kbps())
}

/// Duration of a finite transfer, s.
pub(crate) fn completion(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().filter(|flow| flow.account.completed.is_some()).map(|flow| flow.active_s)
}

/// Expiries of TCP's timer.
pub(crate) fn timeouts(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().map(|flow| flow.source.timeouts as f64)
}

/// Fast recoveries.
pub(crate) fn recoveries(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().map(|flow| flow.source.recoveries as f64)
}

/// What RLC counted towards the mobile station: the last link's `down`.
pub(crate) fn rlc(outcome: &Outcome) -> Option<&lasthop_sim::RlcCounters> {
    outcome.links.last().and_then(|link| link.rlc[0].as_ref())
}
