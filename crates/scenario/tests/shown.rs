//! Tests that reading the text printed by `show` gives the same scenario.

mod fixed;

use lasthop_scenario::{Catalogue, Draft, Scenario, ready_paths};

/// Returns all values of a scenario as text, traces and parameters included.
fn all_of(scenario: &Scenario) -> String {
    format!("{scenario:#?}")
}

fn shown_and_read_back(draft: &Draft, name: &str) {
    let scenario = draft.check().unwrap_or_else(|problem| panic!("{name}: {problem}"));
    let shown = draft.show().unwrap_or_else(|problem| panic!("{name}: {problem}"));
    let again = Draft::parse(&shown, name).unwrap_or_else(|problem| panic!("{name}: {problem}\n{shown}"));
    let read = again.check().unwrap_or_else(|problem| panic!("{name}: {problem}\n{shown}"));
    assert_eq!(all_of(&scenario), all_of(&read), "{name}");
    assert_eq!(again.show().as_deref().ok(), Some(shown.as_str()), "{name}");
}

#[test]
fn every_ready_path_reads_back_as_it_is_shown() {
    for name in ready_paths() {
        shown_and_read_back(&Draft::load(name).expect("a ready path"), name);
    }
}

#[test]
fn every_mechanism_reads_back_as_it_is_shown() {
    for entry in Catalogue::default().list().iter().filter(|entry| entry.kind != "path") {
        let mut draft = Draft::load("hasegawa").expect("a ready path");
        let path = match entry.kind.as_str() {
            "queue" | "channel" | "arq" | "jitter" => format!("link.wireless.up.{}", entry.kind),
            kind => kind.to_owned(),
        };
        draft.set(&path, entry.name).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        // With Wi-Fi, both directions of a link share a medium, so the link layer must be set in both directions.
        if entry.kind == "arq" {
            draft.set("link.wireless.down.arq", entry.name).expect("a link layer");
        }
        if entry.name == "two_state" {
            draft.set(&format!("{path}.mean_loss"), "1 %").expect("a rate, which has no default");
        }
        shown_and_read_back(&draft, entry.name);
    }
}

#[test]
fn unusual_values_read_back_as_they_are_shown() {
    let mut draft =
        Draft::load("rate=1.234567Mbit/s,up=3bit/s,rtt=1001ns,queue=65537bytes,up_queue=1packet,ber=1.2e-7")
            .expect("a valid scenario");
    for (path, value) in [
        ("title", "quotes \" and \\ and\ttabs, ünïcode, a line\nand another"),
        ("source", "somebody's #1 = [guess]"),
        ("headers", "none"),
        ("duration", "100.000000001 s"),
        ("count", "3"),
        ("stagger", "1 ms"),
        ("transfer", "1 MiB"),
        ("initial_ssthresh", "64 KB"),
        ("seed", "9223372036854775807"),
        ("receiver.loss_discrimination", "{ kind = \"jtcp\", k = 0.1 }"),
        (
            "flow.voice",
            "{ kind = \"cbr\", from = \"server\", to = \"client\", rate = \"64 kbit/s\", packet = \"200 bytes\" }",
        ),
        (
            "flow.web",
            "{ kind = \"on_off\", from = \"client\", to = \"server\", rate = \"1 Mbit/s\", packet = \"1 KB\", on = \"1 s\", off = \"2 s\", stop = \"30 s\" }",
        ),
        ("route.server.client", "client"),
    ] {
        draft.set(path, value).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    }
    shown_and_read_back(&draft, "unusual");
    let scenario = draft.check().expect("valid");
    assert_eq!(scenario.seed, i64::MAX as u64);
    let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["bulk.1", "bulk.2", "bulk.3", "voice", "web"]);
}

#[test]
fn external_responses_read_back_as_they_are_shown() {
    let mut draft = Draft::load("rate=1Mbit/s,rtt=20ms").expect("a path");
    draft.set("flow.bulk.request", "300 bytes").expect("a size");
    draft.set("flow.bulk.response", "external").expect("a word");
    shown_and_read_back(&draft, "external");
    assert!(draft.show().expect("valid").contains("response = \"external\""));
}

#[test]
fn fed_transfers_read_back_as_they_are_shown() {
    let mut draft = Draft::load("rate=1Mbit/s,rtt=20ms").expect("a path");
    draft.set("flow.bulk.transfer", "external").expect("a word");
    shown_and_read_back(&draft, "external");
    assert!(draft.show().expect("valid").contains("transfer = \"external\""));
}

#[test]
fn a_trace_is_found_again_from_what_is_shown() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("a.down"), "1\n5\n5\n10\n").expect("written");
    let file = directory.path().join("test.toml");
    let text = "[link.a]\nfrom = 'x'\nto = 'y'\ntrace = 'a.down'\n[flow.b]\nfrom = 'x'\nto = 'y'\n";
    std::fs::write(&file, text).expect("written");
    shown_and_read_back(&Draft::load(&file.to_string_lossy()).expect("valid"), "elsewhere/test.toml");
}

#[test]
fn the_paper_s_scenario_is_shown_in_full() {
    let mut draft = fixed::catalogue().load("hasegawa").expect("a ready path");
    draft.set("ack_splitting", "split").expect("a key");
    insta::assert_snapshot!(draft.show().expect("valid"));
}
