//! Calls of the program under test.

#![allow(dead_code, reason = "each test file is a separate program and uses a part")]

#[cfg(target_os = "linux")]
pub mod machine;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Short lossy path. Packets are lost by queue overflow and on the air, but no retransmission timeout occurs with the
/// seeds of the tests.
pub const LOSSY: &str = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=30s,recovery=sack";

pub fn lasthop() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lasthop"));
    // Without `COLUMNS`, the width of texts has no limit, whatever the terminal of the tests.
    command.env_remove("COLUMNS");
    command
}

pub fn call_in(folder: &Path, arguments: &[&str]) -> Output {
    lasthop().args(arguments).current_dir(folder).output().unwrap()
}

pub fn call(arguments: &[&str]) -> Output {
    lasthop().args(arguments).output().unwrap()
}

/// Returns the standard output of a successful call.
pub fn stdout(arguments: &[&str]) -> String {
    let output = call(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr_of(&output));
    String::from_utf8(output.stdout).unwrap()
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Parses every line as a JSON object.
pub fn objects(text: &str) -> Vec<serde_json::Map<String, serde_json::Value>> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Returns the root folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the sorted file names in a folder.
pub fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
