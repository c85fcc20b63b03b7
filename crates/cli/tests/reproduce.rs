//! `reproduce --quick`: the rows of the papers, the report, and the progress.

mod common;

use common::{call_in, lasthop, names_in, objects, stderr_of};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

const KEYS: [&str; 24] = [
    "paper",
    "item",
    "series",
    "x",
    "metric",
    "unit",
    "published",
    "measured",
    "ci95",
    "runs",
    "verdict",
    "deviation_pct",
    "margin",
    "ns2",
    "ns2_ci95",
    "reading",
    "cause",
    "experiment",
    "note",
    "version",
    "seed",
    "quick",
    "digest",
    "command",
];

#[test]
fn every_item_is_an_object_and_the_report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("target")).unwrap();
    let output = call_in(folder.path(), &["reproduce", "hasegawa", "--quick", "--format", "json"]);
    let said = stderr_of(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.lines().last(), Some("report: target/report/index.html"), "{said}");
    assert_eq!(names_in(&folder.path().join("target/report")), ["index.csv", "index.html"]);
    let report = std::fs::read_to_string(folder.path().join("target/report/index.html")).unwrap();
    assert!(report.contains("hasegawa"));

    let items = objects(&String::from_utf8(output.stdout).unwrap());
    for item in &items {
        assert_eq!(item.keys().map(String::as_str).collect::<Vec<_>>(), KEYS);
        let verdict = item["verdict"].as_str();
        assert!(
            verdict
                .is_none_or(|verdict| ["agrees", "shape", "differs", "inconclusive", "undecidable"]
                    .contains(&verdict)),
            "{item:?}"
        );
        let differs = verdict.is_some_and(|verdict| ["differs", "shape"].contains(&verdict));
        assert_eq!(item["cause"].as_str().is_some_and(|cause| !cause.is_empty()), differs, "{item:?}");
        if item["published"].is_null() && item["item"].as_str().unwrap().starts_with("fig") {
            assert!(verdict.is_none(), "{item:?}");
        }
    }
    assert!(
        items.iter().any(|item| item["verdict"] == "inconclusive"),
        "three repetitions leave some verdicts open"
    );
    for name in ["gain-mac", "gain-jtcp", "gain-rtt", "gain-mac-kbps", "gain-jtcp-kbps", "gain-rtt-kbps"] {
        assert!(items.iter().any(|item| item["item"] == name && item["x"]["ber"].is_number()), "{name}");
    }
    for figure in ["fig7", "fig8", "fig9"] {
        assert!(items.iter().any(|item| item["item"] == figure), "{figure}");
    }
    for series in ["sack", "mac", "jtcp", "rtt"] {
        let bers: BTreeSet<i64> = items
            .iter()
            .filter(|item| item["item"] == "fig7" && item["series"] == series)
            .map(|item| (item["x"]["ber"].as_f64().unwrap() * 1e6).round() as i64)
            .collect();
        assert!(
            (1..=10).all(|step| bers.contains(&(10 * step))),
            "{series}: every 1e-5 from 1e-5 to 1e-4, {bers:?}"
        );
    }
}

#[test]
fn what_it_will_do_is_said_at_once_and_each_paper_is_printed_when_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = lasthop()
        .args(["reproduce", "koga5", "koga4", "--quick", "--format", "csv"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let plan = said.next().unwrap();
    assert!(plan.starts_with("2 papers with fewer repetitions: about ") && plan.contains("thread"), "{plan}");
    // Papers run in a fixed order, independent of the order on the command line.
    let first = said.next().unwrap();
    assert!(first.starts_with("koga4 (1 of 2), about "), "{first}");
    // A thread reads the output continuously, because a full pipe would block the program.
    let (rows, printed) = mpsc::channel();
    let output = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|row| rows.send(row))
    });
    assert!(printed.recv().unwrap().starts_with("paper,item,"));
    assert!(printed.recv().unwrap().starts_with("koga4,"));
    // The second paper is still running, so its results are not printed yet.
    assert!(child.try_wait().unwrap().is_none());
    let further = said.find(|line| line.contains(" of 2)")).unwrap();
    assert!(further.starts_with("koga5 (2 of 2)"), "{further}");
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap().unwrap();
    assert_eq!(printed.iter().filter(|row| row.starts_with("koga5,")).count(), 0);
}
