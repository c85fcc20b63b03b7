//! Throughput over link 2's delay (Fig. 3). Nothing in it is random: one run a point.

use super::setting::{Method, Setting};
use super::wireless::note;
use super::{PAPER, numbers};
use crate::item::Item;
use crate::progress::Progress;
use crate::repeat::repeat;
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::Outcome;
use lasthop_wire::LossReason;

/// Link 2's delays, ms.
pub(super) const DELAYS: [u32; 10] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];

/// Outcomes by method and delay.
pub(super) struct Wired {
    outcomes: Vec<Vec<Outcome>>,
}

/// How many runs it takes.
pub(super) fn steps() -> u64 {
    (Method::COMPARED.len() * DELAYS.len()) as u64
}

impl Wired {
    pub(super) fn run(setting: &Setting, seed: u64, progress: &dyn Progress) -> Result<Wired, Problem> {
        let mut scenarios = Vec::new();
        for method in Method::COMPARED {
            for delay in DELAYS {
                scenarios.push(setting.wired(method, delay)?);
            }
        }
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        Ok(Wired { outcomes: repeat(&scenarios, 1, seed, progress) })
    }

    fn outcome(&self, method: Method, at: usize) -> Option<&Outcome> {
        let row = Method::COMPARED.iter().position(|known| *known == method)?;
        self.outcomes.get(row * DELAYS.len() + at)?.first()
    }

    /// Throughput, kbit/s.
    pub(super) fn throughput(&self, method: Method, at: usize) -> Option<f64> {
        self.outcome(method, at).map(|outcome| outcome.flows[0].goodput_kbps())
    }

    /// Packets lost at one delay, by reason.
    pub(super) fn lost(&self, method: Method, at: usize, reason: LossReason) -> u64 {
        self.outcome(method, at).map_or(0, |outcome| outcome.flows[0].account.lost[reason])
    }

    /// The same over all delays.
    pub(super) fn all_lost(&self, method: Method, reason: LossReason) -> u64 {
        (0..DELAYS.len()).map(|at| self.lost(method, at, reason)).sum()
    }

    /// Gain of tagging over SACK at each delay, per cent.
    fn gains(&self) -> Vec<f64> {
        let gain = |at| {
            let (tagged, sack) = (self.throughput(Method::Tagged, at)?, self.throughput(Method::Sack, at)?);
            Some(100.0 * (tagged / sack - 1.0))
        };
        (0..DELAYS.len()).filter_map(gain).collect()
    }

    /// `wired`: published, ours; the interval is over the delays.
    pub(super) fn gain(&self, setting: &Setting) -> Vec<Item> {
        let numbers = numbers();
        let Some(published) = numbers.iter().find(|number| number.item == "wired") else { return Vec::new() };
        let estimate = Estimate::of(&self.gains());
        // "Almost equivalent ..., with a very slight average degradation."
        let is_slight = estimate.is_some_and(|estimate| (-10.0..=0.0).contains(&estimate.mean));
        let what = match self.all_lost(Method::Sack, LossReason::QueueFull) {
            0 => "; no packet is lost at any delay, so that the two methods are the same".into(),
            lost => format!(
                "; over all delays {lost} packets of SACK lost, of tagging {} and {} dropped as notices",
                self.all_lost(Method::Tagged, LossReason::QueueFull),
                self.all_lost(Method::Tagged, LossReason::Notice)
            ),
        };
        let item = Item::new(PAPER.name, "wired", Method::Tagged.name())
            .metric(&published.metric, &published.unit)
            .measured(estimate)
            .published(published.value, 5.0, is_slight)
            .note(format!("{}{what}", note(setting, published)));
        vec![item]
    }

    /// The points of Fig. 3. The paper gives no numbers for them.
    pub(super) fn points(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for method in Method::COMPARED {
            for (at, delay) in DELAYS.iter().enumerate() {
                let value = self.throughput(method, at);
                let item = Item::new(PAPER.name, "fig3", method.name())
                    .metric("throughput", "kbit/s")
                    .at("delay_ms", *delay)
                    .note("nothing in it is random: one run");
                items.push(item.measured(value.and_then(|value| Estimate::of(&[value]))));
            }
        }
        items
    }
}
