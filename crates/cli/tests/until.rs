//! `--until` and `--warm-up` of `run` and `compare`.

mod common;

use common::{call, objects, stderr_of, stdout};

const LOSSY: &str = "profile=plain,rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=5s,recovery=sack";

fn goodput(arguments: &[&str]) -> (f64, f64, u64) {
    let it = objects(&stdout(&[&["run", LOSSY, "--format", "json"], arguments].concat())).remove(0);
    let it = &it["goodput_kbps"];
    let ends = [it["ci95"][0].as_f64().unwrap(), it["ci95"][1].as_f64().unwrap()];
    (it["mean"].as_f64().unwrap(), (ends[1] - ends[0]) / 2.0, it["runs"].as_u64().unwrap())
}

/// When the run ends, half the 95 % interval is at most 0.02 / 1.02 of the mean, as for the points of a sweep. At the
/// previous check, half the interval was larger than this bound.
#[test]
fn it_runs_until_the_interval_is_small_enough() {
    let (mean, half, runs) = goodput(&["--until", "2%"]);
    assert!(half <= 0.02 / 1.02 * mean, "{half} of {mean}");
    // The first check follows 10 runs. Each further check follows 10 % more runs, but at least 10 more runs.
    let mut looks = vec![10];
    while looks[looks.len() - 1] < runs {
        let last = looks[looks.len() - 1];
        looks.push(last + (last / 10).max(10));
    }
    assert!(looks.len() > 1 && looks[looks.len() - 1] == runs, "{runs}");
    let earlier = looks[looks.len() - 2].to_string();
    let (mean, half, _) = goodput(&["--runs", &earlier]);
    assert!(half > 0.02 / 1.02 * mean, "{half} of {mean} after {earlier}");
    // The output equals the output of the same number of runs without `--until`, for any number of threads.
    let arguments = ["run", LOSSY, "--until", "2%", "--format", "csv", "--jobs"];
    let one = stdout(&[&arguments[..], &["1"]].concat());
    assert_eq!(one, stdout(&[&arguments[..], &["3"]].concat()));
    assert_eq!(one, stdout(&["run", LOSSY, "--runs", &runs.to_string(), "--format", "csv"]));
}

#[test]
fn what_is_not_reached_is_said() {
    let output =
        call(&["run", LOSSY, "--until", "0.1%", "--runs", "12", "--metric", "goodput_kbps,timeouts"]);
    assert!(output.status.success());
    let said = stderr_of(&output);
    assert!(
        said.contains("note: goodput_kbps misses the precision of --until after 12 runs: half"),
        "{said}"
    );
    assert!(!said.contains("10000"), "{said}");
}

#[test]
fn a_run_without_chance_is_run_once() {
    let path = "profile=plain,rate=2Mbit/s,rtt=40ms,duration=2s";
    let output = call(&["run", path, "--until", "1%"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("one run of 2 s"), "{output:?}");
    assert_eq!(stderr_of(&output), "");
}

#[test]
fn a_warm_up_is_left_out_and_named() {
    let warm = stdout(&["run", LOSSY, "--runs", "2", "--warm-up", "2 s"]);
    assert!(warm.contains("2 runs of 5 s without the first 2 s, seeds 1 to 2"), "{warm}");
    assert_eq!(warm, stdout(&["run", LOSSY, "--runs", "2", "--set", "warmup=2 s"]));
    let output = call(&["run", LOSSY, "--warm-up", "5 s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("nothing would be measured"), "{output:?}");
    let chosen = stdout(&["run", LOSSY, "--runs", "2", "--metric", "timeouts"]);
    assert!(chosen.contains("timeouts") && !chosen.contains("goodput"), "{chosen}");
}

/// When the comparison ends, half the 95 % interval of each value is at most 0.03 / 1.03 of the value's mean. Half the
/// interval of each difference is at most 0.03 / 1.03 of the first value's mean. At the previous check, at least one
/// half interval was larger than its bound. The output equals the output of the same number of runs without `--until`,
/// for any number of threads.
#[test]
fn a_comparison_runs_until_differences_are_exact_too() {
    let compare = |more: &[&str]| {
        stdout(&[&["compare", LOSSY, "--vary", "recovery=sack,reno,new_reno"], more].concat())
    };
    let judged = |more: &[&str]| {
        let all = objects(&compare(&[&["--format", "json"], more].concat()));
        let half = |it: &serde_json::Value| {
            (it["ci95"][1].as_f64().unwrap() - it["ci95"][0].as_f64().unwrap()) / 2.0
        };
        let numbers: Vec<&serde_json::Value> = all.iter().map(|it| &it["goodput_kbps"]).collect();
        let first = numbers[0]["mean"].as_f64().unwrap();
        let means = numbers.iter().all(|it| half(it) <= 0.03 / 1.03 * it["mean"].as_f64().unwrap());
        let differences = numbers[1..].iter().all(|it| half(&it["difference"]) <= 0.03 / 1.03 * first);
        (means && differences, numbers[0]["runs"].as_u64().unwrap())
    };
    let (is_exact, runs) = judged(&["--until", "3%"]);
    assert!(is_exact && runs > 10 && runs.is_multiple_of(10) && runs <= 110, "{runs}");
    assert_eq!(judged(&["--runs", &(runs - 10).to_string()]), (false, runs - 10));
    let csv = |more: &[&str]| compare(&[&["--format", "csv"], more].concat());
    let one = csv(&["--until", "3%", "--jobs", "1"]);
    assert_eq!(one, csv(&["--until", "3%", "--jobs", "3"]));
    assert_eq!(one, csv(&["--runs", &runs.to_string()]));
}

#[test]
fn a_comparison_says_which_difference_is_not_exact() {
    let compare = ["compare", LOSSY, "--vary", "recovery=sack,reno", "--until", "0.1%", "--runs", "12"];
    let output = call(&compare);
    assert!(output.status.success());
    let said = stderr_of(&output);
    for expected in [
        "note: goodput_kbps of sack misses the precision of --until after 12 runs: half the interval is",
        "note: the difference of goodput_kbps of reno misses the precision of --until after 12 runs: half the interval",
        "% of the baseline's mean",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    let path = "profile=plain,rate=2Mbit/s,rtt=40ms,queue=20packets,duration=2s";
    let once = call(&["compare", path, "--vary", "recovery=sack,reno", "--until", "1%"]);
    assert!(String::from_utf8_lossy(&once.stdout).contains("one run of 2 s each"), "{once:?}");
    assert_eq!(stderr_of(&once), "");
}

#[test]
fn a_comparison_leaves_a_warm_up_out() {
    let compare = |more: &[&str]| {
        stdout(&[&["compare", LOSSY, "--vary", "recovery=sack,reno", "--runs", "2"], more].concat())
    };
    let warm = compare(&["--warm-up", "2 s"]);
    assert!(warm.contains("2 runs of 5 s without the first 2 s each"), "{warm}");
    assert_eq!(warm, compare(&["--set", "warmup=2 s"]));
    let output = call(&["compare", LOSSY, "--vary", "recovery=sack,reno", "--warm-up", "5 s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("nothing would be measured"), "{output:?}");
}
