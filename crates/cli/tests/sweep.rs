//! Sweeps that are killed, interrupted, started twice, or called with a wrong file.

mod common;

use common::{call_in, lasthop, objects, stderr_of};
use lasthop_base::Stream;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Scenario of the sweeps. One run takes about 10 ms.
const PATH: &str = "rate=10Mbit/s,rtt=40ms,queue=40packets,loss=0.1%,duration=60s";
const POINTS: [&str; 4] = ["--set", "recovery=sack,reno", "--set", "channel.loss=0.1%,0.2%,0.5%,1%,2%"];
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the arguments of a sweep into a store, with `runs` runs per point.
fn sweep<'a>(store: &'a str, runs: &'a str) -> Vec<&'a str> {
    [&["sweep", PATH][..], &POINTS, &["--runs", runs, "--jobs", "2", "--store", store]].concat()
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = lasthop();
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn stdout_of(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn rows(folder: &Path, store: &str) -> String {
    stdout_of(call_in(folder, &["results", store, "--format", "csv"]))
}

/// Returns the number of runs in a store. Readers of a store do not wait for its writer.
fn finished(folder: &Path, store: &str) -> usize {
    let output = call_in(folder, &["results", store, "--format", "csv"]);
    String::from_utf8_lossy(&output.stdout).lines().count().saturating_sub(1)
}

/// Runs a sweep of `runs_each` runs per point, kills the sweep `kills` times, and finally lets the sweep end. Each kill
/// waits for a random number of runs in the store, and then for a random time within the next runs. The kills are thus
/// spread over the work, so that the test behaves alike on busy and idle machines.
fn kill_and_resume(runs_each: u32, kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs_each.to_string();
    let all = 10 * runs_each as usize;
    stdout_of(call_in(folder.path(), &sweep("whole", &runs)));
    let mut moments = Stream::named(1, "kills");
    let mut met = 0;
    for kill in 0..kills {
        let done = (f64::from(kill) + moments.uniform()) / f64::from(kills + 1) * all as f64;
        let mut child = spawn(folder.path(), &sweep("killed", &runs));
        while finished(folder.path(), "killed") < done as usize && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(30).mul_f64(moments.uniform()));
        child.kill().unwrap();
        met += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(2 * met >= kills, "the sweep finished too early: {met} of {kills}");
    println!("{met} of {kills} kills hit a running sweep");
    let last = call_in(folder.path(), &sweep("killed", &runs));
    let said = stderr_of(&last);
    stdout_of(last);
    assert!(said.contains("runs are in the store"), "the killed sweep has stored no runs: {said}");
    let (whole, kill_and_resume) = (rows(folder.path(), "whole"), rows(folder.path(), "killed"));
    assert_eq!(whole.lines().count(), 1 + all, "one row per run");
    assert!(whole == kill_and_resume, "the rows of the killed sweep differ");
}

#[test]
fn a_sweep_that_is_killed_goes_on_where_it_was() {
    kill_and_resume(30, 6);
}

/// Runs the test in its full size, 2,000 runs and 50 kills: `cargo test --release -p lasthop --test sweep -- --ignored`
#[test]
#[ignore = "takes a minute"]
fn a_sweep_of_2000_runs_outlives_50_kills() {
    kill_and_resume(200, 50);
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_keeps_what_is_finished_and_says_how_many() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(folder.path(), &sweep("r", "100000"));
    let begun = Instant::now();
    let finished = || finished(folder.path(), "r");
    while finished() < 5 && begun.elapsed() < TIMEOUT {
        sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert_eq!(last, format!("interrupted: {} of 1000000 runs are done", finished()));
}

#[test]
fn a_second_sweep_into_the_same_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(folder.path(), &sweep("r", "100000"));
    let begun = Instant::now();
    while !folder.path().join("r").exists() && begun.elapsed() < TIMEOUT {
        sleep(Duration::from_millis(10));
    }
    let second = call_in(folder.path(), &sweep("r", "1"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status.code(), Some(1), "{}", stderr_of(&second));
    assert!(stderr_of(&second).contains("another process is writing to `r`"), "{}", stderr_of(&second));
}

#[test]
fn shards_are_merged_into_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    stdout_of(call_in(folder.path(), &sweep("whole", "3")));
    for (store, shard) in [("one", "1/2"), ("two", "2/2")] {
        let arguments = [&sweep(store, "3")[..], &["--shard", shard]].concat();
        stdout_of(call_in(folder.path(), &arguments));
    }
    let merged = call_in(folder.path(), &["results", "merged", "--merge", "one", "two", "--format", "csv"]);
    let said = stderr_of(&merged);
    assert!(said.contains("one: 15 new runs") && said.contains("two: 15 new runs"), "{said}");
    assert_eq!(stdout_of(merged), rows(folder.path(), "whole"));
}

#[test]
fn parquet_is_written_by_python() {
    let output = call_in(Path::new("."), &["results", "it's.sqlite", "--sweep", "2", "--format", "parquet"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr_of(&output);
    let line =
        r#"python3 -c "import lasthop; lasthop.read_store('it\'s.sqlite', 2).to_parquet('runs.parquet')""#;
    assert!(said.contains(line), "{said}");
}

/// `results` gives the same seeds and numbers as `run`, and names the cases like `compare`.
#[test]
fn numbers_are_those_of_run() {
    let folder = tempfile::tempdir().unwrap();
    let table = stdout_of(call_in(folder.path(), &sweep("r", "3")));
    let json = stdout_of(call_in(folder.path(), &["results", "r", "--format", "json"]));
    let run = ["run", PATH, "--set", "recovery=reno", "--set", "channel.loss=0.5%", "--runs", "3"];
    let expected = objects(&stdout_of(call_in(folder.path(), &[&run[..], &["--format", "json"]].concat())));
    let ours = objects(&json);
    for expected in expected {
        let is_it = |object: &&serde_json::Map<String, serde_json::Value>| {
            object["x"]["recovery"] == "reno"
                && object["x"]["channel.loss"] == "0.5%"
                && object.get("flow") == expected.get("flow")
                && object.get("link") == expected.get("link")
        };
        let found = ours.iter().find(is_it).expect("an object for each flow of run");
        for (key, value) in &expected {
            assert_eq!(found.get(key), Some(value), "{key}");
        }
    }
    let text = stdout_of(call_in(folder.path(), &run));
    let goodput = text.lines().find(|line| line.starts_with("goodput_kbps")).unwrap();
    let mean = goodput.split_whitespace().nth(1).unwrap();
    let row = table.lines().find(|line| line.starts_with("reno") && line.contains(" 0.5% ")).unwrap();
    assert!(row.contains(&format!(" {mean} ± ")), "{row}: {mean}");
}

#[test]
fn results_are_filtered() {
    let folder = tempfile::tempdir().unwrap();
    stdout_of(call_in(folder.path(), &sweep("r", "2")));
    let call = |arguments: &[&str]| call_in(folder.path(), &[&["results", "r"], arguments].concat());
    let text =
        stdout_of(call(&["--where", "recovery=sack", "--where", "channel.loss=1%,2%", "--format", "csv"]));
    assert_eq!(text.lines().count(), 1 + 4);
    assert!(text.lines().skip(1).all(|row| row.starts_with("sack,1%,") || row.starts_with("sack,2%,")));
    let text = stdout_of(call(&["--metric", "timeouts,goodput_kbps", "--format", "csv"]));
    assert!(text.starts_with("recovery,channel.loss,flow,seed,timeouts,goodput_kbps\n"), "{text}");
    let text = stdout_of(call(&["--links", "--format", "csv"]));
    assert_eq!(text.lines().count(), 1 + 2 * 20);
    for (arguments, message) in [
        (&["--where", "recovry=sack"][..], "no sweep varies `recovry`"),
        (&["--where", "recovery=sakc"], "no point has recovery = sakc"),
        (&["--where", "recovery=sakc"], "did you mean `sack`? values in the store: sack, reno"),
        (&["--sweep", "2"], "`r` has no sweep 2"),
        (&["--links"], "--links needs --format csv"),
        (&["--flow", "nobody"], "unknown flow `nobody`"),
    ] {
        let output = call(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr_of(&output).contains(message), "{}", stderr_of(&output));
    }
}

/// `results --against` gives the same differences as `compare` with the same values and seeds.
#[test]
fn results_have_the_differences_of_compare() {
    let folder = tempfile::tempdir().unwrap();
    stdout_of(call_in(folder.path(), &sweep("r", "3")));
    let against = ["--against", "recovery=sack", "--metric", "goodput_kbps,timeouts", "--format", "json"];
    let call = |arguments: &[&str]| objects(&stdout_of(call_in(folder.path(), arguments)));
    let stored = call(&[&["results", "r"][..], &against].concat());
    let values = ["--vary", "recovery=sack,reno", "--vary", "channel.loss=0.1%,0.2%,0.5%,1%,2%"];
    let compared = call(&[&["compare", PATH][..], &values, &["--runs", "3"], &against].concat());
    assert_eq!((stored.len(), compared.len()), (10, 10));
    for (mut stored, compared) in stored.into_iter().zip(compared) {
        stored.remove("sweep");
        assert_eq!(stored, compared);
    }
    let table = stdout_of(call_in(folder.path(), &["results", "r", "--against", "recovery=sack"]));
    let reno = table.lines().find(|line| line.starts_with("reno") && line.contains(" 2% ")).unwrap();
    assert!(table.contains("difference, %") && reno.contains(" to "), "{table}");
    for (arguments, message) in [
        (&["--against", "recovry=sack"][..], "no sweep varies `recovry`"),
        (&["--against", "recovery=sack,reno"], "--against has 2 values of `recovery`"),
        (&["--against", "recovery=sack", "--format", "csv"], "CSV has one row per run"),
    ] {
        let output = call_in(folder.path(), &[&["results", "r"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr_of(&output).contains(message), "{}", stderr_of(&output));
    }
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "not a store\n").unwrap();
    for (arguments, message) in [
        (&["--set", "recovery=sack,rneo", "--store", "r"][..], "rneo"),
        (&["--set", "seed=1,2", "--store", "r"], "`seed` cannot be varied"),
        (&["--set", "recovery=sack", "--set", "recovery=reno", "--store", "r"], "`recovery` is varied twice"),
        (&["--store", "notes.txt"], "`notes.txt` is not a store"),
        (&["--store", "none/r"], "the directory `none` does not exist"),
        (&["--store", "r", "--until", "2"], "percentage"),
        (&["--store", "r", "--shard", "3/2"], "1/4, 2/4"),
    ] {
        let output = call_in(folder.path(), &[&["sweep", PATH], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr_of(&output));
        assert!(stderr_of(&output).contains(message), "{}", stderr_of(&output));
    }
    assert_eq!(common::names_in(folder.path()), ["notes.txt"]);
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "not a store\n");
}
