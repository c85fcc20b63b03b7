//! BBRv3 together with other flows, as in google/quiche's public simulator tests (`bbr3_simulator_test.cc`). The path
//! has 4 Mbit/s, 32 ms one way, and a queue of two bandwidth-delay products. Each flow transfers 10 MiB (50 MiB if the
//! other flow uses CUBIC).

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, run};

/// Returns the completion time of the last flow, divided by the time in which one flow alone would transmit its bytes.
fn done(flows: &[FlowOutcome], starts_s: &[f64], bytes: f64) -> f64 {
    let alone = bytes * 8.0 / (4e6 * 1448.0 / 1500.0);
    let ends = flows.iter().zip(starts_s).map(|(flow, start)| {
        assert!(flow.active_s < flow.limit_s, "{} did not finish", flow.name);
        start + flow.active_s
    });
    ends.fold(0.0, f64::max) / alone
}

/// Runs two flows of equal size. The second flow starts when the first flow has sent about a tenth of its data. Returns
/// the result of [`done`].
fn beside(other: &str, mib: u32) -> f64 {
    let bytes = f64::from(mib) * f64::from(1 << 20);
    let second = 0.1 * bytes * 8.0 / 3.8e6;
    let text = format!(
        r#"
        duration = "2000 s"
        [link.path]
        from = "server"
        to = "client"
        one_way_delay = "32 ms"
        down = {{ rate = "4 Mbit/s", queue = "2 bdp" }}
        up = {{ rate = "10 Mbit/s" }}
        [flow.first]
        from = "server"
        to = "client"
        profile = "linux"
        transfer = "{mib} MiB"
        sender.congestion = "bbr3"
        [flow.second]
        from = "server"
        to = "client"
        profile = "linux"
        transfer = "{mib} MiB"
        start = "{second} s"
        sender.congestion = "{other}"
        "#
    );
    let scenario = Draft::parse(&text, "beside").and_then(|draft| draft.check());
    let outcome = run(&scenario.unwrap_or_else(|why| panic!("{why:?}")), 1);
    done(&outcome.flows, &[0.0, second], bytes)
}

/// As in the tests Bbr2VsBbr2, Bbr2VsBbr1, Bbr2VsReno and Bbr2VsCubic, both flows must finish within three times the
/// time that one flow alone takes.
#[test]
fn beside_another_both_are_done_in_time() {
    for (other, mib) in [("bbr3", 10), ("bbr", 10), ("reno", 10), ("cubic", 50)] {
        let times = beside(other, mib);
        assert!((2.0..3.0).contains(&times), "{other}: {times}");
    }
}

/// As in the test MultipleBbr2s, six flows that start two seconds apart must finish within 1.1 times the transmission
/// time of all their bytes.
#[test]
fn six_flows_use_the_path() {
    let text = r#"
        duration = "2000 s"
        [link.path]
        from = "server"
        to = "client"
        one_way_delay = "32 ms"
        down = { rate = "4 Mbit/s", queue = "2 bdp" }
        up = { rate = "10 Mbit/s" }
        [flow.bulk]
        from = "server"
        to = "client"
        profile = "linux"
        transfer = "10 MiB"
        count = 6
        stagger = "2 s"
        sender.congestion = "bbr3"
        "#;
    let scenario = Draft::parse(text, "six").and_then(|draft| draft.check());
    let outcome = run(&scenario.unwrap_or_else(|why| panic!("{why:?}")), 1);
    let starts = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0];
    let times = done(&outcome.flows, &starts, 10.0 * f64::from(1 << 20));
    assert!((6.0..6.6).contains(&times), "{times}");
}
