//! The papers, each a folder: its experiments, its published numbers beside ours, its figures.

pub(crate) mod cells;
pub mod deviation;
mod files;
pub mod koga3;
pub mod koga4;
pub mod koga5;
pub mod published;
mod tried;
mod wcdma;

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
pub enum Paper {
    /// As data.
    Data(Box<Study>),
    /// In Rust.
    Rust(&'static InRust),
}

/// A paper whose experiments are Rust.
#[derive(Debug)]
pub struct InRust {
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

impl Paper {
    /// A paper in a folder of its own.
    ///
    /// # Errors
    /// What is wrong with its files.
    pub fn in_folder(folder: &Path) -> Result<Paper, Problem> {
        Study::read(Source::Folder(folder.to_owned())).map(|study| Paper::Data(Box::new(study)))
    }

    /// One of [`NAMES`].
    ///
    /// # Errors
    /// What is wrong with its files: a test reads them all.
    pub fn named(name: &str) -> Option<Result<Paper, Problem>> {
        if let Some(known) = IN_RUST.iter().find(|one| one.name == name) {
            return Some(Ok(Paper::Rust(known)));
        }
        let (name, files) = files::ALL.iter().find(|(known, _)| *known == name)?;
        Some(Study::read(Source::Within(name, files)).map(|study| Paper::Data(Box::new(study))))
    }

    /// The name on the command line and of its folder.
    pub fn name(&self) -> &str {
        match self {
            Paper::Data(study) => &study.file.paper,
            Paper::Rust(paper) => paper.name,
        }
    }

    /// What names it on the command line: its name, or its folder.
    pub fn origin(&self) -> String {
        match self {
            Paper::Data(study) => study.source.origin(),
            Paper::Rust(paper) => paper.name.to_owned(),
        }
    }

    /// SHA-256 of its files, the first 16 digits.
    ///
    /// # Errors
    /// If a file cannot be read any more.
    pub fn digest(&self) -> Result<String, Problem> {
        match self {
            Paper::Data(study) => study.digest(),
            Paper::Rust(_) => Ok(String::new()),
        }
    }

    /// What it is about, one line.
    pub fn summary(&self) -> &str {
        match self {
            Paper::Data(study) => &study.file.summary,
            Paper::Rust(paper) => paper.summary,
        }
    }

    /// CPU time that it takes.
    pub fn effort(&self) -> CpuTime {
        match self {
            Paper::Data(study) => study.file.effort,
            Paper::Rust(paper) => paper.effort,
        }
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
        match self {
            Paper::Data(study) => reproduce::chapter(study, settings, store, progress),
            Paper::Rust(paper) => (paper.reproduce)(settings, progress),
        }
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
pub const NAMES: [&str; 8] = ["hasegawa", "huang", "saad", "miyoshi", "koga3", "koga4", "koga5", "rfc9438"];

const IN_RUST: &[&InRust] = &[&koga3::PAPER, &koga4::PAPER, &koga5::PAPER];

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
    /// Every published number and claim beside ours, the default setting of each open question first.
    pub items: Vec<Item>,
    /// The report's chapter.
    pub chapter: Chapter,
    /// Its part of the report's first screen.
    pub overview: Option<Overview>,
}
