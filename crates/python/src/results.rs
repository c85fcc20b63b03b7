//! Results of runs: metrics of all repetitions, means, and samples and events of the first repetition.

use crate::events::Events;
use crate::table::{Columns, Table};
use lasthop_lab::compare::{Comparison as Cases, Quantity};
use lasthop_lab::runs::classes::{Class, class_of};
use lasthop_lab::runs::random::Determinism;
use lasthop_lab::runs::{csv, distribution, links, summary};
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, FlowOutcome, LINK_METRICS, Outcome, RLC_METRICS, Samples, TransferOutcome};
use pyo3::prelude::*;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// Repetitions of a scenario.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Runs {
    pub scenario: Arc<Scenario>,
    pub outcomes: Vec<Outcome>,
    /// Samples of the first repetition, if requested.
    pub samples: Option<Samples>,
    /// Events of the first repetition, if requested.
    pub events: Option<Events>,
}

#[pymethods]
impl Runs {
    /// Number of repetitions.
    #[getter]
    fn runs(&self) -> usize {
        self.outcomes.len()
    }

    /// One row per repetition and flow, with every metric.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| flow_columns(Columns::default(), &numbered(&self.outcomes))).table(py)
    }

    /// One row per repetition and link direction, with every metric.
    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| link_columns(Columns::default(), &numbered(&self.outcomes))).table(py)
    }

    /// One row per repetition and class of flows (the replicas of one flow).
    fn classes(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| class_columns(Columns::default(), &numbered(&self.outcomes))).table(py)
    }

    /// One row per repetition and finite transfer or request.
    fn completions(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| completion_columns(Columns::default(), &numbered(&self.outcomes))).table(py)
    }

    /// Output of `lasthop run --format json`: one object a line.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let determinism = Determinism::of(std::iter::once(&*self.scenario));
            let outcomes = determinism.independent(&self.outcomes);
            let objects = summary::objects(outcomes, &[]).chain(links::objects(outcomes));
            let objects = objects.chain(summary::notes(self.scenario.notes()));
            objects.map(|object| format!("{object}\n")).collect()
        })
    }

    /// Samples of the first repetition's flows; None if not requested.
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Some(samples) = &self.samples else { return Ok(None) };
        let columns = py.detach(|| {
            let rows = || samples.flows.iter();
            let name =
                |sample: &lasthop_sim::FlowSample| Some(self.scenario.flows[sample.flow].name.as_str());
            let columns = Columns::default()
                .numbers(
                    "time_s",
                    "virtual time of the sample, s",
                    rows().map(|row| Some(row.time.as_secs())),
                )
                .words("flow", "the flow's name", rows().map(name));
            csv::COLUMNS.iter().fold(columns, |columns, column| {
                columns.numbers(column.name, column.doc, rows().map(|row| column.value(row)))
            })
        });
        columns.table(py).map(Some)
    }

    /// Samples of the first repetition's queues; None if not requested.
    fn queues(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Some(samples) = &self.samples else { return Ok(None) };
        let columns = py.detach(|| {
            let rows = || samples.queues.iter();
            let name = |row: &lasthop_sim::QueueSample| {
                let side = if row.down { "down" } else { "up" };
                Some(format!("{}.{side}", self.scenario.links[row.link].name))
            };
            let whole = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
            Columns::default()
                .numbers(
                    "time_s",
                    "virtual time of the sample, s",
                    rows().map(|row| Some(row.time.as_secs())),
                )
                .words("link", "link direction, such as wireless.down", rows().map(name))
                .counts("queue_packets", "packets waiting", rows().map(|row| Some(i64::from(row.packets))))
                .counts("queue_bytes", "bytes waiting", rows().map(|row| whole(row.bytes)))
                .numbers(
                    "queue_average_packets",
                    "average queue length of RED, packets; undefined if the queue does not use RED",
                    rows().map(|row| row.average),
                )
                .counts(
                    "lost_packets",
                    "packets lost so far in this direction, for any reason",
                    rows().map(|row| whole(row.lost.total())),
                )
        });
        columns.table(py).map(Some)
    }

    /// Every packet and event of the first repetition; None if not requested.
    fn events(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Some(events) = &self.events else { return Ok(None) };
        py.detach(|| events.columns(&self.scenario)).table(py).map(Some)
    }
}

/// Results of several variants of a scenario, paired by repetition.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Comparison(pub Cases);

#[pymethods]
impl Comparison {
    /// Varied keys.
    #[getter]
    fn paths(&self) -> Vec<String> {
        self.0.paths.clone()
    }

    /// Number of repetitions of each case.
    #[getter]
    fn runs(&self) -> usize {
        self.0.outcomes.first().map_or(0, Vec::len)
    }

    /// Notes on the scenarios, without duplicates.
    fn notes(&self) -> Vec<String> {
        self.0.scenario_notes()
    }

    /// One row per case, repetition and flow: the varied keys, then every metric.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let rows = self.rows();
            let columns = self.varied(&rows, |_, outcome| outcome.flows.len());
            flow_columns(columns, &rows.iter().map(|(_, run, outcome)| (*run, *outcome)).collect::<Vec<_>>())
        })
        .table(py)
    }

    /// One row per case, repetition and link direction.
    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let rows = self.rows();
            let columns = self.varied(&rows, |_, outcome| 2 * outcome.links.len());
            link_columns(columns, &rows.iter().map(|(_, run, outcome)| (*run, *outcome)).collect::<Vec<_>>())
        })
        .table(py)
    }

    /// One row per case, repetition and class of flows.
    fn classes(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let rows = self.rows();
            let columns = self.varied(&rows, |_, outcome| Class::all(outcome).len());
            class_columns(columns, &rows.iter().map(|(_, run, outcome)| (*run, *outcome)).collect::<Vec<_>>())
        })
        .table(py)
    }

    /// One row per case, repetition, and finite transfer or request.
    fn completions(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let rows = self.rows();
            let count = |flow: &FlowOutcome| flow.transfers().count();
            let columns = self.varied(&rows, |_, outcome| outcome.flows.iter().map(count).sum());
            let runs: Vec<_> = rows.iter().map(|(_, run, outcome)| (*run, *outcome)).collect();
            completion_columns(columns, &runs)
        })
        .table(py)
    }

    /// Output of `lasthop compare --format json`: one object a line.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.objects().iter().map(|object| format!("{object}\n")).collect())
    }
}

/// Index of a case (combination of the varied values), number of the repetition (from 1), and outcome of the run.
type RunRow<'o> = (usize, usize, &'o Outcome);

impl Comparison {
    fn rows(&self) -> Vec<RunRow<'_>> {
        let of_case = |(case, outcomes): (usize, &'_ Vec<Outcome>)| -> Vec<(usize, usize)> {
            (0..outcomes.len()).map(|run| (case, run)).collect()
        };
        let places = self.0.outcomes.iter().enumerate().flat_map(of_case);
        places.map(|(case, run)| (case, run + 1, &self.0.outcomes[case][run])).collect()
    }

    /// Returns one column for each varied key. `times` returns the number of table rows of one run.
    fn varied(&self, rows: &[RunRow<'_>], times: impl Fn(usize, &Outcome) -> usize) -> Columns {
        self.0.paths.iter().enumerate().fold(Columns::default(), |columns, (key, path)| {
            let values = rows.iter().flat_map(|(case, _, outcome)| {
                let value = self.0.cases[*case].values[key].as_str();
                std::iter::repeat_n(value, times(*case, outcome))
            });
            columns.values(path, "value of the varied key", &values.collect::<Vec<&str>>())
        })
    }
}

fn numbered(outcomes: &[Outcome]) -> Vec<(usize, &Outcome)> {
    (1..).zip(outcomes).collect()
}

fn flow_columns(columns: Columns, runs: &[(usize, &Outcome)]) -> Columns {
    let rows = || {
        runs.iter().flat_map(|(run, outcome)| outcome.flows.iter().map(move |flow| (*run, *outcome, flow)))
    };
    let columns = columns
        .words("flow", "the flow's name", rows().map(|(_, _, flow)| Some(flow.name.as_str())))
        .counts("run", "number of the repetition, from 1", rows().map(|(run, ..)| i64::try_from(run).ok()))
        .seeds(
            "seed",
            "seed of the repetition: equal seeds give equal losses",
            rows().map(|(_, outcome, _)| outcome.seed),
        );
    FLOW_METRICS.iter().fold(columns, |columns, metric| {
        let values = rows().map(|(_, _, flow)| (metric.of)(flow).filter(|value| value.is_finite()));
        columns.numbers(metric.name, metric.doc, values)
    })
}

fn class_columns(columns: Columns, runs: &[(usize, &Outcome)]) -> Columns {
    let classes = runs.iter().map(|(run, outcome)| (*run, *outcome, Class::all(outcome)));
    let classes: Vec<(usize, &Outcome, Vec<Class>)> = classes.collect();
    let rows = || {
        classes.iter().flat_map(|(run, outcome, classes)| classes.iter().map(|class| (*run, *outcome, class)))
    };
    let columns = columns
        .words(
            "class",
            "name of the flow, without the number of the replica",
            rows().map(|(.., class)| Some(class.name.as_str())),
        )
        .counts("flows", "number of flows", rows().map(|(.., class)| i64::try_from(class.flows.len()).ok()))
        .counts("run", "number of the repetition, from 1", rows().map(|(run, ..)| i64::try_from(run).ok()))
        .seeds(
            "seed",
            "seed of the repetition: equal seeds give equal losses",
            rows().map(|(_, outcome, _)| outcome.seed),
        );
    let together = summary::AGGREGATE_METRICS.iter().map(|metric| (Quantity::Aggregate(metric), metric.2));
    let each = FLOW_METRICS.iter().map(|metric| (Quantity::OfFlow(metric), metric.doc));
    together.chain(each).fold(columns, |columns, (quantity, doc)| {
        let values =
            rows().map(|(_, outcome, class)| class.value(outcome, quantity).filter(|it| it.is_finite()));
        columns.numbers(quantity.name(), doc, values)
    })
}

fn completion_columns(columns: Columns, runs: &[(usize, &Outcome)]) -> Columns {
    let rows: Vec<(usize, &Outcome, &FlowOutcome, usize, TransferOutcome)> = runs
        .iter()
        .flat_map(|(run, outcome)| outcome.flows.iter().map(move |flow| (*run, *outcome, flow)))
        .flat_map(|(run, outcome, flow)| {
            let numbered = (1..).zip(flow.transfers());
            numbered.map(move |(number, transfer)| (run, outcome, flow, number, transfer))
        })
        .collect();
    let docs: HashMap<&str, &str> = distribution::COLUMNS.iter().copied().collect();
    let doc = |name: &str| docs.get(name).copied().unwrap_or_default();
    let whole = |number: usize| i64::try_from(number).ok();
    columns
        .words("flow", doc("flow"), rows.iter().map(|row| Some(row.2.name.as_str())))
        .words("class", doc("class"), rows.iter().map(|row| Some(class_of(&row.2.name))))
        .counts("run", doc("run"), rows.iter().map(|row| whole(row.0)))
        .seeds("seed", doc("seed"), rows.iter().map(|row| row.1.seed))
        .counts("transfer", doc("transfer"), rows.iter().map(|row| whole(row.3)))
        .counts("bytes", doc("bytes"), rows.iter().map(|row| i64::try_from(row.4.bytes).ok()))
        .numbers("began_s", doc("began_s"), rows.iter().map(|row| Some(row.4.began_s)))
        .numbers("took_s", doc("took_s"), rows.iter().map(|row| Some(row.4.took_s)))
        .flags(
            "complete",
            "false if the run ended before the transfer was complete",
            rows.iter().map(|row| Some(row.4.is_complete)),
        )
        .numbers("slowdown", doc("slowdown"), rows.iter().map(|row| Some(row.4.slowdown())))
}

fn link_columns(columns: Columns, runs: &[(usize, &Outcome)]) -> Columns {
    let rows = || {
        runs.iter().flat_map(|(run, outcome)| {
            outcome.links.iter().flat_map(move |link| [0, 1].map(|side| (*run, *outcome, link, side)))
        })
    };
    let name =
        |link: &lasthop_sim::LinkOutcome, side: usize| format!("{}.{}", link.name, ["down", "up"][side]);
    let columns = columns
        .words(
            "link",
            "link direction, such as wireless.down",
            rows().map(|(_, _, link, side)| Some(name(link, side))),
        )
        .counts("run", "number of the repetition, from 1", rows().map(|(run, ..)| i64::try_from(run).ok()))
        .seeds("seed", "seed of the repetition", rows().map(|(_, outcome, ..)| outcome.seed));
    let columns = LINK_METRICS.iter().fold(columns, |columns, metric| {
        columns.numbers(
            metric.name,
            metric.doc,
            rows().map(|(_, _, link, side)| (metric.of)(&link.traffic[side])),
        )
    });
    if !runs.iter().any(|(_, outcome)| outcome.links.iter().any(|link| link.rlc.iter().any(Option::is_some)))
    {
        return columns;
    }
    RLC_METRICS.iter().fold(columns, |columns, metric| {
        let value =
            |link: &lasthop_sim::LinkOutcome, side: usize| link.rlc[side].as_ref().and_then(metric.of);
        columns.numbers(metric.name, metric.doc, rows().map(|(_, _, link, side)| value(link, side)))
    })
}

/// Returns the observer of type [`Events`] among the observers of a run.
pub fn events_of(observers: Vec<Box<dyn lasthop_engine::Observer>>) -> Option<Events> {
    let mut found =
        observers.into_iter().filter_map(|observer| (observer as Box<dyn Any>).downcast::<Events>().ok());
    found.next().map(|events| *events)
}
