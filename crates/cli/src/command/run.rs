//! Command `lasthop run PATH`: runs a scenario several times and prints means with 95 % intervals.

use super::precision::PrecisionArgs;
use crate::cost;
use crate::failure::Failure;
use crate::finished;
use crate::output::{self, Format};
use crate::picture;
use crate::provenance_chapter;
use crate::qlog_folder::QlogFolder;
use crate::scenario_args::{self, ScenarioArgs};
use crate::target::{self, Target};
use crate::{table, values};
use clap::Args;
use lasthop_base::Duration;
use lasthop_lab::assertion::{Assertion, BoundStatus, CheckedBound, junit};
use lasthop_lab::cost::{RunPlan, estimate};
use lasthop_lab::document::Table;
use lasthop_lab::in_order::threads;
use lasthop_lab::report;
use lasthop_lab::runs::glance::{self, Glance};
use lasthop_lab::runs::random::Determinism;
use lasthop_lab::runs::sequence;
use lasthop_lab::runs::{
    self, Observations, Repetition, Runs, classes, csv, distribution, document, first_screen, limits, links,
    sizes, summary,
};
use lasthop_scenario::Scenario;
use lasthop_sim::pcap::SourceCapture;
use lasthop_sim::qlog::Qlog;
use lasthop_sim::trace::Trace;
use lasthop_sim::{Observation, Outcome, Samples};
use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Run a scenario several times, and print means with 95 % intervals
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    source: ScenarioArgs,
    #[command(flatten)]
    repetitions: Repetitions,
    #[command(flatten)]
    precision: PrecisionArgs,
    /// Exclude measurements and transfers that begin before this time; sets the scenario's warmup
    #[arg(long, value_name = "TIME")]
    warm_up: Option<String>,
    /// Fail (exit status 1) unless this condition holds for the whole 95 % interval: goodput > 5 Mbit/s, p95(rtt) < 100
    /// ms, timeouts@FLOW < 1
    #[arg(long = "assert", value_name = "METRIC<VALUE", value_delimiter = ',', value_parser = asserted)]
    assertions: Vec<Assertion>,
    /// Write results of the assertions as JUnit XML
    #[arg(long, value_name = "FILE.xml", requires = "assertions")]
    junit: Option<PathBuf>,
    /// Print every metric of flows and links, with its meaning
    #[arg(long, conflicts_with = "metric")]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// With --format csv or json: one row or object per class ([flow.NAME] with all replicas) instead of one per flow
    #[arg(long)]
    classes: bool,
    #[command(flatten)]
    files: RunFiles,
}

fn asserted(text: &str) -> Result<Assertion, String> {
    Assertion::parse(text).map_err(|refusal| format!("{}; {}", refusal.message, refusal.help))
}

/// Flags for the number of repetitions, the first seed and the number of threads.
#[derive(Args, Clone, Debug)]
pub(crate) struct Repetitions {
    /// Number of repetitions; by default the scenario's number. With --until: maximum number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::runs)]
    runs: Option<u32>,
    /// Seed of the first repetition; each further repetition adds 1. Default: the scenario's seed
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = values::seed)]
    seed: Option<u64>,
    /// Number of threads; by default one per core. Results do not depend on the number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::jobs)]
    pub(crate) jobs: Option<usize>,
}

impl Repetitions {
    /// Returns the number of repetitions: the number given by `--runs`, otherwise the scenario's number. Without
    /// randomness, the default is 1, because all repetitions would be equal.
    pub(crate) fn runs(&self, scenario: &Scenario, determinism: &Determinism) -> u32 {
        self.runs.unwrap_or_else(|| determinism.worth_running(scenario.runs))
    }

    pub(crate) fn max_runs(&self) -> Option<u32> {
        self.runs
    }

    pub(crate) fn seed(&self, scenario: &Scenario) -> u64 {
        self.seed.unwrap_or(scenario.seed)
    }
}

/// Output files.
#[derive(Args)]
struct RunFiles {
    /// Capture the first repetition at the flows' sources, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keep at most this many bytes of each captured packet
    #[arg(long, value_name = "BYTES", requires = "pcap", value_parser = values::snap)]
    snap: Option<u32>,
    /// Write every event of the first repetition, one JSON object per line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write qlog files of the first repetition to this folder: packets, losses and TCP events of each flow. If lasthop
    /// was built with --features qlog, the QUIC library noq also writes a log for each end
    #[arg(long, value_name = "FOLDER")]
    qlog: Option<PathBuf>,
    /// Write cwnd, RTT, queues … of the first repetition over time, as CSV
    #[arg(long, value_name = "FILE.csv")]
    samples: Option<PathBuf>,
    /// Write the completion time of each transfer and request of every repetition, as CSV
    #[arg(long, value_name = "FILE.csv")]
    completions: Option<PathBuf>,
    /// Write an offline page: the result in a sentence and four numbers, charts of the first repetition, all tables
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a picture of goodput and queues over time in the first repetition, as SVG or PNG
    #[arg(long, value_name = "FILE.svg|png", value_parser = picture::path)]
    figure: Option<PathBuf>,
}

impl Run {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut draft = self.source.draft()?;
        if let Some(time) = &self.warm_up {
            draft.set("warmup", time)?;
        }
        let scenario = Arc::new(scenario_args::checked(&draft)?);
        let determinism = Determinism::of(std::iter::once(&*scenario));
        self.refuse_unknown_flows(&scenario)?;
        let (count, seed) = (
            self.precision.runs(&self.repetitions, &scenario, &determinism),
            self.repetitions.seed(&scenario),
        );
        let (mut open, observation) = self.files.open(&scenario)?;
        if self.format == Format::Csv {
            output::print(&if self.classes { classes::header() } else { csv::header(&[]) })?;
        }
        let junit = self.junit.as_deref().map(Target::create).transpose()?;
        let keeps_outcomes = self.format != Format::Csv || open.report.is_some();
        let samples_all = self.assertions.iter().any(Assertion::needs_samples);
        let plan = RunPlan {
            runs: count as usize,
            threads: threads(self.repetitions.jobs, count as usize),
            keeps_outcomes,
            sampled: if samples_all {
                threads(self.repetitions.jobs, count as usize)
            } else {
                usize::from(observation.probes)
            },
        };
        // With `--until`, the number of runs is not known in advance, so the cost cannot be estimated.
        if !self.precision.is_given() {
            cost::print_if_large(&estimate([&*scenario].into_iter(), plan), &plan);
        }
        let mut tracker = self.precision.tracker();
        let mut runs = Runs::default();
        let mut ended_at_s = None;
        let (mut number, mut readings) = (0, vec![Vec::new(); self.assertions.len()]);
        let work =
            runs::begin_sampled(&scenario, count, seed, observation, samples_all, self.repetitions.jobs)
                .map_err(Failure::no_threads)?;
        let ended =
            finished::consume_in_order("run", work, |Repetition { outcome, observations, is_whole }| {
                Failure::check_stuck(&outcome)?;
                Failure::note_ended_flows(&outcome);
                number += 1;
                if is_whole {
                    tracker.record(0, &outcome);
                } else {
                    ended_at_s = Some(outcome.duration_s + outcome.warmup_s);
                }
                if self.format == Format::Csv && is_whole {
                    let rows = if self.classes {
                        classes::rows(number, &outcome)
                    } else {
                        csv::rows(&[], number, &outcome)
                    };
                    output::print(&rows)?;
                }
                if let Some(file) = open.completions.as_mut().filter(|_| is_whole) {
                    file.append(&distribution::rows(&[], number, &outcome))?;
                }
                let samples = observations.as_ref().map(|observations| &observations.samples);
                for (values, assertion) in readings.iter_mut().zip(&self.assertions) {
                    values.push(assertion.of(&outcome, samples));
                }
                if let Some(mut observations) = observations.filter(|_| number == 1) {
                    runs.segments = observations.segments();
                    runs.samples = open.finish_first(&scenario, outcome.seed, observations)?;
                }
                if keeps_outcomes {
                    runs.outcomes.push(outcome);
                }
                Ok(tracker.demand(count))
            })?;
        if number > 0 {
            if let Some(target) = open.report {
                let mut document = document::document(&scenario, seed, &runs);
                document
                    .chapters
                    .push(provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]));
                finish(target.filled(&report::html(&document))?, seed)?;
            }
            if let Some(seconds) = ended_at_s {
                output::note(&format!(
                    "note: interrupted at {seconds:.1} s of {}: the numbers cover the time until then",
                    scenario.duration
                ));
            }
            if let Some(target) = open.figure {
                let note = format!("First repetition, seed {seed}.");
                picture::write(target, &scenario.title, &note, first_screen::figures(&scenario, &runs))?;
            }
            self.print(&scenario, seed, &runs.outcomes, &determinism)?;
        }
        ended.into_result()?;
        tracker.notes(&determinism).iter().for_each(|note| output::note(note));
        self.report_assertions(&readings, &determinism, junit)
    }

    fn refuse_unknown_flows(&self, scenario: &Scenario) -> Result<(), Failure> {
        for flow in self.assertions.iter().filter_map(Assertion::flow) {
            if scenario.flows.iter().all(|known| !classes::is_named(&known.name, flow)) {
                let names: Vec<&str> =
                    scenario.flows.iter().take(20).map(|known| known.name.as_str()).collect();
                return Err(Failure::bad_input(
                    format!("--assert: unknown flow `{flow}`"),
                    format!("flows: {}", names.join(", ")),
                ));
            }
        }
        Ok(())
    }

    fn report_assertions(
        &self,
        readings: &[Vec<Option<f64>>],
        determinism: &Determinism,
        junit: Option<Target>,
    ) -> Result<(), Failure> {
        let is_exact = determinism.note().is_some();
        let judge = |(assertion, values): (&Assertion, &Vec<Option<f64>>)| {
            assertion.bound.check(determinism.independent(values), is_exact)
        };
        let judged: Vec<CheckedBound> = self.assertions.iter().zip(readings).map(judge).collect();
        if let Some(target) = junit {
            target.write_and_note(&junit::xml(&format!("lasthop run {}", self.source.path), &judged))?;
        }
        for one in &judged {
            match self.format {
                Format::Table => output::print(&format!("{}\n", one.line()))?,
                Format::Json => output::print(&format!("{}\n", one.value()))?,
                // Standard output holds the CSV rows of the runs, so the assertion's result goes to standard error.
                Format::Csv => output::note(&one.line()),
            }
        }
        let missed = judged.iter().filter(|one| one.status != BoundStatus::Holds).count();
        match missed {
            0 => Ok(()),
            _ => Err(Failure::failed(
                format!("{missed} of {} assertions do not hold", judged.len()),
                "see the lines above that begin with `assert`; more --runs may decide open assertions",
            )),
        }
    }

    /// Formats the tables of flows and links: the chosen metrics (`--metric`), all metrics (`--all`), or the most
    /// important metrics.
    fn tables(&self, scenario: &Scenario, outcomes: &[Outcome]) -> String {
        if !self.precision.metrics().is_empty() {
            let chosen = self.precision.metrics();
            return table::text(&glance::chosen(outcomes, chosen))
                + &spaced(classes::table(outcomes, chosen));
        }
        if self.all {
            let links = links::tables(outcomes).into_iter();
            let links: String = links.map(|links| format!("\n{}", table::text(&links))).collect();
            return table::text(&summary::table(outcomes))
                + &spaced(classes::table(outcomes, &[]))
                + &spaced(sizes::table(&sizes::of_run(outcomes), "class"))
                + &links
                + &below(&limits::lines(scenario, outcomes));
        }
        let Glance { sentence, flows, classes, sizes, links, more } = Glance::of(scenario, outcomes);
        let links =
            links.map_or(String::new(), |links| format!("\n{}", table::without(&links, &[links::CARRIED])));
        let hint = limits::hint(scenario, outcomes).into_iter();
        prose(&sentence)
            + "\n"
            + &table::text(&flows)
            + &spaced(classes)
            + &spaced(sizes)
            + &links
            + &below(&[more].into_iter().chain(hint).collect::<Vec<_>>())
    }

    /// Prints the means. Prints nothing for CSV, because the rows of every repetition have been printed already.
    fn print(
        &self,
        scenario: &Scenario,
        seed: u64,
        outcomes: &[Outcome],
        determinism: &Determinism,
    ) -> Result<(), Failure> {
        if self.format == Format::Csv {
            return Ok(());
        }
        let how_often = how_often(scenario, outcomes.len(), seed, determinism);
        let outcomes = determinism.independent(outcomes);
        match self.format {
            Format::Table => {
                let heading = prose(&scenario.title) + &prose(&how_often) + "\n";
                output::print(&(heading + &self.tables(scenario, outcomes)))
            }
            Format::Json => {
                let chosen = self.precision.metrics();
                let links = if chosen.is_empty() { links::objects(outcomes) } else { Vec::new() };
                let further = links.into_iter().chain(summary::notes(scenario.notes()));
                if self.classes {
                    output::print_lines(summary::class_objects(outcomes, chosen).chain(further))
                } else {
                    output::print_lines(summary::objects(outcomes, chosen).chain(further))
                }
            }
            Format::Csv => Ok(()),
        }
    }
}

/// Formats a table with an empty line above. If the table is too wide, omits less important columns.
fn spaced(classes: Option<Table>) -> String {
    let expendable = ["retransmissions", "mean_rtt_ms", "completed"];
    classes.map_or(String::new(), |classes| format!("\n{}", table::without(&classes, &expendable)))
}

fn prose(line: &str) -> String {
    output::prose(line) + "\n"
}

fn how_often(scenario: &Scenario, runs: usize, seed: u64, determinism: &Determinism) -> String {
    let duration = scenario.duration;
    let warm_up = match scenario.warmup {
        Duration::ZERO => String::new(),
        warmup => format!(" without the first {warmup}"),
    };
    let (ran, numbers) = match runs {
        1 => (format!("one run of {duration}{warm_up}, seed {seed}"), "intervals need two runs"),
        _ => {
            let last = seed.wrapping_add(runs as u64 - 1);
            (
                format!("{runs} runs of {duration}{warm_up}, seeds {seed} to {last}"),
                "means ± half of the 95 % interval",
            )
        }
    };
    format!("{ran}; {}", determinism.note().unwrap_or(numbers))
}

fn below(lines: &[String]) -> String {
    lines.iter().fold(String::from("\n"), |text, line| text + &prose(line))
}

impl RunFiles {
    fn open(&self, scenario: &Scenario) -> Result<(OpenRunFiles, Observation), Failure> {
        target::refuse_duplicates(&[
            ("--pcap", &self.pcap),
            ("--trace", &self.trace),
            ("--qlog", &self.qlog),
            ("--samples", &self.samples),
            ("--completions", &self.completions),
            ("--report", &self.report),
            ("--figure", &self.figure),
        ])?;
        let create = |path: &Option<PathBuf>| path.as_deref().map(Target::create).transpose();
        let is_drawn = self.report.is_some() || self.figure.is_some();
        let mut observation =
            Observation { probes: is_drawn || self.samples.is_some(), ..Observation::default() };
        let mut completions = self.completions.as_deref().map(Target::growing).transpose()?;
        if let Some(file) = &mut completions {
            file.append(&distribution::header(&[]))?;
        }
        let mut open = OpenRunFiles {
            samples: create(&self.samples)?,
            completions,
            report: create(&self.report)?,
            figure: create(&self.figure)?,
            paths: Vec::new(),
            qlog: None,
        };
        if let Some(folder) = &self.qlog {
            let (folder, observer, logs) = QlogFolder::create(folder, scenario)?;
            open.qlog = Some(folder);
            observation.observers.push(Box::new(observer));
            observation.stack_logs = logs;
        }
        if let Some(path) = &self.pcap {
            let target = Target::create(path)?;
            let capture = SourceCapture::new(scenario, target, self.snap)
                .map_err(|error| target::unfinished(path, &error))?;
            observation.observers.push(Box::new(capture));
            open.paths.push(path.clone());
        }
        if let Some(path) = &self.trace {
            observation.observers.push(Box::new(Trace::new(scenario, Target::create(path)?)));
            open.paths.push(path.clone());
        }
        if self.report.is_some() {
            observation.observers.extend(sequence::recorders(scenario, 1, sequence::flows(scenario)));
        }
        Ok((open, observation))
    }
}

struct OpenRunFiles {
    samples: Option<Target>,
    /// Completion times of transfers and requests in every repetition.
    completions: Option<Target>,
    report: Option<Target>,
    figure: Option<Target>,
    /// Paths of the capture and of the event trace, in the order of the observers that write these files.
    paths: Vec<PathBuf>,
    /// Qlog files, whose observer precedes the others.
    qlog: Option<QlogFolder>,
}

impl OpenRunFiles {
    /// Finishes the files of the first repetition. Returns the samples of this repetition.
    fn finish_first(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        observations: Observations,
    ) -> Result<Samples, Failure> {
        let mut observers = observations.observers.into_iter();
        if let Some(folder) = self.qlog.take()
            && let Some(Ok(network)) =
                observers.next().map(|first| (first as Box<dyn Any>).downcast::<Qlog<Target>>())
        {
            folder.finish(*network, seed)?;
        }
        for (observer, path) in observers.zip(&self.paths) {
            let target = finish_observer(observer).map_err(|error| target::unfinished(path, &error))?;
            finish(target, seed)?;
        }
        if let Some(target) = self.samples.take() {
            finish(target.filled(&csv::samples(scenario, &observations.samples))?, seed)?;
        }
        Ok(observations.samples)
    }
}

fn finish(target: Target, seed: u64) -> Result<(), Failure> {
    let shown = target.path().display().to_string();
    target.finish()?;
    output::note(&format!("{shown}: first repetition, seed {seed}"));
    Ok(())
}

fn finish_observer(observer: Box<dyn Any>) -> io::Result<Target> {
    match observer.downcast::<SourceCapture<Target>>() {
        Ok(capture) => capture.finish(),
        Err(observer) => match observer.downcast::<Trace<Target>>() {
            Ok(trace) => trace.finish(),
            Err(_) => Err(io::Error::other("the run had no capture and no trace")),
        },
    }
}
