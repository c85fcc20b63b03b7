//! Tests variable delays, from jitter and plans, on every kind of direction.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::service::{RatePlan, Service};
use lasthop_net::steps::Steps;
use lasthop_net::{Config, LinkDirection, Output, Passage, arq, jitter, queue, rlc};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority};
use std::sync::Arc;

fn packet(number: u64) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes: 1000,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Configures a link of 8 Mbit/s with a delay of 20 ms, on which a single packet takes 21 ms.
fn config() -> Config {
    Config::wire(Service::Rate(Rate::from_bps(8_000_000)), Duration::from_millis(20))
}

fn with_jitter(reorders: bool) -> Config {
    let mut config = config();
    config.jitter = Choice::named(jitter::ALL, "random");
    config.jitter.values.set("reorders", Value::Flag(reorders));
    config
}

/// Sends `count` packets, one every `apart` ms. Returns each packet's delay in ms, and whether any packet overtook
/// another packet.
fn travel(mut line: LinkDirection, count: u64, apart: u64) -> (Vec<f64>, bool) {
    let mut arrivals: Vec<(u64, Time)> = Vec::new();
    let mut out = Vec::new();
    for number in 0..count {
        let now = at(apart * number);
        match &mut line {
            LinkDirection::Link(link) => match link.carry(now, &mut packet(number)) {
                Passage::Arrives { at } => arrivals.push((number, at)),
                Passage::Lost { .. } => panic!("no packet is lost on this link"),
            },
            LinkDirection::Element(element) => {
                while element.poll_timeout() <= now {
                    element.handle_timeout(element.poll_timeout(), &mut out);
                }
                element.handle_packet(now, packet(number), &mut out);
            }
        }
    }
    if let LinkDirection::Element(element) = &mut line {
        while element.poll_timeout() < at(apart * count + 10_000) {
            element.handle_timeout(element.poll_timeout(), &mut out);
        }
    }
    arrivals.extend(out.iter().filter_map(|output| match output {
        Output::Arrives { packet, at } => Some((packet.number, *at)),
        _ => None,
    }));
    arrivals.sort_by_key(|(number, _)| *number);
    assert_eq!(arrivals.len() as u64, count);
    let overtakes = arrivals.windows(2).any(|pair| pair[1].1 < pair[0].1);
    (arrivals.iter().map(|(number, due)| due.since(at(apart * number)).as_millis()).collect(), overtakes)
}

fn line(config: &Config) -> LinkDirection {
    LinkDirection::new(config, Stream::named(7, "channel"))
}

/// The jitter is uniform on 0 to 10 ms. Packets that are far apart must have the distribution's mean, 5 ms. With
/// reordering, packets 2 ms apart must overtake each other. Without reordering, the mean delay of packets 2 ms apart
/// must exceed the distribution's mean.
#[test]
fn jitter_with_and_without_reordering() {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for reorders in [false, true] {
        let (far, overtakes) = travel(line(&with_jitter(reorders)), 20_000, 20);
        assert!(!overtakes);
        assert!(far.iter().all(|took| (21.0..=31.0).contains(took)));
        assert!((mean(&far) - 26.0).abs() < 5.0 * 2.887 / 20_000f64.sqrt(), "{}", mean(&far));
        let (near, overtakes) = travel(line(&with_jitter(reorders)), 20_000, 2);
        assert_eq!(overtakes, reorders);
        assert_eq!(mean(&near) > 27.0, !reorders, "{}", mean(&near));
    }
}

/// A direction that is an element must give each packet the same variable delay as a link does.
#[test]
fn every_kind_of_direction_varies_alike() {
    for reorders in [false, true] {
        let mut config = with_jitter(reorders);
        config.delay_plan = Some(Steps::parse("0 ms for 50 ms, 10..30 ms for 100 ms").expect("a plan"));
        let link = travel(line(&config), 2000, 2);
        config.queue = Choice::named(queue::ALL, "tag_drop");
        assert_eq!(travel(line(&config), 2000, 2), link);
        // RLC decodes a block at its end, so delays over RLC differ. Only the order of packets can be compared.
        config.queue = Choice::named(lasthop_net::admission::ALL, "drop_tail");
        config.arq = Choice::named(rlc::ALL, "rlc");
        let (_, overtakes) = travel(line(&config), 2000, 2);
        assert_eq!(overtakes, reorders);
        config.arq = Choice::of(&arq::DEFAULT);
    }
}

/// The handover has 100 ms at rate 0. After the handover, the delay is 30 ms larger.
#[test]
fn a_handover_is_three_plans() {
    let mut config = config();
    let plan = RatePlan::parse("8 Mbit/s for 1 s, 0 bit/s for 100 ms, 8 Mbit/s for 10 s").expect("a plan");
    config.service = Service::Plan(Arc::new(plan));
    config.delay_plan = Some(Steps::parse("0 ms for 1.1 s, 30 ms for 10 s").expect("a plan"));
    let (took, overtakes) = travel(line(&config), 120, 10);
    assert!(!overtakes);
    assert_eq!((took[99], took[119]), (21.0, 51.0));
    // Packet 100, the first packet in the gap, waits for the whole gap of 100 ms. Its transmission takes 1 ms, and its
    // propagation 50 ms.
    assert_eq!((took[100], took[101]), (151.0, 142.0));
}

/// The delay must be drawn anew every 15 s, must be the same in both directions, and must depend on the seed.
#[test]
fn both_directions_draw_alike() {
    let mut config = config();
    config.delay_plan = Some(Steps::parse("0..25 ms for 15 s").expect("a plan"));
    let of = |side: &str, seed: u64| {
        let plans = Stream::named(seed, "link.plans");
        travel(LinkDirection::in_link(&config, Stream::named(seed, side), plans), 400, 100).0
    };
    let (down, up) = (of("down", 1), of("up", 1));
    assert_eq!(down, up);
    assert_ne!(down, of("down", 2));
    let mut slots: Vec<f64> = down.chunks(150).map(|slot| slot[10]).collect();
    assert!(down.chunks(150).all(|slot| slot[1..].iter().all(|took| *took == slot[10])));
    slots.dedup();
    assert_eq!(slots.len(), 3);
    assert!(line(&config).draws() && !line(&self::config()).draws());
}
