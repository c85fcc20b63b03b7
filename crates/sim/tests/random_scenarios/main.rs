//! Runs random valid scenarios. No run may hang, panic, report an impossible number or depend on observers.
//!
//! `LASTHOP_SCENARIOS=1000..21000 cargo test -p lasthop-sim --test random_scenarios` runs other seeds.
//! `LASTHOP_SCENARIOS=1234` prints and runs one scenario.

mod draw;
mod impossible;

use draw::Drawing;
use impossible::impossible;
use lasthop_scenario::{Catalogue, Scenario};
use lasthop_sim::{Observation, Outcome, SteppedRun};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

const MAX_EVENTS: usize = 200_000;
/// Number of events at one instant that no valid run exceeds. For example, eight flows may send 10,000 segments each at
/// once.
const AT_ONE_INSTANT: usize = 2_000_000;

fn seeds() -> Range<u64> {
    let Ok(requested) = std::env::var("LASTHOP_SCENARIOS") else { return 0..1100 };
    let number = |text: &str| text.parse().expect("a seed, or FIRST..END");
    match requested.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => number(&requested)..number(&requested) + 1,
    }
}

/// Returns the outcome after at most [`MAX_EVENTS`], and whether the run has ended. Returns an error if time does not
/// advance.
fn run_limited(
    scenario: &Scenario,
    observation: Observation,
    in_pieces_of: usize,
) -> Result<(Outcome, bool), String> {
    let mut running = SteppedRun::new(scenario, scenario.seed, observation);
    let (mut done, mut still, mut ended) = (0, 0, false);
    while !ended && (done < MAX_EVENTS || still > 0) {
        let before = running.now();
        ended = !running.advance(in_pieces_of);
        done += in_pieces_of;
        still = if running.now() == before { still + in_pieces_of } else { 0 };
        if still > AT_ONE_INSTANT {
            return Err(format!("time stops at {} s", before.as_secs()));
        }
    }
    let outcome = running.finish().0;
    match &outcome.stuck {
        Some(stuck) => Err(stuck.message.clone()),
        None => Ok((outcome, ended)),
    }
}

/// Runs one scenario. Returns its faults, or `None` if the scenario is invalid.
fn faults_of(catalogue: &Catalogue, text: &str) -> Option<Vec<String>> {
    let scenario = match catalogue.parse(text, "random").and_then(|draft| draft.check()) {
        Ok(scenario) => scenario,
        Err(problem) => {
            assert!(!problem.message().is_empty() && problem.line() >= 1, "{problem:?}\n{text}");
            return None;
        }
    };
    let waits = Observation { link_delays: true, ..Observation::default() };
    let (mut outcome, ended) = match run_limited(&scenario, waits, 20_000) {
        Ok(result) => result,
        Err(hang) => return Some(vec![hang]),
    };
    let mut found = impossible(&scenario, &outcome);
    let probes = Observation { probes: true, ..Observation::default() };
    if let (true, Ok((probed, true))) = (ended, run_limited(&scenario, probes, 977)) {
        for link in &mut outcome.links {
            link.traffic.iter_mut().for_each(|way| way.delay = None);
        }
        if probed != outcome {
            found.push("probes change the outcome".to_owned());
        }
    }
    Some(found)
}

#[test]
fn none_hangs_or_reports_an_impossible_number() {
    let (drawing, catalogue) = (Drawing::new(), Catalogue::default());
    let (mut valid, mut wrong) = (0, Vec::new());
    let seeds = seeds();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let text = drawing.scenario(seed);
        if count == 1 {
            println!("{text}");
        }
        let panicked = |_| Some(vec!["panics".to_owned()]);
        let found = catch_unwind(AssertUnwindSafe(|| faults_of(&catalogue, &text))).unwrap_or_else(panicked);
        if let Some(found) = found {
            valid += 1;
            wrong.extend(found.into_iter().map(|what| format!("LASTHOP_SCENARIOS={seed}: {what}")));
        }
    }
    println!("{valid} of {count} scenarios are valid");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count < 100 || valid * 3 > count, "{valid} of {count} scenarios are valid");
}
