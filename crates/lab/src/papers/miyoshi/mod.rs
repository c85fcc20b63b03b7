//! miyoshi: n ACKs per segment, so that one survives the radio link.
//!
//! * `setting.rs`: the two scenarios, and a value for each open question.
//! * `grid.rs`: goodput over p_err; from where two ACKs win.
//! * `tables.rs`: Tables 2 and 3 and the crossings beside the paper's.
//! * `ways.rs`: the adaptive terminal by how it learns p.
//! * `analysis.rs`: Figs. 5 and 6.
//! * `course.rs`: p while flows join (Fig. 4), cwnd against time (Figs. 7 and 8).
//! * `chapter.rs`: the report's chapter.

mod analysis;
mod chapter;
mod course;
mod grid;
mod setting;
mod tables;
mod ways;

use super::{CpuTime, InRust, Reproduction, Settings, published, tried};
use crate::progress::Progress;
use grid::Grid;
use lasthop_scenario::Problem;
use setting::{Acks, Nodes, P_ERRS, Setting};
use ways::Way;

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "miyoshi",
    summary: "several identical ACKs per segment, so that one survives",
    citation: "M. Miyoshi, M. Sugano, M. Murata: An Acknowledgement Control Approach for Performance Improvement of \
               TCP in Wireless Cellular Network Environment. Osaka University, about 2001",
    effort: CpuTime { quick_s: 8.0, full_s: 35.0 },
    reproduce,
};

/// The paper's numbers.
fn numbers() -> Vec<published::Published> {
    published::read(include_str!("../../../../../papers/miyoshi/published.csv")).unwrap_or_default()
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let runs = if settings.quick { 4 } else { 10 };
    let effort = (runs, settings.quick, settings.seed);
    let default = Setting::default();
    let numbers = numbers();
    progress.begin("miyoshi: tables", (2 * 3 * P_ERRS.len()) as u64 * u64::from(runs));
    let one = Grid::run(&default, Nodes::One, &Acks::ALL, &P_ERRS, effort, progress)?;
    let five = Grid::run(&default, Nodes::Five, &Acks::ALL, &P_ERRS, effort, progress)?;
    progress.end();

    let mut items = tables::items(&one, &numbers);
    items.extend(tables::items(&five, &numbers));
    items.extend([&one, &five].map(|grid| tables::crossing(grid, &numbers)));
    items.extend(tables::claims(&one, &five));
    items.extend(analysis::items(&numbers));

    let questions = setting::questions();
    let runs = if settings.quick { 2 } else { 10 };
    let effort = (runs, true, settings.seed);
    let p_errs = tables::SENSITIVITY;
    let steps = (2 * 2 * p_errs.len()) as u64 * u64::from(runs);
    progress.begin("miyoshi: open questions", steps * (questions.len() as u64 + 1));
    let mut sensitivity = Vec::new();
    for setting in std::iter::once(&default).chain(&questions) {
        let one = Grid::run(setting, Nodes::One, &Acks::FIXED, &p_errs, effort, progress)?;
        let five = Grid::run(setting, Nodes::Five, &Acks::FIXED, &p_errs, effort, progress)?;
        sensitivity.push(tables::Row::of(setting, one, five, &numbers));
    }
    progress.end();
    items.extend(sensitivity.iter().flat_map(|row| row.items.clone()));

    let ways = setting::ways();
    progress.begin("miyoshi: ways to learn p", (2 * ways.len() * p_errs.len()) as u64 * u64::from(runs));
    let run = |setting: Setting| {
        let grid = |nodes| Grid::run(&setting, nodes, &[Acks::Adaptive], &p_errs, effort, progress);
        let grids = [grid(Nodes::One)?, grid(Nodes::Five)?];
        Ok(Way { setting, grids })
    };
    let ways = ways.into_iter().map(run).collect::<Result<Vec<Way>, Problem>>()?;
    progress.end();
    items.extend(ways.iter().flat_map(Way::items));

    let course = course::run(settings.seed)?;
    tried::note(
        &mut items,
        &[("table", "the answers of the table under What the open questions decide, at fewer p_err")],
    );
    let chapter = chapter::chapter(&items, [&one, &five], (&sensitivity, &ways), &course, &numbers);
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter })
}
