//! Scenarios in Python, and changes of their values.

use crate::error::{bad_input, of_problem};
use crate::strategy;
use lasthop_scenario::{Catalogue, Draft};
use pyo3::prelude::*;
use std::sync::Arc;

/// A checked scenario.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Scenario {
    pub draft: Draft,
    pub checked: Arc<lasthop_scenario::Scenario>,
    /// Whether a mechanism is a Python object; such scenarios run on one thread.
    pub has_strategies: bool,
}

#[pymethods]
impl Scenario {
    /// `source` is the name of a ready path, a file, or a one-line scenario. If `name` is given, `source` is the text
    /// of a TOML document with this name. `changes` are pairs of a key and its new value. `strategies` are mechanisms
    /// in Python: kind of mechanism (seam), name, and the object, which is copied for each use.
    #[new]
    #[pyo3(signature = (source, name=None, changes=Vec::new(), strategies=Vec::new()))]
    fn new(
        py: Python<'_>,
        source: &str,
        name: Option<&str>,
        changes: Vec<(String, String)>,
        strategies: Vec<strategy::Named>,
    ) -> PyResult<Scenario> {
        let has_strategies = !strategies.is_empty();
        let catalogue = strategy::catalogue(py, strategies)?;
        let draft = match name {
            Some(name) => catalogue.parse(source, name),
            None => catalogue.load(source),
        };
        let mut draft = draft.map_err(|problem| of_problem(py, &problem))?;
        for (path, value) in &changes {
            draft.set(path, value).map_err(|problem| of_problem(py, &problem))?;
        }
        let checked = draft.check().map_err(|problem| of_problem(py, &problem))?;
        Ok(Scenario { draft, checked: Arc::new(checked), has_strategies })
    }

    /// The complete scenario as commented TOML.
    fn show(&self, py: Python<'_>) -> PyResult<String> {
        self.draft.show().map_err(|problem| of_problem(py, &problem))
    }

    /// Notes for the scenario's author, one sentence each; usually empty.
    fn notes(&self) -> Vec<String> {
        self.checked.notes()
    }

    /// Title, one line.
    #[getter]
    fn title(&self) -> &str {
        &self.checked.title
    }

    /// Duration of a run, virtual time, s.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.checked.duration.as_secs()
    }

    /// Number of repetitions in the scenario.
    #[getter]
    fn runs(&self) -> u32 {
        self.checked.runs
    }

    /// First seed in the scenario.
    #[getter]
    fn seed(&self) -> u64 {
        self.checked.seed
    }

    /// Whether the scenario has no randomness, so that one run is enough.
    #[getter]
    fn is_deterministic(&self) -> bool {
        lasthop_sim::is_deterministic(&self.checked)
    }

    /// Whether at least one mechanism of the scenario is a Python object.
    #[getter]
    fn has_strategies(&self) -> bool {
        self.has_strategies
    }

    /// Names of the flows.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.checked.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// Names of the links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.checked.links.iter().map(|link| link.name.clone()).collect()
    }
}

/// Names of the ready paths.
#[pyfunction]
pub fn ready_paths() -> Vec<&'static str> {
    lasthop_scenario::ready_paths()
}

/// All mechanisms and ready paths: kind, name, summary, source.
#[pyfunction]
pub fn mechanisms() -> Vec<(String, &'static str, String, String)> {
    let all = Catalogue::default().list().into_iter();
    all.map(|entry| (entry.kind, entry.name, entry.summary, entry.source)).collect()
}

/// JSON Schema of scenarios.
#[pyfunction]
pub fn schema() -> String {
    Catalogue::default().schema().to_string()
}

/// Checks that a number of repetitions is within the range that the command accepts.
pub fn checked_runs(py: Python<'_>, runs: Option<i64>) -> PyResult<Option<u32>> {
    match runs {
        None => Ok(None),
        Some(runs @ 1..=1_000_000) => Ok(u32::try_from(runs).ok()),
        Some(runs) => Err(bad_input(
            py,
            format!("runs = {runs}: expected a whole number from 1 to 1000000"),
            "for instance runs=10",
        )),
    }
}
