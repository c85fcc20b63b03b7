//! Environments for Gymnasium and PettingZoo: the Rust side of `lasthop.gym`.
//!
//! Files: `settings`: settings and paths from Python values; `environment`: one environment; `vector`: several
//! environments on several threads.

mod environment;
mod settings;
mod vector;

pub use environment::Environment;
pub use settings::{GymPath, GymSettings};
pub use vector::Environments;

use crate::error::bad_input;
use lasthop_sim::environment::{ActionRefused, Environment as Simulated, Settings, StepRefused};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Returns an environment on these paths, which all have the same number of agents.
fn simulated(settings: &GymSettings, paths: &[PyRef<'_, GymPath>], seed: u64) -> Simulated {
    let paths: Arc<[_]> = paths.iter().map(|path| path.path.clone()).collect();
    Simulated::new(settings.settings.clone(), paths, seed)
}

fn refused(py: Python<'_>, refused: StepRefused) -> PyErr {
    let help = match refused {
        StepRefused::NotReset | StepRefused::Ended => "call reset",
        StepRefused::Count(..) => "give one action for each agent",
        StepRefused::Action(ActionRefused::NotANumber) => "give a finite number: has the policy diverged?",
        StepRefused::Action(ActionRefused::NoIndex(..)) => "give the index of a factor",
    };
    bad_input(py, refused.to_string(), help)
}

/// Returns `info` of one agent: all measurements of the last step.
fn info<'py>(py: Python<'py>, environment: &Simulated, agent: usize) -> PyResult<Bound<'py, PyAny>> {
    let info = PyDict::new(py);
    for (name, value) in environment.interval(agent).numbers() {
        info.set_item(name, value)?;
    }
    Ok(info.into_any())
}

/// Copies values into an array of the same size and type.
fn fill<T: Element + Copy>(py: Python<'_>, out: &Bound<'_, PyAny>, values: &[T]) -> PyResult<()> {
    PyBuffer::<T>::get(out)?.copy_from_slice(py, values)
}

/// Size of an observation of all agents.
fn size(settings: &Settings, agents: usize) -> usize {
    settings.observation_size() * agents
}
