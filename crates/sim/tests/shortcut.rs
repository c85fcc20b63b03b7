//! Tests that the sender's fast path only saves time. Without the fast path, all packets and events of a broad set of
//! runs must be the same.

#[path = "../examples/outcomes/fingerprint.rs"]
mod fingerprint;
#[path = "../examples/outcomes/set.rs"]
mod set;

use fingerprint::Fingerprint;
use lasthop_scenario::{Draft, Scenario, Traffic};
use lasthop_sim::{Observation, Outcome, Samples, run_observed};
use std::sync::Arc;

/// Returns the hash and the number of all packets and events, the outcome, and ten samples a second of the senders'
/// state.
fn known(scenario: &Scenario) -> ((u64, u64), Outcome, Samples) {
    let observation =
        Observation { observers: vec![Box::new(Fingerprint::new())], probes: true, ..Observation::default() };
    let (outcome, samples, observers) = run_observed(scenario, 3, observation);
    let Fingerprint { value, count } = fingerprint::of(observers);
    ((value, count), outcome, samples)
}

fn without_shortcut(mut scenario: Scenario) -> Scenario {
    for flow in &mut scenario.flows {
        if let Traffic::Tcp { source, destination, .. } = &mut flow.traffic {
            Arc::make_mut(source).has_fast_path = false;
            Arc::make_mut(destination).has_fast_path = false;
        }
    }
    scenario
}

/// Compares a run with and without the fast path. Returns the number of packets and events.
fn compare(named: &str, scenario: Scenario) -> u64 {
    let (short, outcome, samples) = known(&scenario);
    let (long, long_outcome, long_samples) = known(&without_shortcut(scenario));
    for (one, other) in samples.flows.iter().zip(&long_samples.flows) {
        assert_eq!(one, other, "{named}: a sender's state");
    }
    assert_eq!(short, long, "{named}: packets and events");
    assert_eq!(outcome, long_outcome, "{named}");
    short.1
}

#[test]
fn the_long_way_comes_to_the_same() {
    let (mut runs, mut count) = (0, 0);
    set::each(2, 3, |named, scenario| {
        let Some(scenario) = scenario else { return };
        (runs, count) = (runs + 1, count + compare(named, scenario));
    });
    assert!(runs > 300 && count > 500_000, "{runs} runs, {count} packets and events");
}

#[test]
fn senders_that_others_limit_do_the_same_the_long_way() {
    let path = "profile=plain,rate=5Mbit/s,rtt=100ms,queue=50packets,loss=0.3%,duration=20s";
    let count: u64 = [
        &[("window.size", "30 kB"), ("validate_window", "true")][..],
        &[("window.size", "30 kB"), ("ack_policy", "delayed"), ("ack_counting", "bytes"), ("f_rto", "true")],
        &[("link.path.down.channel.loss", "6 %"), ("ack_policy", "delayed"), ("ack_counting", "bytes")],
        &[("flow.bulk.transfer", "300 kB"), ("validate_window", "true")],
        &[("flow.bulk.transfer", "300 kB"), ("validate_window", "true"), ("validate_by", "linux")],
    ]
    .into_iter()
    .map(|settings| {
        let mut draft = Draft::load(path).expect("the path loads");
        settings.iter().for_each(|(key, value)| draft.set(key, value).expect(key));
        compare(&format!("{settings:?}"), draft.check().expect("the scenario is valid"))
    })
    .sum();
    assert!(count > 5000, "{count} packets and events");
}
