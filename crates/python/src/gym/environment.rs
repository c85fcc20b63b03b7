//! One environment in Python, with one or more agents.

use super::{GymPath, GymSettings, fill, info, refused, simulated, size};
use crate::error::bad_input;
use lasthop_sim::environment::Environment as Simulated;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// An environment: episodes of steps.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Environment {
    environment: Mutex<Simulated>,
    agents: usize,
}

#[pymethods]
impl Environment {
    /// Each episode draws one of the paths, which all have the same number of agents.
    #[new]
    fn new(settings: &GymSettings, paths: Vec<PyRef<'_, GymPath>>, seed: u64) -> Environment {
        let environment = simulated(settings, &paths, seed);
        Environment { agents: environment.agents(), environment: Mutex::new(environment) }
    }

    /// Lowest and highest pacing rate, bit/s.
    #[getter]
    fn rate_bounds(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        Ok(self.lock(py)?.rate_bounds())
    }

    /// Begins an episode, on `path` or on one of the environment's paths, and writes the observations of all agents to `out`.
    /// With `seed`, `seed` determines this episode and all further episodes. Returns the seed of the run.
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        path: Option<&GymPath>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<u64> {
        let mut environment = self.lock(py)?;
        let held = &mut *environment;
        py.detach(|| {
            if let Some(seed) = seed {
                held.seed(seed);
            }
            held.reset(path.map(|path| &path.path));
        });
        self.write(py, held, out)?;
        Ok(held.episode_seed())
    }

    /// Carries out a step of one agent, and writes its observation to `out`. Returns the reward, whether the episode has
    /// ended, and the measurements of the step.
    fn step<'py>(
        &self,
        py: Python<'py>,
        action: f64,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<(f64, bool, Bound<'py, PyAny>)> {
        let mut environment = self.lock(py)?;
        let held = &mut *environment;
        let has_ended = py.detach(|| held.step(&[action])).map_err(|why| refused(py, why))?;
        self.write(py, held, out)?;
        Ok((held.reward(0), has_ended, info(py, held, 0)?))
    }

    /// Carries out a step with an action of each agent, and writes the observations of all agents to `out`, one after the
    /// other. Returns the rewards, and whether the episode has ended.
    fn step_all(
        &self,
        py: Python<'_>,
        actions: Vec<f64>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<f64>, bool)> {
        let mut environment = self.lock(py)?;
        let held = &mut *environment;
        let has_ended = py.detach(|| held.step(&actions)).map_err(|why| refused(py, why))?;
        self.write(py, held, out)?;
        Ok(((0..self.agents).map(|agent| held.reward(agent)).collect(), has_ended))
    }

    /// Measurements of an agent in the last step.
    fn info<'py>(&self, py: Python<'py>, agent: usize) -> PyResult<Bound<'py, PyAny>> {
        info(py, &*self.lock(py)?, agent.min(self.agents - 1))
    }

    /// Number of packets that all hosts have sent in this episode.
    #[getter]
    fn packets_sent(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.session().map_or(0, |session| session.packets_sent()))
    }
}

impl Environment {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Simulated>> {
        self.environment.try_lock().map_err(|_| {
            bad_input(
                py,
                "the environment is in use, or an earlier call has failed",
                "use an environment from one thread at a time, or make a new environment",
            )
        })
    }

    fn write(&self, py: Python<'_>, environment: &Simulated, out: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.agents == 1 {
            return fill(py, out, environment.observation(0));
        }
        let mut all = Vec::with_capacity(size(environment.settings(), self.agents));
        (0..self.agents).for_each(|agent| all.extend_from_slice(environment.observation(agent)));
        fill(py, out, &all)
    }
}
