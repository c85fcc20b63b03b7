//! Runs without duplicates. Equal scenarios with the same seed are run only once, even if several grids or answers need
//! the result.

use super::cells::GridCell;
use super::columns::{RunScope, needs_link_delays};
use super::expression::Expression;
use super::file::Ordered;
use super::run_store::{RunStore, Values};
use super::value::{Coordinates, Texts};
use crate::digest;
use crate::progress::Progress;
use lasthop_scenario::Scenario;
use lasthop_sim::{Observation, Stuck, run_observed};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of metrics, each with its formula.
pub type Metrics = Arc<Vec<(String, Expression)>>;

/// A scenario, with a digest of everything that determines its outcome except the seed.
pub struct ResolvedScenario {
    scenario: Arc<Scenario>,
    digest: String,
}

impl ResolvedScenario {
    /// Computes the digest of a scenario.
    pub fn of(scenario: Scenario) -> ResolvedScenario {
        // The debug text contains every value that a run depends on.
        let digest = digest::key(&[&format!("{scenario:?}")]);
        ResolvedScenario { scenario: Arc::new(scenario), digest }
    }
}

/// Reader that evaluates the metrics of a cell on the outcome of a run.
#[derive(Clone)]
pub struct MetricReader {
    metrics: Metrics,
    groups: Arc<Ordered<Texts>>,
    coordinates: Coordinates,
    digest: String,
}

impl MetricReader {
    /// Returns the reader of a cell's metrics.
    pub fn of(cell: &GridCell<'_>, metrics: Metrics) -> MetricReader {
        let (groups, coordinates) = (cell.grid.groups.clone(), cell.coordinates.clone());
        let digest =
            digest::key(&[&format!("{metrics:?}"), &format!("{groups:?}"), &format!("{coordinates:?}")]);
        MetricReader { metrics, groups: Arc::new(groups), coordinates, digest }
    }

    /// Returns the names of the metrics.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|(name, _)| name.as_str())
    }

    fn needs_link_delays(&self) -> bool {
        self.metrics.iter().any(|(_, formula)| needs_link_delays(formula))
    }

    fn read(&self, outcome: &lasthop_sim::Outcome) -> Values {
        let run = RunScope { outcome, coordinates: &self.coordinates, groups: &self.groups };
        self.metrics.iter().map(|(_, formula)| formula.value(&run)).collect()
    }
}

struct Job {
    scenario: Arc<Scenario>,
    seed: u64,
    readers: BTreeMap<String, MetricReader>,
}

/// Requested runs without duplicates, and the metrics of finished runs.
#[derive(Default)]
pub struct Jobs {
    unfinished: BTreeMap<(String, u64), Job>,
    done: BTreeMap<String, Values>,
}

impl Jobs {
    /// Requests a run, unless the run has finished. Returns the key under which [`Jobs::values`] finds the metrics that
    /// the reader evaluates. The key is a digest of scenario, metrics and seed.
    pub fn request(&mut self, resolved: &ResolvedScenario, seed: u64, reader: &MetricReader) -> String {
        let key = digest::key(&[&resolved.digest, &reader.digest, &seed.to_string()]);
        if !self.done.contains_key(&key) {
            let new = || Job { scenario: Arc::clone(&resolved.scenario), seed, readers: BTreeMap::new() };
            let job = self.unfinished.entry((resolved.digest.clone(), seed)).or_insert_with(new);
            job.readers.entry(key.clone()).or_insert_with(|| reader.clone());
        }
        key
    }

    /// Returns the number of unfinished runs.
    pub fn unfinished(&self) -> usize {
        self.unfinished.len()
    }

    /// Runs all unfinished jobs on all cores. Fails if a run gets stuck: virtual time no longer advances. The metrics
    /// of cancelled jobs are `None`.
    pub fn run(&mut self, store: &RunStore, progress: &dyn Progress) -> Result<(), Stuck> {
        let unfinished: Vec<Job> = std::mem::take(&mut self.unfinished).into_values().collect();
        // Each thread takes one job at a time. If a thread took several jobs at once, that thread could still have jobs
        // waiting while other threads are idle.
        let one_by_one = unfinished.into_par_iter().with_max_len(1);
        let done: Result<Vec<_>, Stuck> = one_by_one.map(|job| job.run(store, progress)).collect();
        self.done.extend(done?.into_iter().flatten());
        Ok(())
    }

    /// Returns the metrics of a finished run. `key` is a result of [`Jobs::request`]. Returns `None` if the run has not
    /// finished.
    pub fn values(&self, key: &str) -> Option<&Values> {
        self.done.get(key)
    }
}

impl Job {
    fn run(self, store: &RunStore, progress: &dyn Progress) -> Result<Vec<(String, Values)>, Stuck> {
        let Job { scenario, seed, readers } = self;
        if progress.is_cancelled() {
            let nothing = |(key, reader): (String, MetricReader)| (key, vec![None; reader.metrics.len()]);
            return Ok(readers.into_iter().map(nothing).collect());
        }
        let known = readers.keys().map(|key| Some((key.clone(), store.find(key)?.clone())));
        let values = match known.collect::<Option<Vec<_>>>() {
            Some(values) => values,
            None => {
                let link_delays = readers.values().any(MetricReader::needs_link_delays);
                let outcome = if link_delays {
                    run_observed(&scenario, seed, Observation { link_delays, ..Observation::default() }).0
                } else {
                    lasthop_sim::run(&scenario, seed)
                };
                if let Some(stuck) = outcome.stuck {
                    return Err(stuck);
                }
                let read = |(key, reader): (String, MetricReader)| (key, reader.read(&outcome));
                let values: Vec<(String, Values)> = readers.into_iter().map(read).collect();
                values.iter().for_each(|(key, values)| store.insert(key, values));
                values
            }
        };
        progress.step();
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = r#"
duration = "1 s"

[link.air]
from = "a"
to = "b"
rate = "1 Mbit/s"
one_way_delay = "1 ms"

[flow.f]
from = "a"
to = "b"
"#;

    fn reader(formula: &str, coordinates: Coordinates) -> MetricReader {
        let metrics: Metrics = Arc::new(vec![("m".into(), Expression::parse(formula).unwrap())]);
        let digest = digest::key(&[formula, &format!("{coordinates:?}")]);
        MetricReader { metrics, groups: Arc::default(), coordinates, digest }
    }

    /// The formula of a link's delay has a value, because the run measures link delays. The link transmits 1500 bytes
    /// in 12 ms.
    #[test]
    fn a_formula_of_a_delay_is_measured() {
        let mut jobs = Jobs::default();
        let resolved = ResolvedScenario::of(Scenario::parse(PATH, "path.toml").unwrap());
        let delay = jobs.request(&resolved, 1, &reader("air.down.excess_delay_mean_ms", Coordinates::new()));
        jobs.run(&RunStore::none(), &crate::progress::Silent).unwrap();
        let mean = jobs.values(&delay).unwrap()[0].expect("a delay");
        assert!(mean > 6.0, "{mean} ms");
    }

    #[test]
    fn one_run_answers_several_readers() {
        let resolved = || ResolvedScenario::of(Scenario::parse(PATH, "path.toml").unwrap());
        let mut jobs = Jobs::default();
        let goodput = jobs.request(&resolved(), 1, &reader("goodput_kbps", Coordinates::new()));
        let twice = jobs.request(&resolved(), 1, &reader("2 * goodput_kbps", Coordinates::new()));
        let same = jobs.request(&resolved(), 1, &reader("goodput_kbps", Coordinates::new()));
        jobs.request(&resolved(), 2, &reader("goodput_kbps", Coordinates::new()));
        assert_eq!((&same, jobs.unfinished()), (&goodput, 2));
        jobs.run(&RunStore::none(), &crate::progress::Silent).unwrap();
        let of = |jobs: &Jobs, key: &str| jobs.values(key).unwrap()[0].unwrap();
        assert_eq!(of(&jobs, &twice), 2.0 * of(&jobs, &goodput));
        // A new metric that is requested after the run needs a second run. Metrics that are already available need no
        // second run.
        jobs.request(&resolved(), 1, &reader("goodput_kbps", Coordinates::new()));
        let late = jobs.request(&resolved(), 1, &reader("3 * goodput_kbps", Coordinates::new()));
        assert_eq!(jobs.unfinished(), 1);
        jobs.run(&RunStore::none(), &crate::progress::Silent).unwrap();
        assert_eq!(of(&jobs, &late), 3.0 * of(&jobs, &goodput));
    }
}
