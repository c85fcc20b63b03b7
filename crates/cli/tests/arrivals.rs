//! `lasthop arrivals`, and flows whose transfers come from the files of this command.

mod common;

use common::{call_in, objects, stderr_of};

#[test]
fn a_file_of_arrivals_is_a_flow_of_many_transfers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let make = |out: &str, seed: &str| {
        let arguments = [
            "arrivals", "--every", "500 ms", "--mean", "20 KB", "--length", "20 s", "--seed", seed, "--out",
            out,
        ];
        assert_eq!(call_in(folder, &arguments).status.code(), Some(0));
        std::fs::read_to_string(folder.join(out)).unwrap()
    };
    let file = make("web.arrivals", "1");
    assert_eq!(file, make("again.arrivals", "1"));
    assert_ne!(file, make("other.arrivals", "2"));
    let transfers: Vec<(f64, u64)> = file
        .lines()
        .map(|line| {
            line.split_once(' ').map(|(at, bytes)| (at.parse().unwrap(), bytes.parse().unwrap())).unwrap()
        })
        .collect();
    let path = "rate=8Mbit/s,rtt=30ms,duration=40s,arrivals=web.arrivals";
    let output = call_in(folder, &["run", path, "--runs", "1", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let csv = String::from_utf8(output.stdout).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let delivered = names.iter().position(|name| *name == "delivered_bytes");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), transfers.len());
    if let Some(delivered) = delivered {
        for (row, (_, bytes)) in rows.iter().zip(&transfers) {
            assert_eq!(row[delivered].parse::<f64>().unwrap(), *bytes as f64);
        }
    }
    // The output of `show` is a valid scenario; `advise` relies on this property.
    let shown = call_in(folder, &["show", path]);
    std::fs::write(folder.join("shown.toml"), shown.stdout).unwrap();
    let again = call_in(folder, &["run", "shown.toml", "--runs", "1", "--format", "csv"]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), csv, "{}", stderr_of(&again));
    // A shorter run has only the transfers that start before the run ends.
    let early = transfers.iter().filter(|(at, _)| *at < 10.0).count();
    let output = call_in(
        folder,
        &[
            "run",
            "rate=8Mbit/s,rtt=30ms,duration=10s,arrivals=web.arrivals",
            "--runs",
            "1",
            "--format",
            "csv",
        ],
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), early + 1);
    let output = call_in(
        folder,
        &["run", path, "--runs", "2", "--format", "json", "--assert", "p95(completion) < 5 s"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert!(!objects(&String::from_utf8(output.stdout).unwrap()).is_empty());
}

#[test]
fn what_is_no_file_of_arrivals_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refused = |text: &str, more: &str| {
        std::fs::write(folder.join("x.arrivals"), text).unwrap();
        let output = call_in(
            folder,
            &["run", &format!("rate=8Mbit/s,rtt=30ms,duration=10s,arrivals=x.arrivals{more}"), "--runs", "1"],
        );
        assert_eq!(output.status.code(), Some(2), "{text}");
        stderr_of(&output)
    };
    assert!(refused("", "").contains("has no transfers"));
    assert!(refused("1 1000\n0.5 1000\n", "").contains("begins before the transfer above"));
    assert!(refused("1 1000\n2 x\n", "").contains("`x` is not a number of bytes"));
    assert!(refused("1\n", "").contains("does not have exactly two numbers"));
    assert!(refused("11 1000\n", "").contains("no transfer begins before the run ends"));
    assert!(refused("1 1000\n", ",count=3").contains("leave `count` or `arrivals` out"));
    let output = call_in(folder, &["arrivals", "--every", "1 h"]);
    assert_eq!(output.status.code(), Some(2));
}
