//! Several environments, which are stepped on all cores.
//!
//! Each environment has its own seed and its own random streams. The results therefore do not depend on the number of
//! threads.

use super::{GymPath, GymSettings, fill, refused, simulated};
use crate::error::bad_input;
use lasthop_sim::environment::{Environment as Simulated, INTERVAL_NUMBERS, StepRefused};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard};

/// Largest number of environments.
const MOST: i64 = 1_000_000;
/// Largest number of threads.
const MOST_THREADS: i64 = 1024;

/// Several environments with one agent each.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Environments {
    places: Mutex<Vec<Place>>,
    /// Threads; `None`: only the calling thread.
    pool: Option<ThreadPool>,
    autoreset: Autoreset,
}

/// Time of the reset after the end of an episode, as in Gymnasium.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Autoreset {
    /// The step after the end, which ignores its action.
    NextStep,
    /// The step that ends the episode.
    SameStep,
    /// No reset.
    Disabled,
}

/// An environment with the results of its last step.
struct Place {
    environment: Simulated,
    observation: Vec<f32>,
    /// Observation and measurements at the end of the last episode, if the step has ended an episode and begun another.
    last: Option<(Vec<f32>, [f64; INTERVAL_NUMBERS])>,
    numbers: [f64; INTERVAL_NUMBERS],
    reward: f64,
    has_ended: bool,
    refused: Option<StepRefused>,
}

/// End of an episode: number of the environment, observation, measurements.
type Final = (usize, Vec<f32>, Vec<f64>);

/// Arrays in which results are written: observations, rewards, ends of episodes, measurements.
type Out<'a, 'py> = [&'a Bound<'py, PyAny>; 4];

#[pymethods]
impl Environments {
    /// Environment number `i` has the seed `seed + i`. `threads`: number of threads, by default one for each core.
    /// `autoreset`: value of Gymnasium's AutoresetMode.
    #[new]
    fn new(
        py: Python<'_>,
        settings: &GymSettings,
        paths: Vec<PyRef<'_, GymPath>>,
        count: i64,
        seed: u64,
        threads: Option<i64>,
        autoreset: &str,
    ) -> PyResult<Environments> {
        let autoreset = match autoreset {
            "SameStep" => Autoreset::SameStep,
            "Disabled" => Autoreset::Disabled,
            _ => Autoreset::NextStep,
        };
        if !(1..=MOST).contains(&count) {
            let message = format!("num_envs = {count}: expected a whole number from 1 to {MOST}");
            return Err(bad_input(py, message, "for instance num_envs=8"));
        }
        let threads = match threads {
            None => std::thread::available_parallelism().map_or(1, usize::from),
            Some(threads @ 1..=MOST_THREADS) => threads as usize,
            Some(threads) => {
                let message =
                    format!("threads = {threads}: expected a whole number from 1 to {MOST_THREADS}");
                return Err(bad_input(py, message, "for instance threads=2"));
            }
        }
        .min(count as usize);
        let pool = match threads {
            1 => None,
            threads => {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                Some(pool.map_err(|why| bad_input(py, format!("threads: {why}"), "give a smaller number"))?)
            }
        };
        let size = settings.settings.observation_size();
        let place = |index: u64| Place {
            environment: simulated(settings, &paths, seed.wrapping_add(index)),
            observation: vec![0.0; size],
            last: None,
            numbers: [0.0; INTERVAL_NUMBERS],
            reward: 0.0,
            has_ended: false,
            refused: None,
        };
        let places = (0..count.unsigned_abs()).map(place).collect();
        Ok(Environments { places: Mutex::new(places), pool, autoreset })
    }

    /// Number of threads that step the environments.
    #[getter]
    fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Begins an episode in each environment whose `mask` is not 0. With `seeds`, each of these environments gets its seed.
    #[allow(clippy::too_many_arguments)]
    fn reset(
        &self,
        py: Python<'_>,
        seeds: Option<Vec<u64>>,
        mask: Option<Vec<bool>>,
        path: Option<&GymPath>,
        observations: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        ends: &Bound<'_, PyAny>,
        numbers: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut places = self.lock(py)?;
        let count = places.len();
        if seeds.as_ref().is_some_and(|seeds| seeds.len() != count)
            || mask.as_ref().is_some_and(|mask| mask.len() != count)
        {
            let message = format!("the number of seeds or of the mask's values is not {count}");
            return Err(bad_input(py, message, "give one value for each environment"));
        }
        let held = &mut **places;
        py.detach(|| {
            self.each(held, |index, place| {
                if mask.as_ref().is_none_or(|mask| mask[index]) {
                    if let Some(seeds) = &seeds {
                        place.environment.seed(seeds[index]);
                    }
                    place.environment.reset(path.map(|path| &path.path));
                    place.begin();
                }
            });
        });
        write(py, held, [observations, rewards, ends, numbers])
    }

    /// Carries out one step in each environment, and writes observations, rewards, ends of episodes and measurements to
    /// arrays. An environment whose episode has ended ignores its action and begins an episode.
    fn step(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        observations: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        ends: &Bound<'_, PyAny>,
        numbers: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut places = self.lock(py)?;
        let actions = PyBuffer::<f64>::get(actions)?.to_vec(py)?;
        if actions.len() != places.len() {
            return Err(refused(py, StepRefused::Count(actions.len(), places.len())));
        }
        let held = &mut **places;
        // All environments step, or none.
        for (place, action) in held.iter().zip(&actions) {
            if place.has_ended && self.autoreset == Autoreset::Disabled {
                return Err(refused(py, StepRefused::Ended));
            }
            if !place.has_ended {
                let check = place.environment.settings().action.check(*action);
                check.map_err(|why| refused(py, StepRefused::Action(why)))?;
            }
        }
        py.detach(|| self.each(held, |index, place| place.step(actions[index], self.autoreset)));
        if let Some(why) = held.iter_mut().find_map(|place| place.refused.take()) {
            return Err(refused(py, why));
        }
        write(py, held, [observations, rewards, ends, numbers])
    }

    /// Seed of the run of each environment's episode.
    fn episode_seeds(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.lock(py)?.iter().map(|place| place.environment.episode_seed()).collect())
    }

    /// Ends of those episodes that the last step has ended, if the same step has begun the next episode: number of the
    /// environment, observation, measurements.
    fn finals(&self, py: Python<'_>) -> PyResult<Vec<Final>> {
        let places = self.lock(py)?;
        let finals = places.iter().enumerate().filter_map(|(index, place)| {
            let (observation, numbers) = place.last.as_ref()?;
            Some((index, observation.clone(), numbers.to_vec()))
        });
        Ok(finals.collect())
    }

    /// Names of the measurements.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        lasthop_sim::environment::Interval::default().numbers().map(|(name, _)| name).to_vec()
    }

    /// Lowest and highest pacing rate, bit/s.
    #[getter]
    fn rate_bounds(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        Ok(self.lock(py)?.first().map_or((0.0, 0.0), |place| place.environment.rate_bounds()))
    }
}

impl Environments {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Vec<Place>>> {
        self.places.try_lock().map_err(|_| {
            let help = "use the environments from one thread at a time, or make new environments";
            bad_input(py, "the environments are in use, or an earlier call has failed", help)
        })
    }

    /// Calls `work` for each environment, on all threads.
    fn each(&self, places: &mut [Place], work: impl Fn(usize, &mut Place) + Sync) {
        match &self.pool {
            None => places.iter_mut().enumerate().for_each(|(index, place)| work(index, place)),
            Some(pool) => {
                pool.install(|| {
                    places.par_iter_mut().enumerate().for_each(|(index, place)| work(index, place))
                });
            }
        }
    }
}

impl Place {
    fn begin(&mut self) {
        (self.reward, self.has_ended, self.last) = (0.0, false, None);
        self.read();
    }

    fn step(&mut self, action: f64, autoreset: Autoreset) {
        self.last = None;
        if self.has_ended {
            self.environment.reset(None);
            return self.begin();
        }
        match self.environment.step(&[action]) {
            Ok(has_ended) => {
                self.has_ended = has_ended;
                self.reward = self.environment.reward(0);
                self.read();
            }
            Err(why) => self.refused = Some(why),
        }
        if self.has_ended && autoreset == Autoreset::SameStep {
            self.last = Some((self.observation.clone(), self.numbers));
            self.environment.reset(None);
            self.read();
        }
    }

    fn read(&mut self) {
        self.environment.observe(0, &mut self.observation);
        self.numbers = self.environment.interval(0).numbers().map(|(_, value)| value);
    }
}

/// Writes the results of all environments, and marks those episodes as begun that the last step has begun.
fn write(
    py: Python<'_>,
    places: &mut [Place],
    [observations, rewards, ends, numbers]: Out<'_, '_>,
) -> PyResult<()> {
    let all: Vec<f32> = places.iter().flat_map(|place| &place.observation).copied().collect();
    fill(py, observations, &all)?;
    let all: Vec<f64> = places.iter().map(|place| place.reward).collect();
    fill(py, rewards, &all)?;
    let all: Vec<u8> = places.iter().map(|place| u8::from(place.has_ended)).collect();
    fill(py, ends, &all)?;
    let all: Vec<f64> = places.iter().flat_map(|place| &place.numbers).copied().collect();
    fill(py, numbers, &all)?;
    for place in places {
        place.has_ended &= place.last.is_none();
    }
    Ok(())
}
