//! `run --until` and `--warm-up`: repetitions until means are exact enough, and what is left out of them.

mod common;

use common::{call, objects, stderr_of, stdout};

const LOSSY: &str = "profile=plain,rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=5s,recovery=sack";

fn goodput(arguments: &[&str]) -> (f64, f64, u64) {
    let it = objects(&stdout(&[&["run", LOSSY, "--format", "json"], arguments].concat())).remove(0);
    let it = &it["goodput_kbps"];
    let ends = [it["ci95"][0].as_f64().unwrap(), it["ci95"][1].as_f64().unwrap()];
    (it["mean"].as_f64().unwrap(), (ends[1] - ends[0]) / 2.0, it["runs"].as_u64().unwrap())
}

/// Half of the interval is at most 0.02 / 1.02 of the mean, as a sweep's points have it; a look earlier it was not.
#[test]
fn it_runs_until_the_interval_is_small_enough() {
    let (mean, half, runs) = goodput(&["--until", "2%"]);
    assert!(half <= 0.02 / 1.02 * mean, "{half} of {mean}");
    // It looks after 10 runs, then after each tenth more, at least 10.
    let mut looks = vec![10];
    while looks[looks.len() - 1] < runs {
        let last = looks[looks.len() - 1];
        looks.push(last + (last / 10).max(10));
    }
    assert!(looks.len() > 1 && looks[looks.len() - 1] == runs, "{runs}");
    let earlier = looks[looks.len() - 2].to_string();
    let (mean, half, _) = goodput(&["--runs", &earlier]);
    assert!(half > 0.02 / 1.02 * mean, "{half} of {mean} after {earlier}");
    // The same as so many runs without a rule, whatever the threads.
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
        said.contains("note: goodput_kbps is not as exact as --until asks for after 12 runs: half of"),
        "{said}"
    );
    assert!(!said.contains("10000"), "{said}");
}

/// Nothing is random: one run is exact.
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
    let output = call(&["run", LOSSY, "--metric", "timeouts"]);
    assert_eq!(output.status.code(), Some(2), "--metric is about --until");
}
