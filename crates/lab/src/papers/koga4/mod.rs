//! koga4: out-of-order delivery by RLC's selective repeat, and the waiting timer that prevents it.
//!
//! * `experiments.rs`: the chapter's scenarios by figure.
//! * `numbers.rs`: Table 4.2 and what else is given in numbers.
//! * `claims.rs`: what the chapter says in words, and whether it holds.
//! * `questions.rs`: the open questions, and the same claims under their other answers.
//! * `windows.rs`: cwnd against time.
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod claims;
mod experiments;
mod numbers;
mod questions;
mod windows;

use super::wcdma::blocks;
use super::wcdma::row::Row;
use super::{CpuTime, InRust, Reproduction, Settings, tried};
use crate::progress::Progress;
use experiments::Experiments;
use lasthop_scenario::Problem;

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "koga4",
    summary: "TCP over W-CDMA: out-of-order delivery by the link layer's repeats",
    citation: "H. Koga: dissertation on TCP over QoS links and over W-CDMA, chapter 4: Out-of-sequence in packet \
               arrivals due to layer 2 ARQ and its impact on TCP performance in W-CDMA networks",
    effort: CpuTime { quick_s: 6.0, full_s: 30.0 },
    reproduce,
};

const SCENARIO: &str = include_str!("../../../../../papers/koga4/ordered.toml");

/// How many repetitions.
struct Effort {
    /// Of 80 s.
    runs: u32,
    /// Of a transfer of 500 kbyte.
    transfers: u32,
    sensitivity_runs: u32,
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let effort = match settings.quick {
        true => Effort { runs: 8, transfers: 25, sensitivity_runs: 4 },
        false => Effort { runs: 40, transfers: 1000, sensitivity_runs: 20 },
    };
    let measured = Experiments::run(&effort, settings.seed, progress)?;
    let mut items = numbers::items(&measured.wait);
    items.extend(claims::items(&measured));
    items.extend(blocks::points(PAPER.name, chapter::PLOTS, &measured));
    let rows = questions::run(&effort, settings.seed, progress)?;
    items.extend(rows.iter().flat_map(Row::items).cloned());
    let windows = windows::run(settings.seed)?;
    tried::note(&mut items, &[]);
    let chapter = chapter::chapter(&items, &measured, &rows, &windows);
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter, overview: None })
}
