//! The program under test, called as a user calls it.

#![allow(dead_code, reason = "each test file is a program of its own and uses some of it")]

#[cfg(target_os = "linux")]
pub mod machine;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A short lossy path: losses in the queue and on the air, no timeouts with the seeds the tests use.
pub const LOSSY: &str = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=30s,recovery=sack";

/// The program.
pub fn lasthop() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lasthop"))
}

/// Calls the program in a folder.
pub fn call_in(folder: &Path, arguments: &[&str]) -> Output {
    lasthop().args(arguments).current_dir(folder).output().unwrap()
}

/// Calls the program.
pub fn call(arguments: &[&str]) -> Output {
    lasthop().args(arguments).output().unwrap()
}

/// Standard output of a call that must succeed.
pub fn stdout(arguments: &[&str]) -> String {
    let output = call(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr_of(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a call said on standard error.
pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every line as an object.
pub fn objects(text: &str) -> Vec<serde_json::Map<String, serde_json::Value>> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The workspace's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names in a folder.
pub fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
