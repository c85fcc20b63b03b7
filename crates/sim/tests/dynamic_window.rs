//! Tests that a receive window adapted to the path keeps a deep buffer nearly empty, without loss of goodput.

use lasthop_scenario::Draft;
use lasthop_sim::Outcome;

fn outcome(settings: &[(&str, &str)]) -> Outcome {
    let mut draft =
        Draft::load("profile=plain,rate=10Mbit/s,rtt=20ms,queue=500packets,duration=120s").expect("a path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    lasthop_sim::run(&draft.check().expect("a valid scenario"), 1)
}

#[test]
fn the_round_trip_falls_and_the_goodput_stays() {
    let (plain, cured) = (outcome(&[]), outcome(&[("window", "dynamic")]));
    let (before, after) = (&plain.flows[0], &cured.flows[0]);
    // At 10 Mbit/s, a full queue of 500 packets of 1500 bytes delays a packet by 600 ms. The sawtooth of the window
    // varies the queueing delay between half of that time and all of it.
    let mean = |flow: &lasthop_sim::FlowOutcome| flow.mean_rtt_s.expect("round trips");
    assert!(mean(before) > 0.25, "{}", mean(before));
    // The dynamic window is two bandwidth-delay products, which doubles the RTT. With an empty queue, the RTT would be
    // 20 ms of propagation plus 1.2 ms of transmission for a packet.
    assert!(mean(after) < 0.060 && after.srtt_s.expect("a round trip") < 0.060, "{}", mean(after));
    assert!(mean(after) > 0.021, "{}", mean(after));
    let share = after.goodput_kbps() / before.goodput_kbps();
    assert!(share >= 0.98, "{share}");
    assert_eq!(cured.links[0].down.lost.total(), 0);
}

#[test]
fn without_timestamps_the_handshake_tells_the_round_trip() {
    let flow = &outcome(&[("window", "dynamic"), ("timestamps", "false")]).flows[0];
    let mean = flow.mean_rtt_s.expect("round trips");
    assert!((0.021..0.060).contains(&mean), "{mean}");
    assert!(flow.goodput_kbps() > 0.98 * outcome(&[("timestamps", "false")]).flows[0].goodput_kbps());
}
