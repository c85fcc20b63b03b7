//! Tests that `docs/development/conformance.md` lists every requirement of RFC 9293 once and names only existing tests.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document() -> String {
    fs::read_to_string(root().join("docs/development/conformance.md"))
        .expect("docs/development/conformance.md")
}

fn rows(document: &str) -> Vec<Vec<&str>> {
    let lines = document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// RFC 9293, Appendix B, numbers its requirements without gaps: MUST-1 to MUST-69 and SHLD-1 to SHLD-31.
#[test]
fn every_requirement_has_one_row() {
    let document = document();
    let mut expected: Vec<String> = (1..=69).map(|n| format!("MUST-{n}")).collect();
    expected.extend((1..=31).map(|n| format!("SHLD-{n}")));
    let found: Vec<&str> = rows(&document)
        .iter()
        .map(|cells| cells[0])
        .filter(|name| name.starts_with("MUST-") || name.starts_with("SHLD-"))
        .collect();
    assert_eq!(found, expected);
}

/// Each row with status "done" names a test. Each row with status "not" gives a reason.
#[test]
fn every_status_is_backed() {
    for cells in rows(&document()).iter().filter(|cells| cells[0].contains('-') || cells.len() == 4) {
        let [name, says, status, tests] = cells[..] else { panic!("{cells:?}: four columns") };
        assert!(!says.is_empty(), "{name}");
        match status.split([':', ' ', ';', ',']).next() {
            Some("done") => assert!(tests.contains("::"), "{name} has the status done, but no test"),
            Some("not") => assert!(status.contains(':'), "{name} has the status not, but no reason"),
            Some("owner's") => {}
            _ => panic!("{name}: {status:?}"),
        }
    }
}

#[test]
fn every_test_named_exists() {
    let document = document();
    let names = document.split('`').skip(1).step_by(2).filter(|name| name.contains("::"));
    let mut count = 0;
    for name in names {
        let (file, function) = name.split_once("::").expect("a test's name");
        let (krate, file) = file.split_once('/').expect("a crate's name");
        let folder = if file.starts_with("src/") { "" } else { "tests/" };
        let path = root().join(format!("crates/{krate}/{folder}{file}.rs"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {path:?}: {error}"));
        let at = text
            .find(&format!("fn {function}("))
            .unwrap_or_else(|| panic!("{name}: no such test in {path:?}"));
        let before = text[..at].trim_end();
        assert!(before.ends_with("#[test]"), "{name} is not a test");
        count += 1;
    }
    assert!(count > 100, "only {count} tests are named");
}
