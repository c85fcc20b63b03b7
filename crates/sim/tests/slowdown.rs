//! Slowdown of transfers: the time taken, divided by the time on an idle path.

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{FlowOutcome, TransferOutcome, run};

const LINKS: &str = "duration = \"20 s\"\n\
    [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"100 Mbit/s\"\none_way_delay = \"5 ms\"\n\
    [link.air]\nfrom = \"base\"\nto = \"client\"\nrate = \"8 Mbit/s\"\none_way_delay = \"15 ms\"\n\
    queue = \"10 MB\"\n";

fn scenario(flows: &str) -> Scenario {
    let text = format!("title = \"slowdown\"\n{LINKS}{flows}");
    Draft::parse(&text, "test").expect("the scenario parses").check().expect("the scenario is valid")
}

fn transfers(flows: &str) -> Vec<TransferOutcome> {
    run(&scenario(flows), 1).flows.iter().flat_map(FlowOutcome::transfers).collect()
}

const FLOW: &str = "[flow.file]\nfrom = \"server\"\nto = \"client\"\nextra_delay = \"10 ms\"\n";

/// On the idle path, the handshake takes 2 (20 + 10) ms. The 145 segments of 1448 + 52 bytes then take their
/// transmission at 8 Mbit/s, the transmission of one segment at 100 Mbit/s, and 30 ms of propagation. If the initial
/// window holds the whole transfer, the simulated time is longer only by the transmission of SYN and SYN-ACK. Each of
/// these packets has 60 bytes and is transmitted at 8 Mbit/s.
#[test]
fn a_transfer_in_one_window_has_no_slowdown() {
    let text = format!("{FLOW}transfer = \"209960 bytes\"\n[flow.file.sender]\ninitial_window = 200\n");
    let [file] = transfers(&text)[..] else { panic!("one transfer") };
    let expected = 0.060 + 0.030 + 145.0 * 1500.0 * 8.0 / 8e6 + 1500.0 * 8.0 / 100e6;
    assert!((file.idle_s - expected).abs() < 1e-9, "{} {expected}", file.idle_s);
    assert_eq!((file.bytes, file.is_complete), (209_960, true));
    assert!((1.0..1.002).contains(&file.slowdown()), "{}", file.slowdown());
}

/// The first request opens the connection, so its time on the idle path includes another round trip of 60 ms.
#[test]
fn a_request_has_the_time_of_both_directions() {
    let text = format!(
        "{FLOW}request = \"1448 bytes\"\nresponse = \"14480 bytes\"\nthink = \"1 s\"\nexchanges = 3\n\
         [flow.file.sender]\ninitial_window = 20\n"
    );
    let all = transfers(&text);
    assert_eq!(all.len(), 3);
    let request = 0.030 + 1500.0 * 8.0 / 8e6 + 1500.0 * 8.0 / 100e6;
    let response = 0.030 + 15_000.0 * 8.0 / 8e6 + 1500.0 * 8.0 / 100e6;
    for (number, one) in all.iter().enumerate() {
        let handshake = if number == 0 { 0.060 } else { 0.0 };
        assert!((one.idle_s - handshake - request - response).abs() < 1e-9, "{number}: {}", one.idle_s);
        assert!((1.0..1.005).contains(&one.slowdown()), "{number}: {}", one.slowdown());
        assert_eq!(one.bytes, 14_480);
    }
}

/// A transfer with slow start from one segment must take longer than the shortest time on the idle path. The slower of
/// two equal simultaneous transfers must take about twice the shortest time of one.
#[test]
fn slow_start_and_other_flows_count() {
    let slow = format!("{FLOW}transfer = \"200 KB\"\n[flow.file.sender]\ninitial_window = 1\n");
    let [alone] = transfers(&slow)[..] else { panic!("one transfer") };
    assert!(alone.slowdown() > 1.5, "{}", alone.slowdown());
    let two = format!("{FLOW}count = 2\ntransfer = \"5 MB\"\n");
    // The slower transfer ends when the bottleneck has transmitted the bytes of both transfers.
    let slowdowns: Vec<f64> = transfers(&two).iter().map(TransferOutcome::slowdown).collect();
    let largest = slowdowns.iter().copied().fold(0.0, f64::max);
    assert!((1.95..2.05).contains(&largest), "{slowdowns:?}");
    assert!(slowdowns.iter().all(|one| *one > 1.5), "{slowdowns:?}");
}
