//! Compares the papers' baselines in ns-2 and in Lasthop: `make crosscheck-ns2`.
//!
//!     cargo run --release -p lasthop-lab --example crosscheck-ns2 -- [WORD]... [--runs N] [--ns KEY=VALUE]... [--set KEY=VALUE]...
//!
//! * WORD: selects the rows whose paper or label contains each WORD.
//! * `--runs`: number of repetitions in each simulator.
//! * `--ns`: sets a parameter of the ns-2 scripts, or a default of ns-2 (`Agent/TCP.singledup_=1`).
//! * `--set`: sets a key of Lasthop's scenarios (`limited_transmit=true`).

mod cases;
mod ns;

use cases::Baseline;
use lasthop_lab::progress::Silent;
use lasthop_lab::repeat::{run_all, seed_of};
use lasthop_lab::runs::number::{plain, signed, with_interval};
use lasthop_lab::stats::{Estimate, change_of_means};
use lasthop_scenario::{Scenario, Traffic};
use lasthop_sim::{FlowOutcome, Outcome};
use rayon::prelude::*;
use std::process::ExitCode;

fn main() -> ExitCode {
    match crosscheck() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("crosscheck-ns2: {why}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Default)]
struct Arguments {
    words: Vec<String>,
    runs: Option<u32>,
    theirs: Vec<(String, String)>,
    ours: Vec<(String, String)>,
}

impl Arguments {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut options = Arguments::default();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                options.words.push(argument.to_lowercase());
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{argument}: missing value"))?;
            let pair = || {
                let (key, value) =
                    value.split_once('=').ok_or_else(|| format!("{argument} {value}: not KEY=VALUE"))?;
                Ok::<_, String>((key.to_owned(), value.to_owned()))
            };
            match argument.as_str() {
                "--runs" => {
                    let runs = value.parse().ok().filter(|runs| *runs >= 2);
                    options.runs =
                        Some(runs.ok_or_else(|| format!("--runs {value}: expected a number of at least 2"))?);
                }
                "--ns" => options.theirs.push(pair()?),
                "--set" => options.ours.push(pair()?),
                _ => return Err(format!("{argument}: options: --runs N, --ns KEY=VALUE, --set KEY=VALUE")),
            }
        }
        Ok(options)
    }

    fn apply(&self, case: &mut Baseline) -> Result<(), String> {
        case.runs = self.runs.unwrap_or(case.runs);
        case.parameters.extend(self.theirs.iter().cloned());
        for (path, value) in &self.ours {
            case.draft.set(path, value).map_err(|problem| problem.to_string())?;
        }
        Ok(())
    }
}

fn crosscheck() -> Result<(), String> {
    let options = Arguments::read(std::env::args().skip(1))?;
    let mut cases = cases::all().map_err(|problem| problem.to_string())?;
    cases.retain(|case| {
        let text = format!("{} {}", case.paper, case.label).to_lowercase();
        options.words.iter().all(|word| text.contains(word))
    });
    if cases.is_empty() {
        return Err("no row contains all these words".into());
    }
    let mut paper = "";
    for mut case in cases {
        options.apply(&mut case)?;
        let (theirs, ours) = (theirs(&case)?, ours(&case)?);
        if paper != case.paper {
            paper = case.paper;
            println!(
                "\n| {paper} | ns-2, kbit/s | Lasthop, kbit/s | difference, % | timeouts | recoveries | retransmissions |"
            );
            println!("|---|---|---|---|---|---|---|");
        }
        println!("{}", row(&case, &theirs, &ours));
    }
    Ok(())
}

/// Numbers of one repetition that are compared. Each number is a sum over all TCP flows.
struct RunTotals {
    goodput_kbps: f64,
    timeouts: f64,
    recoveries: f64,
    retransmissions: f64,
}

fn theirs(case: &Baseline) -> Result<Vec<RunTotals>, String> {
    let of = |run| {
        let script = format!("{}.tcl", case.paper);
        let numbers = ns::run(&script, run, &case.parameters)?;
        let number =
            |name: &str| numbers.get(name).copied().ok_or_else(|| format!("{script} printed no {name}"));
        Ok(RunTotals {
            goodput_kbps: number("goodput_kbps")?,
            timeouts: number("timeouts")?,
            recoveries: number("recoveries")?,
            retransmissions: number("retransmissions")?,
        })
    };
    (0..case.runs).into_par_iter().map(of).collect()
}

fn ours(case: &Baseline) -> Result<Vec<RunTotals>, String> {
    let scenario = |run| {
        let seed = seed_of(1, run);
        Ok((case.scenario(seed).map_err(|problem| problem.to_string())?, seed))
    };
    let scenarios: Vec<(Scenario, u64)> = (0..case.runs).map(scenario).collect::<Result<_, String>>()?;
    let jobs: Vec<(&Scenario, u64)> = scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
    let outcomes = run_all(&jobs, &Silent).into_iter().flatten();
    Ok(outcomes.zip(&scenarios).map(|(outcome, (scenario, _))| of_tcp(scenario, &outcome)).collect())
}

fn of_tcp(scenario: &Scenario, outcome: &Outcome) -> RunTotals {
    let sum = |of: fn(&FlowOutcome) -> f64| {
        let flows = scenario.flows.iter().zip(&outcome.flows);
        flows.filter(|(flow, _)| matches!(flow.traffic, Traffic::Tcp { .. })).map(|(_, flow)| of(flow)).sum()
    };
    RunTotals {
        goodput_kbps: sum(FlowOutcome::goodput_kbps),
        timeouts: sum(|flow| flow.source.timeouts as f64),
        recoveries: sum(|flow| flow.source.recoveries as f64),
        retransmissions: sum(|flow| flow.source.retransmitted as f64),
    }
}

fn row(case: &Baseline, theirs: &[RunTotals], ours: &[RunTotals]) -> String {
    let values =
        |numbers: &[RunTotals], of: fn(&RunTotals) -> f64| numbers.iter().map(of).collect::<Vec<f64>>();
    let mean = |numbers: &[RunTotals], of| {
        Estimate::of(&values(numbers, of)).map_or_else(|| "–".into(), |estimate| rounded(estimate.mean))
    };
    let both = |of| format!("{} / {}", mean(theirs, of), mean(ours, of));
    let (them, us) = (values(theirs, |one| one.goodput_kbps), values(ours, |one| one.goodput_kbps));
    let shown = |estimate: Option<Estimate>, text: fn(&Estimate) -> String| {
        estimate.as_ref().map_or_else(|| "–".into(), text)
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        case.label,
        shown(Estimate::of(&them), with_interval),
        shown(Estimate::of(&us), with_interval),
        shown(change_of_means(&us, &them), signed),
        both(|one| one.timeouts),
        both(|one| one.recoveries),
        both(|one| one.retransmissions),
    )
}

/// Formats the mean of a count. A mean of 100 or more is an integer; a smaller mean has at most one decimal.
fn rounded(mean: f64) -> String {
    plain(if mean >= 100.0 { mean.round() } else { (10.0 * mean).round() / 10.0 })
}
