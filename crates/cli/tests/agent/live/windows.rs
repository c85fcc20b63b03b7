//! A window of two bandwidth-delay products keeps the queue of a deep buffer short, with unmodified senders and
//! receivers (`lasthop agent measure`).

use crate::alone;
use crate::common::machine::{Machine, not_judged};
use crate::common::{lasthop, stderr_of};
use serde_json::Value;

const DEEP: &str = "rate=10Mbit/s,rtt=20ms,queue=500packets,duration=8s";

/// Measures the effect of the agent's dynamic window on one sender. Returns `None` if the machine cannot measure this
/// effect.
fn measured(congestion: &str) -> Option<Value> {
    let measure = ["agent", "measure", DEEP, "--window", "dynamic", "--runs", "1", "--format", "json"];
    let output = lasthop().args(measure).args(["--senders", congestion]).output().unwrap();
    let said = stderr_of(&output);
    match output.status.code() {
        Some(0) => Some(serde_json::from_slice(&output.stdout).unwrap()),
        Some(3) => {
            not_judged(&said);
            None
        }
        Some(1) if said.contains("does not permit") => {
            println!("skipped: {said}");
            None
        }
        status => panic!("{status:?}: {said}"),
    }
}

#[test]
fn the_dynamic_window_empties_a_deep_buffer() {
    let Some(_alone) = alone() else { return };
    for congestion in ["cubic", "reno", "bbr"] {
        let machine = Machine::watch();
        let Some(measured) = measured(congestion) else { continue };
        println!("{measured}");
        machine.judge(is_emptied(congestion, &measured), format!("{congestion}: {measured}"));
    }
}

fn is_emptied(congestion: &str, measured: &Value) -> bool {
    let mean = |metric: &str, way: &str| measured[metric][way]["mean"].as_f64().unwrap();
    // 1448 of 1500 bytes are payload, so the maximum goodput is 9.65 Mbit/s.
    let (plain, cured) = (mean("goodput_kbps", "without"), mean("goodput_kbps", "with"));
    // The transmission of the agent's window, two bandwidth-delay products, takes 40 ms on the link. A full queue of
    // 500 packets of 1500 bytes would take 600 ms, but some senders do not fill the queue during the run.
    let was_full = congestion == "bbr" || mean("srtt_ms", "without") > 150.0;
    cured >= 0.98 * plain && mean("srtt_ms", "with") < 60.0 && was_full
}

#[test]
fn what_cannot_be_measured_is_said() {
    let cases: [(&[&str], &str); 3] = [
        (&["umts"], "no mechanism is given"),
        (&["umts", "--window", "dynamic", "--senders", "lasthop"], "use lasthop-to-kernel"),
        (&["umst", "--window", "dynamic"], "did you mean `umts`"),
    ];
    for (arguments, expected) in cases {
        let output = lasthop().args(["agent", "measure"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr_of(&output));
        assert!(stderr_of(&output).contains(expected), "{}", stderr_of(&output));
    }
}
