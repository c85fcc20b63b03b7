//! Tests of receive offload (GRO) on links whose packets arrive one by one and in groups.

use lasthop_scenario::Draft;
use lasthop_sim::{Outcome, run};

fn outcome(path: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    run(&draft.check().expect("a valid scenario"), 1)
}

fn segments_per_ack(outcome: &Outcome) -> f64 {
    let receiver = &outcome.flows[0].destination;
    receiver.data_received as f64 / receiver.acks_sent as f64
}

/// The window exceeds the bandwidth-delay product of 250 KB and does not fill the queue.
const NO_LOSS: [(&str, &str); 2] = [("receiver.window", "buffer"), ("receiver.window.size", "400 KB")];

/// At 100 Mbit/s, a packet of 1500 bytes takes 0.12 ms. A batch of 1 ms has the first segment and the 8 segments that
/// follow within 1 ms (8 x 0.12 = 0.96). A batch of 50 us has one segment, so that the delayed ACKs of `linux` remain.
#[test]
fn a_batch_has_the_segments_of_its_time() {
    let path =
        "rate=100Mbit/s,rtt=20ms,queue=1bdp,duration=10s,congestion=reno,headers=0bytes,segment=1500bytes";
    let of = |timeout| {
        let gro = [("receiver.ack_policy", "gro"), ("receiver.ack_policy.timeout", timeout)];
        segments_per_ack(&outcome(path, &[&NO_LOSS[..], &gro[..]].concat()))
    };
    let (batches, single) = (of("1 ms"), of("50 us"));
    // During slow start, batches have fewer segments, so the mean may be less than 9.
    assert!((8.8..=9.0).contains(&batches), "{batches}");
    let linux = [&NO_LOSS[..], &[("receiver.ack_policy", "linux")]].concat();
    let linux = segments_per_ack(&outcome(path, &linux));
    assert!((single / linux - 1.0).abs() < 0.02, "{single}, {linux}");
}

/// Every transfer must complete despite losses in both directions, because the receiver acknowledges all data.
#[test]
fn transfers_complete_over_lossy_paths() {
    for timeout in ["0 s", "50 us", "5 ms"] {
        let path = "rate=20Mbit/s,rtt=40ms,queue=50packets,loss=2%,duration=60s,transfer=300KB,count=20,start_spread=20s";
        let lost_acks = [("link.path.up.channel", "iid"), ("link.path.up.channel.loss", "0.02")];
        let gro = [("receiver.ack_policy", "gro"), ("receiver.ack_policy.timeout", timeout)];
        let outcome = outcome(path, &[&lost_acks[..], &gro[..]].concat());
        for flow in &outcome.flows {
            assert!(flow.transfers().all(|it| it.is_complete), "{timeout}: {}", flow.name);
            assert_eq!(flow.delivered_bytes, 300_000);
        }
    }
}
