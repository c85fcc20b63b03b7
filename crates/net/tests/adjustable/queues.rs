//! Changes of the queue.

use super::driver::{
    Change, Fates, adjustable, at, fates, packet, queue as set_queue, rate, secs, wire, with_channel,
    with_layer, with_queue,
};
use super::services;
use lasthop_base::{Duration, Rate, Stream, Time, Value};
use lasthop_net::service::Service;
use lasthop_net::steps::Steps;
use lasthop_net::{Config, LinkChange, LinkDirection, admission, queue};
use lasthop_wire::LossReason;

fn limited(packets: u64) -> Config {
    let mut config = with_queue(wire(1), "drop_tail");
    config.queue.values.set("packets", Value::Count(packets));
    config
}

fn numbers(fates: &Fates, reason: Option<LossReason>) -> Vec<u64> {
    fates.iter().filter(|fate| fate.2 == reason).map(|fate| fate.0).collect()
}

/// Twelve packets of 100 bytes enter at 0 in an outage, and the queue has room for 10. With link layers that send one
/// packet at a time, one packet is in transmission. From 10 to 2 packets, the queue keeps the first two packets and
/// loses eight. After the outage, the others arrive in order.
#[test]
fn a_shorter_queue_keeps_the_first_packets() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for name in ["drop_tail", "low_first", "sfq"] {
            let mut config = with_queue(with_layer(wire(1_000_000), layer), name);
            config.queue.values.set("packets", Value::Count(10));
            let in_transmission = u64::from(["none", "repeat"].contains(&layer));
            let arrivals = vec![(at(1), 100); 10 + in_transmission as usize];
            let changes = [(at(0), rate(0)), (at(500), set_queue(&limited(2))), (at(1000), rate(1_000_000))];
            let fates = fates(adjustable(&config), &arrivals, &changes);
            let kept = if name == "sfq" { numbers(&fates, None) } else { (0..2 + in_transmission).collect() };
            let lost = numbers(&fates, Some(LossReason::QueueFull));
            assert_eq!((kept.len() as u64, lost.len()), (2 + in_transmission, 8), "{layer} {name}");
            assert_eq!(numbers(&fates, None), kept, "{layer} {name}");
            assert!(fates.iter().all(|fate| fate.2.is_none() || fate.1 == at(500)), "{layer} {name}");
        }
    }
}

/// From each queue to each other queue, at each kind of rate and on each link layer: each packet has exactly one end. With
/// room for all packets, no packet is lost, and each arrives.
#[test]
fn each_queue_replaces_each_other_queue() {
    let names: Vec<&str> = admission::ALL.iter().chain(queue::ALL).map(|one| one.info.name).collect();
    for layer in ["none", "rlc", "harq", "wifi", "fec"] {
        for service in services(layer) {
            for (before, after) in names.iter().flat_map(|one| names.iter().map(move |other| (*one, *other)))
            {
                let config =
                    Config { service: service.clone(), ..with_layer(with_queue(wire(1), before), layer) };
                let arrivals: Vec<(Time, u32)> = (0..60).map(|n| (at(2 * n), 1000)).collect();
                let change = [(at(61), set_queue(&with_queue(wire(1), after)))];
                let fates = fates(adjustable(&config), &arrivals, &change);
                let all: Vec<u64> = fates.iter().map(|fate| fate.0).collect();
                assert_eq!(all, (0..60).collect::<Vec<u64>>(), "{layer} {before} {after}");
                if [before, after].iter().all(|name| ["drop_tail", "low_first", "sfq"].contains(name)) {
                    assert_eq!(numbers(&fates, None).len(), 60, "{layer} {before} {after}");
                }
            }
        }
    }
}

/// A shaper of 8 kbit/s holds packets of 1000 bytes back for 1 s each. Without the shaper, the packets are sent at once,
/// at 1 ms each: the third packet, for which the shaper has no token, leaves at the change. In the other direction, the
/// shaper's burst of 1000 bytes passes one packet.
#[test]
fn a_shaper_ends_and_begins() {
    let mut shaped = with_queue(wire(8_000_000), "tbf");
    shaped.queue.values.set("rate", Value::Rate(Rate::from_bps(8_000)));
    shaped.queue.values.set("burst", Value::Bytes(1000));
    let times = |config: &Config, change| {
        let fates = fates(adjustable(config), &[(at(0), 1000); 4], &[(at(1500), change)]);
        fates.into_iter().map(|fate| fate.1).collect::<Vec<Time>>()
    };
    assert_eq!(times(&shaped, set_queue(&limited(9))), [11, 1011, 1511, 1512].map(at));
    let slow = Config { service: Service::Rate(Rate::from_bps(8_000)), ..limited(9) };
    // At 8 kbit/s, the second packet is in transmission from 1 s to 2 s. The shaper's tokens of the third packet are
    // there at once, and those of the fourth packet 1 s later.
    assert_eq!(times(&slow, set_queue(&shaped)), [1.01, 2.01, 3.01, 4.01].map(secs));
}

/// The end of a shaper releases its packets on each link layer, with a varying delay and with residual losses, too: two
/// packets leave the shaper at the change. Each takes at most one block of 20 ms (RLC), and 10 ms of delay.
#[test]
fn the_end_of_a_shaper_releases_packets_on_each_link_layer() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        let mut config = with_queue(with_layer(wire(8_000_000), layer), "tbf");
        config.queue.values.set("rate", Value::Rate(Rate::from_bps(8_000)));
        config.queue.values.set("burst", Value::Bytes(1000));
        let times = |config: &Config| {
            let fates = fates(adjustable(config), &[(at(0), 1000); 4], &[(at(1500), set_queue(&limited(9)))]);
            fates.into_iter().map(|fate| (fate.1, fate.2)).collect::<Vec<_>>()
        };
        let plain = times(&config);
        let range = at(1510)..=at(1560);
        assert!(
            plain[1].0 < at(1100) && plain[2..].iter().all(|(at, _)| range.contains(at)),
            "{layer} {plain:?}"
        );
        let delay_plan = Some(Steps::parse("30 ms for 1000 s").expect("a plan"));
        let later: Vec<_> = plain.iter().map(|(at, lost)| (*at + Duration::from_millis(30), *lost)).collect();
        assert_eq!(times(&Config { delay_plan, ..config.clone() }), later, "{layer}");
        let lost = Some(LossReason::Channel);
        assert!(times(&Config { residual_loss: 1.0, ..config }).iter().all(|one| one.1 == lost), "{layer}");
    }
}

/// A queue of the same kind and with room for all packets changes no arrival.
#[test]
fn an_equal_queue_changes_nothing() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for service in services(layer) {
            let config = with_channel(with_layer(Config { service, ..wire(1) }, layer), "two_state");
            let arrivals: Vec<(Time, u32)> = (0..200).map(|n| (at(3 * n), 1000)).collect();
            let change = [137, 303, 500].map(|millis| (at(millis), set_queue(&config)));
            let unchanged = fates(adjustable(&config), &arrivals, &[]);
            assert!(fates(adjustable(&config), &arrivals, &change) == unchanged, "{layer}");
        }
    }
}

/// Packets that a new queue drops count as overflowed.
#[test]
fn dropped_packets_are_counted() {
    for layer in ["rlc", "harq"] {
        for name in ["drop_tail", "codel"] {
            let config = with_queue(with_layer(wire(8_000), layer), name);
            let LinkDirection::Element(mut element) = adjustable(&config) else { panic!("an element") };
            let mut out = Vec::new();
            (0..10).for_each(|number| element.handle_packet(at(1), packet(number, 1000), &mut out));
            element.set_queue(at(2), limited(4).queue_with(Stream::named(1, "new")), &mut out);
            assert_eq!((out.len(), element.rlc().map(|counts| counts.overflowed)), (6, Some(6)), "{layer}");
            assert_eq!(element.backlog(at(2)).waiting, 4, "{layer}");
        }
    }
}

/// RLC: SDUs of which a PDU was sent stay in the buffer. At 400 kbit/s, a block of 20 ms has 22 PDUs, and an SDU of 1000
/// bytes has 25 PDUs of 40 payload bytes. At 30 ms, 44 PDUs were sent: SDU 0, and 19 PDUs of SDU 1. The queue counts SDU
/// 0 until it is acknowledged (`holds`), so the limit of two packets keeps no other SDU, and SDUs 2 to 9 are lost.
#[test]
fn rlc_keeps_sdus_that_are_partly_sent() {
    let mut config = with_layer(wire(400_000), "rlc");
    config.arq.values.set("tti", Value::Duration(Duration::from_millis(20)));
    config.arq.values.set("pdu", Value::Bytes(45));
    config.arq.values.set("header", Value::Bytes(5));
    config.arq.values.set("holds", Value::Word("unacknowledged"));
    config.arq.values.set("status_delay", Value::Duration(Duration::from_millis(100)));
    let fates = fates(adjustable(&config), &[(at(0), 1000); 10], &[(at(30), set_queue(&limited(2)))]);
    assert_eq!(numbers(&fates, None), [0, 1]);
    assert_eq!(numbers(&fates, Some(LossReason::QueueFull)), (2..10).collect::<Vec<u64>>());
    // SDU 1 needs 50 PDUs, that is, three blocks, and arrives 10 ms after the third block.
    assert_eq!(fates[1].1, at(70));
}

/// A change of nothing changes nothing.
#[test]
fn an_empty_change_changes_nothing() {
    let config = with_queue(with_layer(wire(2_000_000), "rlc"), "codel");
    let arrivals: Vec<(Time, u32)> = (0..60).map(|n| (at(2 * n), 1000)).collect();
    let nothing = [(at(33), Change::Settings(LinkChange::default()))];
    let changed = fates(adjustable(&config), &arrivals, &nothing);
    assert!(changed == fates(adjustable(&config), &arrivals, &[]));
}
