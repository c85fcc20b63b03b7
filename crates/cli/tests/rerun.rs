//! `reproduce --again`: reruns archived rows and compares the new rows byte for byte.

mod common;

use common::{call_in, stderr_of};
use std::fs;

const STUDY: &str = r#"
paper    = "mine"
title    = "mine: goodput over the loss rate"
summary  = "Reno on a lossy last hop"
citation = "an example, not a paper"

[axis.loss]
values = [0.001, 0.01]
set    = { "link.air.down.channel.loss" = "{loss}" }

[grid.main]
path = "path.toml"
axes = ["loss"]
runs = { full = 3, quick = 2 }

[metric.goodput]
of   = "goodput_kbps"
unit = "kbit/s"

[[points]]
item   = "goodput"
metric = "goodput"
"#;

const PATH: &str = r#"
duration = "5 s"

[link.air]
from = "bs"
to = "client"
rate = "2 Mbit/s"
one_way_delay = "20 ms"
down.channel = { kind = "iid", loss = 0.001 }

[flow.bulk]
from = "bs"
to = "client"
"#;

#[test]
fn archived_rows_are_the_same_and_a_changed_digit_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("study.toml"), STUDY).unwrap();
    fs::write(mine.join("path.toml"), PATH).unwrap();
    let rows = call_in(folder.path(), &["reproduce", "./mine", "--quick", "--seed", "7", "--format", "json"]);
    let rows = String::from_utf8(rows.stdout).unwrap();
    assert_eq!(rows.lines().count(), 2);
    fs::write(folder.path().join("rows.jsonl"), &rows).unwrap();
    let again = |file: &str| call_in(folder.path(), &["reproduce", "--again", file]);

    let same = again("rows.jsonl");
    let said = String::from_utf8(same.stdout.clone()).unwrap();
    assert_eq!(same.status.code(), Some(0), "{}", stderr_of(&same));
    assert!(said.starts_with("mine: 2 rows, all byte for byte the same as in 0."), "{said}");

    let begin = rows.find("\"version\":\"").unwrap() + "\"version\":\"".len();
    fs::write(folder.path().join("older.jsonl"), rows.replace(&rows[begin..begin + 5], "0.0.9")).unwrap();
    assert_eq!(again("older.jsonl").status.code(), Some(0));

    let at = rows.find("\"measured\":").unwrap() + "\"measured\":".len();
    let other = if rows.as_bytes()[at] == b'9' { "8" } else { "9" };
    let mut changed = rows.clone();
    changed.replace_range(at..=at, other);
    fs::write(folder.path().join("changed.jsonl"), changed).unwrap();
    let differs = again("changed.jsonl");
    let said = String::from_utf8(differs.stdout.clone()).unwrap();
    assert_eq!(differs.status.code(), Some(1));
    assert!(
        said.starts_with("mine: 1 of 2 rows differ from those of 0.") && said.contains("  then: {"),
        "{said}"
    );
    assert!(
        stderr_of(&differs).contains("number of archived rows that differ: 1"),
        "{}",
        stderr_of(&differs)
    );
}

#[test]
fn what_is_no_archive_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    fs::write(folder.path().join("other.jsonl"), "{\"paper\":\"mine\"}\n").unwrap();
    for (file, words) in [
        ("none.jsonl", "cannot read `none.jsonl`"),
        ("empty.jsonl", "`empty.jsonl` has no rows"),
        (
            "other.jsonl",
            "line 1 of `other.jsonl` is not a row of `lasthop reproduce --format json`: missing field",
        ),
    ] {
        let output = call_in(folder.path(), &["reproduce", "--again", file]);
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert!(stderr_of(&output).replace("\n  │ ", " ").contains(words), "{}", stderr_of(&output));
    }
}
