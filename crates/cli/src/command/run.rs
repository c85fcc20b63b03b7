//! `lasthop run PATH`.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::source::Source;
use crate::target::{self, Target};
use crate::{table, values};
use clap::Args;
use lasthop_lab::repeat::on_threads;
use lasthop_lab::report;
use lasthop_lab::runs::{self, csv, document, limits, summary};
use lasthop_scenario::Scenario;
use lasthop_sim::Watch;
use lasthop_sim::pcap::SourceCapture;
use lasthop_sim::trace::Trace;
use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};

/// Run a scenario several times and print what came out, with 95 % intervals.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    repetitions: Repetitions,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    files: Files,
}

/// How many repetitions, from which seed, on how many cores.
#[derive(Args, Clone, Debug)]
pub(crate) struct Repetitions {
    /// Number of repetitions; the scenario's own by default
    #[arg(long, value_name = "N", value_parser = values::runs)]
    runs: Option<u32>,
    /// Seed of the first repetition, the others count up; the scenario's own by default
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Number of threads; all cores by default. The results are the same for any
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    pub(crate) jobs: Option<usize>,
}

impl Repetitions {
    pub(crate) fn runs(&self, scenario: &Scenario) -> u32 {
        self.runs.unwrap_or(scenario.runs)
    }

    pub(crate) fn seed(&self, scenario: &Scenario) -> u64 {
        self.seed.unwrap_or(scenario.seed)
    }
}

/// Files about the first repetition.
#[derive(Args)]
struct Files {
    /// Capture the first repetition at the flows' sources, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keep at most so many bytes of each captured packet
    #[arg(long, value_name = "BYTES", requires = "pcap", value_parser = values::snap)]
    snap: Option<u32>,
    /// Write every event of the first repetition, a JSON object a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write cwnd, RTT, queues … of the first repetition over time, as CSV
    #[arg(long, value_name = "FILE.csv")]
    samples: Option<PathBuf>,
    /// Draw the first repetition over time, as a page that works offline
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl Run {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let scenario = self.source.draft()?.check()?;
        let (count, seed) = (self.repetitions.runs(&scenario), self.repetitions.seed(&scenario));
        let (open, watch) = self.files.open(&scenario)?;
        let bar = Bar::default();
        let jobs = self.repetitions.jobs;
        let runs = on_threads(jobs, || runs::repeat_watched(&scenario, count, seed, watch, &bar));
        let text = match self.format {
            Format::Table => {
                let rlc = summary::rlc_table(&runs.outcomes);
                heading(&scenario, count, seed)
                    + &table::text(&summary::table(&runs.outcomes))
                    + &rlc.map_or(String::new(), |rlc| format!("\n{}", table::text(&rlc)))
                    + &below(&limits::lines(&scenario, &runs.outcomes))
            }
            Format::Json => {
                let mut objects = summary::objects(&runs.outcomes);
                objects.extend(summary::rlc_objects(&runs.outcomes));
                objects.iter().map(|object| format!("{object}\n")).collect()
            }
            Format::Csv => csv::header(&[]) + &csv::rows(&[], &runs.outcomes),
        };
        open.finish(&scenario, seed, runs)?;
        output::print(&text)
    }
}

/// What ran, above the table.
fn heading(scenario: &Scenario, runs: u32, seed: u64) -> String {
    let how_often = match runs {
        1 => format!("one run of {}, seed {seed}; intervals need two", scenario.duration),
        _ => format!(
            "{runs} runs of {}, seeds {seed} to {}; means ± half of the 95 % interval",
            scenario.duration,
            seed.wrapping_add(u64::from(runs) - 1)
        ),
    };
    format!("{}\n{how_often}\n\n", scenario.title)
}

/// Lines under the table.
fn below(lines: &[String]) -> String {
    lines.iter().fold(String::from("\n"), |text, line| text + line + "\n")
}

impl Files {
    /// Begins every file, so that a mistake in a path shows before the run.
    fn open(&self, scenario: &Scenario) -> Result<(Open, Watch), Failure> {
        self.refuse_doubles()?;
        let begin = |path: &Option<PathBuf>| path.as_deref().map(Target::create).transpose();
        let mut watch = Watch { probes: self.samples.is_some() || self.report.is_some(), ..Watch::default() };
        let mut open =
            Open { samples: begin(&self.samples)?, report: begin(&self.report)?, paths: Vec::new() };
        if let Some(path) = &self.pcap {
            let target = Target::create(path)?;
            let capture = SourceCapture::new(scenario, target, self.snap)
                .map_err(|error| target::unfinished(path, &error))?;
            watch.observers.push(Box::new(capture));
            open.paths.push(path.clone());
        }
        if let Some(path) = &self.trace {
            watch.observers.push(Box::new(Trace::new(scenario, Target::create(path)?)));
            open.paths.push(path.clone());
        }
        Ok((open, watch))
    }

    fn refuse_doubles(&self) -> Result<(), Failure> {
        let all = [&self.pcap, &self.trace, &self.samples, &self.report];
        let mut paths: Vec<&Path> = all.into_iter().flatten().map(PathBuf::as_path).collect();
        paths.sort();
        match paths.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Failure::bad_input(
                format!("two files are to be written to `{}`", pair[0].display()),
                "give each of --pcap, --trace, --samples and --report a name of its own",
            )),
            None => Ok(()),
        }
    }
}

/// Files under way.
struct Open {
    samples: Option<Target>,
    report: Option<Target>,
    /// Of the capture and the trace, in the order of the observers.
    paths: Vec<PathBuf>,
}

impl Open {
    /// Writes what is left, and gives every file its name.
    fn finish(self, scenario: &Scenario, seed: u64, mut runs: runs::Runs) -> Result<(), Failure> {
        let mut targets = Vec::new();
        for (observer, path) in std::mem::take(&mut runs.watch.observers).into_iter().zip(&self.paths) {
            targets.push(given_back(observer).map_err(|error| target::unfinished(path, &error))?);
        }
        if let Some(target) = self.samples {
            targets.push(target.filled(&csv::samples(scenario, &runs.samples))?);
        }
        if let Some(target) = self.report {
            targets.push(target.filled(&report::html(&document::document(scenario, seed, &runs)))?);
        }
        for target in targets {
            let shown = target.path().display().to_string();
            target.finish()?;
            output::note(&format!("{shown}: the first repetition, seed {seed}"));
        }
        Ok(())
    }
}

/// The target that a capture or a trace wrote to.
fn given_back(observer: Box<dyn Any>) -> io::Result<Target> {
    match observer.downcast::<SourceCapture<Target>>() {
        Ok(capture) => capture.finish(),
        Err(observer) => match observer.downcast::<Trace<Target>>() {
            Ok(trace) => trace.finish(),
            Err(_) => Err(io::Error::other("the run was not watched")),
        },
    }
}
