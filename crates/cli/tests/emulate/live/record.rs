//! Recordings of emulated paths with known rates.

use crate::common::machine::{Machine, not_judged};
use crate::common::{lasthop, objects, stderr_of, stdout};
use crate::{emulate, is_possible};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of attempts to record a path. An attempt is repeated if the recording reports that it is invalid.
const ATTEMPTS: u32 = 5;

/// Records a path. Returns the summary of the recording, the common part of the trace files' names, and the machine's
/// state during the run. Returns `None` if the machine was too busy for a valid run.
fn recorded(path: &str, folder: &Path, arguments: &[&str]) -> Option<(Value, PathBuf, Machine)> {
    let program = env!("CARGO_BIN_EXE_lasthop");
    let (server, name) = (format!("exec {program} emulate record --serve"), folder.join("path"));
    let client =
        [program, "emulate", "record", "{server}", "--format", "json", "--out", name.to_str().unwrap()];
    for attempt in 1..=ATTEMPTS {
        let machine = Machine::watch();
        let output = emulate(&[&[path, "--server", &server, "--"], &client[..], arguments].concat());
        let said = stderr_of(&output);
        match output.status.code() {
            Some(0) => {
                let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
                eprintln!("{summary}");
                return Some((summary, name, machine));
            }
            Some(3) if said.contains("the run is invalid") => {
                not_judged(&said);
                return None;
            }
            // Feedback reports may wait in the queue of the opposite direction. The sender meanwhile waits for the
            // reports, and the queue of the recorded direction is empty for 0 to 6 % of the time. If the queue is empty
            // for more than 5 % of the time, the recording is invalid.
            Some(3) if said.contains("the recording is invalid") && attempt < ATTEMPTS => {
                eprintln!("repeated: {said}");
            }
            status => panic!("{status:?}: {said}"),
        }
    }
    unreachable!("the last attempt returns or panics")
}

/// Returns the times of the delivery opportunities in the trace of a direction, ms.
fn trace(name: &Path, way: &str) -> Vec<u64> {
    let text = fs::read_to_string(name.with_extension(way)).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Returns the mean rate in a part of a trace, Mbit/s. `from` and `until` are in ms.
fn mbps(trace: &[u64], from: u64, until: u64) -> f64 {
    let count = trace.iter().filter(|at| (from..until).contains(at)).count();
    count as f64 * 12.0 / (until - from) as f64
}

fn judge_near(machine: &Machine, recorded: f64, given: f64, percent: f64, what: &str) {
    let apart = (recorded / given - 1.0) * 100.0;
    machine.judge(apart.abs() < percent, format!("{what}: {recorded} recorded, {given} given"));
}

/// The two directions have different rates. The goodput over a link with the recorded traces equals the goodput over
/// the path.
#[test]
fn a_constant_rate_is_recorded_and_gives_that_rate() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = "rate=8Mbit/s,up=2Mbit/s,rtt=40ms,queue=100packets";
    let Some((summary, name, machine)) = recorded(path, folder.path(), &["--seconds", "6"]) else { return };
    for (way, given) in [("down", 8.0), ("up", 2.0)] {
        let said = &summary[way];
        judge_near(&machine, said["rate_kbps"].as_f64().unwrap() / 1e3, given, 3.0, way);
        machine.judge(said["queue_empty_pct"].as_f64().unwrap() < 5.0, &summary);
        let trace = trace(&name, way);
        judge_near(&machine, mbps(&trace, 0, 6000), given, 3.0, way);
        assert!(trace.last().unwrap().abs_diff(6000) <= 10, "the trace repeats after 6 s");
        for second in 0..6 {
            judge_near(&machine, mbps(&trace, second * 1000, second * 1000 + 1000), given, 10.0, way);
        }
    }
    // The minimum round-trip time is the 40 ms of the path plus the transmission times of small packets.
    let rtt = summary["rtt_ms"]["min"].as_f64().unwrap();
    machine.judge((40.0..45.0).contains(&rtt), &summary);
    let shown = |way: &str| name.with_extension(way).display().to_string();
    let as_recorded = format!("trace={},up_trace={},rtt=40ms,queue=100packets", shown("down"), shown("up"));
    let goodput = |path: &str| {
        let text = stdout(&["run", &format!("{path},duration=20s"), "--format", "json"]);
        objects(&text)[0]["goodput_kbps"]["mean"].as_f64().unwrap()
    };
    judge_near(
        &machine,
        goodput(&as_recorded),
        goodput(path),
        3.0,
        "goodput over the trace and over the path",
    );
}

/// A plan with a period of 6 s is recorded for 6 s. The test does not know at which point of the plan the recording
/// starts, and therefore uses the point that fits best.
#[test]
fn a_rate_that_changes_is_recorded_as_it_changes() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let text = "
        duration = '60 s'
        [link.path]
        from = 'server'
        to = 'client'
        one_way_delay = '20 ms'
        [link.path.down]
        plan = '8 Mbit/s for 2 s, 3 Mbit/s for 2 s, 12 Mbit/s for 2 s'
        queue = '200 packets'
        [link.path.up]
        rate = '2 Mbit/s'
        queue = '50 packets'
        [flow.bulk]
        from = 'server'
        to = 'client'";
    fs::write(&file, text).unwrap();
    let Some((_, name, machine)) =
        recorded(file.to_str().unwrap(), folder.path(), &["--seconds", "6", "--way", "down"])
    else {
        return;
    };
    assert!(!name.with_extension("up").exists());
    let trace = trace(&name, "down");
    judge_near(&machine, mbps(&trace, 0, 6000), (8.0 + 3.0 + 12.0) / 3.0, 3.0, "the mean");
    let given = |from: u64| {
        let rate = |at: u64| [8.0, 3.0, 12.0][(at % 6000 / 2000) as usize];
        (0..100).map(|part| rate(from + part * 10)).sum::<f64>() / 100.0
    };
    let seconds: Vec<f64> = (0..6).map(|second| mbps(&trace, second * 1000, second * 1000 + 1000)).collect();
    let pairs = |begun: u64| (0..6).map(move |second| begun + second * 1000).map(given).zip(&seconds);
    let error = |begun: u64| pairs(begun).map(|(given, got)| (given - got).powi(2)).sum::<f64>();
    let best =
        (0..600).map(|step| step * 10).min_by(|one, other| error(*one).total_cmp(&error(*other))).unwrap();
    for (given, got) in pairs(best) {
        judge_near(
            &machine,
            *got,
            given,
            10.0,
            &format!("a second of {seconds:?}, begun at {best} ms of the plan"),
        );
    }
}

/// Both directions are recorded at the same time. The feedback reports (about 100 kbit/s) share the path with the
/// packets of the opposite direction. Reports from the same socket count in the trace of the opposite direction;
/// reports from a separate socket do not count. In either case, reports wait in the queue of the opposite direction,
/// which reduces the recorded rate slightly.
#[test]
fn both_directions_are_recorded_at_once() {
    if !is_possible() {
        return;
    }
    let path = "rate=6Mbit/s,rtt=30ms,queue=200packets";
    let own_socket = ["--feedback-from", "198.18.0.2"];
    for feedback in [&[][..], &own_socket[..]] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["--seconds", "3", "--way", "together"], feedback].concat();
        let Some((summary, name, machine)) = recorded(path, folder.path(), &arguments) else { return };
        assert_eq!(summary["feedback_shares_way"], feedback.is_empty());
        for way in ["down", "up"] {
            // While reports wait, the sender may pause and the queue of this direction may become empty. The expected
            // rate is therefore reduced by the share of time for which the queue was empty.
            let full = 1.0 - summary[way]["queue_empty_pct"].as_f64().unwrap() / 100.0;
            judge_near(&machine, mbps(&trace(&name, way), 0, 3000), 6.0 * full, 4.0, way);
            judge_near(&machine, summary[way]["rate_kbps"].as_f64().unwrap(), 6000.0 * full, 4.0, way);
        }
    }
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let cases: [(&[&str], i32, &str); 5] = [
        (&[], 2, "SERVER"),
        (&["192.0.2.1"], 2, "--out"),
        (&["192.0.2.1", "--out", "x", "--seconds", "0"], 2, "--seconds"),
        (&["nowhere.invalid", "--out", "/tmp/lasthop-x"], 2, "cannot resolve `nowhere.invalid`"),
        (&["127.0.0.1:9", "--from", "192.0.2.1", "--out", "/tmp/lasthop-x"], 1, "192.0.2.1"),
    ];
    for (arguments, status, message) in cases {
        let output = lasthop().args(["emulate", "record"]).args(arguments).output().unwrap();
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(message) && !said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert!(!Path::new("/tmp/lasthop-x.down").exists());
    let nobody = lasthop().args(["emulate", "record", "--serve", "127.0.0.1:0", "--idle", "200 ms"]).output();
    let nobody = nobody.unwrap();
    assert!(
        nobody.status.code() == Some(1) && stderr_of(&nobody).contains("no client for"),
        "{}",
        stderr_of(&nobody)
    );
}
