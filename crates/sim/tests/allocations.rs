//! No allocation per packet in the steady state, and nothing kept of the past.

use lasthop_base::{Duration, Time};
use lasthop_scenario::Draft;
use lasthop_sim::assemble::assemble;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Packets carried, allocations made and bytes kept between two instants of a run.
fn between(path: &str, settings: &[(&str, &str)], from_s: u64, until_s: u64) -> (u64, usize, isize) {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
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
    let split = [("shape", "split"), ("cause", "mac"), ("link.wireless.down.channel.rate", "5e-5")];
    let jtcp = [("shape", "split"), ("cause", "jtcp"), ("link.wireless.down.channel.rate", "5e-5")];
    let reno = [("recovery", "reno"), ("timing", "delayed")];
    let w_cw = [
        ("congestion", "w_cw"),
        ("ecn", "true"),
        ("echo", "per_packet"),
        ("link.wireless.down.queue", "warn"),
        ("link.wireless.down.queue.threshold", "20"),
    ];
    for settings in [&[][..], &split, &jtcp, &reno, &w_cw] {
        let (packets, allocations, kept) = between("hasegawa", settings, 1000, 10_000);
        assert!(packets > 1_000_000, "{packets} packets");
        // A queue or a list may still reach a length that it never had: a few times, not per packet.
        assert!(allocations < 40, "{settings:?}: {allocations} allocations for {packets} packets");
        assert!(kept < 65_536, "{settings:?}: {kept} bytes kept");
    }
}
