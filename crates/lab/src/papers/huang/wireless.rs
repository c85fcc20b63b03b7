//! Throughput over the mean bad period on both wireless links (Fig. 2), and the gains of tagging.

use super::setting::{Link, Method, Setting};
use super::{PAPER, numbers};
use crate::item::Item;
use crate::papers::published::Published;
use crate::progress::Progress;
use crate::repeat::{estimate_by, repeat};
use crate::stats::{Estimate, change_of_means};
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::Outcome;
use lasthop_wire::LossReason;

/// Outcomes by method, link, mean bad period and repetition.
pub(super) struct Wireless {
    pub(super) bads: Vec<u32>,
    methods: Vec<Method>,
    outcomes: Vec<Vec<Outcome>>,
}

/// How many runs it takes.
pub(super) fn steps(bads: &[u32], runs: u32, methods: &[Method]) -> u64 {
    (bads.len() * methods.len() * Link::ALL.len()) as u64 * u64::from(runs)
}

impl Wireless {
    pub(super) fn run(
        setting: &Setting,
        bads: &[u32],
        runs: u32,
        seed: u64,
        methods: &[Method],
        progress: &dyn Progress,
    ) -> Result<Wireless, Problem> {
        let mut scenarios = Vec::new();
        for method in methods {
            for link in Link::ALL {
                for bad in bads {
                    scenarios.push(setting.wireless(*method, link, *bad)?);
                }
            }
        }
        let scenarios: Vec<&Scenario> = scenarios.iter().collect();
        let outcomes = repeat(&scenarios, runs, seed, progress);
        Ok(Wireless { bads: bads.to_vec(), methods: methods.to_vec(), outcomes })
    }

    /// The repetitions of a method at the `at`-th mean bad period.
    fn outcomes(&self, method: Method, link: Link, at: usize) -> &[Outcome] {
        let row = self.methods.iter().position(|known| *known == method);
        let place = |row| (row * Link::ALL.len() + link as usize) * self.bads.len() + at;
        row.and_then(|row| self.outcomes.get(place(row))).map_or(&[], Vec::as_slice)
    }

    /// Throughput of each repetition, kbit/s.
    fn throughputs(&self, method: Method, link: Link, at: usize) -> Vec<f64> {
        self.outcomes(method, link, at).iter().map(|outcome| outcome.flows[0].goodput_kbps()).collect()
    }

    pub(super) fn throughput(&self, method: Method, link: Link, at: usize) -> Option<Estimate> {
        Estimate::of(&self.throughputs(method, link, at))
    }

    /// The gain of a method over SACK, per cent: of the mean throughputs, as the paper's.
    pub(super) fn gain(&self, method: Method, link: Link, at: usize) -> Option<Estimate> {
        change_of_means(&self.throughputs(method, link, at), &self.throughputs(Method::Sack, link, at))
    }

    /// From the low to the long delay link: change of the throughput, averaged over the mean bad periods, per cent.
    pub(super) fn delay_effect(&self, method: Method) -> Option<Estimate> {
        let sums = |link| {
            let of_all: Vec<Vec<f64>> =
                (0..self.bads.len()).map(|at| self.throughputs(method, link, at)).collect();
            let runs = of_all.iter().map(Vec::len).min().unwrap_or(0);
            (0..runs).map(|run| of_all.iter().map(|one| one[run]).sum()).collect::<Vec<f64>>()
        };
        change_of_means(&sums(Link::Long), &sums(Link::Low))
    }

    /// The share of tags that the channel destroyed.
    pub(super) fn tags_lost(&self, link: Link, at: usize) -> Option<Estimate> {
        estimate_by(self.outcomes(Method::Tagged, link, at), |outcome| {
            let (sent, lost) = (outcome.flows[0].source.tags_sent, outcome.flows[0].account.tags_lost);
            (sent > 0).then(|| lost[LossReason::Channel] as f64 / sent as f64)
        })
    }

    /// `gain-low-1` … `gain-long-10`, `delay-effect`: published, ours.
    pub(super) fn gains(&self, setting: &Setting) -> Vec<Item> {
        numbers().iter().filter_map(|number| self.item(setting, number)).collect()
    }

    fn item(&self, setting: &Setting, published: &Published) -> Option<Item> {
        let item = Item::new(PAPER.name, published.item.as_str(), published.series.as_str())
            .metric(&published.metric, &published.unit)
            .note(note(setting, published));
        if let Some(link) = Link::ALL.into_iter().find(|link| link.name() == published.series) {
            let bad = published.coordinate("bad_ms")?;
            let at = self.bads.iter().position(|known| f64::from(*known) == bad)?;
            let estimate = self.gain(Method::Tagged, link, at);
            let gains = estimate.is_some_and(|estimate| estimate.ci95[0] > 0.0);
            return Some(item.at("bad_ms", bad).measured(estimate).published(published.value, 5.0, gains));
        }
        if published.item != "delay-effect" {
            return None;
        }
        let method = Method::COMPARED.into_iter().find(|method| method.name() == published.series)?;
        let estimate = self.delay_effect(method);
        // "Dramatically": to less than half.
        let drops = estimate.is_some_and(|estimate| estimate.ci95[1] < -50.0);
        Some(item.measured(estimate).published(published.value, 5.0, drops))
    }

    /// The points of Fig. 2, and the share of tags lost at each. The paper gives no numbers for them.
    pub(super) fn points(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for (figure, link) in [("fig2a", Link::Low), ("fig2b", Link::Long)] {
            for method in &self.methods {
                for (at, bad) in self.bads.iter().enumerate() {
                    let item = Item::new(PAPER.name, figure, method.name())
                        .metric("throughput", "kbit/s")
                        .at("bad_ms", *bad);
                    items.push(item.measured(self.throughput(*method, link, at)));
                }
            }
            for (at, bad) in self.bads.iter().enumerate() {
                let item = Item::new(PAPER.name, figure, Method::Tagged.name())
                    .metric("tags lost to corruption, share of tags sent", "")
                    .at("bad_ms", *bad);
                items.push(item.measured(self.tags_lost(link, at)));
            }
        }
        items
    }
}

/// Where a number stands in the paper, or under which answer ours was found.
pub(super) fn note(setting: &Setting, published: &Published) -> String {
    match setting.question {
        "" => format!("published: {}", published.source),
        _ => setting.label(),
    }
}
