//! A queue discipline in a separate crate: if the queue is full, it drops its first packet instead of the new packet.
//! The sender thus detects the drop earlier, by up to one queueing delay (Lakshman, Neidhardt and Ott 1996).

use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_net::discipline::{Build, Discipline};
use lasthop_net::queue::{Dropped, Queue};
use lasthop_scenario::{Catalogue, Problem};
use lasthop_wire::{Backlog, LossReason, Packet};
use std::collections::VecDeque;

/// Description of the mechanism, for the catalogue.
pub const DROP_FRONT: Mechanism<Build> = Mechanism {
    info: Info {
        name: "drop_front",
        summary: "a full queue drops the packet that has waited longest",
        source: "Lakshman, Neidhardt and Ott 1996",
        parameters: &[Parameter {
            name: "packets",
            unit: Unit::Count(1, 1_000_000),
            default: Some("100"),
            doc: "queue limit, packets",
        }],
        ..Info::PLAIN
    },
    build: &|values, _| {
        Discipline::scheduled(DropFront {
            packets: values.count("packets") as usize,
            waiting: VecDeque::new(),
        })
    },
};

struct DropFront {
    packets: usize,
    waiting: VecDeque<Packet>,
}

impl Queue for DropFront {
    fn enqueue(&mut self, _: Time, packet: Packet, dropped: &mut Dropped) {
        self.waiting.push_back(packet);
        if self.waiting.len() > self.packets {
            dropped.extend(self.waiting.pop_front().map(|oldest| (oldest, LossReason::QueueFull)));
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Packet> {
        self.waiting.pop_front()
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.waiting.iter().map(|packet| u64::from(packet.wire_bytes)).sum();
        Backlog { waiting: self.waiting.len() as u32, in_service: false, bytes }
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Runs a transfer for 1 min. Returns the number of packets lost in the queue and the number of bytes delivered.
pub fn over(queue: &str) -> Result<(u64, u64), Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.link.queue.add(&DROP_FRONT);
    let mut draft = catalogue.load("rate=10Mbit/s,rtt=40ms")?;
    draft.set("link.path.down.queue", queue)?;
    let flow = &lasthop_sim::run(&draft.check()?, 1).flows[0];
    Ok((flow.account.lost.total(), flow.delivered_bytes))
}

/// Prints one line for each of two queues of 20 packets.
pub fn main() -> Result<(), Problem> {
    for queue in ["20 packets", r#"{ kind = "drop_front", packets = 20 }"#] {
        let (lost, delivered) = over(queue)?;
        println!("{queue}: {lost} packets lost, {delivered} bytes delivered");
    }
    Ok(())
}
