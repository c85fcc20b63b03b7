//! One line a run, with a hash over every packet and event: to see whether a change that is to change nothing changes
//! something.
//!
//! ```text
//! cargo run --example outcomes > before.txt   # then change the code
//! cargo run --example outcomes > after.txt
//! diff before.txt after.txt
//! ```
//!
//! Paths with and without radio, ECN and delayed ACKs; every loss recovery with every congestion control, in three
//! settings of what else a sender may do; every ready path with each receiver that answers in more ACKs than one. A
//! mechanism that is added has lines of its own.

use lasthop_base::Time;
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::{Catalogue, Draft, ready_paths};
use lasthop_sim::{Watch, run_watched};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::fmt::{self, Write};

/// A key of a scenario and its value.
type Setting = (&'static str, &'static str);

const PATHS: &[(&str, &[Setting])] = &[
    ("umts", &[]),
    ("wifi", &[]),
    ("rate=10Mbit/s,rtt=100ms,queue=50packets,loss=1%", &[]),
    ("rate=5Mbit/s,rtt=30ms,queue=15packets,loss=4%", &[("timing", "delayed")]),
    (
        "rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.2%",
        &[("ecn", "true"), ("link.path.down.queue", "red"), ("echo", "per_packet")],
    ),
    ("rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.5%", &[("ecn", "true"), ("link.path.down.queue", "red")]),
];

const SENDERS: &[&[Setting]] = &[
    &[],
    &[("f_rto", "true"), ("counting", "bytes")],
    &[("judge", "tagged"), ("validate_window", "true"), ("counting", "packets")],
];

const RECEIVERS: &[&[Setting]] = &[
    &[],
    &[("timestamps", "true"), ("shape", "split"), ("cause", "jtcp")],
    &[("shape", "copies"), ("timing", "delayed")],
    &[("window", "dynamic")],
];

/// FNV-1a over what is told, in words that do not depend on how our types are called.
struct Hash {
    value: u64,
    told: u64,
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.value = (self.value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl Hash {
    fn new() -> Hash {
        Hash { value: 0xcbf2_9ce4_8422_2325, told: 0 }
    }

    fn tell(&mut self, told: fmt::Arguments<'_>) {
        self.told += 1;
        // Writing into a number cannot fail.
        let _ = self.write_fmt(told);
    }

    fn tell_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let (fate, until) = match fate {
            Fate::Arrives(at) => ("arrives", at),
            Fate::Lost(reason) => (reason.name(), now),
            Fate::Open => ("open", now),
        };
        let (flow, forward, bytes) = (packet.flow.0, packet.forward, packet.wire_bytes);
        let (ecn, priority) = (packet.ecn, packet.priority);
        self.tell(format_args!(
            "{now:?} {} {fate} {until:?} {flow} {forward} {bytes} {ecn:?} {priority:?}",
            pipe.0
        ));
        if let Some(segment) = packet.segment() {
            self.tell(format_args!("{segment:?}"));
        }
    }
}

impl Observer for Hash {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.tell_packet(now, pipe, packet, fate);
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.tell_packet(now, pipe, packet, fate);
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event) {
        self.tell(format_args!("{now:?} {} {side:?} {event:?}", flow.0));
    }
}

fn tell(path: &str, settings: &[Setting]) {
    let named: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let named = format!("{path} {}", named.join(" "));
    let mut draft = Draft::load(path).unwrap_or_else(|why| panic!("{path}: {why:?}"));
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{named}: {why:?}"));
    }
    // Some mechanisms need what a path does not have.
    let Ok(scenario) = draft.check() else { return println!("{named} is refused") };
    let watch = Watch { observers: vec![Box::new(Hash::new())], probes: false };
    let (outcome, _, observers) = run_watched(&scenario, 3, watch);
    for observer in observers {
        let any: Box<dyn std::any::Any> = observer;
        if let Ok(hash) = any.downcast::<Hash>() {
            let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
            println!("{named}: {:016x} of {}, {delivered} bytes", hash.value, hash.told);
        }
    }
}

fn names(of_seam: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::default();
    let questions = catalogue.questions().into_iter().filter(|question| question.name == of_seam);
    questions.flat_map(|question| question.names()).collect()
}

fn main() {
    for (path, of_path) in PATHS {
        for recovery in names("recovery") {
            for congestion in names("congestion") {
                for sender in SENDERS {
                    let ways = [("duration", "6 s"), ("recovery", recovery), ("congestion", congestion)];
                    tell(path, &[of_path, &ways[..], sender].concat());
                }
            }
        }
    }
    for path in ready_paths() {
        for receiver in RECEIVERS {
            tell(path, &[&[("duration", "10 s")], *receiver].concat());
        }
    }
}
