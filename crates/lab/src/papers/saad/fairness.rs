//! Table I: flows of one kind on a shared link, Jain's index of their throughputs.

use super::sender::Sender;
use super::setting::{Group, Setting, Topology};
use super::{PAPER, numbers};
use crate::item::Item;
use crate::progress::Progress;
use crate::repeat::{estimate_by, run_all, seed_of};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::Outcome;

/// Packet loss rates, per cent.
pub(super) const LOSSES: [f64; 6] = [0.0, 0.1, 0.5, 1.0, 5.0, 10.0];
/// Those of the sensitivity.
pub(super) const FEW_LOSSES: [f64; 3] = [0.0, 1.0, 10.0];
/// The text's number of flows, and the table's.
pub(super) const FLOWS: [usize; 2] = [6, 5];

/// Flows of one kind at a loss rate.
pub(super) struct Shared {
    pub(super) sender: Sender,
    pub(super) flows: usize,
    /// Per cent.
    pub(super) loss: f64,
    pub(super) jain: Option<Estimate>,
}

/// Which points are run, and how often.
pub(super) struct Points<'a> {
    pub(super) senders: &'a [Sender],
    pub(super) flows: &'a [usize],
    /// Per cent.
    pub(super) losses: &'a [f64],
    pub(super) runs: u32,
}

impl Points<'_> {
    /// How many runs it takes.
    pub(super) fn steps(&self) -> u64 {
        (self.senders.len() * self.flows.len() * self.losses.len()) as u64 * u64::from(self.runs)
    }
}

pub(super) fn run(
    setting: &Setting,
    points: &Points,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Shared>, Problem> {
    let mut all = Vec::new();
    for sender in points.senders.iter().copied() {
        let at = points.flows.iter().flat_map(|flows| points.losses.iter().map(move |loss| (*flows, *loss)));
        for (flows, loss) in at {
            let groups = [Group { flow: "bulk", sender, count: flows }];
            let scenarios = (0..points.runs)
                .map(|run| seed_of(seed, run))
                .map(|seed| Ok((setting.scenario(Topology::Fairness, &groups, loss / 100.0, seed)?, seed)))
                .collect::<Result<Vec<(Scenario, u64)>, Problem>>()?;
            let jobs: Vec<(&Scenario, u64)> =
                scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
            let outcomes: Vec<Outcome> = run_all(&jobs, progress).into_iter().flatten().collect();
            let jain = estimate_by(&outcomes, |outcome| {
                Some(jain(&outcome.flows.iter().map(|flow| flow.goodput_kbps()).collect::<Vec<f64>>()))
            });
            all.push(Shared { sender, flows, loss, jain });
        }
    }
    Ok(all)
}

/// Table I beside ours: an index within 5 per cent agrees; its claim is "a fairly satisfactory fairness index", 0.9.
pub(super) fn items(all: &[Shared], setting: &Setting) -> Vec<Item> {
    let mut items = Vec::new();
    for number in numbers().iter().filter(|number| number.item == "table1") {
        let (loss, flows) = (number.coordinate("loss_percent"), number.coordinate("flows"));
        let Some(shared) = all.iter().find(|one| {
            one.sender.name() == number.series && Some(one.loss) == loss && Some(one.flows as f64) == flows
        }) else {
            continue;
        };
        let fair = shared.jain.is_some_and(|jain| jain.mean >= 0.9);
        items.push(
            Item::new(PAPER.name, "table1", number.series.as_str())
                .metric(&number.metric, &number.unit)
                .at("loss_percent", shared.loss)
                .at("flows", shared.flows)
                .measured(shared.jain)
                .published(number.value, 0.05 * shared.jain.map_or(0.0, |jain| jain.mean), fair)
                .note(match setting.question {
                    "" => format!("published: {}", number.source),
                    _ => setting.label(),
                }),
        );
    }
    for shared in all.iter().filter(|one| one.sender.wants_red()) {
        items.push(
            Item::new(PAPER.name, "table1", shared.sender.name())
                .metric("Jain's index", "")
                .at("loss_percent", shared.loss)
                .at("flows", shared.flows)
                .measured(shared.jain)
                .note("not in the paper: what §3.A compares congestion warning with"),
        );
    }
    items
}

/// Table I under one answer.
pub(super) struct FairRow {
    pub(super) setting: Setting,
    pub(super) shared: Vec<Shared>,
}

impl FairRow {
    pub(super) fn items(&self) -> Vec<Item> {
        let mut items = items(&self.shared, &self.setting);
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), self.setting.label().into());
        }
        items
    }
}

/// Jain's index (saad Eq. 1): 1 if all are equal, 1/n if one has all.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index() {
        assert_eq!(jain(&[1.0, 1.0, 1.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
    }
}
