//! Tests a direction whose rate can change at run time. Without changes, packets must arrive as on a link. With
//! changes, packets must arrive as on a link with a planned rate.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::service::{RatePlan, Service};
use lasthop_net::{Config, LinkChange, LinkDirection, Output, Passage, admission, arq, channel, queue};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};
use std::sync::Arc;

fn packet(number: u64, wire_bytes: u32) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::Ect0,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

/// Outcome of each packet: its number, the time of arrival or loss, the reason for a loss, and the ECN field.
type Fates = Vec<(u64, Time, Option<LossReason>, Ecn)>;

fn by_link(config: &Config, arrivals: &[(Time, u32)]) -> Fates {
    let streams = || Stream::named(7, "channel");
    let LinkDirection::Link(mut link) = LinkDirection::in_link(config, streams(), streams()) else {
        panic!("a link")
    };
    let fates = arrivals.iter().enumerate().map(|(number, (now, bytes))| {
        let mut packet = packet(number as u64, *bytes);
        match link.carry(*now, &mut packet) {
            Passage::Arrives { at } => (number as u64, at, None, packet.ecn),
            Passage::Lost { at, reason, .. } => (number as u64, at, Some(reason), packet.ecn),
        }
    });
    fates.collect()
}

/// Returns the outcomes of packets on a direction with these changes. If a change and a packet have the same time, the
/// change applies first.
fn by_adjustable_link(config: &Config, arrivals: &[(Time, u32)], changes: &[(Time, LinkChange)]) -> Fates {
    let streams = || Stream::named(7, "channel");
    let mut line = LinkDirection::adjustable(config, streams(), streams());
    let mut out = Vec::new();
    let run = |line: &mut LinkDirection, until: Time, out: &mut Vec<Output>| {
        let LinkDirection::Element(element) = line else { panic!("an element") };
        while element.poll_timeout() <= until && element.poll_timeout() < Time::NEVER {
            element.handle_timeout(element.poll_timeout(), out);
        }
    };
    let mut changes = changes.iter().peekable();
    for (number, (now, bytes)) in arrivals.iter().enumerate() {
        while let Some((at, change)) = changes.next_if(|(at, _)| at <= now) {
            run(&mut line, *at, &mut out);
            assert_eq!(line.refusal(change), None);
            line.change(*at, change, &mut out);
        }
        run(&mut line, *now, &mut out);
        let LinkDirection::Element(element) = &mut line else { panic!("an element") };
        element.handle_packet(*now, packet(number as u64, *bytes), &mut out);
    }
    for (at, change) in changes {
        run(&mut line, *at, &mut out);
        line.change(*at, change, &mut out);
    }
    run(&mut line, Time::NEVER, &mut out);
    let fate = |output: &Output| match output {
        Output::Arrives { packet, at } => Some((packet.number, *at, None, packet.ecn)),
        Output::Lost { packet, at, reason, .. } => Some((packet.number, *at, Some(*reason), packet.ecn)),
        _ => None,
    };
    let mut fates: Fates = out.iter().filter_map(fate).collect();
    fates.sort_by_key(|fate| fate.0);
    fates
}

fn arrivals(count: usize, apart: f64) -> Vec<(Time, u32)> {
    let mut random = Stream::named(3, "arrivals");
    let mut now = Time::ZERO;
    let one = |_| {
        now += Duration::from_secs_f64(random.exponential(apart));
        (now, if random.uniform() < 0.5 { 1040 } else { 40 })
    };
    (0..count).map(one).collect()
}

fn wire(bps: u64) -> Config {
    Config::wire(Service::Rate(Rate::from_bps(bps)), Duration::from_millis(10))
}

#[test]
fn unchanged_it_is_a_link() {
    for mode in ["once", "per_repeat", "overtaking", "stop_and_wait"] {
        for queue in ["drop_tail", "red", "policer"] {
            let mut config = wire(2_000_000);
            config.queue = Choice::named(admission::ALL, queue);
            match queue {
                "drop_tail" => config.queue.values.set("packets", Value::Count(5)),
                "policer" => config.queue.values.set("rate", Value::Rate(Rate::from_bps(1_000_000))),
                _ => {}
            }
            config.channel = Choice::named(channel::ALL, "bit_error");
            config.channel.values.set("rate", Value::Number(1e-4));
            config.arq = Choice::named(arq::ALL, "repeat");
            config.arq.values.set("mode", Value::Word(mode));
            let arrivals = arrivals(5000, 0.002);
            let link = by_link(&config, &arrivals);
            let is_felt = |fate: &(u64, Time, Option<LossReason>, Ecn)| {
                fate.3 == Ecn::Ce || fate.2.is_some_and(|reason| reason != LossReason::Channel)
            };
            assert!(link.iter().any(is_felt), "{mode}, {queue}");
            assert_eq!(link, by_adjustable_link(&config, &arrivals, &[]), "{mode}, {queue}");
        }
    }
}

/// After a change, waiting packets and the rest of the packet in transmission must be sent at the new rate, as with a
/// planned rate.
#[test]
fn a_rate_that_is_set_is_a_plans() {
    let secs = |secs: f64| Time::ZERO + Duration::from_secs_f64(secs);
    let mut config = wire(2_000_000);
    config.queue.values.set("packets", Value::Count(20));
    let arrivals = arrivals(5000, 0.004);
    let rate = |bps| LinkChange { bps: Some(bps), ..LinkChange::default() };
    let changes = [(secs(3.0), rate(400_000)), (secs(7.0), rate(0)), (secs(7.5), rate(10_000_000))];
    let set = by_adjustable_link(&config, &arrivals, &changes);
    let plan = "2 Mbit/s for 3 s, 400 kbit/s for 4 s, 0 bit/s for 500 ms, 10 Mbit/s for 1000 s";
    config.service = Service::Plan(Arc::new(RatePlan::parse(plan).unwrap()));
    let planned = by_link(&config, &arrivals);
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

#[test]
fn a_delay_that_is_set_keeps_packets_in_order() {
    let config = wire(1_000_000);
    let at = |millis: u64| Time::ZERO + Duration::from_millis(millis);
    let arrivals: Vec<(Time, u32)> = (0..10).map(|n| (at(100 * n), 1000)).collect();
    let delay = |millis| LinkChange { delay: Some(Duration::from_millis(millis)), ..LinkChange::default() };
    let fates = by_adjustable_link(&config, &arrivals, &[(at(250), delay(300)), (at(550), delay(10))]);
    let times: Vec<Time> = fates.iter().map(|fate| fate.1).collect();
    // A packet takes 18 ms, transmission included. At 250 ms, this time increases to 308 ms, and at 550 ms decreases to
    // 18 ms again. After 550 ms, no packet may overtake the packet that arrives at 808 ms.
    let expected = [18, 118, 218, 608, 708, 808, 808, 808, 818, 918].map(at);
    assert_eq!(times, expected);
}

#[test]
fn losses_that_are_set_come_as_often() {
    let loss = |share| LinkChange { loss: Some(share), ..LinkChange::default() };
    let at = |secs: u64| Time::ZERO + Duration::from_secs(secs);
    let arrivals: Vec<(Time, u32)> = (0..40_000).map(|n| (at(0) + Duration::from_millis(n), 100)).collect();
    let fates =
        by_adjustable_link(&wire(100_000_000), &arrivals, &[(at(10), loss(0.2)), (at(30), loss(0.0))]);
    let lost = |from: u64, until: u64| {
        let part = fates.iter().filter(|fate| (from * 1000..until * 1000).contains(&fate.0));
        part.filter(|fate| fate.2 == Some(LossReason::Channel)).count()
    };
    assert_eq!((lost(0, 10), lost(30, 40)), (0, 0));
    // On average, 4000 of 20,000 packets are lost, with a standard deviation of 56.6 packets. The bound is four
    // standard deviations.
    assert!((3760..4240).contains(&lost(10, 30)), "{}", lost(10, 30));
}

#[test]
fn what_cannot_be_set_says_why() {
    let streams = || Stream::named(7, "channel");
    let why = |config: &Config, change: LinkChange| {
        LinkDirection::adjustable(config, streams(), streams()).refusal(&change).map(|fixed| fixed.0)
    };
    let rate = LinkChange { bps: Some(1), ..LinkChange::default() };
    let loss = LinkChange { loss: Some(0.5), ..LinkChange::default() };
    let delay = LinkChange { delay: Some(Duration::ZERO), ..LinkChange::default() };
    let mut config = wire(1_000_000);
    assert_eq!([rate, loss, delay].map(|change| why(&config, change)), [None; 3]);
    config.service = Service::Plan(Arc::new(RatePlan::parse("1 Mbit/s for 1 s").unwrap()));
    assert!(why(&config, rate).is_some_and(|why| why.contains("plan")));
    assert_eq!([loss, delay].map(|change| why(&config, change)), [None; 2]);
    config.channel = Choice::named(channel::ALL, "two_state");
    assert!(why(&config, loss).is_some_and(|why| why.contains("channel")));
    let mut codel = wire(1_000_000);
    codel.queue = Choice::named(queue::ALL, "codel");
    assert_eq!([rate, loss, delay].map(|change| why(&codel, change)), [None; 3]);
}
