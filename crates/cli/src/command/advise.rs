//! `lasthop advise PATH`.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::made;
use crate::output;
use crate::source::Source;
use crate::table;
use crate::target::Target;
use crate::values::{self, Named};
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use lasthop_lab::advise::sender::{self, SENDERS};
use lasthop_lab::advise::{self, Advice, Aim};
use lasthop_lab::repeat::on_threads;
use lasthop_lab::report;
use std::path::{Path, PathBuf};

/// What is good to know of it.
const MORE: &str = "\
Cures of the sender, the receiver, the router's queue, the base station and the link are tried alone, then the best of
each place in pairs, all under the same losses. Repetitions are added until the order of the first three is certain, or
the work is used up. A cure counts with its goodput, the 95th percentile of short transfers beside it, and what a plain
neighbour keeps; --format json has the percentiles, intervals and keys.";

/// Find out what would help a path, by how much, and who would have to deploy it.
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Advise {
    #[command(flatten)]
    source: Source,
    /// The sender that the path's flows have, instead of the scenario's
    #[arg(long, value_name = "SENDER", value_parser = senders())]
    sender: Option<&'static str>,
    /// What the ranking is by
    #[arg(long, value_enum, default_value = "all")]
    by: By,
    /// Seed of the first repetition, the others count up; the scenario's own by default
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = values::seed)]
    seed: Option<u64>,
    /// Number of threads; all cores by default. The results are the same for any
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::jobs)]
    jobs: Option<usize>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Draw the ranking, as a page that works offline
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// How advice is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One object a line for each candidate, the best first
    Json,
}

/// What a ranking is by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Goodput, how much sooner short transfers are done, and what a plain neighbour keeps: each counts alike
    All,
    /// Goodput alone
    Goodput,
    /// How much sooner short transfers are done: the 95th percentile alone
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
    Named { names: || SENDERS.iter().map(|(name, _)| *name).collect(), parse }
}

impl Advise {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut draft = self.source.draft()?;
        let given = match self.sender {
            Some(control) => sender::give(&mut draft, control)?,
            None => Vec::new(),
        };
        let written = self.written(&given);
        let report = self.report.as_deref().map(Target::create).transpose()?;
        let bar = Bar::default();
        let name = self.beside();
        let advice =
            on_threads(self.jobs, || advise::advise(&draft, &name, self.by.into(), self.seed, &bar))?;
        let Some(advice) = advice else {
            return Err(Failure::Interrupted("interrupted: nothing is ranked yet".to_owned()));
        };
        if let Some(target) = report {
            let mut document = advice.document(&written);
            document.chapters.push(made::chapter(vec![made::scenario(draft.show()?)]));
            target.write_and_note(&report::html(&document))?;
        }
        match self.format {
            Format::Table => output::print(&text(&advice, &written)),
            Format::Json => {
                let objects = advice.objects(&written);
                output::print(&objects.iter().map(|object| format!("{object}\n")).collect::<String>())
            }
        }
    }

    /// The scenario's file, beside which traces are looked for.
    fn beside(&self) -> String {
        let path = &self.source.path;
        if Path::new(path).is_file() { path.clone() } else { "advice".to_owned() }
    }

    /// PATH, the user's own `--set`, and what the sender takes, as a shell takes them.
    fn written(&self, given: &[(String, String)]) -> String {
        let own = self.source.set.iter().map(|one| (&one.path, &one.value));
        let all = own.chain(given.iter().map(|(path, value)| (path, value)));
        let sets = all.map(|(path, value)| format!(" --set '{path}={value}'"));
        format!("'{}'{}", self.source.path, sets.collect::<String>())
    }
}

fn text(advice: &Advice, written: &str) -> String {
    let mut text = format!("{}\n{}\n\n{}", advice.title, advice.rule(), table::text(&advice.table()));
    for why in &advice.left_out {
        text += &format!("\nnot ranked: {why}");
    }
    for (words, command) in advice.next_steps(written) {
        text += &format!("\n{words}: {command}");
    }
    text + "\n"
}
