//! huang: tagged segments tell congestion losses from corruption losses.
//!
//! * `setting.rs`: the paper's two topologies, the methods, and a value for each open question.
//! * `questions.rs`: the open questions and their values.
//! * `wireless.rs`: throughput over the mean bad period on both links, and gains.
//! * `wired.rs`: throughput over link 2's delay.
//! * `claims.rs`: what the paper says in words, and whether it holds.
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod claims;
mod questions;
mod setting;
mod wired;
mod wireless;

use super::{CpuTime, Paper, Reproduction, Settings, tried};
use crate::item::Item;
use crate::papers::published::{self, Published};
use crate::progress::Progress;
use lasthop_scenario::Problem;
use setting::{Method, Setting};
use wired::Wired;
use wireless::Wireless;

/// See the folder.
pub const PAPER: Paper = Paper {
    name: "huang",
    summary: "tagged segments that routers drop to tell of congestion",
    citation: "J.-J. Huang, J.-F. Chang: A New Method to Improve the Performance of TCP SACK over Wireless Links. \
               National Taiwan University and National Chi Nan University, about 2002",
    effort: CpuTime { quick_s: 6.0, full_s: 20.0 },
    reproduce,
};

/// How many repetitions, and at which mean bad periods.
struct Effort {
    runs: u32,
    sensitivity_runs: u32,
    bads: Vec<u32>,
}

/// The mean bad periods for which the paper gives gains, ms.
const BADS: [u32; 3] = [1, 5, 10];

impl Effort {
    fn of(settings: &Settings) -> Effort {
        match settings.quick {
            true => Effort { runs: 100, sensitivity_runs: 30, bads: BADS.to_vec() },
            false => Effort { runs: 100, sensitivity_runs: 100, bads: (1..=10).collect() },
        }
    }
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let effort = Effort::of(settings);
    let default = Setting::default();
    progress.begin("huang: figures", wireless::steps(&effort.bads, effort.runs, &Method::ALL));
    let wireless = Wireless::run(&default, &effort.bads, effort.runs, settings.seed, &Method::ALL, progress)?;
    progress.end();
    progress.begin("huang: wired", wired::steps());
    let wired = Wired::run(&default, settings.seed, progress)?;
    progress.end();

    let mut items = wireless.gains(&default);
    items.extend(wired.gain(&default));
    items.extend(wireless.points());
    items.extend(wired.points());
    items.extend(claims::items(&wireless, &wired));

    let questions = questions::wireless();
    let steps = wireless::steps(&BADS, effort.sensitivity_runs, &Method::COMPARED);
    progress.begin("huang: open questions", steps * questions.len() as u64);
    let mut rows = Vec::new();
    for setting in &questions {
        let runs = effort.sensitivity_runs;
        let grid = Wireless::run(setting, &BADS, runs, settings.seed, &Method::COMPARED, progress)?;
        rows.push(Row::of(setting, grid.gains(setting)));
    }
    progress.end();
    let questions = questions::wired();
    progress.begin("huang: open questions, wired", wired::steps() * questions.len() as u64);
    let mut wired_rows = Vec::new();
    for setting in &questions {
        let wired = Wired::run(setting, settings.seed, progress)?;
        wired_rows.push((Row::of(setting, wired.gain(setting)), wired));
    }
    progress.end();
    items.extend(rows.iter().flat_map(|row| row.items.clone()));
    items.extend(wired_rows.iter().flat_map(|(row, _)| row.items.clone()));

    tried::note(
        &mut items,
        &[("claim-wired", "the answers of the table under The wires, which counts the notices")],
    );
    let chapter = chapter::chapter(&items, &wireless, &wired, &rows, &wired_rows);
    Ok(Reproduction { paper: PAPER.name, items, chapter })
}

/// The paper's numbers. A file that cannot be read gives none; a test reads it.
fn numbers() -> Vec<Published> {
    published::read(include_str!("../../../../../papers/huang/published.csv")).unwrap_or_default()
}

/// A row of a sensitivity table: an answer, and the items under it.
struct Row {
    label: String,
    items: Vec<Item>,
}

impl Row {
    fn of(setting: &Setting, mut items: Vec<Item>) -> Row {
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), setting.label().into());
        }
        Row { label: setting.label(), items }
    }

    fn item(&self, name: &str, series: &str) -> Option<&Item> {
        let is_it = |item: &&Item| item.item.strip_prefix("sensitivity-") == Some(name);
        self.items.iter().filter(is_it).find(|item| series.is_empty() || item.series == series)
    }
}
