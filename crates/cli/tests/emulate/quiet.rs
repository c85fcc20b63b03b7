//! Tests that need an idle machine (`make quiet`).

use crate::common::machine::{Machine, not_judged};
use crate::live::traffic::{client, printed, server};
use crate::{emulate, is_possible, summary};

/// Share of payload in the IP length of a full-sized segment with time stamps.
const SHARE: f64 = 1448.0 / 1500.0;

/// Returns the reason for which a run is not representative. Returns `None` if the machine did nothing but the run.
/// `stalled` is the result of [`Machine::stalled`].
fn disturbed(summary: &serde_json::Value, stalled: f64) -> Option<String> {
    let share = |name: &str| summary[name].as_f64();
    let (Some(idle), Some(stolen)) = (share("idle"), share("stolen")) else {
        return Some("the kernel does not report the load of the machine".to_owned());
    };
    let lateness = |name: &str| summary["lateness_us"][name].as_f64().unwrap();
    // At 100 Mbit/s, the programs at both ends and the path use less than half of two processors.
    let reasons = [
        (idle < 0.45, format!("the processors were idle for only {:.0} % of the time", idle * 100.0)),
        (stolen > 0.01, format!("the hypervisor took {:.1} % of the time", stolen * 100.0)),
        (stalled > 0.005, format!("a processor stood still for {:.1} % of the time", stalled * 100.0)),
        (summary["sched_fifo"] != true, "SCHED_FIFO was not granted".to_owned()),
        // A single stop of the whole machine does not show in the 99th percentile of the lateness, but in the maximum.
        (lateness("max") > 50e3, format!("the machine stood still for {:.0} ms", lateness("max") / 1e3)),
        (summary["tun_drops"] != 0, "the kernel dropped packets in a device".to_owned()),
    ];
    reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
}

/// A transfer reaches 97 % of the maximum payload rate, and 99 % of the packets are less than 1 ms late.
#[test]
fn a_bulk_transfer_gets_the_payload_ceiling() {
    if !is_possible() {
        return;
    }
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    let paths = [(2.0, 100), (10.0, 200), (100.0, 600)];
    for (mbps, queue, congestion) in
        paths.into_iter().flat_map(|(mbps, queue)| ["cubic", "bbr"].map(|name| (mbps, queue, name)))
    {
        if !known.contains(congestion) {
            eprintln!("skipped: the kernel has no {congestion}");
            continue;
        }
        examine(mbps, queue, congestion);
    }
}

fn examine(mbps: f64, queue: u32, congestion: &str) {
    let path = format!("rate={mbps}Mbit/s,rtt=20ms,queue={queue}packets");
    let client = client("{server}", 6.0);
    let server = server(congestion);
    let machine = Machine::watch();
    let output = emulate(&[&path, "--server", &server, "--format", "json", "--", "sh", "-c", &client]);
    let stalled = machine.stalled();
    let summary = summary(&output);
    let share = printed(&output, "goodput_kbps") / (mbps * 1e3 * SHARE);
    let late = summary["lateness_us"]["p99"].as_f64().unwrap();
    let what = format!(
        "{congestion} at {mbps} Mbit/s: {share:.3} of the maximum payload rate, p99 of lateness {late:.0} us"
    );
    let rate = summary["rate_kbps"]["down"].as_f64().unwrap();
    assert!(rate < mbps * 1e3 * 1.001, "{what}; {summary}");
    if let Some(why) = disturbed(&summary, stalled) {
        return not_judged(&format!("{why}: {what}"));
    }
    eprintln!("{what}, {:.2} % stalled", stalled * 100.0);
    // The goodput in the summary includes slow start. Apart from slow start, this goodput agrees with the client's
    // measurement.
    let goodput = summary["goodput_kbps"]["down"].as_f64().unwrap() / (mbps * 1e3 * SHARE);
    let is_as_it_should = (0.97..1.005).contains(&share)
        && late < 1000.0
        && output.status.code() == Some(0)
        && (0.85..1.0).contains(&goodput);
    assert!(is_as_it_should, "{what}; {summary}");
}
