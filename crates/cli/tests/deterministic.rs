//! Deterministic scenarios have no confidence intervals.

mod common;

use common::{objects, stdout};

/// Two flows and a drop-tail queue. All runs of this scenario are equal.
const TWO: [&str; 6] = [
    "rate=10Mbit/s,rtt=40ms,queue=50packets,duration=10s",
    "--set",
    "flow.bulk.count=2",
    "--jobs",
    "1",
    "--format",
];

fn call(command: &[&str], format: &str, more: &[&str]) -> String {
    stdout(&[command, &TWO, &[format], more].concat())
}

#[test]
fn it_is_said_and_runs_once() {
    let table = call(&["run"], "table", &[]);
    assert!(table.contains("one run of 10 s, seed 1; deterministic: repetitions are equal"), "{table}");
    assert!(table.contains("add `start_spread`") && !table.contains('±'), "{table}");
    assert_eq!(call(&["run"], "csv", &[]).lines().count(), 1 + 2, "one row per flow");
    // If the user requests three runs, all three runs are simulated but count as one measurement.
    let three = ["--runs", "3"];
    let table = call(&["run"], "table", &three);
    assert!(table.contains("3 runs of 10 s, seeds 1 to 3; deterministic") && !table.contains('±'), "{table}");
    assert_eq!(call(&["run"], "csv", &three).lines().count(), 1 + 3 * 2);
    let goodput = &objects(&call(&["run"], "json", &three))[0]["goodput_kbps"];
    assert!(goodput["ci95"].is_null() && goodput["runs"] == 1, "{goodput}");
}

#[test]
fn a_comparison_too() {
    let table = call(&["compare"], "table", &["--vary", "recovery=sack,new_reno"]);
    assert!(table.contains("one run of 10 s each") && table.contains("deterministic"), "{table}");
    assert!(!table.contains('±'), "{table}");
}

#[test]
fn drawn_starts_have_intervals() {
    for key in ["start_spread=1s", "processing=1ms"] {
        let table = call(&["run"], "table", &["--runs", "3", "--set", key]);
        assert!(!table.contains("deterministic"), "{table}");
        let goodput = table.lines().find(|line| line.starts_with("goodput_kbps")).expect("a row");
        assert!(goodput.contains('±') && !goodput.contains("± 0 "), "{goodput}");
    }
}
