//! Output files are written atomically. A closed pipe is not an error.

mod common;

use common::{LOSSY, call_in, lasthop, names_in, objects, stderr_of};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LONG: &str = "rate=1Gbit/s,rtt=40ms,queue=100packets,duration=100000s,sample=1s";

#[test]
fn the_first_repetition_is_recorded_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        LOSSY,
        "--runs",
        "3",
        "--seed",
        "5",
        "--pcap",
        "a.pcapng",
        "--trace",
        "a.json",
        "--samples",
        "a.csv",
        "--report",
        "a.html",
    ];
    let output = call_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert_eq!(names_in(folder.path()), ["a.csv", "a.html", "a.json", "a.pcapng"]);
    for name in names_in(folder.path()) {
        assert!(stderr_of(&output).contains(&format!("{name}: first repetition, seed 5")));
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let text = |name: &str| String::from_utf8(read(name)).unwrap();

    assert_eq!(read("a.pcapng")[..4], [0x0a, 0x0d, 0x0d, 0x0a], "a section header of pcapng");
    let trace = objects(&text("a.json"));
    assert!(trace.iter().all(|line| line.contains_key("time_s") && line.contains_key("kind")));
    let samples = text("a.csv");
    // The file has a header, and a row for every 100 ms of the 30 s.
    assert_eq!(samples.lines().count(), 301);
    assert!(samples.starts_with("time_s,flow,cwnd_bytes,"), "{}", samples.lines().next().unwrap());
    let report = text("a.html");
    for expected in
        ["cwnd", "ssthresh", "in flight", "SRTT", "RTO", "Queue lengths", "Goodput", "Losses by cause"]
    {
        assert!(report.contains(expected), "{expected}");
    }
}

/// A report includes the command line and every key of the scenario.
#[test]
fn a_report_has_its_command_line_and_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let set = ["--set", "title=a <b> & \"c\"", "--jobs", "1"];
    let arguments = [&["run", LOSSY, "--runs", "1", "--report", "a.html"], &set[..]].concat();
    let output = call_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    let command = format!(
        "<pre>\nlasthop run {LOSSY} --runs 1 --report a.html --set &#39;title=a &lt;b&gt; &amp; &quot;c&quot;&#39;</pre>"
    );
    assert!(page.contains(&command), "the command line, escaped and without --jobs");
    let shown = common::stdout(&["show", LOSSY, "--set", "title=a <b> & \"c\""]);
    let escaped =
        shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    assert!(page.contains(&format!("<pre>\n{}</pre>", escaped.replace('\'', "&#39;"))), "the scenario");
}

/// RED's average queue length is in the samples (only for the direction with RED) and in the report.
#[test]
fn the_average_of_red_is_sampled_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let red = "rate=5Mbit/s,rtt=40ms,duration=20s";
    let output = call_in(
        folder.path(),
        &[
            "run",
            red,
            "--set",
            "link.path.down.queue=red",
            "--runs",
            "1",
            "--samples",
            "a.csv",
            "--report",
            "a.html",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let text = read("a.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let column = header.iter().position(|name| *name == "path.down.queue_average_packets").expect("a column");
    assert!(!header.contains(&"path.up.queue_average_packets"), "drop-tail has no average");
    let averages: Vec<f64> =
        text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect();
    // After the queue has built up, the average is mostly near the thresholds (5 and 15 packets). The average never
    // exceeds the queue's limit of 50 packets.
    let settled = &averages[averages.len() / 2..];
    let between = settled.iter().filter(|average| (1.0..=20.0).contains(*average)).count();
    assert!(between * 10 > settled.len() * 9, "{settled:?}");
    assert!(averages.iter().all(|average| (0.0..=50.0).contains(average)));
    assert!(read("a.html").contains("path down, average"));
}

#[test]
fn an_existing_file_is_replaced_and_a_link_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old.csv"), "old").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("old.csv", path("link.csv")).unwrap();
    let name = if cfg!(unix) { "link.csv" } else { "old.csv" };
    let output = call_in(folder.path(), &["run", LOSSY, "--runs", "1", "--samples", name]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert!(std::fs::read_to_string(path("old.csv")).unwrap().starts_with("time_s"));
}

#[test]
fn a_run_that_cannot_be_written_to_its_end_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = call_in(folder.path(), &["run", LOSSY, "--pcap", "a.pcapng", "--trace", "missing/a.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let output = call_in(folder.path(), &["run", LOSSY, "--runs", "1", "--trace", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr_of(&output));
    assert!(stderr_of(&output).contains("cannot write `/dev/full`"), "{}", stderr_of(&output));
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = lasthop().arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_of(&output).contains("cannot write to standard output"), "{}", stderr_of(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_is_known_and_exits_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = lasthop()
        .args(["run", LONG, "--runs", "1", "--pcap", "a.pcapng", "--trace", "a.json", "--report", "a.html"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while names_in(folder.path()).len() < 3 && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let under_way = names_in(folder.path());
    assert!(under_way.len() == 3 && under_way.iter().all(|name| name.starts_with('.')), "{under_way:?}");
    // The files are created before the run begins. The sleep ensures that the run has begun, because an earlier
    // interruption would leave no files.
    std::thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    // The files cover the time until the interruption, and the message reports this time.
    assert_eq!(names_in(folder.path()), ["a.html", "a.json", "a.pcapng"]);
    let trace = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
    let last: serde_json::Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    assert!(last.is_object(), "{last}");
    assert!(said.contains("the numbers cover the time until then"), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("interrupted")), "{said}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for arguments in
        [&["list"][..], &["schema"], &["show", "umts"], &["run", LOSSY, "--runs", "1"], &["--help"]]
    {
        let mut child =
            lasthop().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr_of(&output).as_str()), (Some(0), ""), "{arguments:?}");
    }
}
