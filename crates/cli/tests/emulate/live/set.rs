//! Tests that observe a run in progress and change the path of this run.

use crate::common::machine::Machine;
use crate::common::{lasthop, stderr_of};
use crate::traffic::{client, server};
use crate::{CLEAN, emulating, is_possible};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn set(run: &Child, words: &[&str]) -> Output {
    let pid = run.id().to_string();
    lasthop().args(["emulate", "set", "--format", "json", "--run", &pid]).args(words).output().unwrap()
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until the file of a run has at least `count` lines.
fn wait_for(file: &Path, count: usize) {
    let start = Instant::now();
    while lines(file).len() < count {
        assert!(start.elapsed() < Duration::from_secs(20), "fewer than {count} lines");
        thread::sleep(Duration::from_millis(20));
    }
}

/// After about 2 s, the rate is set to a fifth of the initial rate, and the one-way delay to six times the initial
/// delay. Deliveries and JSON lines show the change, and the summary has the change as a plan.
#[test]
fn what_is_set_holds_from_then_on() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    let (server, client) = (server("cubic"), client("{server}", 6.0));
    let watch = ["--watch", file.to_str().unwrap(), "--every", "200 ms"];
    let rest = ["--server", &server, "--format", "json", "--", "sh", "-c", &client];
    let mut command = emulating(&[&[CLEAN], &watch[..], &rest].concat());
    let mut machine = Machine::watch();
    let run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&file, 10);
    let answer = set(&run, &["rate=2Mbit/s", "delay=60ms", "@down"]);
    assert!(answer.status.success(), "{}", stderr_of(&answer));
    let holds: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(holds["links"][0]["rate_bps"], 2_000_000);
    assert_eq!(holds["links"][1]["rate_bps"], 10_000_000);
    let when = holds["time_s"].as_f64().unwrap();
    let output = run.wait_with_output().unwrap();
    let summary = crate::summary(&output);
    machine.heed(&summary);

    let told = lines(&file);
    let rates = |from: f64, until: f64| {
        let within = |line: &&Value| (from..until).contains(&line["time_s"].as_f64().unwrap());
        let rates: Vec<f64> =
            told.iter().filter(within).map(|line| line["down"]["rate_kbps"].as_f64().unwrap()).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    let (before, after) = (rates(1.0, when), rates(when + 0.5, when + 2.5));
    machine.judge((9700.0..10_300.0).contains(&before), before);
    // The link is never idle, because up to 200 packets wait when the rate falls.
    machine.judge((1940.0..2060.0).contains(&after), after);
    let last = told.last().unwrap();
    assert_eq!(last["links"][0]["delay_ms"], 60.0);
    // The round-trip time is missing if the connection has just been closed.
    assert!(last["down"]["rtt_ms"].as_f64().is_none_or(|rtt| rtt > 130.0), "{last}");

    let changes = summary["set"]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0]["direction"], changes[0]["time_s"].as_f64()), (&"down".into(), Some(when)));
    let plans = summary["set"]["plans"].as_str().unwrap();
    assert!(plans.starts_with("[link.path.down]\nplan = \"10 Mbit/s for "), "{plans}");
    assert!(plans.contains(", 2 Mbit/s for ") && plans.contains("delay_plan = \"0 s for "), "{plans}");
}

#[test]
fn what_cannot_be_set_is_refused_and_the_run_goes_on() {
    if !is_possible() {
        return;
    }
    let start = |path: &str| {
        let mut command = emulating(&[path, "--server", "exec sleep 1000", "--", "sleep", "1000"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let says = |output: &Output, expected: &str| {
        let said = stderr_of(output);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{said}");
    };
    let mut run = start("umts");
    let reached = Instant::now();
    while !set(&run, &[]).status.success() {
        assert!(reached.elapsed() < Duration::from_secs(20), "{}", stderr_of(&set(&run, &[])));
        thread::sleep(Duration::from_millis(50));
    }
    says(&set(&run, &["rate=1Mbit/s"]), "several links");
    // A request is refused as a whole, so the rate does not change.
    let before = set(&run, &[]).stdout;
    says(&set(&run, &["rate=1Mbit/s", "speed=1", "--link", "wireless"]), "`speed` cannot be set");
    let links = |stdout: &[u8]| serde_json::from_slice::<Value>(stdout).unwrap()["links"].clone();
    assert_eq!(links(&before), links(&set(&run, &[]).stdout));
    // A share of lost packets replaces the bit errors of the link `wireless`.
    assert!(set(&run, &["loss=1%", "--link", "wireless"]).status.success());
    assert_ne!(links(&before), links(&set(&run, &[]).stdout));
    says(&set(&run, &["rate=1Mbit/s", "--link", "none"]), "no link `none`");
    says(&set(&run, &["speed=1"]), "`speed` cannot be set");
    assert!(run.try_wait().unwrap().is_none());
    end(&run);
    run.wait().unwrap();
    let gone = set(&run, &[]);
    says(&gone, "you have no running emulation with PID");
}

/// Requests the end of a run by SIGTERM.
fn end(run: &Child) {
    let pid = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
}
