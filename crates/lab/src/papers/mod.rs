//! Papers that can be reproduced. Each paper is a folder of data from which [`crate::study`] runs experiments. The
//! folder is built into the program or provided by the user.

pub(crate) mod cells;
pub mod deviation;

use crate::document::Chapter;
use crate::item::Item;
use crate::progress::Progress;
use crate::study::overview::Overview;
use crate::study::reproduce;
use crate::study::run_store::RunStore;
use crate::study::source::PaperSource;
use crate::study::study::Study;
use lasthop_scenario::Problem;
use std::path::Path;

/// A reproducible paper.
#[derive(Debug)]
pub struct Paper {
    /// Definition of the reproduction.
    pub study: Study,
}

impl Paper {
    /// Reads a paper from a folder. Fails if the files are invalid.
    pub fn in_folder(folder: &Path) -> Result<Paper, Problem> {
        Study::read(PaperSource::Folder(folder.to_owned())).map(|study| Paper { study })
    }

    /// Returns the built-in paper of this name (see [`NAMES`]). Returns `None` if the name is unknown, and an error if
    /// the paper's files are invalid.
    pub fn named(name: &str) -> Option<Result<Paper, Problem>> {
        let (name, files) = lasthop_papers::ALL.iter().find(|(known, _)| *known == name)?;
        Some(Study::read(PaperSource::Within(name, files)).map(|study| Paper { study }))
    }

    /// Returns the name on the command line, which is also the name of the folder.
    pub fn name(&self) -> &str {
        &self.study.file.paper
    }

    /// Returns a summary of the paper in one line.
    pub fn summary(&self) -> &str {
        &self.study.file.summary
    }

    /// Returns the CPU time of the reproduction on the reference machine.
    pub fn effort(&self) -> CpuTime {
        self.study.file.effort
    }

    /// Runs the experiments of the paper. Fails if a scenario is invalid.
    pub fn reproduce(
        &self,
        settings: &ReproductionSettings,
        store: &RunStore,
        progress: &dyn Progress,
    ) -> Result<Reproduction, Problem> {
        reproduce::chapter(&self.study, settings, store, progress)
    }
}

/// CPU time of a reproduction on the reference machine. On this machine, the bench case `hasegawa` takes
/// [`CpuTime::BENCH_CASE_S`] seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTime {
    /// CPU time of a quick reproduction, with fewer repetitions and points, s.
    pub quick_s: f64,
    /// CPU time of a full reproduction, s.
    pub full_s: f64,
}

impl CpuTime {
    /// CPU time of the first case of [`crate::bench::CASES`] on the reference machine, s.
    pub const BENCH_CASE_S: f64 = 0.05;

    /// Returns the CPU time of a reproduction with these settings, s.
    pub fn of(&self, settings: &ReproductionSettings) -> f64 {
        if settings.quick { self.quick_s } else { self.full_s }
    }
}

/// Names of all papers, in the order of reproduction.
pub const NAMES: [&str; 12] = [
    "hasegawa", "huang", "saad", "miyoshi", "koga2", "koga3", "koga4", "koga5", "rfc9438", "today",
    "related", "quic",
];

/// Extent and seed of a reproduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReproductionSettings {
    /// Whether the reproduction is quick, with fewer repetitions and points. Each item then takes less than a minute.
    pub quick: bool,
    /// First seed.
    pub seed: u64,
}

/// Results of a reproduction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// Name of the paper.
    pub paper: String,
    /// All published numbers and claims with our measurements. The items of the default reading come first.
    pub items: Vec<Item>,
    /// The paper's chapter of the report.
    pub chapter: Chapter,
    /// The paper's part of the report's first screen.
    pub overview: Overview,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_within_the_program_is_in_the_list() {
        let within: Vec<&str> = lasthop_papers::ALL.iter().map(|(name, _)| *name).collect();
        assert!(within.iter().all(|name| NAMES.contains(name)), "{within:?}");
        assert_eq!(within.len(), NAMES.len());
    }
}
