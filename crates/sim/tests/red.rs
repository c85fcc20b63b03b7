//! Tests of RED: a loss must reduce the window once, and a timeout during recovery must not undo the reduction.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Outcome};

fn outcome(path: &str, settings: &[(&str, &str)], seed: u64) -> Outcome {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    lasthop_sim::run(&draft.check().expect("a valid scenario"), seed)
}

fn flows(path: &str, settings: &[(&str, &str)]) -> Vec<FlowOutcome> {
    (1..=5).map(|seed| outcome(path, settings, seed).flows.remove(0)).collect()
}

const RED: &str = "profile=plain,rate=20Mbit/s,rtt=24ms,queue=red,duration=60s";

/// A link of 20 Mbit/s carries 19.3 Mbit/s of payload. RED's thresholds of 5 and 15 packets are below the path's
/// bandwidth-delay product of 40 packets, so part of that rate is lost. A single flow must rarely lose whole windows,
/// so it must have at most a few timeouts a minute.
#[test]
fn a_flow_of_today_s_defaults_fills_most_of_the_link() {
    for settings in [&[][..], &[("ecn", "true")][..]] {
        for flow in flows(RED, settings) {
            assert!(flow.goodput_kbps() >= 15_000.0, "{settings:?}: {}", flow.goodput_kbps());
            assert!(flow.source.timeouts < 10, "{settings:?}: {}", flow.source.timeouts);
            assert!(flow.source.retransmitted < 400, "{settings:?}: {}", flow.source.retransmitted);
        }
    }
}

/// NewReno's slow-start overshoot ends in a timeout. The slow start after that timeout must end below the window that
/// caused the overshoot.
#[test]
fn new_reno_overshoots_once() {
    let path =
        "profile=plain,rate=10Mbit/s,rtt=40ms,queue=60packets,loss=0.1%,recovery=new_reno,duration=30s";
    for flow in flows(path, &[]) {
        assert!(flow.source.timeouts <= 3, "{}", flow.source.timeouts);
    }
}
