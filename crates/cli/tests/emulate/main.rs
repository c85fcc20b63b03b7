//! `lasthop emulate`: real programs behind a path, in namespaces created by the command.
//!
//! No address outside these namespaces is used. Tests that the machine cannot run are skipped with a message.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

/// Tests in real time, which mostly wait; `make test` runs them beside the others.
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
    mod record;
    mod removal;
    mod screen;
    mod set;
    mod stalls;
    pub mod traffic;
    mod unprivileged;
}

/// Tests for an idle machine: `make test` runs them at the end, alone.
mod quiet;

use common::lasthop;
use live::traffic;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;

/// A path without losses.
pub const CLEAN: &str = "rate=10Mbit/s,rtt=20ms,queue=200packets";

/// Whether emulation is possible here; prints the reason once if not.
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

/// Command `lasthop emulate`.
pub fn emulating(arguments: &[&str]) -> Command {
    let mut command = lasthop();
    command.arg("emulate").args(arguments);
    command
}

/// Summary of `--format json`: the last line of standard error that is an object.
pub fn summary(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rev().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no summary: {text}"))).unwrap()
}

/// Kills the guard of a run and then the run, so that the run's leftovers stay.
pub fn kill_with_guard(child: &mut Child) {
    let parent = child.id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let is_guard = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // proc(5): state and parent follow the name in brackets.
        let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
        behind.split(' ').nth(1) == Some(&parent) && line == b"lasthop\0tidy\0"
    };
    let guards: Vec<_> = entries.filter(is_guard).map(|entry| entry.file_name()).collect();
    assert_eq!(guards.len(), 1);
    assert!(Command::new("kill").arg("-KILL").arg(&guards[0]).status().unwrap().success());
    child.kill().unwrap();
    child.wait().unwrap();
}
