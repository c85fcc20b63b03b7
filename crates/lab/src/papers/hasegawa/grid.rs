//! All receivers at all bit error rates, repeated.

use super::setting::{Receiver, Setting};
use crate::progress::Progress;
use crate::repeat::{estimate, repeat};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{Metric, Outcome};

/// Outcomes by receiver, bit error rate and repetition.
pub(super) struct Grid {
    pub(super) bers: Vec<f64>,
    receivers: Vec<Receiver>,
    outcomes: Vec<Vec<Outcome>>,
}

/// How many runs a grid of all receivers takes.
pub(super) fn steps(bers: &[f64], runs: u32) -> u64 {
    (bers.len() * Receiver::ALL.len()) as u64 * u64::from(runs)
}

impl Grid {
    pub(super) fn run(
        setting: &Setting,
        bers: &[f64],
        runs: u32,
        seed: u64,
        receivers: &[Receiver],
        progress: &dyn Progress,
    ) -> Result<Grid, Problem> {
        let mut scenarios = Vec::new();
        for receiver in receivers {
            for ber in bers {
                scenarios.push(setting.scenario(*receiver, *ber)?);
            }
        }
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        let outcomes = repeat(&scenarios, runs, seed, progress);
        Ok(Grid { bers: bers.to_vec(), receivers: receivers.to_vec(), outcomes })
    }

    /// The repetitions of a receiver at the `at`-th bit error rate.
    pub(super) fn outcomes(&self, receiver: Receiver, at: usize) -> &[Outcome] {
        let row = self.receivers.iter().position(|known| *known == receiver);
        row.and_then(|row| self.outcomes.get(row * self.bers.len() + at)).map_or(&[], Vec::as_slice)
    }

    /// A metric of the flow, as a mean with its interval.
    pub(super) fn estimate(&self, receiver: Receiver, at: usize, metric: &Metric) -> Option<Estimate> {
        estimate(self.outcomes(receiver, at), 0, metric)
    }

    /// Goodput, kbit/s.
    pub(super) fn goodput(&self, receiver: Receiver, at: usize) -> Option<Estimate> {
        self.paired(receiver, receiver, at, |goodput, _| goodput)
    }

    /// A function of a receiver's goodput and another's in the same repetition, over the repetitions.
    pub(super) fn paired(
        &self,
        receiver: Receiver,
        other: Receiver,
        at: usize,
        of: impl Fn(f64, f64) -> f64,
    ) -> Option<Estimate> {
        let goodput = |outcome: &Outcome| outcome.flows[0].goodput_kbps();
        let pairs = self.outcomes(receiver, at).iter().zip(self.outcomes(other, at));
        let values: Vec<f64> = pairs.map(|(one, other)| of(goodput(one), goodput(other))).collect();
        Estimate::of(&values)
    }
}
