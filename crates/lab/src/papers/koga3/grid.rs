//! The runs of one setting: every experiment asked for, by repetition.

use super::setting::{Load, SECONDS, Senders, Setting, TCP_FLOWS, Variant};
use crate::progress::Progress;
use crate::repeat::{estimate_by, run_all, seed_of};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{FlowOutcome, Outcome};

/// An experiment: who sends beside which CBR load.
pub(super) type Experiment = (Senders, Load);

/// The chapter's experiments.
pub(super) fn experiments() -> Vec<Experiment> {
    let mut all = homogeneous();
    all.extend(Load::TABLE.map(|load| (Senders::Mixed, load)));
    for variant in Variant::ALL {
        all.extend([Load::Fluctuation, Load::Burst].map(|load| (Senders::All(variant), load)));
    }
    all
}

/// Those of Tables 3.1 to 3.4.
pub(super) fn homogeneous() -> Vec<Experiment> {
    Variant::ALL.into_iter().flat_map(|one| Load::TABLE.map(|load| (Senders::All(one), load))).collect()
}

/// Those beside multiple CBR streams, the hardest.
pub(super) fn multiple() -> Vec<Experiment> {
    Variant::ALL.map(|one| (Senders::All(one), Load::MultipleCbr)).to_vec()
}

/// The outcomes of one setting.
pub(super) struct Grid {
    experiments: Vec<Experiment>,
    outcomes: Vec<Vec<Outcome>>,
}

impl Grid {
    pub(super) fn run(
        setting: &Setting,
        experiments: &[Experiment],
        runs: u32,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Grid, Problem> {
        let mut scenarios = Vec::new();
        for (senders, load) in experiments {
            for run in 0..runs {
                let seed = seed_of(seed, run);
                scenarios.push((setting.scenario(*senders, *load, seed)?, seed));
            }
        }
        let jobs: Vec<(&Scenario, u64)> =
            scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
        let mut outcomes = run_all(&jobs, progress).into_iter();
        let outcomes =
            experiments.iter().map(|_| outcomes.by_ref().take(runs as usize).flatten().collect()).collect();
        Ok(Grid { experiments: experiments.to_vec(), outcomes })
    }

    /// A number of each repetition of an experiment, from its TCP flows of one variant (all if `None`).
    pub(super) fn estimate(
        &self,
        experiment: Experiment,
        variant: Option<Variant>,
        of: fn(&[&FlowOutcome]) -> f64,
    ) -> Option<Estimate> {
        let at = self.experiments.iter().position(|known| *known == experiment)?;
        estimate_by(&self.outcomes[at], |outcome| {
            let is_of = |number: usize| variant.is_none_or(|one| experiment.0.variant(number) == one);
            let flows: Vec<&FlowOutcome> = (0..TCP_FLOWS)
                .filter(|number| is_of(*number))
                .filter_map(|number| outcome.flows.get(number))
                .collect();
            Some(of(&flows))
        })
    }
}

/// Throughput of a flow over the whole run, Mbit/s.
fn throughput(flow: &FlowOutcome) -> f64 {
    flow.delivered_bytes as f64 * 8.0 / SECONDS / 1e6
}

/// Of all flows together, Mbit/s.
pub(super) fn total(flows: &[&FlowOutcome]) -> f64 {
    flows.iter().map(|flow| throughput(flow)).sum()
}

/// Coefficient of variation of the flows' throughput: 0 is a fair share.
pub(super) fn variation(flows: &[&FlowOutcome]) -> f64 {
    let values: Vec<f64> = flows.iter().map(|flow| throughput(flow)).collect();
    coefficient_of_variation(&values)
}

fn coefficient_of_variation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

/// Timeouts per flow.
pub(super) fn timeouts(flows: &[&FlowOutcome]) -> f64 {
    flows.iter().map(|flow| flow.source.timeouts as f64).sum::<f64>() / flows.len().max(1) as f64
}

/// Fast recoveries per flow.
pub(super) fn recoveries(flows: &[&FlowOutcome]) -> f64 {
    flows.iter().map(|flow| flow.source.recoveries as f64).sum::<f64>() / flows.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficient_of_variation_by_hand() {
        // Mean 5, deviations -3, -1, -1, 5 - 5 …: the standard example with standard deviation 2.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((coefficient_of_variation(&values) - 0.4).abs() < 1e-12);
        assert_eq!(coefficient_of_variation(&[3.0; 5]), 0.0);
    }
}
