//! `lasthop compare PATH --vary path=a,b,c`.

use super::run::Repetitions;
use crate::cost;
use crate::failure::Failure;
use crate::finished;
use crate::output::{self, Format};
use crate::source::Source;
use crate::table;
use crate::values::Choices;
use clap::Args;
use lasthop_lab::compare::{self, Comparison, Variation};
use lasthop_lab::cost::{Plan, estimate};
use lasthop_lab::in_order::threads;
use lasthop_lab::runs::random::Repeats;

/// More combinations than this are surely a mistake.
const MOST_CASES: usize = 10_000;

/// Compare values of a key, paired: each meets the same losses. Prints differences to the first.
#[derive(Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    source: Source,
    /// A key and its values: recovery=sack,new_reno,reno. Several --vary: every combination
    #[arg(long, value_name = "PATH=A,B,C", required = true)]
    vary: Vec<Choices>,
    #[command(flatten)]
    repetitions: Repetitions,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl Compare {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        self.refuse_nonsense()?;
        let draft = self.source.draft()?;
        let variations: Vec<Variation> = self
            .vary
            .iter()
            .map(|choices| Variation { path: choices.path.clone(), values: choices.values.clone() })
            .collect();
        let cases = compare::cases(&draft, &variations)?;
        // The first value is what the others are compared with, so its scenario says how often and from which seed.
        let first = &cases[0].scenario;
        let repeats = Repeats::of(cases.iter().map(|case| &case.scenario));
        let (runs, seed) = (self.repetitions.runs(first, &repeats), self.repetitions.seed(first));
        let plan = Plan {
            runs: runs as usize,
            threads: threads(self.repetitions.jobs, runs as usize * cases.len()),
            keeps_outcomes: true,
            sampled: 0,
        };
        cost::say_if_large(&estimate(cases.iter().map(|case| &case.scenario), plan), &plan);
        let paths = variations.into_iter().map(|variation| variation.path).collect();
        let mut done = Comparison::new(paths, cases);
        if self.format == Format::Csv {
            output::print(&done.csv_header())?;
        }
        let work = done.begin(runs, seed, self.repetitions.jobs).map_err(Failure::no_threads)?;
        let ended = finished::each("compare", work, |outcome| {
            let (case, run) = done.take(outcome);
            match self.format {
                Format::Csv => output::print(&done.csv_rows(case, run)),
                Format::Table | Format::Json => Ok(()),
            }
        })?;
        let runs = done.keep_whole();
        done.keep_independent(&repeats);
        if runs > 0 {
            output::print(&self.text(&done, runs, seed, &repeats))?;
        }
        ended.into_result()
    }

    /// The means; nothing more where every repetition has been written.
    fn text(&self, done: &Comparison, runs: usize, seed: u64, repeats: &Repeats) -> String {
        let first = &done.cases[0].scenario;
        match self.format {
            Format::Table => {
                let how_many = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
                let heading = format!(
                    "{}\n{how_many} of {} each, seeds from {seed}; differences to the first row, {}\n\n",
                    first.title,
                    first.duration,
                    repeats.note().unwrap_or("paired by seed; 95 % intervals")
                );
                let notes: String = done.notes().iter().map(|note| format!("\n{note}\n")).collect();
                heading + &table::text(&done.table()) + &notes
            }
            Format::Json => done.objects().iter().map(|object| format!("{object}\n")).collect(),
            Format::Csv => String::new(),
        }
    }

    fn refuse_nonsense(&self) -> Result<(), Failure> {
        for Choices { path, .. } in &self.vary {
            if path == "seed" || path == "runs" {
                return Err(Failure::bad_input(
                    format!("`{path}` cannot be varied: every value runs with the same seeds"),
                    format!("use --{path}"),
                ));
            }
            if self.vary.iter().filter(|other| other.path == *path).count() > 1 {
                return Err(Failure::bad_input(
                    format!("`{path}` is varied twice"),
                    format!("write all its values at once: --vary {path}=a,b,c"),
                ));
            }
        }
        let count =
            self.vary.iter().try_fold(1_usize, |count, choices| count.checked_mul(choices.values.len()));
        match count {
            Some(count) if count <= MOST_CASES => Ok(()),
            _ => Err(Failure::bad_input(
                format!("there are more than {MOST_CASES} combinations"),
                "vary fewer keys or values at once",
            )),
        }
    }
}
