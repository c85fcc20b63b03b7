//! koga5: the receiver's window from link-layer information.
//!
//! * `experiments.rs`: the chapter's scenarios by figure.
//! * `numbers.rs`: Table 5.1, Eqs. 5.1 and 5.2.
//! * `claims.rs`: what the chapter says in words, and whether it holds.
//! * `questions.rs`: the open questions, and the main claims under their other answers.
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod claims;
mod experiments;
mod numbers;
mod questions;

use super::wcdma::blocks;
use super::wcdma::row::Row;
use super::{CpuTime, InRust, Reproduction, Settings, tried};
use crate::progress::Progress;
use experiments::Experiments;
use lasthop_scenario::Problem;

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "koga5",
    summary: "TCP over W-CDMA: the receiver's window from link-layer information",
    citation: "H. Koga: dissertation on TCP over QoS links and over W-CDMA, chapter 5: TCP flow control using link \
               layer information in mobile networks",
    effort: CpuTime { quick_s: 6.0, full_s: 37.0 },
    reproduce,
};

const SCENARIO: &str = include_str!("../../../../../papers/koga5/original.toml");
const CHANGING: &str = include_str!("../../../../../papers/koga5/changing.toml");

/// How many repetitions of 80 s.
struct Effort {
    runs: u32,
    sensitivity_runs: u32,
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let effort = match settings.quick {
        true => Effort { runs: 4, sensitivity_runs: 3 },
        false => Effort { runs: 30, sensitivity_runs: 15 },
    };
    let measured = Experiments::run(&effort, settings.seed, progress)?;
    let mut items = numbers::table(&measured.windows);
    items.extend(numbers::equations());
    items.extend(claims::items(&measured));
    items.extend(blocks::points(PAPER.name, chapter::PLOTS, &measured));
    let rows = questions::run(&effort, settings.seed, progress)?;
    items.extend(rows.iter().flat_map(Row::items).cloned());
    tried::note(
        &mut items,
        &[(
            "eq5.2",
            "Eqs. 5.1 and 5.2 with the stated numbers; a T of 300 ms would give the paper's value at 384 kbit/s",
        )],
    );
    let chapter = chapter::chapter(&items, &measured, &rows);
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter, overview: None })
}
