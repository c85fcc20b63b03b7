//! `lasthop run --assert`: percentiles, exit status, and JUnit XML.

mod common;

use common::{call_in, stderr_of};

const PATH: &str = "rate=5Mbit/s,rtt=40ms,queue=200packets,loss=0.1%,duration=20s";

#[test]
fn percentiles_hold_or_fail_and_junit_tells_each() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = |assertion: &str| {
        let output =
            call_in(folder, &["run", PATH, "--runs", "12", "--assert", assertion, "--junit", "out.xml"]);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        (output.status.code(), text, stderr_of(&output))
    };
    // The round-trip time is at least 40 ms, which is the value of the idle path. A full queue of 200 packets of 1500
    // bytes adds 0.48 s at 5 Mbit/s.
    let (status, text, error) = run("p50(rtt) > 40 ms, p99(rtt) < 0.6 s, p99(queue_delay) < 0.56 s");
    assert_eq!(status, Some(0), "{text}{error}");
    assert!(text.contains("assert p99(rtt) < 0.6 s: holds; p99(rtt)_ms "), "{text}");
    let xml = std::fs::read_to_string(folder.join("out.xml")).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"0\""), "{xml}");
    // Without a finite transfer, the completion time has no percentiles, so the second assertion does not hold.
    let (status, text, error) = run("p95(rtt) < 41 ms, p95(completion) < 1 s");
    assert_eq!(status, Some(1), "{text}");
    assert!(error.contains("2 of 2 assertions do not hold"), "{error}");
    let xml = std::fs::read_to_string(folder.join("out.xml")).unwrap();
    assert!(xml.contains("failures=\"2\"") && xml.contains("name=\"p95(rtt) &lt; 41 ms\""), "{xml}");
}

/// Sampling for percentiles does not change the results: the means equal the means of a run without percentiles.
#[test]
fn samples_change_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let json = |more: &[&str]| {
        let output =
            call_in(folder.path(), &[&["run", PATH, "--runs", "3", "--format", "json"], more].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let (plain, asserted) = (json(&[]), json(&["--assert", "p95(rtt) < 10 s"]));
    assert!(!plain.is_empty() && asserted.starts_with(&plain), "{asserted}");
}

#[test]
fn completions_have_percentiles_over_transfers() {
    let folder = tempfile::tempdir().unwrap();
    let path = "rate=5Mbit/s,rtt=40ms,queue=200packets,duration=60s,transfer=100KB,count=10,start_spread=20s";
    let output = call_in(
        folder.path(),
        &["run", path, "--runs", "4", "--assert", "p50(completion) > 160 ms, p95(completion) < 5 s"],
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        stderr_of(&output)
    );
}

#[test]
fn what_is_no_assertion_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (assertion, said) in [
        ("p95(rtt) < 5", "the unit is missing"),
        ("p95(goodput) < 5 ms", "percentiles: p50, p95, p99"),
        ("p95(rtt)@nobody < 5 ms", "unknown flow `nobody`"),
    ] {
        let output = call_in(folder.path(), &["run", PATH, "--assert", assertion]);
        assert_eq!(output.status.code(), Some(2), "{assertion}");
        assert!(stderr_of(&output).contains(said), "{}", stderr_of(&output));
    }
    let output = call_in(folder.path(), &["run", PATH, "--junit", "out.xml"]);
    assert_eq!(output.status.code(), Some(2), "no assertions to write");
}
