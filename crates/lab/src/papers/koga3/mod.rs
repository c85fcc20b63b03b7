//! koga, chapter 3: Reno, NewReno and SACK beside CBR traffic with priority behind a CBQ gateway.
//!
//! * `setting.rs`: the network, the experiments, and a value for each open question.
//! * `grid.rs`: the runs, and what is measured in them.
//! * `tables.rs`: Tables 3.1 to 3.8 and the claims.
//! * `course.rs`: throughput against time (Figs. 3.2 to 3.13).
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod course;
mod grid;
mod setting;
mod tables;

use super::{CpuTime, InRust, Reproduction, Settings, published, tried};
use crate::progress::Progress;
use grid::Grid;
use lasthop_scenario::Problem;
use setting::Setting;

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "koga3",
    summary: "TCP variants beside priority traffic behind a CBQ gateway",
    citation: "H. Koga: doctoral dissertation, chapter 3: Performance Comparison of TCP Implementations in QoS \
               Provisioning Networks",
    effort: CpuTime { quick_s: 27.0, full_s: 115.0 },
    reproduce,
};

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let (runs, sensitivity_runs) = if settings.quick { (QUICK.0, QUICK.1) } else { (FULL.0, FULL.1) };
    let numbers =
        published::read(include_str!("../../../../../papers/koga3/published.csv")).unwrap_or_default();
    let default = Setting::default();
    let experiments = grid::experiments();
    progress.begin("koga3: tables", experiments.len() as u64 * u64::from(runs));
    let grid = Grid::run(&default, &experiments, runs, settings.seed, progress)?;
    progress.end();
    let mut items = tables::items(&grid, &numbers);
    items.extend(tables::claims(&grid));

    let questions = setting::questions();
    let experiments = match settings.quick {
        true => grid::multiple(),
        false => grid::homogeneous(),
    };
    let steps = experiments.len() as u64 * u64::from(sensitivity_runs);
    progress.begin("koga3: open questions", steps * questions.len() as u64);
    let mut sensitivity = vec![tables::Row::of(&default, &grid, &numbers)];
    for setting in &questions {
        let grid = Grid::run(setting, &experiments, sensitivity_runs, settings.seed, progress)?;
        sensitivity.push(tables::Row::of(setting, &grid, &numbers));
    }
    progress.end();
    items.extend(sensitivity.iter().flat_map(|row| row.items.clone()));

    let courses = course::run(settings.seed)?;
    tried::note(&mut items, &[]);
    let chapter = chapter::chapter(&items, &sensitivity, &courses, &numbers);
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter, overview: None })
}

/// Repetitions of the tables and of the sensitivity rows.
const QUICK: (u32, u32) = (3, 1);
const FULL: (u32, u32) = (15, 3);
