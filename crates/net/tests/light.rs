//! Tests light and heavy traces against arrivals computed by hand with CellReplay's rules (its `cellular_queue.cc`).
//!
//! The base delay is 20 ms at 0 s, 40 ms at 1 s and 20 ms at 2 s. Each packet train has three delivery opportunities,
//! at 0, 3 and 6 ms. The heavy trace has an opportunity every 10 ms. A packet of 1396 bytes fills an opportunity of
//! 1400 bytes, because the device adds a header of 4 bytes.

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_net::service::{Light, LightTrace, Service, SizeDelays, Trace};
use lasthop_net::{Config, LinkDirection, Output, Passage, admission, channel, queue};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority};
use std::sync::Arc;

const TRAINS: &str = "0 20 0 3 6\n1000 40 0 3 6\n2000 20 0 3 6\n";
const FULL: u32 = 1396;

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
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

fn light(trains: &str, timer_millis: u64) -> Light {
    let trace = Arc::new(LightTrace::parse(trains).expect("a light trace"));
    Light { trace, timer_millis, sizes: None }
}

fn heavy(text: &str) -> Service {
    Service::Trace(Arc::new(Trace::parse(text).expect("a trace").of_cells()))
}

fn config(timer_millis: u64) -> Config {
    let mut config = Config::wire(heavy("10\n"), Duration::ZERO);
    config.light = Some(light(TRAINS, timer_millis));
    config
}

fn line(config: &Config) -> LinkDirection {
    LinkDirection::new(config, Stream::named(7, "channel"))
}

/// Returns the arrival time of each packet; `None` if the packet is lost.
fn sent(mut line: LinkDirection, packets: &[(Time, u32)]) -> Vec<Option<Time>> {
    let mut arrivals = vec![None; packets.len()];
    let mut out = Vec::new();
    for (number, (now, bytes)) in packets.iter().enumerate() {
        let packet = &mut packet(number as u64, *bytes);
        match &mut line {
            LinkDirection::Link(link) => match link.carry(*now, packet) {
                Passage::Arrives { at } => arrivals[number] = Some(at),
                Passage::Lost { .. } => {}
            },
            LinkDirection::Element(element) => {
                while element.poll_timeout() <= *now {
                    element.handle_timeout(element.poll_timeout(), &mut out);
                }
                element.handle_packet(*now, *packet, &mut out);
            }
        }
    }
    if let LinkDirection::Element(element) = &mut line {
        while element.poll_timeout() < Time::NEVER {
            element.handle_timeout(element.poll_timeout(), &mut out);
        }
    }
    for output in out {
        if let Output::Arrives { packet, at } = output {
            arrivals[packet.number as usize] = Some(at);
        }
    }
    arrivals
}

/// Returns the arrival times in whole ms. `packets` has the time in ms and the size in bytes of each packet.
fn millis(config: &Config, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
    let packets: Vec<(Time, u32)> =
        packets.iter().map(|(at, bytes)| (Time::ZERO + Duration::from_millis(*at), *bytes)).collect();
    let whole = |at: Time| {
        assert_eq!(at.as_nanos() % 1_000_000, 0, "{at:?}");
        at.as_nanos() / 1_000_000
    };
    sent(line(config), &packets).into_iter().map(|at| at.map(whole)).collect()
}

fn arrive(config: &Config, packets: &[(u64, u32)], expected: &[u64]) {
    let expected: Vec<Option<u64>> = expected.iter().copied().map(Some).collect();
    assert_eq!(millis(config, packets), expected, "{packets:?}");
}

/// A single packet must have the base delay of its time, interpolated between trains. The trace must repeat.
#[test]
fn base_delays_are_interpolated_and_repeat() {
    let alone = [(0, FULL), (500, FULL), (1500, FULL), (1999, FULL), (2250, 40)];
    // The base delay is 30 ms at 500 and at 1500 ms, and 20.02 ms at 1999 ms. The trace repeats after 2000 ms, so the
    // base delay at 2250 ms is that at 250 ms, which is 25 ms.
    arrive(&config(0), &alone, &[20, 530, 1530, 2019, 2275]);
}

/// Packets beyond the train's three opportunities must use the heavy trace:
/// * The first three packets use the train.
/// * The fourth packet finds no opportunity left, and waits for the latest of three times: its base delay, the train's
///   last opportunity, and the release of the third packet. The fourth packet enters the heavy queue at 26 ms, and is
///   sent at 30 ms.
/// * The fifth packet is sent at 40 ms.
/// * The sixth packet is offered at 7 ms. Its arrival time plus its base delay (7 + 20 ms) is later than the last
///   release (26 ms), so the sixth packet begins a train. The heavy queue is busy until 40 ms, so the sixth packet is
///   sent at 50 ms.
#[test]
fn beyond_the_train_packets_use_the_heavy_trace() {
    let packets = [(0, FULL), (0, FULL), (0, FULL), (0, FULL), (0, FULL), (7, FULL)];
    arrive(&config(0), &packets, &[20, 23, 26, 30, 40, 50]);
    // If the heavy queue is empty, the sixth packet bypasses that queue. The packet then arrives at 41 ms plus its base
    // delay in whole ms, 20 ms.
    let later = [packets[0], packets[1], packets[2], packets[3], packets[4], (41, FULL)];
    arrive(&config(0), &later, &[20, 23, 26, 30, 40, 61]);
}

/// A packet for which its train has no opportunity left must wait for the train's last opportunity, if this opportunity
/// is later than the base delay.
#[test]
fn the_last_opportunity_holds_if_it_is_later_than_the_base_delay() {
    let mut config = config(0);
    config.light = Some(light("0 20 0 33\n1000 20 0 33\n", 0));
    // The first two packets arrive at 20 and 20 + 33 = 53 ms. The third packet waits for the base delay (20 ms) or the
    // last opportunity (33 ms), whichever is later. Because it may not overtake the second packet, it is released at 53
    // ms. The heavy trace sends it at 60 ms.
    arrive(&config, &[(0, FULL), (0, FULL), (0, FULL)], &[20, 53, 60]);
}

/// Two packets of 696 bytes must share one delivery opportunity. At 4 ms, two opportunities are past, which carried the
/// first four packets. The third opportunity has room for the fifth packet and for one more.
#[test]
fn small_packets_share_opportunities() {
    let packets = [(0, 696), (0, 696), (0, 696), (0, 696), (0, 696), (4, 696), (5, FULL)];
    // No opportunity is left for the last packet. Its base delay (20 ms) is later than the last opportunity (6 ms), so
    // it is released at 5 + 20 ms, but not before 26 ms. The heavy trace then sends it at 30 ms.
    arrive(&config(0), &packets, &[20, 20, 23, 23, 26, 26, 30]);
}

/// A full-size packet needs a whole opportunity, so it must use the next unused opportunity.
#[test]
fn full_packets_begin_an_opportunity() {
    arrive(&config(0), &[(0, 696), (0, FULL), (0, 696)], &[20, 23, 26]);
}

/// With a timer, a packet that is offered soon after another packet must belong to the same train.
#[test]
fn a_timer_keeps_a_train_going() {
    // Without a timer, each packet begins a train, because 1 + 20 ms is later than 20 ms.
    arrive(&config(0), &[(0, FULL), (1, FULL), (2, FULL)], &[20, 21, 22]);
    // The timer is 5 ms. At 4 ms the first two opportunities are past, so the packet arrives at 20 + 6 ms. The packet
    // at 12 ms begins a train, because 12 + 20 ms is later than 26 + 5 ms.
    arrive(&config(5), &[(0, FULL), (4, FULL), (12, FULL)], &[20, 26, 32]);
    // A packet at 11 ms still belongs to the train, because 11 + 20 ms is not later than 26 + 5 ms. But the train has
    // no opportunity left for this packet. The packet is released after 20 ms: its base delay (20 ms) is later than the
    // last opportunity (6 ms). The heavy trace sends the packet at 40 ms.
    arrive(&config(5), &[(0, FULL), (4, FULL), (11, FULL)], &[20, 26, 40]);
}

/// A packet larger than a delivery opportunity uses this opportunity and a part of the next one. CellReplay defines no
/// rule for such packets; this rule is Lasthop's.
#[test]
fn large_packets_take_what_is_left() {
    // Each packet uses 1504 bytes. The first packet takes 1400 + 104 bytes of two opportunities, the second packet 1296
    // + 208 bytes, and the third packet 1192 + 312 bytes. There is no fourth opportunity, so the third packet waits for
    // the heavy trace.
    arrive(&config(0), &[(0, 1500), (0, 1500), (0, 1500)], &[23, 26, 40]);
}

/// Delays by size must be interpolated and rounded to whole ms. For sizes beyond the table, the delay must be that of
/// the largest size.
#[test]
fn sizes_delay() {
    let mut config = config(0);
    let sizes = Arc::new(SizeDelays::parse("100 -1\n200 0\n300 2.6\n").expect("delays by size"));
    config.light.as_mut().expect("trains").sizes = Some(sizes);
    // With the device's header, the packets have 300, 250, 54 and 1400 bytes. Their delays by size are 2.6 (rounded to
    // 3), 1.3 (rounded to 1), -1 and 3 ms.
    let alone = [(0, 296), (100, 246), (200, 50), (300, FULL)];
    arrive(&config, &alone, &[23, 123, 223, 329]);
    // With or without its delay by size (-1 ms), the second packet would overtake the first packet. The second packet
    // must be released together with the first packet, and enter the heavy queue.
    arrive(&config, &[(0, 296), (0, 50)], &[23, 30]);
}

/// Base delays must be added to a packet's exact time, and a train's opportunities to the exact time of its first
/// packet.
#[test]
fn fractions_of_a_millisecond_stay() {
    let at = |micros| Time::ZERO + Duration::from_micros(micros);
    let packets = [(at(400), FULL), (at(900), FULL), (at(1100), 40), (at(1150), 40)];
    // The second packet is offered within the same millisecond as the first packet, and uses the train's second
    // opportunity, 3 ms after the first. Because 1 + 20 ms is not later than 23 ms, the third packet belongs to the
    // same train. The last two packets share the third opportunity.
    let expected = [at(20_400), at(23_400), at(26_400), at(26_400)];
    assert_eq!(sent(line(&config(0)), &packets), expected.map(Some));
}

/// If the light trace has no base delay, a direction must give the same arrivals as a direction with only the heavy
/// trace, for all packet sizes, with and without a queue.
#[test]
fn heavy_only_is_the_trace_service() {
    let mut random = Stream::named(5, "packets");
    let mut now = 5_000_000;
    let rest = (0..20_000).map(|_| {
        now += random.draw() % if random.draw().is_multiple_of(50) { 60_000_000 } else { 2_000_000 };
        (Time::from_nanos(now), 40 + (random.draw() % 1461) as u32)
    });
    let packets: Vec<(Time, u32)> = std::iter::once((Time::ZERO, 40)).chain(rest).collect();
    let text = "3\n3\n4\n9\n9\n9\n15\n22\n22\n";
    let plain = Config::wire(heavy(text), Duration::from_millis(7));
    let mut lit = plain.clone();
    // The light trace has no base delay and only one opportunity.
    lit.light = Some(light("0 0 0\n1000000 0 0\n", 1_000_000_000));
    let (ours, theirs) = (sent(line(&lit), &packets), sent(line(&plain), &packets[1..]));
    assert_eq!(ours[0], Some(packets[0].0 + Duration::from_millis(7)), "the first packet begins the train");
    let differs = ours[1..].iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
    assert_eq!((differs, ours.len()), (0, packets.len()));
    // Full-size packets must use one opportunity each, as packets of 1500 bytes do with Mahimahi's 1504 bytes.
    let mahimahi = Config::wire(Service::Trace(Arc::new(Trace::parse(text).expect("a trace"))), plain.delay);
    let of = |bytes| packets.iter().map(|(at, _)| (*at, bytes)).collect::<Vec<_>>();
    assert_eq!(sent(line(&plain), &of(FULL)), sent(line(&mahimahi), &of(1500)));
}

/// Only packets that use the heavy trace may occupy the queue. With CoDel, packets must be delivered at the same times
/// as with drop-tail.
#[test]
fn the_queue_is_the_heavy_trace_s() {
    let six = [(0, FULL); 6];
    let mut config = config(0);
    config.queue = Choice::named(admission::ALL, "drop_tail");
    config.queue.values.set("packets", Value::Count(2));
    // The fourth and fifth packets wait in the queue from 26 ms on, and the sixth packet finds the queue full.
    assert_eq!(millis(&config, &six), [Some(20), Some(23), Some(26), Some(30), Some(40), None]);
    config.queue = Choice::named(queue::ALL, "codel");
    arrive(&config, &six, &[20, 23, 26, 30, 40, 50]);
}

/// The channel must also lose packets that bypass the queue.
#[test]
fn losses_are_anybody_s() {
    let mut config = config(0);
    config.channel = Choice::named(channel::ALL, "iid");
    config.channel.values.set("loss", Value::Number(1.0));
    assert_eq!(millis(&config, &[(0, FULL); 4]), [None; 4]);
}

/// The two transmissions of every packet fail. These failures must be reported only on request, whether or not the
/// packet uses an opportunity of a train, and with either kind of queue.
#[test]
fn trouble_is_told_of_on_a_train_and_behind_it() {
    for queue in ["drop_tail", "codel"] {
        let mut config = config(0);
        config.queue = match queue {
            "codel" => Choice::named(queue::ALL, "codel"),
            _ => Choice::named(admission::ALL, "drop_tail"),
        };
        config.channel = Choice::named(channel::ALL, "iid");
        config.channel.values.set("loss", Value::Number(1.0));
        config.arq = Choice::named(lasthop_net::arq::ALL, "repeat");
        config.arq.values.set("transmissions", Value::Count(2));
        for asks in [false, true] {
            let mut line = line(&config);
            if asks {
                line.report_failures();
            }
            let LinkDirection::Element(mut element) = line else {
                panic!("a direction with trains is an element")
            };
            let mut out = Vec::new();
            (0..5).for_each(|number| element.handle_packet(Time::ZERO, packet(number, FULL), &mut out));
            while element.poll_timeout() < Time::NEVER {
                element.handle_timeout(element.poll_timeout(), &mut out);
            }
            let troubled = out.iter().filter_map(|output| match output {
                Output::TransmissionFailed { packet, failures } => Some((packet.number, failures.failed)),
                _ => None,
            });
            let expected: Vec<(u64, u32)> =
                if asks { (0..5).map(|number| (number, 2)).collect() } else { Vec::new() };
            assert_eq!(troubled.collect::<Vec<_>>(), expected, "{queue}");
        }
    }
}
