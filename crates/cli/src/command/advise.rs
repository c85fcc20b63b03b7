//! Command `lasthop advise PATH`: ranks changes that would improve a path.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::output;
use crate::provenance_chapter;
use crate::scenario_args::ScenarioArgs;
use crate::table;
use crate::target::Target;
use crate::values::{self, KnownNames};
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use lasthop_lab::advise::sender::{self, SENDERS};
use lasthop_lab::advise::{self, Advice, Aim, DeploymentSite, Question};
use lasthop_lab::repeat::on_threads;
use lasthop_lab::report;
use std::path::{Path, PathBuf};

const MORE: &str = "\
Lasthop tries changes of the sender, the receiver, the router's queue, the base station and the link: first each change
alone, then pairs of the best changes of each place. All runs have the same losses. Repetitions are added until the
order of the first three is certain or the budget is spent. The score combines goodput, the 95th percentile of the
duration of short transfers, and the goodput left to a competing unchanged flow. --format json adds percentiles,
intervals and keys.";

/// Rank changes that would improve a path, with the gain of each change and the place to deploy it
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Advise {
    #[command(flatten)]
    source: ScenarioArgs,
    /// TCP sender of the path's flows, instead of the scenario's sender
    #[arg(long, value_name = "SENDER", value_parser = senders())]
    sender: Option<&'static str>,
    /// Criterion of the ranking
    #[arg(long, value_enum, default_value = "all")]
    by: By,
    /// Places where changes may be deployed; by default all. With `sender`, all congestion controls are tried
    #[arg(long, value_enum, value_name = "A,B", value_delimiter = ',')]
    place: Vec<Place>,
    /// Flows that may be changed, each with its replicas; by default all TCP flows
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    flow: Vec<String>,
    /// Seed of the first repetition; each further repetition adds 1. Default: the scenario's seed
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = values::seed)]
    seed: Option<u64>,
    /// Number of threads; by default one per core. Results do not depend on the number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::jobs)]
    jobs: Option<usize>,
    /// Print all candidates, all columns and all next steps
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: AdviceFormat,
    /// Write the ranking and its charts as an offline page
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// Output format of advice.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AdviceFormat {
    /// Aligned table
    Table,
    /// One JSON object per candidate, one per line, the best first
    Json,
}

/// Place of a change.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// The sending TCP
    Sender,
    /// The receiving TCP
    Receiver,
    /// The router with the bottleneck's queue
    Router,
    /// The node before the wireless hop
    BaseStation,
    /// The link layer of the wireless hop
    Link,
}

impl From<Place> for DeploymentSite {
    fn from(place: Place) -> DeploymentSite {
        match place {
            Place::Sender => DeploymentSite::Sender,
            Place::Receiver => DeploymentSite::Receiver,
            Place::Router => DeploymentSite::Router,
            Place::BaseStation => DeploymentSite::BaseStation,
            Place::Link => DeploymentSite::Link,
        }
    }
}

/// Criterion of a ranking.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Goodput, duration of short transfers, and goodput of a competing unchanged flow, with equal weights
    All,
    /// Goodput alone
    Goodput,
    /// Duration of short transfers alone (95th percentile)
    Short,
}

impl From<By> for Aim {
    fn from(by: By) -> Aim {
        match by {
            By::All => Aim::All,
            By::Goodput => Aim::Goodput,
            By::Short => Aim::Short,
        }
    }
}

fn senders() -> impl TypedValueParser<Value = &'static str> {
    let known = || SENDERS.iter().map(|(name, _)| *name);
    let parse = move |name: &str| {
        let control = SENDERS.iter().find(|(it, _)| *it == name).map(|(_, control)| *control);
        control.ok_or_else(|| format!("expected one of {}", known().collect::<Vec<_>>().join(", ")))
    };
    KnownNames { names: || SENDERS.iter().map(|(name, _)| *name).collect(), parse }
}

impl Advise {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut draft = self.source.draft()?;
        let given = match self.sender {
            Some(control) => sender::set_sender(&mut draft, control)?,
            None => Vec::new(),
        };
        let written = self.written(&given);
        let report = self.report.as_deref().map(Target::create).transpose()?;
        let bar = Bar::default();
        let name = self.base_file();
        let question = Question {
            aim: self.by.into(),
            seed: self.seed,
            sites: self.place.iter().map(|place| (*place).into()).collect(),
            flows: self.flow.clone(),
        };
        let advice = on_threads(self.jobs, || advise::advise(&draft, &name, &question, &bar))?;
        let Some(advice) = advice else {
            return Err(Failure::Interrupted("interrupted before the first ranking".to_owned()));
        };
        if let Some(target) = report {
            let mut document = advice.document(&written);
            document
                .chapters
                .push(provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]));
            target.write_and_note(&report::html(&document))?;
        }
        match self.format {
            AdviceFormat::Table => output::print(&text(&advice, &written, self.all)),
            AdviceFormat::Json => {
                let objects = advice.objects(&written);
                output::print(&objects.iter().map(|object| format!("{object}\n")).collect::<String>())
            }
        }
    }

    /// Returns the path of the scenario's file. Trace files are searched in the folder of the scenario's file. For a
    /// scenario without a file, trace files are searched in the current folder.
    fn base_file(&self) -> String {
        let path = &self.source.path;
        if Path::new(path).is_file() { path.clone() } else { "advice".to_owned() }
    }

    /// Returns arguments in shell syntax: PATH, each `--set` of the user, and a `--set` for each key in `given`.
    fn written(&self, given: &[(String, String)]) -> String {
        let own = self.source.set.iter().map(|one| (&one.path, &one.value));
        let all = own.chain(given.iter().map(|(path, value)| (path, value)));
        let sets = all.map(|(path, value)| format!(" --set '{path}={value}'"));
        format!("'{}'{}", self.source.path, sets.collect::<String>())
    }
}

fn text(advice: &Advice, written: &str, is_whole: bool) -> String {
    let (table, more) = if is_whole { (advice.table(), 0) } else { advice.glance() };
    let heading = format!("{}\n{}\n\n", output::prose(&advice.title), output::prose(&advice.rule()));
    let mut text = heading + &table::text(&table);
    if !is_whole {
        let more = if more > 0 {
            format!("{more} more candidates and all columns")
        } else {
            "All columns".to_owned()
        };
        text += &format!("\n{more}: --all\n");
    }
    for why in &advice.left_out {
        text += &format!("\n{}\n", output::prose(&format!("not ranked: {why}")));
    }
    let mut steps = advice.next_steps(written);
    if !is_whole {
        // Keeps three steps: simulate the first candidate, try the best candidate with real TCP, apply a candidate.
        steps.dedup_by(|one, previous| one.0.starts_with("Try ") && previous.0.starts_with("Try "));
    }
    for (words, command) in steps {
        // Command lines are not wrapped, so that users can copy the command lines.
        text += &format!("\n{words}:\n  {command}\n");
    }
    text
}
