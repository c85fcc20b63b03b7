//! Output is identical in repeated calls, and for any number of threads.

mod common;

use common::{LOSSY, call_in, stderr_of, stdout};
use std::path::Path;

/// Compares the outputs of three calls: with `--jobs 1`, with `--jobs 4`, and again with `--jobs 4`.
fn is_same(arguments: &[&str]) {
    let with = |jobs: &str| stdout(&[arguments, &["--jobs", jobs]].concat());
    let one = with("1");
    assert_eq!(one, with("4"), "{arguments:?}");
    assert_eq!(one, with("4"), "{arguments:?}");
}

#[test]
fn of_runs_in_every_format() {
    for format in ["table", "json", "csv"] {
        is_same(&["run", LOSSY, "--runs", "5", "--format", format]);
        is_same(&["run", "umts", "--runs", "3", "--set", "duration=20s", "--format", format]);
    }
}

#[test]
fn of_comparisons_in_every_format() {
    for format in ["table", "json", "csv"] {
        is_same(&["compare", LOSSY, "--runs", "4", "--vary", "recovery=sack,reno,tahoe", "--format", format]);
    }
}

#[test]
fn of_every_file() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (folder, jobs) in folders.iter().zip(["1", "4"]) {
        let files = ["--pcap", "a.pcapng", "--trace", "a.json", "--samples", "a.csv", "--report", "a.html"];
        let output =
            call_in(folder.path(), &[&["run", LOSSY, "--runs", "3", "--jobs", jobs], &files[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    }
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["a.pcapng", "a.json", "a.csv", "a.html"] {
        let [one, other] = folders.each_ref().map(|folder| read(folder.path(), name));
        assert!(!one.is_empty() && one == other, "{name}");
    }
}

#[test]
fn whether_or_not_the_first_repetition_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    for path in [LOSSY, "hasegawa"] {
        let arguments = ["run", path, "--runs", "2", "--set", "duration=30s", "--format", "csv"];
        let files = ["--pcap", "a.pcapng", "--trace", "a.json", "--samples", "a.csv"];
        let watched = call_in(folder.path(), &[&arguments[..], &files[..]].concat());
        assert_eq!(String::from_utf8(watched.stdout).unwrap(), stdout(&arguments), "{path}");
    }
}
