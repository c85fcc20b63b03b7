//! `lasthop doctor`: facts about the program, and about the engine that made a store or a page.

mod common;

use common::lasthop;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn doctor(folder: &Path, file: &str) -> (Option<i32>, Value, String) {
    let output = lasthop()
        .current_dir(folder)
        .args(["doctor", file, "--format", "json"])
        .output()
        .expect("lasthop must run");
    let fact = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), fact, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns the name of the engine as `doctor` prints the name: the version and a hash.
fn engine() -> String {
    let output = lasthop().args(["doctor", "--format", "json"]).output().expect("lasthop must run");
    let text = String::from_utf8(output.stdout).expect("text");
    let facts: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of =
        |name: &str| facts.iter().find(|fact| fact["name"] == name).and_then(|fact| fact["found"].as_str());
    assert!(of("version").is_some_and(|found| found.starts_with(env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(of("program").is_some_and(|found| found.contains(env!("CARGO_BIN_EXE_lasthop"))), "{text}");
    of("engine").expect("the engine").to_owned()
}

#[test]
fn a_page_names_its_engine_and_a_page_of_another_engine_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lab.html");
    let made = lasthop().current_dir(folder.path()).args(["lab", "--export", "lab.html"]).status();
    assert!(made.is_ok_and(|status| status.success()));
    let (status, fact, _) = doctor(folder.path(), "lab.html");
    assert_eq!((status, &fact["is_of_this_engine"]), (Some(0), &Value::Bool(true)), "{fact}");
    let page = fs::read_to_string(&file).expect("the page");
    fs::write(&file, page.replace(&engine(), "0.0.1+0123456789abcdef")).expect("the file can be written");
    let (status, fact, message) = doctor(folder.path(), "lab.html");
    assert_eq!((status, &fact["is_of_this_engine"]), (Some(1), &Value::Bool(false)), "{fact}");
    assert!(fact["found"].as_str().is_some_and(|found| found.contains("0.0.1+0123456789abcdef")), "{fact}");
    assert!(message.contains("made by another engine: lab.html"), "{message}");
    fs::write(&file, "<title>a page</title>").expect("the file can be written");
    let (status, _, message) = doctor(folder.path(), "lab.html");
    assert!(
        status == Some(2) && message.contains("the page `lab.html` does not say which engine it contains"),
        "{message}"
    );
}

#[test]
fn a_store_of_another_engine_is_told_before_a_sweep_repeats_its_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = ["sweep", "umts", "--set", "duration=1s", "--runs", "1", "--store", "runs.db"];
    let made = lasthop().current_dir(folder.path()).args(sweep).output().expect("lasthop must run");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (status, fact, message) = doctor(folder.path(), "runs.db");
    assert_eq!((status, &fact["found"]), (Some(0), &Value::from("store of this engine")), "{message}");
    // Makes a store of another engine: replaces the engine's name in the file by a different name of the same length.
    let engine = engine();
    let other = format!("9{}", &engine[1..]);
    let mut bytes = fs::read(folder.path().join("runs.db")).expect("the store");
    let at = bytes
        .windows(engine.len())
        .position(|window| window == engine.as_bytes())
        .expect("the engine's name in the store");
    bytes[at..at + engine.len()].copy_from_slice(other.as_bytes());
    fs::write(folder.path().join("runs.db"), bytes).expect("the file can be written");
    let (status, fact, message) = doctor(folder.path(), "runs.db");
    assert!(status == Some(1) && message.contains("made by another engine: runs.db"), "{message}");
    assert!(fact["found"].as_str().is_some_and(|found| found.contains(&other)), "{fact}");
    let (status, _, message) = doctor(folder.path(), "absent.db");
    assert!(status != Some(0) && message.contains("absent.db"), "{message}");
}
