//! Tests RLC with a queue that removes packets from its middle. Each block of RLC must dequeue as many packets as fit
//! into the block.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, LinkDirection, Output, admission, queue, rlc};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

fn packet(number: u64, priority: Priority) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        // A packet fills 8 PDUs of 40 bytes of payload, so no PDU is shared or partly empty.
        wire_bytes: 320,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

/// Builds a direction of 384 kbit/s, which has blocks of 22 PDUs every 20 ms.
fn link(queue: Config) -> Box<dyn Element> {
    match LinkDirection::new(&queue, Stream::named(1, "channel")) {
        LinkDirection::Element(element) => element,
        LinkDirection::Link(_) => panic!("RLC is an element"),
    }
}

fn config() -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(384_000)), Duration::from_millis(10));
    config.arq = Choice::named(rlc::ALL, "rlc");
    config
}

/// Configures a tag-drop queue of `packets` before RLC.
fn tag_drop(packets: u64) -> Config {
    let mut config = config();
    config.queue = Choice::named(queue::ALL, "tag_drop");
    config.queue.values.set("packets", Value::Count(packets));
    config.queue.values.set("bytes", Value::Bytes(0));
    config
}

type End = (u64, Time, Option<LossReason>);

/// Offers packets at time zero. Returns the packets' outcomes after one second.
fn offered(config: Config, packets: impl IntoIterator<Item = Packet>) -> Vec<End> {
    let mut link = link(config);
    let mut out = Vec::new();
    packets.into_iter().for_each(|packet| link.handle_packet(Time::ZERO, packet, &mut out));
    let end = Time::ZERO + Duration::from_secs(1);
    while link.poll_timeout() <= end {
        link.handle_timeout(link.poll_timeout(), &mut out);
    }
    assert_eq!(link.backlog(end).waiting, 0);
    let ends = out.into_iter().filter_map(|output| match output {
        Output::Arrives { packet, at } => Some((packet.number, at, None)),
        Output::Lost { packet, at, reason, .. } => Some((packet.number, at, Some(reason))),
        _ => None,
    });
    ends.collect()
}

fn normal(count: u64) -> impl Iterator<Item = Packet> {
    (0..count).map(|number| packet(number, Priority::NORMAL))
}

#[test]
fn a_queue_that_drops_nothing_changes_nothing() {
    let mut unlimited = config();
    unlimited.queue = Choice::named(admission::ALL, "drop_tail");
    unlimited.queue.values.set("packets", Value::Count(0));
    let plain = offered(unlimited, normal(60));
    assert_eq!(plain.len(), 60);
    assert_eq!(offered(tag_drop(0), normal(60)), plain);
}

#[test]
fn what_finds_no_room_in_it_is_lost_there() {
    let ends = offered(tag_drop(12), normal(20));
    let lost: Vec<u64> = ends.iter().filter(|end| end.2.is_some()).map(|end| end.0).collect();
    // RLC dequeues no packet before the first block starts. All packets are offered earlier, so only 12 packets fit
    // into the queue.
    assert_eq!(lost, (12..20).collect::<Vec<_>>());
    assert!(ends.iter().all(|end| end.2.is_none_or(|reason| reason == LossReason::QueueFull)));
}

#[test]
fn it_still_decides_when_a_packet_leaves() {
    // Packet 3 is tagged. The 13th packet finds the queue full, so packet 3 must be removed from the middle of the
    // queue.
    let packets =
        (0..13).map(|number| packet(number, if number == 3 { Priority::LOW } else { Priority::NORMAL }));
    let ends = offered(tag_drop(12), packets);
    let lost: Vec<(u64, LossReason)> =
        ends.iter().filter_map(|(number, _, reason)| Some((*number, (*reason)?))).collect();
    assert!(
        lost.contains(&(3, LossReason::TagDrop)) && lost.contains(&(12, LossReason::QueueFull)),
        "{lost:?}"
    );
    let arrived: Vec<u64> = ends.iter().filter(|end| end.2.is_none()).map(|end| end.0).collect();
    assert_eq!(arrived, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
}
