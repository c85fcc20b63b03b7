//! Tests that packets cause no allocations in the steady state, and that memory does not grow with the length of the
//! run.

use lasthop_base::{Duration, Time};
use lasthop_scenario::Draft;
use lasthop_sim::assemble::assemble;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::Mutex;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Lock that keeps the tests from running at the same time, because allocations are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns three numbers for the time between two instants of a run: packets sent, allocations, and growth of memory in
/// bytes.
fn between(path: &str, settings: &[(&str, &str)], from_s: u64, until_s: u64) -> (u64, usize, isize) {
    between_in(Draft::load(path).expect("a path"), settings, from_s, until_s)
}

fn between_in(mut draft: Draft, settings: &[(&str, &str)], from_s: u64, until_s: u64) -> (u64, usize, isize) {
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that scenario");
    }
    let mut engine = assemble(&draft.check().expect("a valid scenario"), 1);
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    let packets = |engine: &lasthop_engine::Engine| engine.packets_sent();
    engine.run_until(at(from_s));
    let (before, region) = (packets(&engine), Region::new(COUNTED));
    engine.run_until(at(until_s));
    let change = region.change();
    let kept = change.bytes_allocated as isize - change.bytes_deallocated as isize + change.bytes_reallocated;
    (packets(&engine) - before, change.allocations + change.reallocations, kept)
}

#[test]
fn allocations_do_not_grow_with_packets() {
    let _alone = ALONE.lock();
    let split = [
        ("ack_splitting", "split"),
        ("receiver.loss_discrimination", "mac"),
        ("link.wireless.down.channel.rate", "5e-5"),
    ];
    let jtcp = [
        ("ack_splitting", "split"),
        ("receiver.loss_discrimination", "jtcp"),
        ("link.wireless.down.channel.rate", "5e-5"),
    ];
    let reno = [("recovery", "reno"), ("ack_policy", "delayed")];
    let w_cw = [
        ("congestion", "w_cw"),
        ("ecn", "true"),
        ("ecn_echo", "per_packet"),
        ("link.wireless.down.queue", "warn"),
        ("link.wireless.down.queue.threshold", "20"),
    ];
    let cubic = [("congestion", "cubic")];
    for settings in [&[][..], &split, &jtcp, &reno, &w_cw, &cubic] {
        let (packets, allocations, kept) = between("hasegawa", settings, 1000, 10_000);
        assert!(packets > 1_000_000, "{packets} packets");
        // Queues and lists may allocate when their length reaches a new maximum, but not for each packet.
        assert!(allocations < 40, "{settings:?}: {allocations} allocations for {packets} packets");
        assert!(kept < 65_536, "{settings:?}: {kept} bytes kept");
    }
}

#[test]
fn nor_do_those_of_routers() {
    let _alone = ALONE.lock();
    let path = "rate=10Mbit/s,rtt=40ms,count=4,stagger=1s,congestion=cubic,duration=2000s";
    for queue in ["codel", "pie", "fq_codel", "sfq", "cake", "tbf", "policer"] {
        let settings = [("link.path.down.queue", queue)];
        let (packets, allocations, kept) = between(path, &settings, 200, 1000);
        assert!(packets > 800_000, "{queue}: {packets} packets");
        assert!(allocations < 40, "{queue}: {allocations} allocations for {packets} packets");
        assert!(kept < 65_536, "{queue}: {kept} bytes kept");
    }
}

#[test]
fn nor_do_those_of_a_cell() {
    let _alone = ALONE.lock();
    let varying = ("link.path.jitter", "{ kind = \"random\", most = \"2 ms\" }");
    let settings =
        [("link.path.arq", "wifi"), ("link.path.down.channel", "{ kind = \"iid\", loss = 0.1 }"), varying];
    let path = "rate=20Mbit/s,rtt=40ms,count=2,stagger=1s,congestion=cubic,duration=2000s";
    let (packets, allocations, kept) = between(path, &settings, 200, 1000);
    assert!(packets > 800_000, "{packets} packets");
    assert!(
        allocations < 40 && kept < 65_536,
        "{allocations} allocations for {packets} packets, {kept} bytes"
    );
}

#[test]
fn nor_do_those_of_a_cell_of_several_links() {
    let _alone = ALONE.lock();
    let text = r#"[link]
wired = { from = "server", to = "ap", rate = "1 Gbit/s", one_way_delay = "5 ms" }
near = { from = "ap", to = "c1", cell = "home", rate = "54 Mbit/s", queue = "100 packets", arq = { kind = "wifi", stations = 3, load = "30 %" } }
far = { from = "ap", to = "c2", cell = "home", rate = "6 Mbit/s", queue = "100 packets", arq = "wifi" }
[flow]
down = { from = "server", to = "c1" }
up = { from = "c2", to = "server" }
"#;
    let draft = Draft::parse(text, "cell.toml").expect("a scenario");
    let (packets, allocations, kept) = between_in(draft, &[("duration", "2000 s")], 200, 1000);
    assert!(packets > 400_000, "{packets} packets");
    assert!(
        allocations < 40 && kept < 65_536,
        "{allocations} allocations for {packets} packets, {kept} bytes"
    );
}

#[test]
fn nor_do_those_of_hybrid_arq() {
    let _alone = ALONE.lock();
    let misread = ("link.wireless.arq.misread", "2 %");
    let um = [misread, ("link.wireless.arq.mode", "um")];
    let pdcp = [misread, ("link.wireless.arq.order", "pdcp"), ("link.wireless.arq.t_reordering", "60 ms")];
    for settings in [&[misread][..], &um, &pdcp] {
        let mut draft = Draft::load("lte-am").expect("a ready path");
        draft.set("duration", "1000 s").expect("a duration");
        let (packets, allocations, kept) = between_in(draft, settings, 200, 1000);
        assert!(packets > 800_000, "{settings:?}: {packets} packets");
        assert!(allocations < 40, "{settings:?}: {allocations} allocations for {packets} packets");
        // A lost status report may double the capacity of a list of waiting SDUs, so the limit is higher here.
        assert!(kept < 262_144, "{settings:?}: {kept} bytes kept");
    }
}

#[test]
fn nor_do_those_of_rlc() {
    let _alone = ALONE.lock();
    let in_order = ("link.wireless.down.channel", "iid");
    let out_of_order = ("link.wireless.down.arq.wait", "0 ms");
    // Each PDU is lost with probability 3 %, independently. The sender discards SDUs without notice to the receiver.
    let discards = [
        in_order,
        ("link.wireless.down.channel.loss", "0.03"),
        ("link.wireless.down.arq.retransmissions", "1"),
        ("link.wireless.down.arq.announce", "false"),
        ("link.wireless.down.arq.loses", "pdu"),
        ("link.wireless.down.queue", "15 packets"),
    ];
    let by_age = [
        in_order,
        ("link.wireless.down.arq.discard", "timer"),
        ("link.wireless.down.arq.lifetime", "500 ms"),
    ];
    let polled = [
        in_order,
        ("link.wireless.up.channel", "iid"),
        ("link.wireless.up.channel.loss", "0.1"),
        ("link.wireless.up.arq", "rlc"),
        ("link.wireless.up.arq.status", "polled"),
        ("link.wireless.down.arq.status", "polled"),
        ("link.wireless.down.arq.prohibit", "100 ms"),
    ];
    for settings in [&[in_order][..], &[in_order, out_of_order], &discards, &by_age, &polled] {
        let text = include_str!("../../../papers/koga4/ordered.toml");
        let mut draft = Draft::parse(text, "ordered.toml").expect("a scenario");
        draft.set("duration", "10000 s").expect("a duration");
        // The limit bounds cwnd and the queue. Without the limit, both would grow, and allocate memory, until a channel
        // loss, which is rare.
        draft.set("link.wireless.down.queue", "30 packets").expect("a queue");
        let (packets, allocations, kept) = between_in(draft, settings, 1000, 10_000);
        assert!(packets > 50_000, "{settings:?}: {packets} packets");
        assert!(allocations < 40, "{settings:?}: {allocations} allocations for {packets} packets");
        assert!(kept < 65_536, "{settings:?}: {kept} bytes kept");
    }
}
