//! Tests of noq's log: `cargo test -p lasthop-quic --features qlog --test qlog`.
#![cfg(feature = "qlog")]

use lasthop_scenario::Draft;
use lasthop_sim::{Observation, StackLog, run_observed};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the log").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a path with losses for 5 s. Returns the logs of source and destination, and the number of lost packets.
fn run(stack: &str) -> ([String; 2], u64) {
    let mut draft =
        Draft::load("rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=5s").expect("a path");
    for (key, value) in [("kind", "quic"), ("stack", stack)] {
        draft.set(&format!("flow.bulk.{key}"), value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    let logs = [Shared::default(), Shared::default()];
    let log = |is_source: bool| {
        let writer = Box::new(logs[usize::from(!is_source)].clone());
        StackLog { flow: 0, is_source, writer }
    };
    let observation = Observation { stack_logs: vec![log(true), log(false)], ..Observation::default() };
    let (outcome, ..) = run_observed(&draft.check().expect("a scenario"), 1, observation);
    let text = logs.map(|log| String::from_utf8(log.0.lock().expect("the log").clone()).expect("UTF-8"));
    (text, outcome.flows[0].account.lost.total())
}

fn count(log: &str, event: &str) -> u64 {
    log.lines().filter(|line| line.contains(&format!("\"name\":\"{event}\""))).count() as u64
}

/// Each record of a JSON text sequence begins with the byte 0x1e (RFC 7464). Packets that the library calls lost were
/// lost on the link. Equal runs have equal logs.
#[test]
fn logs_agree_with_the_run() {
    let ([source, destination], lost) = run("noq");
    for log in [&source, &destination] {
        assert!(log.lines().all(|line| line.starts_with("\u{1e}{") && line.ends_with('}')));
    }
    let (sent, received) = (count(&source, "quic:packet_sent"), count(&destination, "quic:packet_received"));
    // At most one queue and one BDP of datagrams are in flight at the end.
    assert!(
        sent > 1000 && received < sent && sent - received <= lost + 100,
        "{sent}, {received}, {lost} lost"
    );
    let noticed = count(&source, "quic:packet_lost");
    assert!(noticed > 0 && noticed <= lost, "{noticed} of {lost}");
    assert!(
        count(&source, "quic:recovery_metrics_updated") + count(&source, "recovery:metrics_updated") > 100
    );
    assert!(run("noq").0 == [source, destination]);
}

/// quinn writes no log.
#[test]
fn quinn_has_no_log() {
    assert_eq!(run("quinn").0, [String::new(), String::new()]);
}
