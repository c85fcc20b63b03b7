//! The papers, each a folder: its experiments, its published numbers beside ours, its figures.

pub(crate) mod cells;
pub mod deviation;
pub mod hasegawa;
pub mod huang;
pub mod koga3;
pub mod koga4;
pub mod koga5;
pub mod miyoshi;
pub mod published;
pub mod saad;
mod tried;
mod wcdma;

use crate::document::Chapter;
use crate::item::Item;
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// A paper that can be reproduced.
pub struct Paper {
    /// The name on the command line and of its folder.
    pub name: &'static str,
    /// What it is about, one line.
    pub summary: &'static str,
    /// Authors, title, where it appeared.
    pub citation: &'static str,
    /// What that takes.
    pub effort: CpuTime,
    /// Runs its experiments.
    pub reproduce: fn(&Settings, &dyn Progress) -> Result<Reproduction, Problem>,
}

/// CPU time, s, measured where the bench case `hasegawa` takes [`CpuTime::BENCH_CASE_S`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTime {
    /// With fewer repetitions and points.
    pub quick_s: f64,
    /// In full.
    pub full_s: f64,
}

impl CpuTime {
    /// What the first case of [`crate::bench::CASES`] takes there, s.
    pub const BENCH_CASE_S: f64 = 0.05;

    /// What these settings take.
    pub fn of(&self, settings: &Settings) -> f64 {
        if settings.quick { self.quick_s } else { self.full_s }
    }
}

/// All papers, in the order in which they are reproduced.
pub const ALL: &[Paper] =
    &[hasegawa::PAPER, huang::PAPER, saad::PAPER, miyoshi::PAPER, koga3::PAPER, koga4::PAPER, koga5::PAPER];

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Fewer repetitions and points: every item, within a minute.
    pub quick: bool,
    /// The first seed.
    pub seed: u64,
}

/// What a reproduction found.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// The paper's name.
    pub paper: &'static str,
    /// Every published number and claim beside ours, the default setting of each open question first.
    pub items: Vec<Item>,
    /// The report's chapter.
    pub chapter: Chapter,
}
