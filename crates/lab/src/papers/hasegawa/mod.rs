//! hasegawa: receiver-based ACK splitting with three classifiers of losses.
//!
//! * `setting.rs`: the paper's scenario, its four receivers, and a value for each open question.
//! * `questions.rs`: the open questions and their values.
//! * `grid.rs`: goodput and the rest over the bit error rate, for each receiver.
//! * `gains.rs`: the largest gains, paired by repetition.
//! * `claims.rs`: what the paper says in words, and whether it holds.
//! * `fairness.rs`: splitting beside plain receivers on a congested wire.
//! * `episode.rs`: one splitting episode by packet, and cwnd against time.
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod claims;
mod episode;
mod fairness;
mod gains;
mod grid;
mod points;
mod questions;
mod setting;

use super::{CpuTime, InRust, Reproduction, Settings, tried};
use crate::item::Item;
use crate::progress::Progress;
use grid::Grid;
use lasthop_scenario::Problem;
use setting::{Receiver, Setting};

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "hasegawa",
    summary: "receiver-based ACK splitting after wireless losses",
    citation: "G. Hasegawa, M. Nakata, H. Nakano: Receiver-Based ACK Splitting Mechanism for TCP over \
               Wired/Wireless Heterogeneous Networks. IEICE Trans. Commun. E90-B(5), 2007",
    effort: CpuTime { quick_s: 57.0, full_s: 370.0 },
    reproduce,
};

/// How many repetitions, and at which bit error rates.
struct Effort {
    runs: u32,
    sensitivity_runs: u32,
    bers: Vec<f64>,
    sensitivity_bers: Vec<f64>,
    fairness_runs: u32,
}

impl Effort {
    fn of(settings: &Settings) -> Effort {
        let steps = |from: u32, step: usize| (from..=20).step_by(step).map(|half| f64::from(5 * half) / 1e6);
        // Every 1e-5, and 4.5e-5 where the paper names a largest gain.
        let coarse: Vec<f64> = steps(2, 1).filter(|ber| is_coarse(*ber)).collect();
        match settings.quick {
            true => Effort {
                runs: 3,
                sensitivity_runs: 2,
                bers: coarse,
                sensitivity_bers: vec![2e-5, 4.5e-5, 7e-5, 1e-4],
                fairness_runs: 3,
            },
            false => Effort {
                runs: 10,
                sensitivity_runs: 5,
                bers: steps(2, 1).collect(),
                sensitivity_bers: coarse,
                fairness_runs: 10,
            },
        }
    }
}

fn is_coarse(ber: f64) -> bool {
    let halves = (ber / 5e-6).round() as u32;
    halves.is_multiple_of(2) || halves == 9
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let effort = Effort::of(settings);
    let default = Setting::default();
    progress.begin("hasegawa: figures", grid::steps(&effort.bers, effort.runs));
    let grid = Grid::run(&default, &effort.bers, effort.runs, settings.seed, &Receiver::ALL, progress)?;
    progress.end();

    let mut items = gains::items(&grid, &default);
    items.extend(points::items(&grid));
    items.extend(claims::items(&grid));

    progress.begin("hasegawa: fairness", fairness::steps(effort.fairness_runs));
    let fairness = fairness::run(effort.fairness_runs, settings.seed, progress)?;
    progress.end();
    items.extend(fairness::items(&fairness));

    let questions = questions::all();
    let steps = grid::steps(&effort.sensitivity_bers, effort.sensitivity_runs);
    progress.begin("hasegawa: open questions", steps * (questions.len() as u64 + 1));
    let mut sensitivity = Vec::new();
    for setting in std::iter::once(&default).chain(&questions) {
        let (bers, runs) = (&effort.sensitivity_bers, effort.sensitivity_runs);
        let grid = Grid::run(setting, bers, runs, settings.seed, &Receiver::ALL, progress)?;
        sensitivity.push(Row::of(setting, &grid));
    }
    progress.end();
    items.extend(sensitivity.iter().flat_map(|row| row.items.clone()));

    let episode = episode::run(settings.seed)?;
    tried::note(
        &mut items,
        &[("fairness-", "the bit error rates, numbers of flows and judges of the table under Fairness")],
    );
    let chapter = chapter::chapter(&items, &grid, &sensitivity, &fairness, &episode);
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter })
}

/// A row of the sensitivity table: a setting, its gains and whether the claims hold under it.
struct Row {
    setting: Setting,
    items: Vec<Item>,
}

impl Row {
    fn of(setting: &Setting, grid: &Grid) -> Row {
        let mut items = gains::items(grid, setting);
        items.extend(claims::items(grid));
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), setting.label().into());
        }
        Row { setting: setting.clone(), items }
    }

    fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.item.strip_prefix("sensitivity-") == Some(name))
    }
}
