//! `lasthop crosscheck PATH`.
//!
//! * `case`: a sender, the scenario that simulates it, and the trial that emulates it.
//! * `repeat`: its repetitions; `printed`: what came out, as it goes.

mod case;
mod printed;
mod repeat;

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
use case::{Case, Whose};
use clap::{Args, ValueEnum};
use lasthop_lab::progress::Progress;
use lasthop_lab::report;
use lasthop_lab::trials::crosscheck::{self, Results};
use printed::Printed;
use repeat::Crew;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// Simulate a scenario and emulate it with real TCP; print both, with 95 % intervals.
///
/// The scenario's TCP flows between two nodes are carried by real TCP over the emulated path, in real time: between our
/// endpoints on TUN devices (`lasthop`), from ours to the kernel's (`lasthop-to-kernel`), and between the kernel's with a
/// congestion control of its own (`reno`, `cubic`, …). The kernel is told what the scenario says where it has a setting for
/// it; the rest is listed. All other flows are simulated in both. Each repetition meets the same losses in both. A sender's
/// rows are printed when its last run is done. Needs root.
#[derive(Args)]
pub(crate) struct Crosscheck {
    #[command(flatten)]
    source: Source,
    /// Whose TCP: `lasthop`, `lasthop-to-kernel`, a congestion control of the kernel's, `kernel` (each flow with that of the
    /// scenario), or `all` (ours, and each that this kernel has)
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        default_value = "lasthop,lasthop-to-kernel,reno,cubic"
    )]
    senders: Vec<Named>,
    /// Number of repetitions of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::runs)]
    runs: u32,
    /// So many of them at once, as long as the machine keeps up
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::jobs)]
    jobs: usize,
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

/// Senders as the user names them.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Named {
    These(Whose),
    All,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        match text.trim() {
            "all" => Ok(Named::All),
            "kernel" => Ok(Named::These(Whose::AsScenario)),
            name => match name.parse() {
                Ok(sender) => Ok(Named::These(Whose::One(sender))),
                Err(expected) => Err(format!("{expected}; `kernel`; `all`")),
            },
        }
    }
}

impl Named {
    /// Who that is on this machine.
    fn senders(&self) -> Vec<Whose> {
        match self {
            Named::These(whose) => vec![whose.clone()],
            Named::All => {
                let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let known = known.unwrap_or_default();
                let kernel = known.split_whitespace().map(|name| Sender::Kernel(name.to_owned()));
                [Sender::Own, Sender::OwnToKernel].into_iter().chain(kernel).map(Whose::One).collect()
            }
        }
    }
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
            .flat_map(Named::senders)
            .map(|sender| Case::new(&draft, &sender, &self.kernel))
            .collect::<Result<Vec<Case>, Failure>>()?;
        let report = self.report.as_deref().map(Target::create).transpose()?;
        path::tidy();
        let to_come = |case: &Case| case.results(self.runs, self.seed.unwrap_or(case.scenario.seed));
        let mut printed = Printed::begin(self.format, &cases.iter().map(to_come).collect::<Vec<Results>>())?;
        let bar = Bar::default();
        let all = cases.len() * self.runs as usize;
        bar.begin("crosscheck", all as u64);
        let mut crew = Crew { jobs: self.jobs, gave_up: false };
        let mut done: Vec<Results> = Vec::new();
        let ran = patience::during(|| {
            cases.iter().try_for_each(|case| {
                let mut results = to_come(case);
                let repeated = crew.repeat(case, &mut results, &printed, &bar);
                // What was in time before it gave up is shown all the same.
                let shown = bar.aside(|| printed.sender(&results));
                done.push(results);
                repeated.and(shown)
            })
        });
        bar.end();
        done.retain(|results| !results.pairs.is_empty());
        printed.end(&done)?;
        if crew.gave_up {
            let jobs = self.jobs;
            output::note(&format!(
                "note: the machine did not keep up with {jobs} runs at once: from then on they ran one by one"
            ));
        }
        if let (Some(target), false) = (report, done.is_empty()) {
            let mut document = crosscheck::document(&done);
            document.chapters.push(made::chapter(vec![made::scenario(draft.show()?)]));
            target.write_and_note(&report::html(&document))?;
        }
        ran?;
        let count = done.iter().map(|results| results.pairs.len()).sum();
        Ended::of(count, all).into_result()
    }
}
