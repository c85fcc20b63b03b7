//! Option `--until`: repeats a run until the means are precise enough. Sweeps apply the same rule to each point.

use super::run::Repetitions;
use crate::finished::Demand;
use crate::values;
use clap::Args;
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::random::Determinism;
use lasthop_lab::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, Outcome};
use lasthop_sweep::rule::{DEFAULT_MAX_RUNS, Precision};
use std::borrow::Cow;

/// Required precision of means.
#[derive(Args, Clone)]
pub(crate) struct PrecisionArgs {
    /// Repeat until half the 95 % interval of every --metric is within this percentage of its mean. Minimum: 10 runs;
    /// maximum: --runs, or 10000
    #[arg(long, value_name = "2%", value_parser = values::precision)]
    until: Option<Precision>,
    /// Metrics to print, and to judge by --until: goodput_kbps,timeouts; repeatable (default: print at most ten that are
    /// not zero, judge goodput). --until judges means over flows
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity)]
    metric: Vec<Quantity>,
}

impl PrecisionArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.until.is_some()
    }

    pub(crate) fn metrics(&self) -> &[Quantity] {
        &self.metric
    }

    pub(crate) fn runs(
        &self,
        repetitions: &Repetitions,
        scenario: &Scenario,
        determinism: &Determinism,
    ) -> u32 {
        match self.until {
            None => repetitions.runs(scenario, determinism),
            Some(_) => determinism.worth_running(repetitions.max_runs().unwrap_or(DEFAULT_MAX_RUNS)),
        }
    }

    pub(crate) fn tracker(&self) -> PrecisionTracker {
        PrecisionTracker::new(self.until, &self.metric, vec![String::new()], vec![0])
    }
}

/// Collects the values of the runs so far and decides when the means are precise enough. Values are collected in the
/// order of repetitions, so that the number of runs does not depend on the number of threads.
///
/// If several cases (values of a varied key) are compared, two conditions must hold for each case:
/// * Half the 95 % interval of the case's mean is at most the required share of this mean.
/// * Half the 95 % interval of the difference from the case's baseline, paired by repetition, is at most the required
///   share of the baseline's mean.
pub(crate) struct PrecisionTracker {
    precision: Option<Precision>,
    quantities: Vec<Quantity>,
    cases: Vec<String>,
    /// Index of the baseline of each case.
    bases: Vec<usize>,
    /// Values of the runs, indexed by quantity, case and repetition.
    values: Vec<Vec<Vec<Option<f64>>>>,
    /// Number of repetitions at which the precision is checked next.
    next: u32,
    /// Estimated number of repetitions after which the means are precise enough; 0 before the first estimate.
    expected: u32,
}

impl PrecisionTracker {
    /// Creates the tracker before the first repetition. If `chosen` is empty, the tracked metric is goodput.
    pub(crate) fn new(
        precision: Option<Precision>,
        chosen: &[Quantity],
        cases: Vec<String>,
        bases: Vec<usize>,
    ) -> PrecisionTracker {
        let quantities =
            if chosen.is_empty() { vec![Quantity::OfFlow(&FLOW_METRICS[0])] } else { chosen.to_vec() };
        let values = vec![vec![Vec::new(); cases.len()]; quantities.len()];
        let next = Precision::next_check(0);
        PrecisionTracker { precision, quantities, cases, bases, values, next, expected: 0 }
    }

    pub(crate) fn record(&mut self, case: usize, outcome: &Outcome) {
        if self.precision.is_some() {
            for (values, quantity) in self.values.iter_mut().zip(&self.quantities) {
                values[case].push(quantity.of_all(outcome));
            }
        }
    }

    /// Returns whether further runs are needed, and the expected number of runs. `most` is the maximum number of
    /// repetitions per case.
    pub(crate) fn demand(&mut self, most: u32) -> Demand {
        let Some(precision) = self.precision else { return Demand::All };
        let cases = self.cases.len();
        // A repetition is complete when the run of the last case is done.
        let (begun, done) = (self.values[0][0].len() as u32, self.values[0][cases - 1].len() as u32);
        let is_whole = begun == done;
        if is_whole && (done <= self.next || self.expected == 0) {
            let expected = self.numbers().map(|it| precision.expected_beside(&it.values, it.of)).max();
            self.expected = expected.unwrap_or(0);
        }
        if is_whole && done >= self.next {
            self.next = Precision::next_check(self.next);
            if self.numbers().all(|it| precision.is_reached_beside(&it.values, it.of)) {
                return Demand::Enough;
            }
        }
        let runs = self.expected.clamp(self.next.min(most), most);
        Demand::Expect(u64::from(runs) * cases as u64)
    }

    /// Returns the numbers that must be precise: the mean of each case, and the difference between the case and its
    /// baseline.
    fn numbers(&self) -> impl Iterator<Item = TrackedNumber<'_>> {
        self.quantities.iter().zip(&self.values).flat_map(|(quantity, values)| {
            let means = values.iter().zip(&self.cases).map(|(values, case)| TrackedNumber {
                what: name(quantity, case),
                values: Cow::Borrowed(&values[..]),
                of: &values[..],
            });
            let differing = self.bases.iter().enumerate().filter(|(case, base)| case != *base);
            let differences = differing.map(|(case, base)| {
                let pairs = values[case].iter().zip(&values[*base]);
                TrackedNumber {
                    what: format!("the difference of {}", name(quantity, &self.cases[case])),
                    values: pairs.map(|(this, first)| Some((*this)? - (*first)?)).collect(),
                    of: &values[*base][..],
                }
            });
            means.chain(differences)
        })
    }

    pub(crate) fn notes(&self, determinism: &Determinism) -> Vec<String> {
        // Without randomness, one repetition is exact.
        let Some(precision) = self.precision.filter(|_| determinism.note().is_none()) else {
            return Vec::new();
        };
        let runs = self.values[0].last().map_or(0, Vec::len);
        let imprecise = self.numbers().filter(|it| !precision.is_reached_beside(&it.values, it.of));
        imprecise
            .map(|it| {
                let estimate = |values: &[Option<f64>]| {
                    Estimate::of(&values.iter().flatten().copied().collect::<Vec<f64>>())
                };
                let half = estimate(&it.values)
                    .zip(estimate(it.of))
                    .and_then(|(it, of)| Some(100.0 * it.half_width()? / of.mean.abs()));
                let whose = if it.what.starts_with("the difference") { "the baseline's" } else { "its" };
                let half = half.filter(|half| half.is_finite()).map_or(String::new(), |half| {
                    format!(": half the interval is {half:.2} % of {whose} mean")
                });
                format!("note: {} misses the precision of --until after {runs} runs{half}", it.what)
            })
            .collect()
    }
}

/// Mean or difference that must be precise. `values` holds one value per repetition. Half the 95 % interval of the mean
/// of `values` is compared with the mean of `of`.
struct TrackedNumber<'l> {
    what: String,
    values: Cow<'l, [Option<f64>]>,
    of: &'l [Option<f64>],
}

/// Returns the name of a mean: `goodput_kbps`, or `goodput_kbps of reno` if several cases are compared.
fn name(quantity: &Quantity, case: &str) -> String {
    if case.is_empty() { quantity.name().to_owned() } else { format!("{} of {case}", quantity.name()) }
}
