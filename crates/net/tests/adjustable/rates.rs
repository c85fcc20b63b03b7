//! Changes of the rate, and outages.

use super::driver::{Change, adjustable, at, fates, rate, secs, wire, with_layer, with_queue};
use super::{arrivals, recorded, services};
use lasthop_base::{Duration, Time, Value};
use lasthop_net::service::{Light, LightTrace, RatePlan, Service, Trace};
use lasthop_net::{Config, LinkDirection, Output};
use lasthop_wire::LinkReport;
use std::sync::Arc;

fn micros(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// Packets of 1000 bytes that all enter at `now`.
fn burst(now: Time, count: usize) -> Vec<(Time, u32)> {
    vec![(now, 1000); count]
}

fn times(config: &Config, arrivals: &[(Time, u32)], changes: &[(Time, Change)]) -> Vec<Time> {
    let fates = fates(adjustable(config), arrivals, changes);
    assert!(fates.iter().all(|fate| fate.2.is_none()), "{fates:?}");
    fates.into_iter().map(|fate| fate.1).collect()
}

#[test]
fn a_rate_that_is_set_is_a_plan() {
    let mut config = wire(2_000_000);
    config.queue.values.set("packets", Value::Count(20));
    let arrivals = arrivals(5000, 0.004);
    let changes = [(secs(3.0), rate(400_000)), (secs(7.0), rate(0)), (secs(7.5), rate(10_000_000))];
    let set = fates(adjustable(&config), &arrivals, &changes);
    let plan = "2 Mbit/s for 3 s, 400 kbit/s for 4 s, 0 bit/s for 500 ms, 10 Mbit/s for 1000 s";
    config.service = Service::Plan(Arc::new(RatePlan::parse(plan).unwrap()));
    let planned = fates(super::plain(&config), &arrivals, &[]);
    let lost = planned.iter().filter(|fate| fate.2.is_some()).count();
    assert!(lost > 100 && lost < 2000, "{lost}");
    assert_eq!(set.len(), planned.len());
    for (one, other) in set.iter().zip(&planned) {
        // A change splits a packet's transmission time into two parts, each rounded up to a nanosecond.
        assert!(
            one.1.since(other.1).max(other.1.since(one.1)) < Duration::from_micros(1),
            "{one:?} {other:?}"
        );
        assert_eq!((one.0, one.2), (other.0, other.2));
    }
}

/// At 1 Mbit/s, a packet takes 8 ms. The plan's rate is 4 Mbit/s, at which a packet takes 2 ms. At 5 ms, half of the
/// third packet is sent. The other half, and the later packets, are sent at 1 Mbit/s.
#[test]
fn a_rate_replaces_a_plan() {
    let plan = RatePlan::parse("4 Mbit/s for 1 s, 8 Mbit/s for 1 s").expect("a plan");
    let config = Config { service: Service::Plan(Arc::new(plan)), ..wire(1) };
    for queue in ["drop_tail", "fq_codel"] {
        let config = with_queue(config.clone(), queue);
        let arrivals: Vec<(Time, u32)> = burst(at(0), 5).into_iter().chain(burst(at(1500), 1)).collect();
        let expected = [12, 14, 19, 27, 35, 1518].map(at);
        let mut arrive = times(&config, &arrivals, &[(at(5), rate(1_000_000))]);
        // FQ-CoDel serves flows in turn.
        arrive.sort();
        assert_eq!(arrive, expected, "{queue}");
    }
}

/// A planned outage ends at once: at 1 Mbit/s, the packet in transmission takes 8 ms from the change on, and the next
/// packet another 8 ms.
#[test]
fn a_rate_ends_a_planned_outage() {
    let plan = RatePlan::parse("0 bit/s for 100 s, 8 Mbit/s for 1 s").expect("a plan");
    let config = Config { service: Service::Plan(Arc::new(plan)), ..wire(1) };
    assert_eq!(times(&config, &burst(at(0), 2), &[(at(50), rate(1_000_000))]), [68, 76].map(at));
}

/// The recording has an opportunity every 100 ms. At 150 ms, the second packet waits for the opportunity at 200 ms. At
/// 1 Mbit/s, the second packet is then sent until 158 ms, and the third packet until 166 ms.
#[test]
fn a_rate_replaces_a_recording() {
    let trace = Trace::parse("100\n").expect("a trace");
    let config = Config { service: Service::Trace(Arc::new(trace)), ..wire(1) };
    for queue in ["drop_tail", "codel"] {
        let arrive =
            times(&with_queue(config.clone(), queue), &burst(at(50), 3), &[(at(150), rate(1_000_000))]);
        assert_eq!(arrive, [110, 168, 176].map(at), "{queue}");
    }
}

/// A rate replaces the opportunities of packet trains, too. Packets wait for their base delay of 20 ms, then for 8 ms of
/// transmission each, and 10 ms of delay.
#[test]
fn a_rate_replaces_packet_trains() {
    let trace = Arc::new(LightTrace::parse("0 20 0 3 6\n1000 20 0 3 6\n").expect("a light trace"));
    let light = Some(Light { trace, timer_millis: 0, sizes: None });
    let config = Config { service: recorded(), light, ..wire(1) };
    let arrivals: Vec<(Time, u32)> = burst(at(0), 1).into_iter().chain(burst(at(200), 2)).collect();
    assert_eq!(times(&config, &arrivals, &[(at(100), rate(1_000_000))]), [30, 238, 246].map(at));
    // An outage also stops packets that wait for an opportunity of their train.
    let stop = [(at(10), rate(0)), (at(500), rate(1_000_000))];
    assert_eq!(times(&config, &burst(at(0), 1), &stop), [at(518)]);
}

/// In an outage from 2 ms to 1000 ms, nothing is sent. At 8 Mbit/s, a packet takes 1 ms. With a queue of three packets,
/// the fourth and later waiting packets are lost.
#[test]
fn an_outage_fills_the_queue() {
    let mut config = wire(8_000_000);
    config.queue.values.set("packets", Value::Count(3));
    let arrivals: Vec<(Time, u32)> = burst(at(0), 1).into_iter().chain(burst(at(10), 6)).collect();
    let fates = fates(adjustable(&config), &arrivals, &[(at(2), rate(0)), (at(1000), rate(8_000_000))]);
    let lost: Vec<u64> = fates.iter().filter(|fate| fate.2.is_some()).map(|fate| fate.0).collect();
    assert_eq!(lost, [5, 6], "the first packet of the burst is in transmission, and three wait");
    let arrived: Vec<Time> = fates.iter().filter(|fate| fate.2.is_none()).map(|fate| fate.1).collect();
    assert_eq!(arrived, [11, 1011, 1012, 1013, 1014].map(at));
}

/// RLC: at 400 kbit/s, a block of 20 ms has 1000 bytes, that is, 22 PDUs of 45 bytes, and a packet of 880 bytes fills
/// the block's 22 payloads of 40 bytes. The change to 200 kbit/s at 30 ms halves the block that starts at 40 ms to 11
/// PDUs, so that each later packet takes two blocks. The delay of 10 ms follows.
#[test]
fn rlc_serves_blocks_at_the_new_rate() {
    for plan in ["400 kbit/s for 100 s", "400 kbit/s for 1 s, 64 kbit/s for 1 s"] {
        let plan = RatePlan::parse(plan).expect("a plan");
        let mut config = with_layer(Config { service: Service::Plan(Arc::new(plan)), ..wire(1) }, "rlc");
        config.arq.values.set("tti", Value::Duration(Duration::from_millis(20)));
        config.arq.values.set("pdu", Value::Bytes(45));
        config.arq.values.set("header", Value::Bytes(5));
        let arrive = times(&config, &[(at(0), 880); 4], &[(at(30), rate(200_000))]);
        assert_eq!(arrive, [30, 50, 90, 130].map(at));
        // In an outage from 30 to 1005 ms, no block starts. The next block starts at 1020 ms.
        let stop = [(at(30), rate(0)), (at(1005), rate(400_000))];
        assert_eq!(times(&config, &[(at(0), 880); 4], &stop), [30, 50, 1050, 1070].map(at));
    }
}

/// RLC: at 16 kbit/s, the block with the first PDU of 45 bytes takes two intervals of 20 ms. A change at 10 ms does not
/// end this block. At 400 kbit/s, the other 22 PDUs take the interval from 40 to 60 ms.
#[test]
fn rlc_keeps_the_block_in_transmission() {
    let mut config = with_layer(wire(16_000), "rlc");
    config.arq.values.set("tti", Value::Duration(Duration::from_millis(20)));
    config.arq.values.set("pdu", Value::Bytes(45));
    config.arq.values.set("header", Value::Bytes(5));
    assert_eq!(times(&config, &[(at(0), 920)], &[(at(10), rate(400_000))]), [at(70)]);
}

/// RLC reports a planned change of the rate to the hosts. A rate that is set ends these reports, and is reported itself.
#[test]
fn rlc_reports_a_rate_that_is_set() {
    let plan = RatePlan::parse("400 kbit/s for 1 s, 64 kbit/s for 1 s").expect("a plan");
    let config = with_layer(Config { service: Service::Plan(Arc::new(plan)), ..wire(1) }, "rlc");
    let LinkDirection::Element(mut element) = adjustable(&config) else { panic!("an element") };
    let mut out = Vec::new();
    element.handle_timeout(element.poll_timeout(), &mut out);
    let Change::Settings(change) = rate(100_000) else { panic!("a change of the settings") };
    element.change(at(1500), &change, &mut out);
    assert_eq!(out, [64_000, 100_000].map(|bps| Output::Report(LinkReport::Rate { bps })));
    assert_eq!(element.poll_timeout(), Time::NEVER);
}

/// HARQ: a slot of 1 ms at 8 Mbit/s has 1000 bytes, so a packet of 992 bytes and its header of 8 bytes fill a slot. At 4
/// Mbit/s, a slot has 500 bytes.
#[test]
fn harq_serves_slots_at_the_new_rate() {
    let mut config = with_layer(wire(8_000_000), "harq");
    config.arq.values.set("mode", Value::Word("um"));
    // The third packet has 492 bytes in each of the slots that end at 3 and 4 ms, and 8 bytes in the next slot.
    let arrive = times(&config, &[(at(0), 992); 3], &[(micros(1500), rate(4_000_000))]);
    assert_eq!(arrive, [11, 12, 15].map(at));
    // At 4 Mbit/s, four packets of 492 + 8 bytes take a slot each.
    let arrive = times(&config, &[(at(0), 492); 4], &[(at(0), rate(4_000_000))]);
    assert_eq!(arrive, [11, 12, 13, 14].map(at));
    // In an outage from 1.5 to 1000 ms, no slot is used.
    let stop = [(micros(1500), rate(0)), (at(1000), rate(8_000_000))];
    assert_eq!(times(&config, &[(at(0), 992); 4], &stop), [11, 12, 1011, 1012].map(at));
}

/// Wi-Fi, one frame per aggregate: preamble, frame with 40 bytes of overhead, SIFS and ACK. A packet of 960 bytes takes 1
/// ms at 8 Mbit/s and 2 ms at 4 Mbit/s. The medium grants each request at once.
#[test]
fn wifi_sends_aggregates_at_the_new_rate() {
    let mut config = with_layer(wire(8_000_000), "wifi");
    config.arq.values.set("frames", Value::Count(1));
    config.arq.values.set("preamble", Value::Duration(Duration::from_micros(40)));
    // The first aggregate ends at 1.04 ms and keeps its rate. The next aggregate ends at 1.04 + 2.04 ms.
    let arrive = times(&config, &[(at(0), 960); 2], &[(micros(500), rate(4_000_000))]);
    assert_eq!(arrive, [11_040, 13_080].map(micros));
    let stop = [(micros(500), rate(0)), (at(1000), rate(4_000_000))];
    assert_eq!(times(&config, &[(at(0), 960); 2], &stop), [micros(11_040), micros(1_012_040)]);
}

/// FEC: the packet in transmission keeps its rate of 8 Mbit/s, that is, 1 ms. Later packets take 8 ms. A code of 10 data
/// packets sends no parity packet before the tenth packet.
#[test]
fn fec_sends_packets_at_the_new_rate() {
    let mut config = with_layer(wire(8_000_000), "fec");
    config.arq.values.set("data", Value::Count(10));
    let change = [(micros(500), rate(1_000_000))];
    assert_eq!(times(&config, &burst(at(0), 3), &change), [11, 19, 27].map(at));
    let stop = [(micros(500), rate(0)), (at(1000), rate(1_000_000))];
    assert_eq!(times(&config, &burst(at(0), 2), &stop), [11, 1018].map(at));
}

/// After a change, no link layer sends in an outage that never ends, and no event is due: the driver returns.
#[test]
fn an_outage_without_end_sends_nothing() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for service in services(layer) {
            let config = with_layer(Config { service, ..wire(1) }, layer);
            let fates = fates(adjustable(&config), &burst(at(1), 5), &[(at(0), rate(0))]);
            assert_eq!(fates, [], "{layer}");
        }
    }
}
