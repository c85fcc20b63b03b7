//! Goodput over p_err with one, two and an adaptive number of ACKs, for one and five nodes.

use super::setting::{Acks, Nodes, Setting, duration};
use crate::progress::Progress;
use crate::repeat::{estimate_by, repeat};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{FlowOutcome, Outcome};

/// The outcomes of one setting.
pub(super) struct Grid {
    pub(super) nodes: Nodes,
    pub(super) p_errs: Vec<f64>,
    acks: Vec<Acks>,
    outcomes: Vec<Vec<Outcome>>,
}

/// The goodput of all flows together, kbit/s.
fn total(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.goodput_kbps()).sum()
}

impl Grid {
    pub(super) fn run(
        setting: &Setting,
        nodes: Nodes,
        acks: &[Acks],
        p_errs: &[f64],
        (runs, quick, seed): (u32, bool, u64),
        progress: &dyn Progress,
    ) -> Result<Grid, Problem> {
        let mut scenarios = Vec::new();
        for one in acks {
            for p_err in p_errs {
                let mut scenario = setting.scenario(nodes, *one, *p_err)?;
                scenario.duration = duration(*p_err, quick);
                scenarios.push(scenario);
            }
        }
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        let outcomes = repeat(&scenarios, runs, seed, progress);
        Ok(Grid { nodes, p_errs: p_errs.to_vec(), acks: acks.to_vec(), outcomes })
    }

    fn outcomes(&self, acks: Acks, at: usize) -> &[Outcome] {
        let row = self.acks.iter().position(|known| *known == acks);
        row.and_then(|row| self.outcomes.get(row * self.p_errs.len() + at)).map_or(&[], Vec::as_slice)
    }

    /// Goodput of all nodes together, kbit/s.
    pub(super) fn goodput(&self, acks: Acks, at: usize) -> Option<Estimate> {
        estimate_by(self.outcomes(acks, at), |outcome| Some(total(outcome)))
    }

    /// ACKs sent by the terminals for a segment that reached them.
    pub(super) fn acks_per_segment(&self, acks: Acks, at: usize) -> Option<Estimate> {
        estimate_by(self.outcomes(acks, at), |outcome| {
            let sum = |of: fn(&FlowOutcome) -> u64| outcome.flows.iter().map(of).sum::<u64>();
            let received = sum(|flow| flow.destination.data_received);
            (received > 0).then(|| sum(|flow| flow.destination.acks_sent) as f64 / received as f64)
        })
    }

    /// The gain of two ACKs over one, per cent, from means over all repetitions' pairs.
    pub(super) fn gain(&self, at: usize) -> Option<Estimate> {
        let pairs = self.outcomes(Acks::Two, at).iter().zip(self.outcomes(Acks::One, at));
        let gains: Vec<f64> = pairs
            .filter(|(_, one)| total(one) > 0.0)
            .map(|(two, one)| 100.0 * (total(two) / total(one) - 1.0))
            .collect();
        Estimate::of(&gains)
    }

    /// From which p_err of the grid on two ACKs win at every point: by repetition, then its mean.
    ///
    /// A repetition in which they never win counts as one step above the grid's largest.
    pub(super) fn crossing(&self) -> Option<Estimate> {
        let runs = self.outcomes(Acks::One, 0).len();
        let last = *self.p_errs.last()?;
        let of_run = |run: usize| {
            let wins = |at: usize| {
                let two = self.outcomes(Acks::Two, at).get(run).map_or(0.0, total);
                two > self.outcomes(Acks::One, at).get(run).map_or(0.0, total)
            };
            let loses_last = (0..self.p_errs.len()).rev().find(|at| !wins(*at));
            match loses_last {
                None => self.p_errs[0],
                Some(at) => self.p_errs.get(at + 1).copied().unwrap_or(last + 0.1),
            }
        };
        Estimate::of(&(0..runs).map(of_run).collect::<Vec<f64>>())
    }

    /// The same from the means over all repetitions; `None` if two ACKs do not win at the largest p_err.
    pub(super) fn crossing_of_means(&self) -> Option<f64> {
        let wins = |at: usize| match (self.goodput(Acks::Two, at), self.goodput(Acks::One, at)) {
            (Some(two), Some(one)) => two.mean > one.mean,
            _ => false,
        };
        let first = (0..self.p_errs.len()).rev().take_while(|at| wins(*at)).last()?;
        Some(self.p_errs[first])
    }
}
