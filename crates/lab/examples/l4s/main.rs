//! Prints the tables of docs/explanation/l4s.md: rates and queueing delays of L4S and classic flows.
//!
//!     cargo run --release -p lasthop-lab --example l4s -- [WORD]... [--runs N]
//!
//! WORD: selects the rows whose label contains each WORD. A WORD with `=` or `.toml` is a scenario to run instead.
//! `--runs`: number of repetitions of each row (10 by default).

mod cases;
mod queues;

use cases::Case;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::stats::Estimate;
use queues::{RunMeasures, measure};
use rayon::prelude::*;
use std::process::ExitCode;

fn main() -> ExitCode {
    match tables() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("l4s: {why}");
            ExitCode::FAILURE
        }
    }
}

fn tables() -> Result<(), String> {
    let (words, runs) = arguments()?;
    println!(
        "| path | goodputs, Mbit/s | Jain | utilisation, % | L4S queueing delay: mean, ms | p99, ms | others: mean, ms | p99, ms | marked, % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let is_path = |word: &&String| word.contains('=') || word.contains(".toml");
    let own: Vec<Case> = words.iter().filter(is_path).map(|path| cases::own(path)).collect();
    let is_meant = |case: &Case| words.iter().all(|word| case.label.contains(word.as_str()));
    let rows = if own.is_empty() { cases::all().into_iter().filter(is_meant).collect() } else { own };
    for case in &rows {
        let scenario = case.scenario()?;
        let all: Vec<RunMeasures> =
            (0..runs).into_par_iter().map(|run| measure(&scenario, seed_of(1, run), case.from_s)).collect();
        println!("{}", row(case, &all));
    }
    Ok(())
}

fn arguments() -> Result<(Vec<String>, u32), String> {
    let (mut words, mut runs) = (Vec::new(), 10);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--runs" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                runs = number
                    .filter(|runs| *runs > 0)
                    .ok_or("--runs needs a number of repetitions, 1 or more")?;
            }
            word if word.starts_with("--") => {
                return Err(format!("unknown option {word}; known: --runs N"));
            }
            word => words.push(word.to_owned()),
        }
    }
    Ok((words, runs))
}

fn row(case: &Case, all: &[RunMeasures]) -> String {
    let number = |of: &dyn Fn(&RunMeasures) -> Option<f64>, digits: usize| {
        let values: Vec<f64> = all.iter().filter_map(of).collect();
        match Estimate::of(&values) {
            None => "–".to_owned(),
            Some(some) => match some.half_width() {
                None => format!("{:.digits$}", some.mean),
                Some(half) => format!("{:.digits$} ± {half:.digits$}", some.mean),
            },
        }
    };
    let flows = all.first().map_or(0, |one| one.goodputs.len());
    let rates: Vec<String> =
        (0..flows).map(|flow| number(&|one| one.goodputs.get(flow).map(|bps| bps / 1e6), 2)).collect();
    [
        case.label.clone(),
        rates.join(" / "),
        number(&|one| one.jain(), 3),
        number(&|one| Some(100.0 * one.utilisation), 1),
        number(&|one| one.low.mean(), 2),
        number(&|one| one.low.p99(), 2),
        number(&|one| one.classic.mean(), 2),
        number(&|one| one.classic.p99(), 2),
        number(&|one| one.marked(), 2),
    ]
    .iter()
    .fold(String::new(), |line, cell| line + "| " + cell + " ")
        + "|"
}
