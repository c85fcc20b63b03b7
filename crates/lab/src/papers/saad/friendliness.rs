//! Tables II and III: Reno and W_CW side by side on the shared last hop.

use super::goodput::test_of;
use super::sender::Sender;
use super::setting::{Group, Setting, Topology};
use super::{PAPER, numbers};
use crate::item::Item;
use crate::progress::Progress;
use crate::repeat::{estimate_by, run_all, seed_of};
use crate::stats::Estimate;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::Outcome;

/// The tables: name and packet loss rate, per cent.
pub(super) const TABLES: [(&str, f64); 2] = [("table2", 0.0), ("table3", 0.1)];
/// Reno and W_CW flows.
pub(super) const MIXTURES: [(usize, usize); 3] = [(2, 4), (3, 3), (4, 2)];
/// A sixth of the wireless link, kbit/s of payload: 2 Mbit/s x 1000/1040 / 6.
pub(super) const FAIR_SHARE: f64 = 320.5;

/// One mixture at one loss rate.
pub(super) struct Mixture {
    pub(super) table: &'static str,
    pub(super) reno: usize,
    pub(super) w_cw: usize,
    /// Mean goodput of the Reno flows, kbit/s.
    pub(super) reno_mean: Option<Estimate>,
    /// Of the W_CW flows.
    pub(super) w_cw_mean: Option<Estimate>,
    outcomes: Vec<Outcome>,
}

impl Mixture {
    /// Mean goodput of Reno over that of W_CW.
    pub(super) fn ratio(&self) -> Option<f64> {
        let (reno, w_cw) = (self.reno_mean?.mean, self.w_cw_mean?.mean);
        (w_cw > 0.0).then(|| reno / w_cw)
    }

    fn mean(&self, series: &str) -> Option<Estimate> {
        if series == "reno" { self.reno_mean } else { self.w_cw_mean }
    }
}

pub(super) fn steps(runs: u32) -> u64 {
    (TABLES.len() * MIXTURES.len()) as u64 * u64::from(runs)
}

pub(super) fn run(
    setting: &Setting,
    runs: u32,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Mixture>, Problem> {
    let mut mixtures = Vec::new();
    for (table, loss) in TABLES {
        for (reno, w_cw) in MIXTURES {
            let groups = [
                Group { flow: "reno", sender: Sender::RENO, count: reno },
                Group { flow: "w_cw", sender: Sender::W_CW, count: w_cw },
            ];
            let scenarios = (0..runs)
                .map(|run| seed_of(seed, run))
                .map(|seed| {
                    Ok((setting.scenario(Topology::Friendliness, &groups, loss / 100.0, seed)?, seed))
                })
                .collect::<Result<Vec<(Scenario, u64)>, Problem>>()?;
            let jobs: Vec<(&Scenario, u64)> =
                scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
            let outcomes: Vec<Outcome> = run_all(&jobs, progress).into_iter().flatten().collect();
            let mean = |from: usize, count: usize| {
                estimate_by(&outcomes, |outcome| {
                    let flows = outcome.flows.get(from..from + count)?;
                    Some(flows.iter().map(|flow| flow.goodput_kbps()).sum::<f64>() / count as f64)
                })
            };
            let (reno_mean, w_cw_mean) = (mean(0, reno), mean(reno, w_cw));
            mixtures.push(Mixture { table, reno, w_cw, reno_mean, w_cw_mean, outcomes });
        }
    }
    Ok(mixtures)
}

/// Tables II and III beside ours: within 5 per cent agrees; the claim behind a number is that W_CW gets more than Reno.
pub(super) fn items(mixtures: &[Mixture], setting: &Setting) -> Vec<Item> {
    let mut items = Vec::new();
    for number in numbers() {
        let counts = (number.coordinate("reno"), number.coordinate("w_cw"));
        let Some(mixture) = mixtures
            .iter()
            .find(|one| one.table == number.item && counts == (Some(one.reno as f64), Some(one.w_cw as f64)))
        else {
            continue;
        };
        let measured = mixture.mean(&number.series);
        items.push(
            Item::new(PAPER.name, number.item.as_str(), number.series.as_str())
                .metric(&number.metric, &number.unit)
                .at("reno", mixture.reno)
                .at("w_cw", mixture.w_cw)
                .measured(measured)
                .published(number.value, 0.05 * measured.map_or(0.0, |one| one.mean), favours_w_cw(mixture))
                .note(match setting.question {
                    "" => format!("published: {}", number.source),
                    _ => setting.label(),
                }),
        );
    }
    items
}

fn favours_w_cw(mixture: &Mixture) -> bool {
    mixture.ratio().is_some_and(|ratio| ratio < 1.0)
}

/// The words around the tables.
pub(super) fn claims(mixtures: &[Mixture]) -> Vec<Item> {
    let share = |table: &str, holds: &dyn Fn(&Mixture) -> bool| {
        let rows: Vec<&Mixture> = mixtures.iter().filter(|one| one.table == table).collect();
        (rows.iter().filter(|one| holds(one)).count() as f64 / rows.len().max(1) as f64, rows.len())
    };
    let near = |one: &Mixture| {
        [one.reno_mean, one.w_cw_mean]
            .iter()
            .all(|mean| mean.is_some_and(|mean| (mean.mean / FAIR_SHARE - 1.0).abs() <= 0.05))
    };
    let claim = |item: &str, words: &str, (share, points): (f64, usize)| {
        Item::new(PAPER.name, item, "claim").claim(words, share, points)
    };
    vec![
        claim(
            "claim-fair-share",
            "§4.C: without errors each connection is close to its fair share (both means within 5 % of 320.5 kbit/s)",
            share("table2", &near),
        ),
        claim(
            "claim-order-0",
            "Table II: W_CW gets more than Reno in every mixture",
            share("table2", &favours_w_cw),
        ),
        claim(
            "claim-order-0.1",
            "§4.C, Table III: W_CW gets more than Reno in every mixture when the link loses",
            share("table3", &favours_w_cw),
        ),
    ]
}

/// The test by marks where queues overflow.
pub(super) fn test_items(mixtures: &[Mixture]) -> Vec<Item> {
    let mut items = Vec::new();
    for mixture in mixtures {
        for item in test_of(&mixture.outcomes, &format!("mark-test-{}", mixture.table)) {
            items.push(item.at("reno", mixture.reno).at("w_cw", mixture.w_cw));
        }
    }
    items
}
