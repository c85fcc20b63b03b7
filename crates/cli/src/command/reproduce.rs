//! `lasthop reproduce [PAPER…]`.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::made;
use crate::output::{self, Format};
use crate::target::Target;
use crate::values::Named;
use crate::{items, values};
use clap::Args;
use lasthop_lab::document::Document;
use lasthop_lab::papers::{self, Paper, Reproduction, Settings};
use lasthop_lab::repeat::on_threads;
use lasthop_lab::report;
use std::fs;
use std::path::{Path, PathBuf};

/// Reproduce papers: their numbers beside ours, with intervals and verdicts, and a report with their figures.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// The papers; all by default
    #[arg(value_name = "PAPER", value_parser = Named { names, parse: paper })]
    papers: Vec<&'static Paper>,
    /// Fewer repetitions and points: every number, within a minute
    #[arg(long)]
    quick: bool,
    /// Number of threads; all cores by default. The results are the same for any
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    jobs: Option<usize>,
    /// Seed of the first repetition, the others count up
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::seed)]
    seed: u64,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Where the report goes; by default target/report/index.html, or ./lasthop-report.html if there is no target
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl Reproduce {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        // Begun now, so that a mistake in its path shows before minutes of work.
        let path = self.report_path()?;
        let target = Target::create(&path)?;
        let settings = Settings { quick: self.quick, seed: self.seed };
        let bar = Bar::default();
        let mut done: Vec<Reproduction> = Vec::new();
        for paper in self.chosen() {
            done.push(on_threads(self.jobs, || (paper.reproduce)(&settings, &bar))?);
        }
        let header = if self.format == Format::Csv { items::csv_header() } else { String::new() };
        let text: String = std::iter::once(header).chain(done.iter().map(|one| self.text(one))).collect();
        let document = Document {
            title: "Papers reproduced".into(),
            introduction:
                "What papers on TCP over wireless links report, and what the same experiments give here: \
                           published numbers beside ours with their 95 % intervals."
                    .into(),
            chapters: done
                .into_iter()
                .map(|reproduction| reproduction.chapter)
                .chain([made::chapter(Vec::new())])
                .collect(),
        };
        output::print(&text)?;
        target.write_and_finish(&report::html(&document))?;
        let last = format!("report: {}", path.display());
        match self.format {
            Format::Table => output::print_line(&last),
            Format::Json | Format::Csv => {
                output::note(&last);
                Ok(())
            }
        }
    }

    /// Each paper once, in the order in which they stand.
    fn chosen(&self) -> impl Iterator<Item = &'static Paper> {
        papers::ALL.iter().filter(|paper| {
            self.papers.is_empty() || self.papers.iter().any(|named| named.name == paper.name)
        })
    }

    fn text(&self, reproduction: &Reproduction) -> String {
        match self.format {
            Format::Table => items::tables(reproduction),
            Format::Json => items::json(&reproduction.items),
            Format::Csv => items::csv(&reproduction.items),
        }
    }

    fn report_path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.report {
            return Ok(path.clone());
        }
        if !Path::new("target").is_dir() {
            return Ok(PathBuf::from("lasthop-report.html"));
        }
        let folder = Path::new("target").join("report");
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::bad_input(
                format!("cannot create the directory `{}`: {error}", folder.display()),
                "choose another place for the report: --report FILE.html",
            )
        })?;
        Ok(folder.join("index.html"))
    }
}

fn names() -> Vec<&'static str> {
    papers::ALL.iter().map(|paper| paper.name).collect()
}

fn paper(name: &str) -> Result<&'static Paper, String> {
    papers::ALL
        .iter()
        .find(|paper| paper.name == name)
        .ok_or_else(|| format!("expected a paper: {}", names().join(", ")))
}
