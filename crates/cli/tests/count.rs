//! `bench --count`: instructions per data packet, and the limit of their growth. The tests are skipped without
//! valgrind.

mod common;

use common::{call, call_in, objects, stderr_of, stdout};
use std::path::Path;
use std::process::Command;

fn without_valgrind() -> bool {
    let is_absent = Command::new("valgrind").arg("--version").output().is_err();
    if is_absent {
        println!("skipped: valgrind is not installed");
    }
    is_absent
}

/// Returns the table with the instruction count multiplied by `factor`. The table has a single case.
fn scaled(table: &str, factor: f64) -> String {
    let mut lines = table.lines();
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    let column = head.split(',').position(|name| name == "instructions_per_packet").unwrap();
    let mut fields: Vec<String> = row.split(',').map(str::to_owned).collect();
    fields[column] = (fields[column].parse::<f64>().unwrap() * factor).to_string();
    format!("{head}\n{}\n", fields.join(","))
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_case_that_grew_by_more_than_two_per_cent_fails() {
    if without_valgrind() {
        return;
    }
    let table = stdout(&["bench", "koga4", "--count", "--format", "csv"]);
    let folder = tempfile::tempdir().unwrap();
    // The program takes 3 % more instructions than in `grown.csv`, and 5 % less than in `cheaper.csv`.
    write(folder.path(), "grown.csv", &scaled(&table, 1.0 / 1.03));
    write(folder.path(), "cheaper.csv", &scaled(&table, 1.0 / 0.95));
    let against = |name: &str| call_in(folder.path(), &["bench", "koga4", "--count", "--against", name]);

    let grown = against("grown.csv");
    let said = stderr_of(&grown);
    assert_eq!(grown.status.code(), Some(1), "{said}");
    assert!(
        said.contains("koga4") && said.contains("(+3.0 %)") && said.contains("make count-update"),
        "{said}"
    );

    let cheaper = against("cheaper.csv");
    let said = stderr_of(&cheaper);
    assert_eq!(cheaper.status.code(), Some(0), "{said}");
    assert!(said.contains("cheaper") && said.contains("make count-update"), "{said}");
}

#[test]
fn a_table_that_is_none_is_refused_before_anything_is_counted() {
    for table in ["missing.csv", "Cargo.toml"] {
        let output = call(&["bench", "--count", "--against", table]);
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(table) && said.contains("--count --format csv"), "{said}");
    }
    let output = call(&["bench", "--against", "docs/instructions.csv"]);
    assert!(stderr_of(&output).contains("--count"), "{}", stderr_of(&output));
}

#[test]
fn a_case_runs_once_for_the_time_that_is_asked_for() {
    let packets = |seconds: &str| {
        let printed = stdout(&["bench", "--alone", "hasegawa", "--seconds", seconds]);
        objects(&printed)[0]["data_packets"].as_u64().unwrap()
    };
    // At 2 Mbit/s, 240 packets of 1040 bytes are sent per second, over 20 s, minus packets lost by the channel.
    assert!((4_500..=4_808).contains(&(packets("30") - packets("10"))));
}
