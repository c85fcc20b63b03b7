//! Queries of a store's contents.

use super::file_kind::FileKind;
use super::{BUSY_TIMEOUT, Error, flags, plan_once};
use crate::row::{Subject, SubjectMetrics};
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::classes::is_named;
use lasthop_lab::runs::measure;
use lasthop_lab::runs::summary::AGGREGATE_METRICS;
use lasthop_sim::{FLOW_METRICS, LINK_METRICS, RLC_METRICS};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Store that is open for reading. A different process may write to the store at the same time.
#[derive(Debug)]
pub struct StoreReader {
    connection: Connection,
    path: PathBuf,
    names: MetricNames,
}

impl StoreReader {
    /// Opens a store.
    ///
    /// # Errors
    /// Fails if the file is missing, is not a store, has a newer version, or cannot be read.
    pub fn open(path: &Path) -> Result<StoreReader, Error> {
        let file_kind = FileKind::of(path)?;
        file_kind.refuse_others(path)?;
        if file_kind == FileKind::Empty {
            let exists = path.exists();
            return Err(if exists { Error::NoDatabase(path.into()) } else { Error::Missing(path.into()) });
        }
        let failed = |error| Error::of(path, &error);
        let connection =
            Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY)).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        plan_once(&connection).map_err(failed)?;
        Ok(StoreReader { connection, path: path.to_owned(), names: MetricNames::default() })
    }

    /// Returns access to the contents.
    pub fn contents(&self) -> Contents<'_> {
        Contents { connection: &self.connection, path: &self.path, names: &self.names }
    }
}

/// Access to the contents of a store. Every query returns an error if the store cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'c> {
    pub(super) connection: &'c Connection,
    pub(super) path: &'c Path,
    pub(super) names: &'c MetricNames,
}

/// Sweep in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSweep {
    /// Number of the sweep in its store, from 1.
    pub number: i64,
    /// Title of the scenario.
    pub title: String,
    /// Paths of the keys that have several values.
    pub paths: Vec<String>,
    /// Number of combinations of values.
    pub combinations: u64,
    /// Number of finished runs.
    pub done: u64,
    /// Number of failed runs.
    pub failed: u64,
    /// Wall-clock time of all runs, s.
    pub wall_s: f64,
    /// Names of the engines that simulated the sweep's points.
    pub engines: Vec<String>,
}

/// Combination of values in a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Value of each key in [`StoredSweep::paths`].
    pub x: Vec<String>,
    /// Digest of the point that the combination belongs to.
    pub digest: String,
    /// The resolved scenario as TOML.
    pub scenario: String,
}

/// Stored run with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Seed of the run.
    pub seed: u64,
    /// Numbers of each flow, of all flows together, and of each link direction.
    pub subject_metrics: Vec<SubjectMetrics>,
}

impl StoredRun {
    /// Returns the flows with their names, in the scenario's order.
    pub fn flows(&self) -> impl Iterator<Item = (&str, &SubjectMetrics)> {
        self.subject_metrics.iter().filter_map(|metrics| match &metrics.subject {
            Subject::Flow(name) => Some((name.as_str(), metrics)),
            _ => None,
        })
    }

    /// Returns the link directions with their names, in the scenario's order.
    pub fn links(&self) -> impl Iterator<Item = (&str, &SubjectMetrics)> {
        self.subject_metrics.iter().filter_map(|metrics| match &metrics.subject {
            Subject::Link(name) => Some((name.as_str(), metrics)),
            _ => None,
        })
    }

    /// Returns a number that describes all flows together.
    pub fn together(&self, name: &str) -> Option<f64> {
        self.subject_metrics.iter().find(|metrics| metrics.subject == Subject::All)?.number(name)
    }

    /// Returns a number of one flow, or the mean of that number over the flows of a class.
    pub fn of_flow(&self, flow: &str, name: &str) -> Option<f64> {
        let numbers = self.flows().filter(|(known, _)| is_named(known, flow));
        measure::mean(numbers.filter_map(|(_, metrics)| metrics.number(name)))
    }

    /// Returns a quantity for all flows. The quantity is either a mean over flows, or a number of all flows together.
    pub fn of_all(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::OfFlow(metric) => {
                let values: Vec<f64> =
                    self.flows().filter_map(|(_, flow)| flow.number(metric.name)).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            }
            Quantity::Aggregate((name, ..)) => self.together(name),
        }
    }
}

impl Contents<'_> {
    /// Returns the sweeps, in the order of their addition.
    pub fn sweeps(&self) -> Result<Vec<StoredSweep>, Error> {
        let sweeps = || -> rusqlite::Result<Vec<StoredSweep>> {
            let mut select = self.connection.prepare("SELECT id, title, paths FROM sweep ORDER BY id")?;
            let rows = select.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })?;
            rows.map(|row| self.sweep(row?)).collect()
        };
        sweeps().map_err(|error| Error::of(self.path, &error))
    }

    fn sweep(&self, (number, title, paths): (i64, String, String)) -> rusqlite::Result<StoredSweep> {
        // Combinations that resolve to the same scenario share a point. The runs of a shared point count once.
        let (done, failed, wall_s) = self.connection.query_row(
            "SELECT count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed'),
             coalesce(sum(wall_s), 0.0) FROM run WHERE point IN (SELECT point FROM place WHERE sweep = ?1)",
            [number],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?)),
        )?;
        let combinations: i64 =
            self.connection
                .query_row("SELECT count(*) FROM place WHERE sweep = ?1", [number], |row| row.get(0))?;
        let mut select = self.connection.prepare(
            "SELECT DISTINCT engine FROM point JOIN place ON place.point = point.id WHERE sweep = ?1 ORDER BY engine",
        )?;
        let engines = select.query_map([number], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(StoredSweep {
            number,
            title,
            paths: parse_list(&paths),
            combinations: combinations as u64,
            done: done as u64,
            failed: failed as u64,
            wall_s,
            engines,
        })
    }

    /// Returns the combinations of a sweep, in the sweep's order.
    pub fn combinations(&self, sweep: i64) -> Result<Vec<Combination>, Error> {
        let combinations = || -> rusqlite::Result<Vec<Combination>> {
            let mut select = self.connection.prepare(
                "SELECT x, digest, scenario FROM place JOIN point ON point.id = place.point
                 WHERE sweep = ?1 ORDER BY number",
            )?;
            let rows = select.query_map([sweep], |row| {
                Ok(Combination {
                    x: parse_list(&row.get::<_, String>(0)?),
                    digest: row.get(1)?,
                    scenario: row.get(2)?,
                })
            })?;
            rows.collect()
        };
        combinations().map_err(|error| Error::of(self.path, &error))
    }

    /// Returns the names of all flows in the store.
    pub fn flows(&self) -> Result<Vec<String>, Error> {
        let flows = || -> rusqlite::Result<Vec<String>> {
            let mut select = self.connection.prepare(
                "SELECT name FROM subject WHERE kind = 'flow' GROUP BY name ORDER BY min(point), min(number)",
            )?;
            select.query_map([], |row| row.get(0))?.collect()
        };
        flows().map_err(|error| Error::of(self.path, &error))
    }

    /// Returns the finished runs of a point, sorted by seed. The runs have numbers only if `with_numbers` is true.
    pub fn runs(&self, digest: &str, with_numbers: bool) -> Result<Vec<StoredRun>, Error> {
        self.selected(digest, with_numbers.then_some(&MetricSelection::ALL))
            .map_err(|error| Error::of(self.path, &error))
    }

    /// Selects the metrics with these names. The selection covers single flows and all flows together, but not links.
    /// Names that the store lacks are ignored.
    pub fn of_flows(&self, names: &[&str]) -> Result<MetricSelection, Error> {
        let wanted = || -> rusqlite::Result<MetricSelection> {
            let mut known = self.connection.prepare_cached("SELECT id FROM name WHERE name = ?1")?;
            let mut numbers = Vec::new();
            for name in names {
                let number: Option<i64> = known.query_row([name], |row| row.get(0)).optional()?;
                numbers.extend(number.map(|number| number.to_string()));
            }
            let those = format!("AND name IN ({}) ORDER", numbers.join(","));
            Ok(MetricSelection { statement: ALL.replace("ORDER", &those).into(), links: false })
        };
        wanted().map_err(|error| Error::of(self.path, &error))
    }

    /// Returns the finished runs of a point like [`Contents::runs`], but reads only the selected numbers.
    pub fn runs_with(&self, digest: &str, numbers: &MetricSelection) -> Result<Vec<StoredRun>, Error> {
        self.selected(digest, Some(numbers)).map_err(|error| Error::of(self.path, &error))
    }

    /// Executes several queries on one snapshot of the store, which is faster. Calls must not be nested.
    ///
    /// # Errors
    /// Fails if the store cannot be read, or if `work` fails.
    pub fn with_snapshot<T, E: From<Error>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let begun = self.connection.unchecked_transaction();
        let _until_then = begun.map_err(|error| Error::of(self.path, &error))?;
        work()
    }

    fn selected(&self, digest: &str, numbers: Option<&MetricSelection>) -> rusqlite::Result<Vec<StoredRun>> {
        let mut select = self.connection.prepare_cached(
            "SELECT run.id, seed, point FROM run JOIN point ON point.id = run.point
                 WHERE digest = ?1 AND state = 'done'",
        )?;
        let mut rows = select.query([digest])?;
        let mut subjects: Option<Vec<(i64, Subject)>> = None;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            let subject_metrics = match (numbers, &mut subjects) {
                (None, _) => Vec::new(),
                (Some(numbers), Some(subjects)) => self.subject_metrics(row.get(0)?, numbers, subjects)?,
                (Some(numbers), none) => {
                    self.subject_metrics(row.get(0)?, numbers, none.insert(self.subjects(row.get(2)?)?))?
                }
            };
            runs.push(StoredRun { seed: row.get::<_, i64>(1)?.cast_unsigned(), subject_metrics });
        }
        runs.sort_by_key(|run| run.seed);
        Ok(runs)
    }

    /// Returns the subjects of a point's runs with their numbers, in ascending order of the numbers. A subject is a
    /// flow, a link direction, or all flows.
    fn subjects(&self, point: i64) -> rusqlite::Result<Vec<(i64, Subject)>> {
        let mut select = self
            .connection
            .prepare_cached("SELECT number, kind, name FROM subject WHERE point = ?1 ORDER BY number")?;
        let subjects = select
            .query_map([point], |row| Ok((row.get(0)?, subject(row.get_ref(1)?.as_str()?, row.get(2)?))))?;
        subjects.collect()
    }

    /// Returns the numbers of a run. Each flow has an entry, even if the flow has no numbers.
    fn subject_metrics(
        &self,
        run: i64,
        numbers: &MetricSelection,
        subjects: &[(i64, Subject)],
    ) -> rusqlite::Result<Vec<SubjectMetrics>> {
        let empty =
            |(_, subject): &(i64, Subject)| SubjectMetrics { subject: subject.clone(), numbers: Vec::new() };
        let mut subject_metrics: Vec<SubjectMetrics> = subjects.iter().map(empty).collect();
        let mut names = self.names.0.borrow_mut();
        let is_wanted =
            |(_, subject): &&(i64, Subject)| numbers.links || !matches!(subject, Subject::Link(_));
        let last = subjects.iter().rev().find(is_wanted).map_or(0, |(number, _)| *number);
        let mut select = self.connection.prepare_cached(&numbers.statement)?;
        let mut rows = select.query([run, last])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let number = row.get_ref(0)?.as_i64()?;
            while subjects.get(at).is_some_and(|(known, _)| *known < number) {
                at += 1;
            }
            let is_known = subjects.get(at).is_some_and(|(known, _)| *known == number);
            if let (true, Some(name)) = (is_known, metric_name(&mut names, row.get_ref(1)?.as_i64()?, self)?)
            {
                let value = match row.get_ref(2)? {
                    ValueRef::Real(value) => value,
                    _ => row.get(2)?,
                };
                subject_metrics[at].numbers.push((name, value));
            }
        }
        Ok(subject_metrics)
    }
}

/// Selection of the numbers to read.
#[derive(Clone, Debug)]
pub struct MetricSelection {
    statement: Cow<'static, str>,
    /// Whether the numbers of links are read. In the table, the rows of links follow the rows of flows.
    links: bool,
}

impl MetricSelection {
    const ALL: MetricSelection = MetricSelection { statement: Cow::Borrowed(ALL), links: true };
}

/// Query for the numbers of a run. `?2` is the number of the last subject (flow, all flows, or link direction) to read.
const ALL: &str =
    "SELECT subject, name, value FROM metric WHERE run = ?1 AND subject <= ?2 ORDER BY subject, name";

/// Cache of metric names, in ascending order of row numbers. The cache may lack names that another process has added.
#[derive(Debug, Default)]
pub(super) struct MetricNames(RefCell<Vec<(i64, Cow<'static, str>)>>);

fn metric_name(
    names: &mut Vec<(i64, Cow<'static, str>)>,
    number: i64,
    contents: &Contents<'_>,
) -> rusqlite::Result<Option<Cow<'static, str>>> {
    let at = |names: &[(i64, _)]| names.binary_search_by_key(&number, |(known, _)| *known);
    if at(names).is_err() {
        let mut select = contents.connection.prepare_cached("SELECT id, name FROM name ORDER BY id")?;
        let all = select.query_map([], |row| Ok((row.get(0)?, name(row.get_ref(1)?.as_str()?))))?;
        *names = all.collect::<rusqlite::Result<_>>()?;
    }
    Ok(at(names).ok().map(|at| names[at].1.clone()))
}

/// Returns a metric's name. Borrows the program's own text if the program knows the metric.
fn name(kept: &str) -> Cow<'static, str> {
    let of_flows = FLOW_METRICS.iter().map(|metric| metric.name);
    let of_links = LINK_METRICS.iter().map(|metric| metric.name).chain(RLC_METRICS.iter().map(|it| it.name));
    let mut known = of_flows.chain(AGGREGATE_METRICS.iter().map(|(name, ..)| *name)).chain(of_links);
    known.find(|known| *known == kept).map_or_else(|| Cow::Owned(kept.to_owned()), Cow::Borrowed)
}

fn subject(kind: &str, name: String) -> Subject {
    match kind {
        "flow" => Subject::Flow(name),
        "link" => Subject::Link(name),
        _ => Subject::All,
    }
}

fn parse_list(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}
