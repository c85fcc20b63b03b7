//! One flow over the packet loss rate: Fig. 6, and the same senders on the long path of Fig. 8.

use super::PAPER;
use super::sender::Sender;
use super::setting::{Group, Setting, Topology};
use crate::item::Item;
use crate::progress::Progress;
use crate::repeat::{estimate_by, run_all, seed_of};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::Outcome;

/// Packet loss rates from 0.00001 to 10 %.
pub(super) const LOSSES: [f64; 13] =
    [1e-7, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2, 1e-1];
/// Those of a quick run.
pub(super) const SOME_LOSSES: [f64; 7] = [1e-7, 1e-4, 1e-3, 5e-3, 1e-2, 3e-2, 1e-1];
/// Those of the sensitivity.
pub(super) const FEW_LOSSES: [f64; 5] = [1e-7, 1e-4, 1e-3, 1e-2, 1e-1];

/// Outcomes by sender, loss rate and repetition.
pub(super) struct Goodput {
    pub(super) losses: Vec<f64>,
    pub(super) senders: Vec<Sender>,
    outcomes: Vec<Vec<Outcome>>,
}

/// How many runs it takes.
pub(super) fn steps(losses: &[f64], senders: &[Sender], runs: u32) -> u64 {
    (losses.len() * senders.len()) as u64 * u64::from(runs)
}

impl Goodput {
    pub(super) fn run(
        setting: &Setting,
        topology: Topology,
        losses: &[f64],
        senders: &[Sender],
        runs: u32,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Goodput, Problem> {
        let mut scenarios = Vec::new();
        for sender in senders {
            for loss in losses {
                for run in 0..runs {
                    let seed = seed_of(seed, run);
                    scenarios.push((setting.scenario(topology, &group(*sender), *loss, seed)?, seed));
                }
            }
        }
        let jobs: Vec<(&Scenario, u64)> =
            scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
        let mut done = run_all(&jobs, progress).into_iter();
        let outcomes = (0..senders.len() * losses.len())
            .map(|_| done.by_ref().take(runs as usize).flatten().collect())
            .collect();
        Ok(Goodput { losses: losses.to_vec(), senders: senders.to_vec(), outcomes })
    }

    fn outcomes(&self, sender: Sender, at: usize) -> &[Outcome] {
        let row = self.senders.iter().position(|known| *known == sender);
        row.and_then(|row| self.outcomes.get(row * self.losses.len() + at)).map_or(&[], Vec::as_slice)
    }

    /// Goodput, kbit/s.
    pub(super) fn goodput(&self, sender: Sender, at: usize) -> Option<Estimate> {
        estimate_by(self.outcomes(sender, at), |outcome| Some(outcome.flows[0].goodput_kbps()))
    }

    /// W_CW's goodput less Reno's in the same repetition.
    fn difference(&self, at: usize) -> Option<Estimate> {
        let goodput = |outcome: &Outcome| outcome.flows[0].goodput_kbps();
        let pairs = self.outcomes(Sender::W_CW, at).iter().zip(self.outcomes(Sender::RENO, at));
        let values: Vec<f64> = pairs.map(|(w_cw, reno)| goodput(w_cw) - goodput(reno)).collect();
        Estimate::of(&values)
    }

    /// A figure's points; the paper gives no numbers for them.
    pub(super) fn items(&self, item: &str) -> Vec<Item> {
        let mut items = Vec::new();
        for sender in &self.senders {
            for (at, loss) in self.losses.iter().enumerate() {
                items.push(
                    Item::new(PAPER.name, item, sender.name())
                        .metric("goodput", "kbit/s")
                        .at("loss", *loss)
                        .measured(self.goodput(*sender, at)),
                );
            }
        }
        items
    }

    /// The words under Fig. 6.
    pub(super) fn claim(&self, item: &str) -> Item {
        let points = self.losses.len();
        let holds = |at: &usize| self.difference(*at).is_some_and(|difference| difference.mean > 0.0);
        let share = (0..points).filter(holds).count() as f64 / points as f64;
        Item::new(PAPER.name, item, "claim").claim(
            "§4.A: the goodput of W_CW is higher than Reno's (mean of paired differences above 0) at every loss rate",
            share,
            points,
        )
    }

    /// Both error rates of the test by marks, as accuracies.
    pub(super) fn test_items(&self, item: &str) -> Vec<Item> {
        let mut items = Vec::new();
        for (at, loss) in self.losses.iter().enumerate() {
            let outcomes = self.outcomes(Sender::W_CW, at);
            items.extend(test_of(outcomes, item).into_iter().map(|item| item.at("loss", *loss)));
        }
        items
    }
}

/// Acc_w and Acc_c of all W_CW flows of these outcomes: losses of all flows of a repetition together.
pub(super) fn test_of(outcomes: &[Outcome], item: &str) -> [Item; 2] {
    let share = |of: fn(&lasthop_sim::FlowOutcome) -> (u64, u64)| {
        estimate_by(outcomes, |outcome| {
            let (right, all) =
                outcome.flows.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            (all > 0).then(|| right as f64 / all as f64)
        })
    };
    let wireless = share(|flow| (flow.account.accuracy.wireless_right, flow.account.accuracy.wireless));
    let congestion = share(|flow| (flow.account.accuracy.congestion_right, flow.account.accuracy.congestion));
    [("Acc_w", wireless), ("Acc_c", congestion)].map(|(metric, estimate)| {
        let item = Item::new(PAPER.name, item, "w_cw").metric(metric, "").measured(estimate);
        match estimate {
            Some(_) => item.note("share of tests by the third duplicate's mark that are right"),
            None => item.note("undefined: no such loss was tested"),
        }
    })
}

fn group(sender: Sender) -> [Group; 1] {
    [Group { flow: "bulk", sender, count: 1 }]
}
