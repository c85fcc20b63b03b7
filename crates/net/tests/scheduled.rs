//! Tests that packets arrive or are lost at the same times on a scheduled direction and on a link, with queues that
//! both kinds of direction support.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::arq::{self, LinkLayer};
use lasthop_net::queue::{Dropped, Queue};
use lasthop_net::scheduled::ScheduledLink;
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, LinkDirection, Output, Passage, channel, queue};
use lasthop_wire::{Backlog, Body, Ecn, FlowId, LossReason, Packet, Priority};
use std::collections::VecDeque;

/// A drop-tail queue, which drops packets at arrival. The type implements [`Queue`], so that a scheduled direction can
/// use the queue.
struct Fifo {
    limit: usize,
    packets: VecDeque<Packet>,
}

impl Queue for Fifo {
    fn enqueue(&mut self, _: Time, packet: Packet, dropped: &mut Dropped) {
        if self.packets.len() >= self.limit {
            dropped.push((packet, LossReason::QueueFull));
            return;
        }
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Packet> {
        self.packets.pop_front()
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.packets.iter().map(|packet| u64::from(packet.wire_bytes)).sum();
        Backlog { waiting: self.packets.len() as u32, in_service: false, bytes }
    }
}

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

/// Returns the outcomes of packets with a tag-drop queue of `limit` packets.
fn by_tag_drop(config: &Config, limit: u64, arrivals: &[(Time, u32)]) -> Fates {
    let mut config = config.clone();
    config.queue = Choice::named(queue::ALL, "tag_drop");
    config.queue.values.set("packets", Value::Count(limit));
    let LinkDirection::Element(element) = LinkDirection::new(&config, Stream::named(7, "channel")) else {
        panic!("a direction with tag_drop must be an element");
    };
    by_scheduled(element, arrivals)
}

/// Outcome of each packet: its number, the time of arrival or loss, and the reason for a loss.
type Fates = Vec<(u64, Time, Option<LossReason>)>;

fn by_link(config: &Config, arrivals: &[(Time, u32)]) -> Fates {
    let LinkDirection::Link(mut link) = LinkDirection::new(config, Stream::named(7, "channel")) else {
        panic!("a drop-tail queue is first in, first out");
    };
    let fates = arrivals.iter().enumerate().map(|(number, (now, bytes))| {
        match link.carry(*now, &mut packet(number as u64, *bytes)) {
            Passage::Arrives { at } => (number as u64, at, None),
            Passage::Lost { at, reason, .. } => (number as u64, at, Some(reason)),
        }
    });
    fates.collect()
}

fn by_element(config: &Config, limit: usize, arrivals: &[(Time, u32)]) -> Fates {
    let queue = Fifo { limit, packets: VecDeque::new() };
    let channel = (config.channel.build)(&config.channel.values, Stream::named(7, "channel"));
    let LinkLayer::PerPacket(arq) = (config.arq.build)(&config.arq.values) else {
        panic!("this ARQ must retransmit packet by packet");
    };
    let scheduled = ScheduledLink::new(&config.service, config.delay, Box::new(queue), channel, arq);
    by_scheduled(Box::new(scheduled), arrivals)
}

fn by_scheduled(mut element: Box<dyn Element>, arrivals: &[(Time, u32)]) -> Fates {
    let mut out = Vec::new();
    for (number, (now, bytes)) in arrivals.iter().enumerate() {
        while element.poll_timeout() <= *now {
            element.handle_timeout(element.poll_timeout(), &mut out);
        }
        element.handle_packet(*now, packet(number as u64, *bytes), &mut out);
    }
    while element.poll_timeout() < Time::NEVER {
        element.handle_timeout(element.poll_timeout(), &mut out);
    }
    let mut fates: Fates = out
        .iter()
        .filter_map(|output| match output {
            Output::Arrives { packet, at } => Some((packet.number, *at, None)),
            Output::Lost { packet, at, reason, .. } => Some((packet.number, *at, Some(*reason))),
            _ => None,
        })
        .collect();
    fates.sort();
    fates
}

#[test]
fn a_scheduled_fifo_is_a_link() {
    for (mode, queue) in [("once", 5), ("per_repeat", 50), ("overtaking", 5), ("stop_and_wait", 5)] {
        let mut config = Config::wire(Service::Rate(Rate::from_bps(2_000_000)), Duration::from_millis(1));
        config.queue.values.set("packets", Value::Count(queue));
        config.channel = Choice::named(channel::ALL, "bit_error");
        config.channel.values.set("rate", Value::Number(1e-4));
        config.arq = Choice::named(arq::ALL, "repeat");
        config.arq.values.set("mode", Value::Word(mode));
        let mut random = Stream::named(3, "arrivals");
        let mut now = Time::ZERO;
        let arrivals: Vec<(Time, u32)> = (0..5000)
            .map(|_| {
                now += Duration::from_secs_f64(random.exponential(0.004));
                (now, if random.uniform() < 0.5 { 1040 } else { 40 })
            })
            .collect();
        let (link, element) = (by_link(&config, &arrivals), by_element(&config, queue as usize, &arrivals));
        assert!(link.iter().any(|fate| fate.2 == Some(LossReason::Channel)), "{mode}");
        assert_eq!(link, element, "{mode}");
    }
}

#[test]
fn without_tags_a_queue_that_drops_tags_is_drop_tail() {
    // The channel is lossless. With a lossy channel, losses would differ, because the channel of a scheduled direction
    // skips the first draw of its stream.
    let mut config = Config::wire(Service::Rate(Rate::from_bps(2_000_000)), Duration::from_millis(1));
    config.queue.values.set("packets", Value::Count(5));
    let mut random = Stream::named(3, "arrivals");
    let mut now = Time::ZERO;
    let arrivals: Vec<(Time, u32)> = (0..5000)
        .map(|_| {
            now += Duration::from_secs_f64(random.exponential(0.004));
            (now, if random.uniform() < 0.9 { 1040 } else { 40 })
        })
        .collect();
    let link = by_link(&config, &arrivals);
    assert!(link.iter().any(|fate| fate.2 == Some(LossReason::QueueFull)));
    assert_eq!(link, by_tag_drop(&config, 5, &arrivals));
}
