//! Results of each finished run are written at once, and are kept after an interruption or a kill.

mod common;

use common::{LOSSY, lasthop, names_in, objects, stderr_of};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const MANY_RUNS: &str = "1000000";
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts the program with its standard output redirected to `out.csv`.
fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let out = File::create(folder.join("out.csv")).unwrap();
    let mut command = lasthop();
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Waits until a condition is true. Returns false after a timeout.
fn becomes_true(what: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn ended(mut child: Child, signal: &str) -> (ExitStatus, String) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

/// Returns the rows of a CSV table. Panics if a row is incomplete.
fn rows(text: &str) -> Vec<Vec<String>> {
    assert!(text.ends_with('\n'), "incomplete line: {:?}", text.lines().last());
    let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<String>>());
    let header = rows.next().unwrap();
    let rows: Vec<Vec<String>> = rows.collect();
    assert!(rows.iter().all(|row| row.len() == header.len()), "incomplete row");
    rows
}

#[cfg(unix)]
#[test]
fn what_is_finished_is_there_when_the_program_is_killed() {
    for arguments in [
        &["run", "hasegawa", "--runs", MANY_RUNS, "--jobs", "2", "--format", "csv"][..],
        &[
            "compare",
            "hasegawa",
            "--vary",
            "ack_splitting=once,split",
            "--runs",
            MANY_RUNS,
            "--jobs",
            "2",
            "--format",
            "csv",
        ],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let child = spawn(folder.path(), arguments);
        let is_under_way = becomes_true(|| read(folder.path(), "out.csv").lines().count() > 5);
        let (status, _) = ended(child, "-KILL");
        assert!(is_under_way && status.code().is_none());
        assert!(rows(&read(folder.path(), "out.csv")).len() >= 5);
    }
}

/// The rows are in the order of the runs, and the message reports the same number of runs as there are rows.
#[cfg(unix)]
#[test]
fn an_interrupted_run_has_its_finished_rows_and_says_how_many() {
    let folder = tempfile::tempdir().unwrap();
    let child = spawn(folder.path(), &["run", LOSSY, "--runs", MANY_RUNS, "--jobs", "3", "--format", "csv"]);
    assert!(becomes_true(|| read(folder.path(), "out.csv").lines().count() > 20));
    let (status, said) = ended(child, "-INT");
    assert_eq!(status.code(), Some(130), "{said}");
    let rows = rows(&read(folder.path(), "out.csv"));
    assert!(
        rows.iter().zip(1..).all(|(row, run)| row[1] == run.to_string()),
        "rows must be in the order of the runs, without gaps"
    );
    let last = said.lines().last().unwrap_or_default();
    assert_eq!(last, format!("interrupted: {} of {MANY_RUNS} runs are done", rows.len()));
}

/// Means cover the finished runs. The means of a comparison omit repetitions that have not finished in every case.
#[cfg(unix)]
#[test]
fn an_interrupted_run_sums_up_what_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", LOSSY, "--runs", MANY_RUNS, "--format", "json", "--samples", "first.csv"];
    let child = spawn(folder.path(), &arguments);
    // The file of the first repetition appears when this repetition ends.
    assert!(becomes_true(|| folder.path().join("first.csv").is_file()));
    std::thread::sleep(Duration::from_millis(500));
    let (status, said) = ended(child, "-INT");
    assert_eq!(status.code(), Some(130), "{said}");
    let flows = objects(&read(folder.path(), "out.csv"));
    let done = flows[0]["goodput_kbps"]["runs"].as_u64().unwrap();
    assert!(done >= 1 && said.contains(&format!("interrupted: {done} of {MANY_RUNS} runs")), "{said}");
    assert_eq!(names_in(folder.path()), ["first.csv", "out.csv"]);

    let arguments =
        ["compare", LOSSY, "--runs", MANY_RUNS, "--vary", "recovery=sack,reno", "--format", "json"];
    let child = spawn(folder.path(), &arguments);
    std::thread::sleep(Duration::from_secs(2));
    let (status, said) = ended(child, "-INT");
    assert_eq!(status.code(), Some(130), "{said}");
    let cases = objects(&read(folder.path(), "out.csv"));
    let runs = |case: usize| cases[case]["goodput_kbps"]["runs"].as_u64().unwrap();
    assert!(runs(0) > 0 && runs(0) == runs(1), "{cases:?}");
    assert!(!cases[1]["goodput_kbps"]["difference"].is_null());
}

/// In a comparison, repetition 1 of every value runs before repetition 2 of any value.
#[test]
fn comparisons_come_repetition_by_repetition() {
    let arguments = ["compare", LOSSY, "--set", "duration=5s", "--runs", "3", "--vary", "recovery=sack,reno"];
    let text = common::stdout(&[&arguments[..], &["--format", "csv"]].concat());
    let heads: Vec<String> = rows(&text).iter().map(|row| format!("{} {}", row[0], row[2])).collect();
    assert_eq!(heads, ["sack 1", "reno 1", "sack 2", "reno 2", "sack 3", "reno 3"]);
}

/// If the reader closes the pipe, the program ends within the duration of one run, without a message.
#[test]
fn a_pipe_that_closes_ends_the_work() {
    let mut child = lasthop()
        .args(["run", LOSSY, "--runs", MANY_RUNS, "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("flow,run,seed"));
    assert!(lines.next().unwrap().unwrap().starts_with("bulk,1,"));
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!stderr_of(&output).contains("cannot"), "{}", stderr_of(&output));
}

/// Without a terminal, progress is printed as lines. The first line appears after 5 s.
#[cfg(unix)]
#[test]
fn progress_is_told_where_there_is_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(folder.path(), &["run", "hasegawa", "--runs", "200", "--set", "duration=4000s"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("run: "));
    let told = told.expect("a line of progress");
    assert!(
        told.contains(" of 200, ") && told.contains(" of 800000 s simulated (") && told.contains(" after "),
        "{told}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_jobs_for_three_runs_are_three_threads() {
    let folder = tempfile::tempdir().unwrap();
    let long = "rate=1Gbit/s,rtt=40ms,queue=100packets,duration=100000s";
    let child = spawn(folder.path(), &["run", long, "--runs", "3", "--jobs", "1000"]);
    let threads = || {
        let status = read(Path::new("/proc"), &format!("{}/status", child.id()));
        let line =
            status.lines().find_map(|line| line.strip_prefix("Threads:").map(str::trim).map(str::to_owned));
        line.and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
    };
    assert!(
        becomes_true(|| threads() > 3),
        "the main thread, the handler of Ctrl-C and three workers must run"
    );
    std::thread::sleep(Duration::from_millis(300));
    let many = threads();
    ended(child, "-KILL");
    // The main thread, the handler of Ctrl-C and three workers are five threads. A sixth thread may print progress.
    assert!(many <= 6, "{many} threads");
}

/// Before a large run, estimates of time and memory are printed. For CSV, the estimate excludes outcomes, because
/// outcomes are not kept.
#[cfg(unix)]
#[test]
fn what_a_large_run_takes_is_said() {
    let told = |arguments: &[&str], what: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut child = spawn(folder.path(), &[&["run"][..], arguments].concat());
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let told = lines.by_ref().find(|line| line.contains(what));
        child.kill().unwrap();
        child.wait().unwrap();
        told.unwrap_or_else(|| panic!("{arguments:?} prints no line with {what:?}"))
    };
    // At 2 Mbit/s, 30 s suffice for 5000 packets, so a million runs have 5e9 packets. Two cores simulate 8 million
    // packets per second.
    let line = told(&[LOSSY, "--runs", MANY_RUNS, "--jobs", "2"], "packets");
    assert!(line.contains("up to 5.0e9 packets take about 10 min on 2 threads"), "{line}");
    let line = told(&[LOSSY, "--runs", MANY_RUNS], "of memory");
    assert!(line.contains("--format csv discards outcomes"), "{line}");
    let many = ["rate=100Mbit/s,rtt=40ms,duration=3s", "--set", "flow.bulk.count=100000", "--jobs", "2"];
    let line = told(&[&many[..], &["--runs", "2", "--format", "csv"]].concat(), "of memory");
    assert!(line.contains("about 1.2 GB of memory"), "6 kB per flow and thread: {line}");
    let line = told(&["hasegawa", "--runs", MANY_RUNS, "--jobs", "2"], "estimated from the first");
    assert!(
        line.contains("1000000 runs take about ") && line.contains(" on 2 threads, estimated from the first"),
        "{line}"
    );
}
