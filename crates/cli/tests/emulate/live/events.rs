//! The events of a run as JSON lines (`--json`).

use crate::common::stderr_of;
use crate::traffic::{client, server};
use crate::{CLEAN, emulate, emulating, is_possible};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Checks that the events are `start`, at least three `look`, and `end`, without output of the programs.
fn assert_whole(lines: &[Value]) {
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    let looks = events.len() - 2;
    assert!(looks >= 3, "{events:?}");
    assert_eq!((events[0], events[looks + 1]), ("start", "end"));
    assert!(events[1..=looks].iter().all(|event| *event == "look"), "{events:?}");
    let end = &lines[looks + 1];
    assert!(end["goodput_kbps"]["down"].as_f64().unwrap() > 1000.0, "{end}");
    assert_eq!(end["exit_status"], 0);
    // The sum of the packets of all `look` events is the number in the summary, except for the packets of the last
    // milliseconds.
    let seen: u64 = lines.iter().filter_map(|line| line["down"]["packets"].as_u64()).sum();
    let sent = end["packets"]["down"].as_u64().unwrap();
    assert!(seen > 0 && seen <= sent, "{seen} of {sent}");
}

/// The server writes a fake summary to standard error. The command writes a fake summary to standard output.
#[test]
fn no_programs_output_is_among_the_lines() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let fake = r#"{"event":"end","valid":false}"#;
    let server = format!("echo '{fake}' >&2; {}", server("cubic"));
    let client = format!("echo '{fake}'; {}", client("{server}", 2.0));
    let way = [CLEAN, "--json", file.to_str().unwrap(), "--every", "500 ms"];
    let output = emulate(&[&way[..], &["--server", &server, "--", "sh", "-c", &client]].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    assert!(stderr_of(&output).contains(fake), "the server's output is unchanged");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(fake));
    assert_whole(&objects(&fs::read_to_string(file).unwrap()));
}

/// The lines are written to a file descriptor of the shell, or to a socket.
#[test]
fn the_lines_go_where_they_are_wanted() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, path) = (folder.path().join("run.jsonl"), folder.path().join("socket"));
    let (server, client) = (server("cubic"), client("{server}", 2.0));
    let rest = ["--every", "500 ms", "--server", &server, "--", "sh", "-c", &client];
    // The file has contents that the run must keep.
    fs::write(&file, "{\"event\":\"before\"}\n").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "file=$1; shift; exec \"$@\" 3>>\"$file\"", "sh"]).arg(&file);
    shell.args([env!("CARGO_BIN_EXE_lasthop"), "emulate", CLEAN, "--json", "3"]).args(rest);
    let output = shell.stdin(Stdio::null()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    let lines = objects(&fs::read_to_string(file).unwrap());
    assert_eq!(lines[0]["event"], "before");
    assert_whole(&lines[1..]);

    let listener = UnixListener::bind(&path).unwrap();
    let to = format!("unix:{}", path.display());
    let heard = thread::spawn(move || {
        let lines = BufReader::new(listener.accept().unwrap().0).lines();
        lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect::<Vec<Value>>()
    });
    let output = emulate(&[&[CLEAN, "--json", &to], &rest[..]].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    assert_whole(&heard.join().unwrap());
}

/// If the reader of the lines closes the socket, the run continues.
#[test]
fn who_reads_no_more_is_left_alone() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let to = format!("unix:{}", path.display());
    let mut command = emulating(&[CLEAN, "--json", &to, "--every", "50 ms", "--server", "exec sleep 1000"]);
    command.args(["--", "sh", "-c", "sleep 1; exit 7"]).stdin(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(listener.accept().unwrap().0).read_line(&mut first).unwrap();
    assert!(first.starts_with(r#"{"event":"start","path":"rate="#), "{first}");
    thread::sleep(Duration::from_millis(10));
    let output = child.wait_with_output().unwrap();
    assert!(stderr_of(&output).contains("the run continues without these lines"), "{}", stderr_of(&output));
    assert!(matches!(output.status.code(), Some(7 | 3)), "{}", stderr_of(&output));
}

#[test]
fn where_nothing_can_be_written_is_said() {
    for (to, why) in [
        ("87", "open the descriptor"),
        ("unix:/nowhere/socket", "a program must listen"),
        ("/nowhere/x", "/nowhere"),
    ] {
        let output = emulate(&[CLEAN, "--json", to, "--server", "true", "--", "true"]);
        let said = stderr_of(&output);
        assert!(output.status.code() == Some(2) && said.contains(why), "{to}: {said}");
    }
}
