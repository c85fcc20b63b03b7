//! The 22 example test cases of draft-ietf-ccwg-bbr (last appendix). Each case runs on nine paths.
//!
//! `cargo run -p lasthop-tcp --example bbr3-cases -- docs/images/bbr` draws the pictures of
//! `docs/development/validation/bbr3-draft.md`.

#[allow(dead_code, reason = "the pictures use more than the assertions")]
mod cases;
#[allow(dead_code, reason = "the pictures use more than the assertions")]
mod lab;
mod quiche;

use cases::{CASES, Case, Why};
use lab::Lab;
use lasthop_base::Value;

/// Runs a case on a path. Returns a message if the case fails but is not an exception (`Case::except`), or if the case
/// holds but is an exception.
fn complaint(case: &Case, rate: f64, rtt: f64) -> Option<String> {
    let known = (case.except)(rate, rtt);
    let seen = (case.run)(&mut case.lab(rate, rtt));
    let path = format!("{}: {} Mbit/s, {} ms", case.name, rate / 1e6, rtt * 1e3);
    match (seen, known) {
        (Ok(what), Some(_)) => Some(format!("{path}: holds, {what}, but is listed as an exception")),
        (Err(Why::Not(why)), None) => Some(format!("{path}: {why}")),
        _ => None,
    }
}

fn run(cases: &[Case]) {
    let complaints: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let [rates, rtts] = case.paths;
            rates
                .into_iter()
                .flat_map(move |rate| rtts.into_iter().filter_map(move |rtt| complaint(case, rate, rtt)))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn startup_and_drain() {
    run(&CASES[..4]);
}

#[test]
fn probing_for_bandwidth() {
    run(&CASES[4..9]);
}

#[test]
fn probing_for_the_round_trip_time() {
    run(&CASES[9..13]);
}

#[test]
fn paths_that_change() {
    run(&CASES[13..17]);
}

#[test]
fn losses_that_were_none() {
    run(&CASES[17..]);
}

/// With `saves = "episode"`, BBR saves its state once per episode of losses (draft-ietf-ccwg-bbr §5.5.11.1). A spurious
/// timeout is then undone on every path.
#[test]
fn what_is_saved_once_is_restored() {
    let case = CASES.iter().find(|case| case.name == "spurious-rto").expect("a case");
    let [rates, rtts] = case.paths;
    for (rate, rtt) in rates.into_iter().flat_map(|rate| rtts.map(|rtt| (rate, rtt))) {
        let mut lab = Lab::new(rate, rtt, case.queue, &[("saves", Value::Word("episode"))]);
        if let Err(Why::Not(why)) = (case.run)(&mut lab) {
            panic!("{rate} bit/s, {rtt} s: {why}");
        }
    }
}
