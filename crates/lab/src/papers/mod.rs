//! The papers that come with the program, and those of the user's own: each a folder of data ([`crate::study`] runs it).

pub(crate) mod cells;
pub mod deviation;
mod files;

use crate::document::Chapter;
use crate::item::Item;
use crate::progress::Progress;
use crate::study::overview::Overview;
use crate::study::reproduce;
use crate::study::source::Source;
use crate::study::store::Store;
use crate::study::study::Study;
use lasthop_scenario::Problem;
use std::path::Path;

/// A paper that can be reproduced.
#[derive(Debug)]
pub struct Paper {
    /// Its files.
    pub study: Study,
}

impl Paper {
    /// A paper in a folder of its own.
    ///
    /// # Errors
    /// What is wrong with its files.
    pub fn in_folder(folder: &Path) -> Result<Paper, Problem> {
        Study::read(Source::Folder(folder.to_owned())).map(|study| Paper { study })
    }

    /// One of [`NAMES`]; `None` if there is none of this name.
    ///
    /// # Errors
    /// What is wrong with its files: a test reads them all.
    pub fn named(name: &str) -> Option<Result<Paper, Problem>> {
        let (name, files) = files::ALL.iter().find(|(known, _)| *known == name)?;
        Some(Study::read(Source::Within(name, files)).map(|study| Paper { study }))
    }

    /// The name on the command line and of its folder.
    pub fn name(&self) -> &str {
        &self.study.file.paper
    }

    /// What it is about, one line.
    pub fn summary(&self) -> &str {
        &self.study.file.summary
    }

    /// CPU time that it takes.
    pub fn effort(&self) -> CpuTime {
        self.study.file.effort
    }

    /// Runs its experiments.
    ///
    /// # Errors
    /// A scenario that is not valid.
    pub fn reproduce(
        &self,
        settings: &Settings,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<Reproduction, Problem> {
        reproduce::chapter(&self.study, settings, store, progress)
    }
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
pub const NAMES: [&str; 11] = [
    "hasegawa", "huang", "saad", "miyoshi", "koga2", "koga3", "koga4", "koga5", "rfc9438", "today", "related",
];

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
    pub paper: String,
    /// Every published number and claim beside ours, the default reading first.
    pub items: Vec<Item>,
    /// The report's chapter.
    pub chapter: Chapter,
    /// Its part of the report's first screen.
    pub overview: Overview,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_within_the_program_is_in_the_list() {
        let within: Vec<&str> = files::ALL.iter().map(|(name, _)| *name).collect();
        assert!(within.iter().all(|name| NAMES.contains(name)), "{within:?}");
        assert_eq!(within.len(), NAMES.len());
    }
}
