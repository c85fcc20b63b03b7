//! Tests of the metrics that show which factor limits a flow: cwnd, the receive window or the application.

use lasthop_scenario::Draft;
use lasthop_sim::FlowOutcome;

fn run(path: &str, settings: &[(&str, &str)]) -> FlowOutcome {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    lasthop_sim::run(&draft.check().expect("a valid scenario"), 1).flows.remove(0)
}

/// Returns the shares of the active time in which cwnd, the receive window and the application limited the source, %.
fn shares(flow: &FlowOutcome) -> [f64; 3] {
    [flow.cwnd_limited_pct(), flow.rwnd_limited_pct(), flow.app_limited_pct()]
        .map(|share| share.expect("TCP"))
}

#[test]
fn a_small_receive_window() {
    // The receive window has 20 segments. The handshake takes one round trip of 100 ms, which is attributed to none of
    // the three limits. cwnd must be the limit in the next two round trips. After three round trips, the receive window
    // must be the limit.
    let settings = [("receiver.window.size", "20000 bytes"), ("segment", "1000 bytes"), ("duration", "60 s")];
    let [cwnd, receiver, application] = shares(&run(
        "profile=plain,rate=100Mbit/s,rtt=100ms,queue=1000packets,ack_policy=immediate",
        &settings,
    ));
    assert!((receiver - 100.0 * (60.0 - 0.3) / 60.0).abs() < 0.1, "{receiver}");
    assert!(cwnd < 0.4 && application == 0.0, "{cwnd} {application}");
}

#[test]
fn a_queue_that_drops() {
    let settings = [("receiver.window.size", "16 MiB"), ("duration", "60 s")];
    let [cwnd, receiver, application] =
        shares(&run("profile=plain,rate=10Mbit/s,rtt=20ms,queue=50packets", &settings));
    // cwnd must be the limit for all the time except the handshake, which takes 20 ms of 60 s.
    assert!((cwnd - 100.0 * (60.0 - 0.02) / 60.0).abs() < 0.01, "{cwnd}");
    assert_eq!([receiver, application], [0.0; 2]);
}

#[test]
fn timeouts_are_the_networks() {
    let [cwnd, receiver, application] =
        shares(&run("profile=plain,rate=10Mbit/s,rtt=20ms,queue=50packets,loss=30%", &[]));
    assert!(cwnd > 90.0, "{cwnd}");
    assert_eq!([receiver, application], [0.0; 2]);
}

#[test]
fn a_transfer_that_fits_the_first_window() {
    // The handshake takes a round trip. All data then takes half a round trip, plus 0.9 ms of transmission at 100
    // Mbit/s. The application must be the limit after the handshake, for a third of the active time.
    let flow = run("profile=plain,rate=100Mbit/s,rtt=100ms", &[("transfer", "10000 bytes")]);
    let [cwnd, receiver, application] = shares(&flow);
    assert!((application - 100.0 / 3.0).abs() < 0.5, "{application}");
    assert_eq!([cwnd, receiver], [0.0; 2]);
    // The run lasts 60 s, but the time after the completion must not count.
    assert!(flow.active_s < 0.16, "{}", flow.active_s);
}
