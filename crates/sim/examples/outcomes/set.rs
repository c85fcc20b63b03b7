//! A broad set of runs with many combinations of mechanisms and paths.
//!
//! * Senders: every loss recovery with every congestion control and three sender settings, on paths with and without
//!   radio, ECN and delayed ACKs.
//! * Receivers: every path that ships with Lasthop, with each receiver that sends more ACKs than usual, and with each
//!   profile.
//!
//! The set includes new mechanisms automatically.

use lasthop_scenario::{Catalogue, Draft, Scenario, ready_paths};

type Setting<'a> = (&'a str, &'a str);

const PATHS: &[(&str, &[Setting<'_>])] = &[
    ("umts", &[]),
    ("wifi", &[]),
    ("rate=10Mbit/s,rtt=100ms,queue=50packets,loss=1%", &[]),
    ("rate=5Mbit/s,rtt=30ms,queue=15packets,loss=4%", &[("ack_policy", "delayed")]),
    (
        "rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.2%",
        &[("ecn", "true"), ("link.path.down.queue", "red"), ("ecn_echo", "per_packet")],
    ),
    ("rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.5%", &[("ecn", "true"), ("link.path.down.queue", "red")]),
];

const SENDERS: &[&[Setting<'_>]] = &[
    &[],
    &[("f_rto", "true"), ("ack_counting", "bytes")],
    &[("sender.loss_discrimination", "tagged"), ("validate_window", "true"), ("ack_counting", "packets")],
];

const RECEIVERS: &[&[Setting<'_>]] = &[
    &[],
    &[("timestamps", "true"), ("ack_splitting", "split"), ("receiver.loss_discrimination", "jtcp")],
    &[("ack_splitting", "copies"), ("ack_policy", "delayed")],
    &[("window", "dynamic")],
    &[("profile", "rfc")],
    &[("profile", "linux")],
];

/// Calls `with` for each run of the set, with the run's name and its scenario. The scenario is `None` if the path does
/// not support the mechanism. Runs of different senders last `sender_s` seconds, and runs of different receivers
/// `receiver_s` seconds.
pub fn each(sender_s: u32, receiver_s: u32, mut with: impl FnMut(&str, Option<Scenario>)) {
    let mut run = |path: &str, settings: &[Setting<'_>]| {
        let named: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let named = format!("{path} {}", named.join(" "));
        let mut draft = Draft::load(path).unwrap_or_else(|why| panic!("{path}: {why:?}"));
        draft.set("profile", "plain").unwrap_or_else(|why| panic!("{path}: {why:?}"));
        for (key, value) in settings {
            draft.set(key, value).unwrap_or_else(|why| panic!("{named}: {why:?}"));
        }
        with(&named, draft.check().ok());
    };
    let [sender_s, receiver_s] = [sender_s, receiver_s].map(|seconds| format!("{seconds} s"));
    for (path, of_path) in PATHS {
        for recovery in names("recovery") {
            for congestion in names("congestion") {
                for sender in SENDERS {
                    let ways =
                        [("duration", sender_s.as_str()), ("recovery", recovery), ("congestion", congestion)];
                    run(path, &[of_path, &ways[..], sender].concat());
                }
            }
        }
    }
    for path in ready_paths() {
        for receiver in RECEIVERS {
            run(path, &[&[("duration", receiver_s.as_str())], *receiver].concat());
        }
    }
}

fn names(of_seam: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams().into_iter().filter(|seam| seam.name == of_seam);
    seams.flat_map(|seam| seam.names()).collect()
}
