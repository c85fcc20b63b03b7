//! Distinct runs: equal scenarios with the same seed are run once, whichever grids and answers ask for them.

use super::cells::Cell;
use super::columns::Run;
use super::expression::Expression;
use super::file::Ordered;
use super::store::{Store, Values};
use super::value::{Place, Texts};
use crate::digest;
use crate::progress::Progress;
use lasthop_scenario::Scenario;
use lasthop_sim::Stuck;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Metrics with their formulas.
pub type Metrics = Arc<Vec<(String, Expression)>>;

/// What is wanted of a run: a number in the list of jobs, and which of its readers.
pub type Ticket = (usize, usize);

/// A scenario with a digest of all that decides its outcome but the seed.
pub struct Resolved {
    scenario: Arc<Scenario>,
    digest: String,
}

impl Resolved {
    /// Of a scenario.
    pub fn of(scenario: Scenario) -> Resolved {
        // A scenario's debug text has every value that a run reads.
        let digest = digest::key(&[&format!("{scenario:?}")]);
        Resolved { scenario: Arc::new(scenario), digest }
    }
}

/// Who wants to know something of a run: a cell's metrics, with all that they see besides the outcome.
#[derive(Clone)]
pub struct Reader {
    metrics: Metrics,
    groups: Arc<Ordered<Texts>>,
    place: Place,
    digest: String,
}

impl Reader {
    /// The reader of a cell.
    pub fn of(cell: &Cell<'_>, metrics: Metrics) -> Reader {
        let (groups, place) = (cell.groups(), cell.place.clone());
        let digest = digest::key(&[&format!("{metrics:?}"), &format!("{groups:?}"), &format!("{place:?}")]);
        Reader { metrics, groups: Arc::new(groups), place, digest }
    }

    /// Its metrics' names.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|(name, _)| name.as_str())
    }

    fn read(&self, outcome: &lasthop_sim::Outcome) -> Values {
        let run = Run { outcome, place: &self.place, groups: &self.groups };
        self.metrics.iter().map(|(_, formula)| formula.value(&run)).collect()
    }
}

struct Job {
    scenario: Arc<Scenario>,
    digest: String,
    seed: u64,
    readers: Vec<Reader>,
}

/// Runs that are wanted, each once.
#[derive(Default)]
pub struct Jobs {
    jobs: Vec<Job>,
    /// By scenario and seed.
    known: BTreeMap<(String, u64), usize>,
    /// What came out, by job and reader, of those that are finished: they come first.
    done: Vec<Vec<Values>>,
}

impl Jobs {
    /// Wants a run.
    pub fn ask(&mut self, resolved: &Resolved, seed: u64, reader: &Reader) -> Ticket {
        let key = (resolved.digest.clone(), seed);
        if let Some(&number) = self.known.get(&key) {
            let readers = &mut self.jobs[number].readers;
            if let Some(at) = readers.iter().position(|one| one.digest == reader.digest) {
                return (number, at);
            }
            if number >= self.done.len() {
                readers.push(reader.clone());
                return (number, readers.len() - 1);
            }
        }
        let (scenario, digest) = (Arc::clone(&resolved.scenario), resolved.digest.clone());
        self.jobs.push(Job { scenario, digest, seed, readers: vec![reader.clone()] });
        self.known.insert(key, self.jobs.len() - 1);
        (self.jobs.len() - 1, 0)
    }

    /// How many are not finished.
    pub fn open(&self) -> usize {
        self.jobs.len() - self.done.len()
    }

    /// Runs what is not finished, on all cores; what the user stops has no values.
    ///
    /// # Errors
    /// Why a run did not come to its end.
    pub fn run(&mut self, store: &Store, progress: &dyn Progress) -> Result<(), Stuck> {
        let open = &self.jobs[self.done.len()..];
        // One by one: else the thread that has the last bundle runs it alone while the others wait.
        let one_by_one = open.par_iter().with_max_len(1);
        let done: Result<Vec<Vec<Values>>, Stuck> = one_by_one.map(|job| job.run(store, progress)).collect();
        self.done.extend(done?);
        Ok(())
    }

    /// What came out; `None` if it is not finished.
    pub fn values(&self, (job, reader): Ticket) -> Option<&Values> {
        self.done.get(job)?.get(reader)
    }
}

impl Job {
    fn run(&self, store: &Store, progress: &dyn Progress) -> Result<Vec<Values>, Stuck> {
        if progress.is_cancelled() {
            return Ok(self.readers.iter().map(|reader| vec![None; reader.metrics.len()]).collect());
        }
        let keys: Vec<String> = self.readers.iter().map(|reader| self.key(reader)).collect();
        let known: Option<Vec<Values>> = keys.iter().map(|key| store.find(key).cloned()).collect();
        let values = match known {
            Some(values) => values,
            None => {
                let outcome = lasthop_sim::run(&self.scenario, self.seed);
                if let Some(stuck) = outcome.stuck {
                    return Err(stuck);
                }
                let values: Vec<Values> = self.readers.iter().map(|reader| reader.read(&outcome)).collect();
                keys.iter().zip(&values).for_each(|(key, values)| store.keep(key, values));
                values
            }
        };
        progress.step();
        Ok(values)
    }

    /// All that decides a reader's numbers: the scenario, the metrics, the seed.
    fn key(&self, reader: &Reader) -> String {
        digest::key(&[&self.digest, &reader.digest, &self.seed.to_string()])
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

    fn reader(formula: &str, place: Place) -> Reader {
        let metrics: Metrics = Arc::new(vec![("m".into(), Expression::parse(formula).unwrap())]);
        let digest = digest::key(&[formula, &format!("{place:?}")]);
        Reader { metrics, groups: Arc::default(), place, digest }
    }

    #[test]
    fn one_run_answers_several_readers() {
        let resolved = || Resolved::of(Scenario::parse(PATH, "path.toml").unwrap());
        let mut jobs = Jobs::default();
        let goodput = jobs.ask(&resolved(), 1, &reader("goodput_kbps", Place::new()));
        let twice = jobs.ask(&resolved(), 1, &reader("2 * goodput_kbps", Place::new()));
        let same = jobs.ask(&resolved(), 1, &reader("goodput_kbps", Place::new()));
        jobs.ask(&resolved(), 2, &reader("goodput_kbps", Place::new()));
        assert_eq!((goodput, twice, same, jobs.open()), ((0, 0), (0, 1), (0, 0), 2));
        jobs.run(&Store::none(), &crate::progress::Silent).unwrap();
        let of = |jobs: &Jobs, ticket| jobs.values(ticket).unwrap()[0].unwrap();
        assert_eq!(of(&jobs, twice), 2.0 * of(&jobs, goodput));
        // A reader that comes after the run has one of its own.
        let late = jobs.ask(&resolved(), 1, &reader("3 * goodput_kbps", Place::new()));
        assert_eq!((late, jobs.open()), ((2, 0), 1));
        jobs.run(&Store::none(), &crate::progress::Silent).unwrap();
        assert_eq!(of(&jobs, late), 3.0 * of(&jobs, goodput));
    }
}
