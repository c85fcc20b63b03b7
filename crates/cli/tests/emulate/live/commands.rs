//! The command of a run, its time limit, and the summary of the run.

use crate::{CLEAN, emulate, emulating, is_possible};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn without_a_command_the_shell_runs_what_it_reads() {
    if !is_possible() {
        return;
    }
    let mut child = emulating(&[CLEAN, "--server", "exec sleep 100"])
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = b"cat /proc/thread-self/net/dev | grep -c lasthop-path\necho \"$PS1\"\nexit 7\n";
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, format!("1\n[{CLEAN}] $ \n"), "{output:?}");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_command_whose_time_is_over_is_ended_and_the_status_says_so() {
    if !is_possible() {
        return;
    }
    for (line, least) in [("sleep 60", 0.5), ("trap '' TERM; sleep 60 & wait; wait; sleep 60", 2.5)] {
        let start = Instant::now();
        let output =
            emulate(&[CLEAN, "--time-limit", "500ms", "--server", "exec sleep 100", "--", "sh", "-c", line]);
        let took = start.elapsed();
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("ended after 0.5 s (--time-limit)"));
        assert!(took >= Duration::from_secs_f64(least) && took < Duration::from_secs(20), "{line}: {took:?}");
    }
    let output =
        emulate(&[CLEAN, "--time-limit", "60s", "--server", "exec sleep 100", "--", "sh", "-c", "exit 5"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
}

#[test]
fn the_summary_has_a_file_of_its_own() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("summary.json");
    let server = "echo '{\"not\": \"it\"}' >&2; exec sleep 100";
    let output = emulate(&[CLEAN, "--summary", file.to_str().unwrap(), "--server", server, "--", "true"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1);
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["exit_status"], 0);
}

/// Mahimahi's flags give the same scenario as the corresponding one-line scenario.
#[test]
fn flags_mean_what_the_line_says() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, gap: u32| {
        let path = folder.path().join(name);
        let lines: String = (1..=200).map(|number| format!("{}\n", number * gap)).collect();
        std::fs::write(&path, lines).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (down, up) = (file("down, once.trace", 2), file("up.trace", 20));
    let shown = |path: &[&str], name: &str| {
        let out = folder.path().join(name);
        let after = ["--out", out.to_str().unwrap(), "--server", "exec sleep 100", "--", "true"];
        let output = emulate(&[path, &after].concat());
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
        let report = std::fs::read_to_string(out.join("report.html")).unwrap();
        // The report includes the complete scenario.
        let (_, scenario) = report.split_once("as lasthop show prints it").unwrap();
        scenario.split_once("</details>").unwrap().0.to_owned()
    };
    let line = format!("trace=\"{down}\",up_trace={up},one_way_delay=30ms");
    let by_flags = shown(&["--down", &down, "--up", &up, "--delay", "30ms"], "flags");
    assert_eq!(by_flags, shown(&[&line], "line"));
    assert!(by_flags.contains("down, once.trace"), "{by_flags}");
    let by_delay = shown(&["--delay", "30ms"], "delay");
    assert_eq!(by_delay, shown(&["rate=10Tbit/s,queue=unlimited,one_way_delay=30ms"], "fast"));
}

/// A command's own status 3 differs from an invalid run in three ways: the fields `valid` and `exit_status` of the
/// summary, a note, and with `--invalid-status` the exit status. To make a run invalid, the path's process is stopped
/// for 150 ms: a packet may be at most 50 ms late.
#[test]
fn an_invalid_run_and_a_command_s_own_3_are_told_apart() {
    if !is_possible() {
        return;
    }
    let own = emulate(&[CLEAN, "--format", "json", "--server", "exec sleep 100", "--", "sh", "-c", "exit 3"]);
    let told = crate::summary(&own);
    let said = String::from_utf8_lossy(&own.stderr);
    assert_eq!((own.status.code(), told["exit_status"].as_u64()), (Some(3), Some(3)), "{said}");
    if told["valid"] == true {
        assert!(said.contains("the run is valid; the exit status 3 is that of the command"), "{said}");
    }
    // The shell's parent is the process that emulates the path. The shell suspends this process (SIGSTOP) while packets
    // are in flight.
    let datagrams = "import socket, sys, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                     for _ in range(40): s.sendto(b'x', (sys.argv[1], 5001)); time.sleep(0.01)";
    let line = format!(
        "python3 -c \"{datagrams}\" {{server}} & sleep 0.2; kill -STOP $PPID; sleep 0.15; kill -CONT $PPID; wait; exit 3"
    );
    let stopped = emulate(&[
        CLEAN,
        "--invalid-status",
        "99",
        "--format",
        "json",
        "--server",
        "exec sleep 100",
        "--",
        "sh",
        "-c",
        &line,
    ]);
    let told = crate::summary(&stopped);
    assert_eq!((stopped.status.code(), told["valid"].as_bool()), (Some(99), Some(false)), "{stopped:?}");
    assert_eq!(told["exit_status"], 3, "{told}");
}

/// Keys without effect, and flags with an unexpected effect, give one note, both in the text and in JSON.
#[test]
fn what_does_nothing_here_is_said_once() {
    if !is_possible() {
        return;
    }
    let run = |path: &[&str]| {
        let output =
            emulate(&[path, &["--format", "json", "--server", "exec sleep 100", "--", "true"]].concat());
        (crate::summary(&output)["notes"].clone(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (notes, said) = run(&["rate=10Mbit/s,rtt=20ms,congestion=cubic", "--set", "recovery=sack"]);
    let note = "carries flow `bulk`, so these keys have no effect: sender.congestion, sender.recovery";
    assert!(notes[0].as_str().is_some_and(|it| it.contains(note) && it.contains("--congestion")), "{notes}");
    assert_eq!(
        said.lines().filter(|line| line.starts_with("note:") && line.contains(note)).count(),
        1,
        "{said}"
    );
    assert_eq!(run(&["umts"]).0, serde_json::json!([]));
    // Mahimahi's queues are unlimited and Lasthop's are not, so the flags `--up` and `--down` print a note.
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    std::fs::write(&trace, "1\n2\n3\n").unwrap();
    let trace = trace.to_str().unwrap();
    let (notes, said) = run(&["--up", trace, "--down", trace]);
    assert!(said.contains("for unlimited queues as in Mahimahi"), "{said}");
    assert_eq!(notes.as_array().unwrap().len(), 1, "{notes}");
    let unlimited =
        ["--up", trace, "--down", trace, "--set", "queue=unlimited", "--set", "up_queue=unlimited"];
    assert_eq!(run(&unlimited).0, serde_json::json!([]));
}
