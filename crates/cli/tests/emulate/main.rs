//! `lasthop emulate`: real programs behind a path, in namespaces that the command creates.
//!
//! The tests use no address outside these namespaces. A test that the machine cannot run is skipped with a message.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

/// Tests in real time, which mostly wait. `make test` runs these tests in parallel with other tests.
mod live {
    mod commands;
    mod composed;
    mod events;
    mod files;
    mod goodput;
    mod host;
    mod impaired;
    mod marks;
    mod messages;
    mod names;
    mod pieces;
    mod quic;
    mod record;
    mod removal;
    mod screen;
    mod set;
    mod stalls;
    pub mod traffic;
    mod unprivileged;
}

/// Tests for an idle machine. `make test` runs these tests alone, at its end.
mod quiet;

use common::lasthop;
use live::traffic;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;

/// Path without losses.
pub const CLEAN: &str = "rate=10Mbit/s,rtt=20ms,queue=200packets";

/// Returns whether this machine can emulate paths. If not, prints the reason once.
pub fn is_possible() -> bool {
    static PRINTED: Once = Once::new();
    let output = emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "true"]);
    if output.status.code() == Some(1) {
        PRINTED.call_once(|| eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr)));
        return false;
    }
    true
}

/// Runs `lasthop emulate` without standard input.
pub fn emulate(arguments: &[&str]) -> Output {
    emulating(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Returns the command `lasthop emulate` with these arguments.
pub fn emulating(arguments: &[&str]) -> Command {
    let mut command = lasthop();
    command.arg("emulate").args(arguments);
    command
}

/// Returns the summary of `--format json`, the last line of standard error that begins with `{`.
pub fn summary(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rev().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no summary: {text}"))).unwrap()
}

/// Kills the guard of a run and then the run, so that the leftovers of the run are not removed.
pub fn kill_with_guard(child: &mut Child) {
    let parent = child.id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let is_guard = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // In /proc/PID/stat, the state and the parent follow the name in parentheses (proc(5)).
        let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
        behind.split(' ').nth(1) == Some(&parent) && line == b"lasthop\0tidy\0"
    };
    let guards: Vec<_> = entries.filter(is_guard).map(|entry| entry.file_name()).collect();
    assert_eq!(guards.len(), 1);
    assert!(Command::new("kill").arg("-KILL").arg(&guards[0]).status().unwrap().success());
    child.kill().unwrap();
    child.wait().unwrap();
}
