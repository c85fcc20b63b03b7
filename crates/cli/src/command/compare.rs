//! Command `lasthop compare PATH --vary path=a,b,c`: compares values of a key with the same losses.

use super::precision::PrecisionTracker;
use super::run::Repetitions;
use crate::cost;
use crate::failure::Failure;
use crate::finished::{self, Demand};
use crate::output::{self, Format};
use crate::picture;
use crate::provenance_chapter;
use crate::scenario_args::{self, ScenarioArgs};
use crate::table;
use crate::target::{self, Target};
use crate::values::{self, Choices};
use clap::Args;
use lasthop_base::Duration;
use lasthop_lab::compare::{self, ComparedCase, Comparison, FirstRunRecord, Quantity, Variation};
use lasthop_lab::cost::{RunPlan, estimate};
use lasthop_lab::in_order::threads;
use lasthop_lab::report;
use lasthop_lab::runs::Repetition;
use lasthop_lab::runs::random::Determinism;
use lasthop_lab::runs::sizes;
use lasthop_sweep::rule::{DEFAULT_MAX_RUNS, Precision};
use std::path::PathBuf;

/// Compare values of a key with the same losses. Prints the differences to a baseline
#[derive(Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    source: ScenarioArgs,
    /// Key and its values: recovery=sack,new_reno,reno. Repeat --vary for every combination
    #[arg(long, value_name = "PATH=A,B,C", required = true)]
    vary: Vec<Choices>,
    /// Baseline of the differences: congestion=reno; the other keys keep their values. Default: the first value; with
    /// several keys, the first value of all keys but the one on the x axis of a figure
    #[arg(long, value_name = "PATH=VALUE")]
    against: Vec<Choices>,
    #[command(flatten)]
    repetitions: Repetitions,
    /// Repeat until half the 95 % interval is within this percentage of the mean, for every --metric; for differences,
    /// of the baseline's mean. Minimum: 10 runs; maximum: --runs, or 10000
    #[arg(long, value_name = "2%", value_parser = values::precision)]
    until: Option<Precision>,
    /// Exclude measurements and transfers that begin before this time; sets the scenario's warmup
    #[arg(long, value_name = "TIME")]
    warm_up: Option<String>,
    /// Metrics to compare: goodput_kbps,timeouts; repeatable (default: goodput and the most important that differ)
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity)]
    metric: Vec<Quantity>,
    /// Print and draw only this flow, or the flow with all its replicas (class)
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Print every metric that differs
    #[arg(long, conflicts_with = "metric")]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write the numbers of each run as CSV when the run ends: one row per value, flow, run and metric
    #[arg(long, value_name = "FILE.csv")]
    samples: Option<PathBuf>,
    /// Write the completion time of each transfer and request as CSV when its run ends
    #[arg(long, value_name = "FILE.csv")]
    completions: Option<PathBuf>,
    /// Write an offline page: the largest difference, charts over the varied keys, all tables, and charts of the first
    /// repetition of every value
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a picture of the first --metric (default: goodput) over the varied keys with 95 % intervals, as SVG or PNG
    #[arg(long, value_name = "FILE.svg|png", value_parser = picture::path)]
    figure: Option<PathBuf>,
}

impl Compare {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        self.refuse_invalid()?;
        let mut draft = self.source.draft()?;
        if let Some(time) = &self.warm_up {
            draft.set("warmup", time)?;
        }
        let variations: Vec<Variation> = self.vary.iter().map(Variation::from).collect();
        let cases = compare::cases(&draft, &variations)?;
        scenario_args::print_notes(&lasthop_scenario::notes_of_all(cases.iter().map(|case| &case.scenario)));
        if lengths(&cases).contains(" to ") {
            output::note(
                "note: the runs have different lengths, and counts such as delivered_bytes grow with length. \
                 Compare rates and \
                 shares such as goodput_kbps",
            );
        }
        // The scenario of the first case determines the number of runs and the seed.
        let first = &cases[0].scenario;
        let determinism = Determinism::of(cases.iter().map(|case| &case.scenario));
        let seed = self.repetitions.seed(first);
        let runs = match self.until {
            None => self.repetitions.runs(first, &determinism),
            Some(_) => determinism.worth_running(self.repetitions.max_runs().unwrap_or(DEFAULT_MAX_RUNS)),
        };
        let OpenFiles { mut samples, mut completions, report, figure } = self.open_files()?;
        let keeps_outcomes = self.format != Format::Csv || report.is_some() || figure.is_some();
        let plan = RunPlan {
            runs: runs as usize,
            threads: threads(self.repetitions.jobs, runs as usize * cases.len()),
            keeps_outcomes,
            sampled: usize::from(report.is_some()),
        };
        // With `--until`, the number of runs is not known in advance, so the cost cannot be estimated.
        if self.until.is_none() {
            cost::print_if_large(&estimate(cases.iter().map(|case| &case.scenario), plan), &plan);
        }
        let names = cases.iter().map(|case| case.values.join(", ")).collect();
        let paths = variations.into_iter().map(|variation| variation.path).collect();
        let mut done = Comparison::new(paths, cases, self.metric.clone());
        if !self.against.is_empty() {
            let against: Vec<Variation> = self.against.iter().map(Variation::from).collect();
            done.set_baseline(&against)
                .map_err(|it| Failure::bad_input(format!("--against: {}", it.message), it.help))?;
        }
        if let Some(flow) = &self.flow {
            done.set_flow(flow).map_err(|names| {
                Failure::bad_input(
                    format!("--flow: there is no flow `{flow}`"),
                    format!("the flows: {names}"),
                )
            })?;
        }
        let mut tracker =
            PrecisionTracker::new(self.until, &self.metric, names, done.baseline().bases().to_vec());
        if self.format == Format::Csv {
            output::print(&done.header())?;
        }
        if let Some(file) = &mut samples {
            file.append(&done.samples_header())?;
        }
        if let Some(file) = &mut completions {
            file.append(&done.completions_header())?;
        }
        let mut seen: Vec<FirstRunRecord> = Vec::new();
        let work =
            done.begin(runs, seed, report.is_some(), self.repetitions.jobs).map_err(Failure::no_threads)?;
        let ended =
            finished::consume_in_order("compare", work, |Repetition { outcome, observations, is_whole }| {
                Failure::check_stuck(&outcome)?;
                Failure::note_ended_flows(&outcome);
                if !is_whole {
                    return Ok(Demand::Enough);
                }
                let (case, run) = done.next_index();
                tracker.record(case, &outcome);
                if self.format == Format::Csv {
                    output::print(&done.rows(case, run, &outcome))?;
                }
                if let Some(file) = &mut samples {
                    file.append(&done.samples(case, run, &outcome))?;
                }
                if let Some(file) = &mut completions {
                    file.append(&done.completions_rows(case, run, &outcome))?;
                }
                seen.extend(observations.map(FirstRunRecord::from));
                if keeps_outcomes {
                    done.push(case, outcome);
                }
                Ok(tracker.demand(runs))
            })?;
        let runs = done.truncate_to_complete();
        done.truncate_to_independent(&determinism);
        if runs > 0 {
            if let Some(target) = report {
                let mut document = done.document(seed, &seen);
                document
                    .chapters
                    .push(provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]));
                target.write_and_note(&report::html(&document))?;
            }
            if let Some(target) = figure {
                let note = match done.outcomes[0].len() {
                    1 => format!("One run, seed {seed}."),
                    runs => format!("{runs} runs, seeds from {seed}."),
                };
                picture::write(target, &done.cases[0].scenario.title, &note, vec![done.main_figure()])?;
            }
            output::print(&self.text(&done, runs, seed, &determinism))?;
        }
        ended.into_result()?;
        tracker.notes(&determinism).iter().for_each(|note| output::note(note));
        Ok(())
    }

    /// Opens the output files before the runs, so that wrong paths are reported at once.
    fn open_files(&self) -> Result<OpenFiles, Failure> {
        target::refuse_duplicates(&[
            ("--samples", &self.samples),
            ("--report", &self.report),
            ("--figure", &self.figure),
            ("--completions", &self.completions),
        ])?;
        let growing = |path: &Option<PathBuf>| path.as_deref().map(Target::growing).transpose();
        Ok(OpenFiles {
            report: self.report.as_deref().map(Target::create).transpose()?,
            figure: self.figure.as_deref().map(Target::create).transpose()?,
            samples: growing(&self.samples)?,
            completions: growing(&self.completions)?,
        })
    }

    /// Formats the means. The text is empty for CSV, because the rows of every repetition have been printed already.
    fn text(&self, done: &Comparison, runs: usize, seed: u64, determinism: &Determinism) -> String {
        let first = &done.cases[0].scenario;
        match self.format {
            Format::Table => {
                let how_many = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
                let heading = format!(
                    "{how_many} of {}{} each, seeds from {seed}; differences to {}, {}",
                    lengths(&done.cases),
                    warm_up(&done.cases),
                    done.baseline().words(&done.paths),
                    determinism.note().unwrap_or("paired by seed; 95 % intervals")
                );
                let (table, more) = if self.all { (done.table(), 0) } else { done.glance() };
                let more = match more {
                    0 => None,
                    1 => Some("1 more metric differs: --all".to_owned()),
                    more => Some(format!("{more} more metrics differ: --all")),
                };
                let sizes = sizes::table(&done.transfers(), &done.paths.join(", "));
                let sizes = sizes.map_or(String::new(), |sizes| format!("\n{}", table::text(&sizes)));
                let notes = done.notes().into_iter().chain(more);
                let notes: String = notes.map(|note| format!("\n{}\n", output::prose(&note))).collect();
                format!("{}\n{}\n\n", output::prose(&first.title), output::prose(&heading))
                    + &table::without(&table, &["difference"])
                    + &sizes
                    + &notes
            }
            Format::Json => done.objects().iter().map(|object| format!("{object}\n")).collect(),
            Format::Csv => String::new(),
        }
    }

    fn refuse_invalid(&self) -> Result<(), Failure> {
        values::refuse_invalid("--vary", self.vary.iter())?;
        values::refuse_invalid("--against", self.against.iter())
    }
}

struct OpenFiles {
    samples: Option<Target>,
    completions: Option<Target>,
    report: Option<Target>,
    figure: Option<Target>,
}

/// Returns a description of the excluded warm-up, for example ` without the first 2 s`. The text is empty without a
/// warm-up, or if the warm-ups of the cases differ.
fn warm_up(cases: &[ComparedCase]) -> String {
    let first = cases.first().map_or(Duration::ZERO, |case| case.scenario.warmup);
    if first > Duration::ZERO && cases.iter().all(|case| case.scenario.warmup == first) {
        format!(" without the first {first}")
    } else {
        String::new()
    }
}

/// Returns the duration of the runs: `60 s`, or `5 s to 60 s` if the durations of the cases differ.
fn lengths(cases: &[ComparedCase]) -> String {
    let durations = || cases.iter().map(|case| case.scenario.duration);
    match (durations().min(), durations().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (least, _) => least.unwrap_or_default().to_string(),
    }
}
