//! CAKE's ACK filter on an uplink that carries fewer ACKs than a download needs.

use lasthop_scenario::Draft;
use lasthop_sim::{Outcome, run};

/// Runs a download of 10 Mbit/s with one ACK of 52 bytes per segment, over an uplink of 50 kbit/s: 120 ACKs/s. The
/// receiver's window is 62.5 KB, the bandwidth-delay product of 10 Mbit/s and 50 ms.
fn download(filter: &str) -> Outcome {
    let mut draft =
        Draft::load("rate=10Mbit/s,rtt=50ms,queue=1bdp,duration=60s,congestion=reno").expect("a path");
    for (key, value) in [
        ("link.path.up.rate", "50 kbit/s"),
        ("link.path.up.queue", "cake"),
        ("link.path.up.queue.ack_filter", filter),
        ("receiver.ack_policy", "immediate"),
        ("receiver.window", "buffer"),
        ("receiver.window.size", "62500 bytes"),
    ] {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    run(&draft.check().expect("a valid scenario"), 1)
}

/// An ACK takes 8.3 ms on the uplink. With the filter, at most two ACKs of the flow wait behind the ACK in
/// transmission, because a third ACK makes one of these two redundant. The RTT is then at most the sum of 50 ms, the
/// transmission time of a segment (1.2 ms) and the transmission times of three ACKs. The goodput equals the receiver's
/// window divided by the RTT, with and without the filter.
#[test]
fn fewer_acks_carry_the_same_news() {
    let [off, on, aggressive] = ["off", "on", "aggressive"].map(download);
    let kbps = |outcome: &Outcome| outcome.flows[0].goodput_kbps();
    let rtt = |outcome: &Outcome| outcome.flows[0].mean_rtt_s.expect("an RTT");
    let ack = 52.0 * 8.0 / 50e3;
    for filtered in [&on, &aggressive] {
        assert!(rtt(filtered) < 0.050 + 0.0012 + 3.0 * ack, "{}", rtt(filtered));
        assert!(rtt(&off) > rtt(filtered) + ack, "{} {}", rtt(&off), rtt(filtered));
        assert!(kbps(filtered) > kbps(&off), "{} {}", kbps(filtered), kbps(&off));
        // Each segment of 1448 bytes causes an ACK. The uplink carries 120 ACKs per second.
        let acks = kbps(filtered) * 125.0 * 60.0 / 1448.0;
        let removed = filtered.flows[0].account.lost_backward.total() as f64;
        assert!((removed / (acks - 60.0 / ack) - 1.0).abs() < 0.05, "{removed} of {acks}");
    }
    for outcome in [&off, &on, &aggressive] {
        let window = kbps(outcome) * 125.0 * rtt(outcome);
        assert!((window / 62_500.0 - 1.0).abs() < 0.05, "{window}");
    }
}
