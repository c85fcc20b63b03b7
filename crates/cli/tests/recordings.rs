//! Runs every sender and receiver over recorded links.
//!
//! The recordings are from Mahimahi (TMobile-UMTS-driving, Verizon-LTE-short) and not in this repository.
//! `LASTHOP_RECORDINGS` names the folder of the recordings.

mod common;

use common::{objects, root, stdout};
use std::path::PathBuf;

const LINKS: [&str; 2] = ["TMobile-UMTS-driving", "Verizon-LTE-short"];
const SEAMS: [&str; 5] =
    ["recovery", "ack_counting", "ack_policy", "ack_splitting", "receiver.loss_discrimination"];

#[test]
fn every_combination_runs_on_every_recorded_link() {
    let Some(folder) = recordings() else { return };
    let mechanisms = objects(&stdout(&["list", "--format", "json"]));
    let vary: Vec<String> = SEAMS
        .iter()
        .map(|seam| {
            let names: Vec<&str> = mechanisms
                .iter()
                .filter(|entry| entry["kind"] == **seam)
                .map(|entry| entry["name"].as_str().unwrap())
                .collect();
            assert!(names.len() > 1, "{seam}");
            format!("{seam}={}", names.join(","))
        })
        .collect();
    let combinations: usize = vary.iter().map(|choices| choices.split(',').count()).product();
    for name in LINKS {
        let file = |direction: &str| folder.join(format!("{name}.{direction}")).display().to_string();
        let path = format!(
            "down_trace={},up_trace={},rtt=60ms,queue=200packets,loss=0.5%,duration=10s",
            file("down"),
            file("up")
        );
        let mut arguments = vec!["compare", &path, "--runs", "1", "--format", "json"];
        vary.iter().for_each(|choices| arguments.extend(["--vary", choices]));
        // The last lines are notes on ACK splitting without effect.
        let mut lines = objects(&stdout(&arguments));
        lines.retain(|line| !line.contains_key("note"));
        assert_eq!(lines.len(), combinations);
        for line in &lines {
            let goodput = line["goodput_kbps"]["mean"].as_f64().unwrap();
            assert!(goodput > 50.0 && goodput < 100_000.0, "{name} {}: {goodput} kbit/s", line["x"]);
        }
    }
}

#[test]
fn their_mean_rates_are_told() {
    let Some(folder) = recordings() else { return };
    for name in LINKS {
        let path = format!("trace={},up=1Mbit/s,rtt=60ms", folder.join(format!("{name}.down")).display());
        let line = stdout(&["check", &path]);
        assert!(line.contains("link.path.down: trace of ") && line.contains("mean "), "{line}");
    }
}

fn recordings() -> Option<PathBuf> {
    let folder = match std::env::var_os("LASTHOP_RECORDINGS") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("../shared/data/mahimahi"),
    };
    let there = LINKS.iter().all(|name| {
        ["down", "up"].iter().all(|direction| folder.join(format!("{name}.{direction}")).is_file())
    });
    if !there {
        println!("skipped: no recordings in {}; LASTHOP_RECORDINGS names their folder", folder.display());
    }
    there.then_some(folder)
}
