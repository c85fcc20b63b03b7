//! Command `lasthop reproduce [PAPER…]`: reproduces papers and compares published numbers with ours.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::provenance::Provenance;
use crate::provenance_chapter;
use crate::rounded;
use crate::target::Target;
use crate::values::KnownNames;
use crate::{items, overview, rerun, summary, values};
use clap::Args;
use lasthop_lab::bench::CASES;
use lasthop_lab::document::Document;
use lasthop_lab::in_order::threads;
use lasthop_lab::papers::{self, CpuTime, Paper, Reproduction, ReproductionSettings};
use lasthop_lab::progress::Silent;
use lasthop_lab::repeat::{on_threads, repeat};
use lasthop_lab::report;
use lasthop_lab::study::run_store::RunStore;
use lasthop_scenario::nearest;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reproduce papers: compare published numbers with ours, with intervals, verdicts, and a report with figures.
///
/// First estimates the time. As each paper finishes, prints how many numbers and claims agree, and the differences.
/// You can add a paper as a folder: see docs/how-to/write-a-paper.md.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// Papers, or folders with a study.toml; all papers by default
    #[arg(value_name = "PAPER", value_parser = KnownNames { names, parse: paper })]
    papers: Vec<String>,
    /// Use fewer repetitions and points: gives every number in about a sixth of the time
    #[arg(long)]
    quick: bool,
    /// Number of threads; by default one per core. Results do not depend on the number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::jobs)]
    jobs: Option<usize>,
    /// Seed of the first repetition; each further repetition adds 1
    #[arg(long, value_name = "S", default_value = "1", allow_negative_numbers = true, value_parser = values::seed)]
    seed: u64,
    /// Ignore stored results of earlier runs
    #[arg(long)]
    fresh: bool,
    /// Rerun the archived rows of a file (--format json), and compare byte for byte
    #[arg(
        long,
        value_name = "FILE.jsonl",
        conflicts_with_all = ["papers", "quick", "seed", "fresh", "all", "format", "report"],
    )]
    again: Option<PathBuf>,
    /// Print every number, every curve and every answer to an open question, not only counts and differences
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Path of the report; a .csv file with every row is written beside it. Default: target/report/index.html, or
    /// ./lasthop-report.html if there is no directory target
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl Reproduce {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let Some(file) = &self.again {
            return rerun::run(file, self.jobs);
        }
        let chosen = self.chosen()?;
        // The report is opened before the work, so that a wrong path is reported at once.
        let path = self.report_path()?;
        let target = Target::create(&path)?;
        let csv_path = path.with_extension("csv");
        // The CSV file is written only if the report is a regular file, not if the report is a pipe or a device.
        let is_file = csv_path != path && (path.is_file() || !path.exists());
        let csv = if is_file { Some(Target::create(&csv_path)?) } else { None };
        let settings = ReproductionSettings { quick: self.quick, seed: self.seed };
        let bar = Bar::default();
        let speed = MachineSpeed::measured(self.jobs)?;
        output::note(&self.plan(&chosen, &settings, &speed));
        if self.format == Format::Csv {
            output::print(&items::csv_header())?;
        }
        let store = if self.fresh {
            RunStore::none()
        } else {
            store_folder().map_or_else(RunStore::none, |at| RunStore::open(&at))
        };
        let (mut chapters, mut overviews, mut digests) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = Vec::new();
        for (number, paper) in (1..).zip(&chosen) {
            let time = rounded::time(speed.seconds(paper, &settings));
            output::note(&format!(
                "{} ({number} of {}), about {time}: {}",
                paper.name(),
                chosen.len(),
                paper.summary()
            ));
            let reproduction = on_threads(self.jobs, || paper.reproduce(&settings, &store, &bar))?;
            let provenance = Provenance::new(&paper.study.source.origin(), paper.study.digest()?, &settings);
            output::print(&self.text(&reproduction, paper.summary(), &provenance))?;
            digests.push(format!("{} {}", paper.name(), paper.study.digest()?));
            chapters.push(reproduction.chapter);
            overviews.push(reproduction.overview);
            rows.extend(reproduction.items);
        }
        chapters.insert(0, overview::chapter(&overviews, &rows, &settings, &digests));
        chapters.push(provenance_chapter::chapter(Vec::new()));
        let document = Document {
            title: "Papers reproduced".into(),
            introduction:
                "Results of papers on TCP over wireless links, and of the same experiments in Lasthop: \
                           published numbers compared with ours, which have 95 % intervals."
                    .into(),
            chapters,
            ..Document::default()
        };
        if let Some(csv) = csv {
            csv.write_and_finish(&(items::csv_header() + &items::csv(&rows)))?;
        }
        target.write_and_finish(&report::html(&document))?;
        let last = format!("report: {}", path.display());
        match self.format {
            Format::Table if !self.all => output::print_line(&output::prose(&format!(
                "A number agrees if its whole 95 % interval lies within the margin, and differs if the \
                 whole interval lies outside.\n\
                 For every number and answer: --all, --format json. Figures: {}",
                path.display()
            ))),
            Format::Table => output::print_line(&last),
            Format::Json | Format::Csv => {
                output::note(&last);
                Ok(())
            }
        }
    }

    /// Returns the chosen papers: first built-in papers in their fixed order, without duplicates, then folders in the
    /// order of the arguments.
    fn chosen(&self) -> Result<Vec<Paper>, Failure> {
        let named = |name: &&str| self.papers.is_empty() || self.papers.iter().any(|one| one == name);
        let mut chosen: Vec<Paper> = Vec::new();
        for paper in papers::NAMES.iter().filter(|name| named(name)).filter_map(|name| Paper::named(name)) {
            chosen.push(paper?);
        }
        for other in self.papers.iter().filter(|name| !papers::NAMES.contains(&name.as_str())) {
            chosen.push(Paper::in_folder(Path::new(other))?);
        }
        Ok(chosen)
    }

    fn plan(&self, chosen: &[Paper], settings: &ReproductionSettings, speed: &MachineSpeed) -> String {
        let total = |settings| chosen.iter().map(|paper| speed.seconds(paper, settings)).sum::<f64>();
        let papers = match chosen {
            [paper] => paper.name().to_owned(),
            _ => format!("{} papers", chosen.len()),
        };
        let how = if settings.quick { "with fewer repetitions" } else { "in full" };
        let mut plan = format!("{papers} {how}: {}", speed.words(total(settings)));
        if chosen.len() > 1 {
            plan += "; each paper is printed as it finishes, and the report is written at the end";
        }
        if !settings.quick {
            let quick = ReproductionSettings { quick: true, ..*settings };
            plan += &format!(" (--quick takes about {})", rounded::time(total(&quick)));
        }
        plan
    }

    fn text(&self, reproduction: &Reproduction, summary: &str, provenance: &Provenance<'_>) -> String {
        match self.format {
            Format::Table if self.all => items::tables(reproduction),
            Format::Table => output::prose(&summary::text(reproduction, summary)),
            Format::Json => items::json(&reproduction.items, provenance),
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
                "choose another path for the report: --report FILE.html",
            )
        })?;
        Ok(folder.join("index.html"))
    }
}

/// Speed of this machine with all threads busy, measured when the command starts.
struct MachineSpeed {
    threads: usize,
    /// Wall-clock time of one run of the first bench case while every thread runs this case, s.
    case_s: f64,
}

impl MachineSpeed {
    fn measured(jobs: Option<usize>) -> Result<MachineSpeed, Failure> {
        let scenario = CASES[0].scenario()?;
        let threads = threads(jobs, usize::MAX);
        let began = Instant::now();
        on_threads(jobs, || repeat(&[&scenario], threads as u32, scenario.seed, &Silent));
        Ok(MachineSpeed { threads, case_s: began.elapsed().as_secs_f64() })
    }

    /// Estimates the wall-clock time for a paper, s.
    fn seconds(&self, paper: &Paper, settings: &ReproductionSettings) -> f64 {
        paper.effort().of(settings) * self.case_s / CpuTime::BENCH_CASE_S / self.threads as f64
    }

    fn words(&self, seconds: f64) -> String {
        let threads =
            if self.threads == 1 { "one thread".to_owned() } else { format!("{} threads", self.threads) };
        format!("about {} on {threads} at this machine's present speed", rounded::time(seconds))
    }
}

/// Returns the folder of stored runs: in `target` if this directory exists, otherwise in the user's cache directory.
/// Returns `None` if this directory is unknown.
fn store_folder() -> Option<PathBuf> {
    if Path::new("target").is_dir() {
        return Some(Path::new("target").join("lasthop").join("cells"));
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(cache.filter(|cache| cache.is_absolute()).or_else(home)?.join("lasthop").join("cells"))
}

fn names() -> Vec<&'static str> {
    papers::NAMES.to_vec()
}

fn paper(name: &str) -> Result<String, String> {
    if papers::NAMES.contains(&name) || Path::new(name).is_dir() {
        return Ok(name.to_owned());
    }
    let all = papers::NAMES.join(", ");
    Err(match nearest(name, papers::NAMES) {
        Some(meant) => format!("did you mean `{meant}`? Papers: {all}"),
        None => format!("expected a paper ({all}), or a folder with a study.toml"),
    })
}
