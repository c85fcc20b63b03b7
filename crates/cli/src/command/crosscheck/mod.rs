//! Command `lasthop crosscheck PATH`: simulates a scenario, emulates it with real TCP, and compares the results.
//!
//! * `case`: a sender, with its scenario (simulation) and its trial (emulation).
//! * `repeat`: runs the repetitions of a sender.
//! * `printer`: prints the results of each sender after the sender's last run.

mod case;
mod printer;
mod repeat;

use crate::bar::Bar;
use crate::failure::Failure;
use crate::finished::Completion;
use crate::output;
use crate::path;
use crate::provenance_chapter;
use crate::real_sender::RealSender;
use crate::scenario_args::ScenarioArgs;
use crate::target::{Target, interrupts};
use crate::values::{self, Assignment};
use case::{SenderCase, SenderChoice};
use clap::{Args, ValueEnum};
use lasthop_lab::progress::Progress;
use lasthop_lab::report;
use lasthop_lab::trials::crosscheck::{self, CrosscheckResults};
use printer::Printer;
use repeat::ConcurrentRuns;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// Simulate a scenario, emulate it with real TCP, and print both results with 95 % intervals
///
/// Real TCP carries the scenario's TCP flows between two nodes over the emulated path, in real time. Senders: Lasthop's
/// endpoints on TUN devices (`lasthop`), Lasthop's endpoint to the kernel (`lasthop-to-kernel`), or the kernel with a
/// congestion control (`reno`, `cubic`, …). The scenario's settings are applied to the kernel if the kernel supports
/// them; unsupported settings are listed. All other flows are simulated in both cases. Simulation and emulation have
/// the same losses in each repetition. The rows of a sender appear after its last run. Needs root.
#[derive(Args)]
pub(crate) struct Crosscheck {
    #[command(flatten)]
    source: ScenarioArgs,
    /// Senders: `lasthop`, `lasthop-to-kernel` (Lasthop sends, the kernel receives), a congestion control of the
    /// kernel, `kernel` (the scenario's congestion controls), or `all` (Lasthop's senders, and every congestion control
    /// of this kernel)
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        default_value = "lasthop,lasthop-to-kernel,reno,cubic"
    )]
    senders: Vec<SenderArgument>,
    /// Number of repetitions per sender
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::runs)]
    runs: u32,
    /// Number of concurrent repetitions, as long as the machine keeps up
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::jobs)]
    jobs: usize,
    /// Seed of the first repetition; each further repetition adds 1. Default: the scenario's seed
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Further kernel settings in the namespaces: tcp_recovery=0 (names below net.ipv4)
    #[arg(long = "kernel", value_name = "NAME=VALUE")]
    kernel: Vec<Assignment>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: CrosscheckFormat,
    /// Write an offline page with charts
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum SenderArgument {
    Choice(SenderChoice),
    All,
}

impl FromStr for SenderArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<SenderArgument, String> {
        match text.trim() {
            "all" => Ok(SenderArgument::All),
            "kernel" => Ok(SenderArgument::Choice(SenderChoice::AsScenario)),
            name => match name.parse() {
                Ok(sender) => Ok(SenderArgument::Choice(SenderChoice::One(sender))),
                Err(expected) => Err(format!("{expected}; `kernel`; `all`")),
            },
        }
    }
}

impl SenderArgument {
    fn senders(&self) -> Vec<SenderChoice> {
        match self {
            SenderArgument::Choice(choice) => vec![choice.clone()],
            SenderArgument::All => {
                let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let known = known.unwrap_or_default();
                let kernel = known.split_whitespace().map(|name| RealSender::Kernel(name.to_owned()));
                [RealSender::Own, RealSender::OwnToKernel]
                    .into_iter()
                    .chain(kernel)
                    .map(SenderChoice::One)
                    .collect()
            }
        }
    }
}

/// Output format of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum CrosscheckFormat {
    /// Aligned table
    Table,
    /// Markdown table
    Markdown,
    /// One JSON object per sender and flow, one per line
    Json,
    /// CSV: a header line, then one row per sender, repetition and flow
    Csv,
}

impl Crosscheck {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let draft = self.source.draft()?;
        let cases = self
            .senders
            .iter()
            .flat_map(SenderArgument::senders)
            .map(|sender| SenderCase::new(&draft, &sender, &self.kernel))
            .collect::<Result<Vec<SenderCase>, Failure>>()?;
        let report = self.report.as_deref().map(Target::create).transpose()?;
        path::remove_leftovers();
        let to_come = |case: &SenderCase| case.results(self.runs, self.seed.unwrap_or(case.scenario.seed));
        let mut printer =
            Printer::begin(self.format, &cases.iter().map(to_come).collect::<Vec<CrosscheckResults>>())?;
        let bar = Bar::default();
        let all = cases.len() * self.runs as usize;
        bar.begin("crosscheck", all as u64);
        let mut concurrent = ConcurrentRuns { jobs: self.jobs, fell_behind: false };
        let mut done: Vec<CrosscheckResults> = Vec::new();
        let ran = interrupts::handle_during(|| {
            cases.iter().try_for_each(|case| {
                let mut results = to_come(case);
                let repeated = concurrent.repeat(case, &mut results, &printer, &bar);
                // The completed repetitions are printed even if a later repetition failed.
                let shown = bar.suspended(|| printer.sender(&results));
                done.push(results);
                repeated.and(shown)
            })
        });
        bar.end();
        done.retain(|results| !results.pairs.is_empty());
        printer.end(&done)?;
        if concurrent.fell_behind {
            let jobs = self.jobs;
            output::note(&format!(
                "note: the machine did not keep up with {jobs} runs at once; later runs ran one by one"
            ));
        }
        if let (Some(target), false) = (report, done.is_empty()) {
            let mut document = crosscheck::document(&done);
            document
                .chapters
                .push(provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]));
            target.write_and_note(&report::html(&document))?;
        }
        ran?;
        let count = done.iter().map(|results| results.pairs.len()).sum();
        Completion::of(count, all).into_result()
    }
}
