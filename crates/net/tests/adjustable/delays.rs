//! Changes of the delay.

use super::driver::{adjustable, at, delay, fates, wire, with_channel, with_layer};
use super::services;
use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_net::{Config, jitter};

#[test]
fn a_delay_that_is_set_keeps_packets_in_order() {
    let config = wire(1_000_000);
    let arrivals: Vec<(Time, u32)> = (0..10).map(|n| (at(100 * n), 1000)).collect();
    let fates = fates(adjustable(&config), &arrivals, &[(at(250), delay(300)), (at(550), delay(10))]);
    let times: Vec<Time> = fates.iter().map(|fate| fate.1).collect();
    // A packet takes 18 ms, transmission included. At 250 ms, this time increases to 308 ms, and at 550 ms decreases to
    // 18 ms again. After 550 ms, no packet may overtake the packet that arrives at 808 ms.
    let expected = [18, 118, 218, 608, 708, 808, 808, 808, 818, 918].map(at);
    assert_eq!(times, expected);
}

/// On each link layer, at each kind of rate and with jitter that keeps the order, packets must keep their order. Packets
/// that are sent after the last change must have the last delay. Packets enter every 100 ms, and no transmission takes
/// longer than 60 ms, except in the planned outage.
#[test]
fn each_link_layer_keeps_the_order() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for service in services(layer) {
            for jitters in [false, true] {
                let mut config = with_layer(Config { service: service.clone(), ..wire(1) }, layer);
                if jitters {
                    config.jitter = Choice::named(jitter::ALL, "random");
                    config.jitter.values.set("most", Value::Duration(Duration::from_millis(5)));
                }
                let arrivals: Vec<(Time, u32)> = (0..30).map(|n| (at(100 * n), 1000)).collect();
                let changes = [(at(250), delay(1000)), (at(550), delay(20)), (at(1950), delay(200))];
                let fates = fates(adjustable(&config), &arrivals, &changes);
                assert!(fates.iter().all(|fate| fate.2.is_none()), "{layer}");
                assert!(fates.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{layer} {fates:?}");
                for (number, arrived, ..) in &fates[25..] {
                    let took = arrived.since(at(100 * number));
                    let range = Duration::from_millis(200)..Duration::from_millis(265);
                    assert!(range.contains(&took), "{layer}, packet {number}: {took:?}");
                }
                let first = fates[3].1.since(at(300));
                assert!(first >= Duration::from_millis(1000), "{layer}: {first:?}");
            }
        }
    }
}

/// With losses, RLC reports the outcome of blocks in order although the delay falls from 1 s to 10 ms, and retransmits
/// each lost block: all packets arrive.
#[test]
fn a_shorter_delay_loses_no_report() {
    for status in ["constant", "polled"] {
        let mut config = with_channel(with_layer(wire(2_000_000), "rlc"), "iid");
        config.channel.values.set("loss", Value::Number(0.3));
        config.arq.values.set("status", Value::Word(status));
        config.arq.values.set("discard", Value::Word("never"));
        let arrivals: Vec<(Time, u32)> = (0..200).map(|n| (at(10 * n), 1000)).collect();
        let fates = fates(adjustable(&config), &arrivals, &[(at(0), delay(1000)), (at(500), delay(10))]);
        assert_eq!(fates.iter().filter(|fate| fate.2.is_none()).count(), 200, "{status}");
    }
}
