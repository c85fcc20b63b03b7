//! `lasthop crosscheck PATH`.
//!
//! * `case`: a sender, its scenario and its trial.
//! * `repeat`: repetitions; `printed`: output during the runs.

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
use lasthop_lab::trials::crosscheck::{self, CrosscheckResults};
use printed::Printed;
use repeat::Crew;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

/// Simulate a scenario and emulate it with real TCP; print both, with 95 % intervals
///
/// Real TCP carries the scenario's TCP flows between two nodes over the emulated path, in real time. Senders: Lasthop's
/// endpoints on TUN devices (`lasthop`), Lasthop's endpoint to the kernel (`lasthop-to-kernel`), or the kernel with a
/// congestion control (`reno`, `cubic`, …). The kernel gets the scenario's settings where it has them; the others are
/// listed. All other flows are simulated in both cases. Each repetition has the same losses in both. The rows of a
/// sender appear after its last run. Needs root.
#[derive(Args)]
pub(crate) struct Crosscheck {
    #[command(flatten)]
    source: Source,
    /// Senders: `lasthop`, `lasthop-to-kernel`, a congestion control of the kernel, `kernel` (the scenario's congestion
    /// controls), or `all` (Lasthop's, and every one of this kernel)
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        default_value = "lasthop,lasthop-to-kernel,reno,cubic"
    )]
    senders: Vec<Named>,
    /// Number of repetitions per sender
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::runs)]
    runs: u32,
    /// Number of repetitions at once, as long as the machine keeps up
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::jobs)]
    jobs: usize,
    /// Seed of the first repetition, counting up from there; the scenario's seed by default
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Further kernel settings in the namespaces: tcp_recovery=0 (names below net.ipv4)
    #[arg(long = "kernel", value_name = "NAME=VALUE")]
    kernel: Vec<Assignment>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write an offline page with charts
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

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

/// Output format of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
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
            .flat_map(Named::senders)
            .map(|sender| Case::new(&draft, &sender, &self.kernel))
            .collect::<Result<Vec<Case>, Failure>>()?;
        let report = self.report.as_deref().map(Target::create).transpose()?;
        path::tidy();
        let to_come = |case: &Case| case.results(self.runs, self.seed.unwrap_or(case.scenario.seed));
        let mut printed =
            Printed::begin(self.format, &cases.iter().map(to_come).collect::<Vec<CrosscheckResults>>())?;
        let bar = Bar::default();
        let all = cases.len() * self.runs as usize;
        bar.begin("crosscheck", all as u64);
        let mut crew = Crew { jobs: self.jobs, gave_up: false };
        let mut done: Vec<CrosscheckResults> = Vec::new();
        let ran = patience::during(|| {
            cases.iter().try_for_each(|case| {
                let mut results = to_come(case);
                let repeated = crew.repeat(case, &mut results, &printed, &bar);
                // Prints repetitions that were on time even after a failure.
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
                "note: the machine did not keep up with {jobs} runs at once; later runs ran one by one"
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
