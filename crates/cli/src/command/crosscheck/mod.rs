//! `lasthop crosscheck PATH`.
//!
//! * `case`: a sender, the scenario that simulates it, and the trial that emulates it.

mod case;

use crate::bar::Bar;
use crate::failure::Failure;
use crate::finished::Ended;
use crate::made;
use crate::output;
use crate::path;
use crate::sender::Sender;
use crate::source::Source;
use crate::target::{Target, patience};
use crate::values::{self, Assignment};
use case::Case;
use clap::{Args, ValueEnum};
use lasthop_emu::trial::Outcome;
use lasthop_lab::progress::Progress;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::report;
use lasthop_lab::trials::crosscheck::{self, Pair, Results};
use lasthop_os::SystemError;
use std::path::PathBuf;

/// Simulate a scenario and emulate it with real TCP; print both, with 95 % intervals.
///
/// The scenario's TCP flows between two nodes are carried by real TCP over the emulated path, in real time: between our
/// endpoints on TUN devices (`lasthop`), from ours to the kernel's (`lasthop-to-kernel`), and between the kernel's with a
/// congestion control of its own (`reno`, `cubic`, …). The kernel is told what the scenario says where it has a setting for it; the rest is listed. All other
/// flows are simulated in both. Each repetition meets the same losses in both. Needs root.
#[derive(Args)]
pub(crate) struct Crosscheck {
    #[command(flatten)]
    source: Source,
    /// Whose TCP: `lasthop`, `lasthop-to-kernel`, or a congestion control of the kernel's
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        default_value = "lasthop,lasthop-to-kernel,reno,cubic"
    )]
    senders: Vec<Sender>,
    /// Number of repetitions of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::runs)]
    runs: u32,
    /// Seed of the first repetition, the others count up; the scenario's own by default
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Tell the kernel this, too, in its namespaces: tcp_recovery=0 (names below net.ipv4)
    #[arg(long = "kernel", value_name = "NAME=VALUE")]
    kernel: Vec<Assignment>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Draw it, as a page that works offline
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// The same for documents.
    Markdown,
    /// One object per sender and flow, a line each.
    Json,
    /// For spreadsheets: a header line, then one row per sender, repetition and flow.
    Csv,
}

impl Crosscheck {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let draft = self.source.draft()?;
        let cases = self
            .senders
            .iter()
            .map(|sender| Case::new(&draft, sender, &self.kernel))
            .collect::<Result<Vec<Case>, Failure>>()?;
        let report = self.report.as_deref().map(Target::create).transpose()?;
        path::tidy();
        if self.format == Format::Csv {
            output::print(&crosscheck::csv_header())?;
        }
        let bar = Bar::default();
        let all = cases.len() * self.runs as usize;
        bar.begin("crosscheck", all as u64);
        let mut done: Vec<Results> = Vec::new();
        let ran = patience::during(|| {
            cases.into_iter().try_for_each(|case| {
                done.push(case.results());
                done.last_mut().map_or(Ok(()), |results| self.repeat(&case, results, &bar))
            })
        });
        bar.end();
        // What was in time before it gave up is shown all the same.
        done.retain(|results| !results.pairs.is_empty());
        if !done.is_empty() {
            if let Some(target) = report {
                let mut document = crosscheck::document(&done);
                document.chapters.push(made::chapter(vec![made::scenario(draft.show()?)]));
                target.write_and_note(&report::html(&document))?;
            }
            output::print(&self.text(&done))?;
        }
        ran?;
        let count = done.iter().map(|results| results.pairs.len()).sum();
        Ended::of(count, all).into_result()
    }

    /// The means; nothing more where every repetition has been written.
    fn text(&self, done: &[Results]) -> String {
        match self.format {
            Format::Table => {
                let table = crate::table::text(&crosscheck::table(done));
                crosscheck::heading(done) + &table + &crosscheck::notes(done)
            }
            Format::Markdown => crosscheck::table(done).markdown(),
            Format::Json => done.iter().flat_map(Results::objects).map(|it| format!("{it}\n")).collect(),
            Format::Csv => String::new(),
        }
    }

    /// Every repetition of a case, until the user wants no more. One that was not in time is thrown away and run again,
    /// so many times in all as there are repetitions.
    fn repeat(&self, case: &Case, results: &mut Results, bar: &Bar) -> Result<(), Failure> {
        let first = self.seed.unwrap_or(case.scenario.seed);
        while results.pairs.len() < self.runs as usize && !patience::is_interrupted() {
            let seed = seed_of(first, results.pairs.len() as u32);
            let emulated = emulate(case, seed)?;
            if patience::is_interrupted() {
                break;
            }
            if !emulated.complaints.is_empty() {
                results.thrown_away += 1;
                if results.thrown_away > self.runs {
                    return Err(path::not_in_time(&case.sender, &emulated, results.thrown_away));
                }
                continue;
            }
            let lateness = [emulated.lateness.p99, emulated.lateness.max];
            let emulated = path::streams(emulated);
            let pair = Pair { seed, simulated: case.simulate(seed), emulated, lateness };
            if self.format == Format::Csv {
                output::print(&results.csv_rows(&pair))?;
            }
            results.pairs.push(pair);
            bar.step();
        }
        Ok(())
    }
}

fn emulate(case: &Case, seed: u64) -> Result<Outcome, Failure> {
    let plan = path::plan(&case.scenario, case.replaced, seed);
    let nothing = |_: &_| Ok(Box::new(()) as Box<dyn std::any::Any>);
    case.trial(seed).run(plan, nothing, &patience::is_interrupted).map_err(failure)
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}
