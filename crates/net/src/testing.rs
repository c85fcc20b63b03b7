//! Helper functions for the tests of several modules.

use crate::channel::{Channel, Reception, Transmission};
use crate::element::Output;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

pub(crate) const MS: Duration = Duration::from_millis(1);

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

pub(crate) fn packet(number: u64, wire_bytes: u32) -> Packet {
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

/// A decision about a packet, with the packet's number and the time.
#[derive(Debug, PartialEq)]
pub(crate) enum Fate {
    Arrives(u64, Time),
    Lost(u64, Time, LossReason),
    Noticed(u64, Time),
}

/// Takes all decisions about packets from `out`.
pub(crate) fn fates(out: &mut Vec<Output>) -> Vec<Fate> {
    let fate = |output| match output {
        Output::Arrives { packet, at } => Some(Fate::Arrives(packet.number, at)),
        Output::Lost { packet, at, reason, .. } => Some(Fate::Lost(packet.number, at, reason)),
        Output::LossNoticed { packet, at } => Some(Fate::Noticed(packet.number, at)),
        _ => None,
    };
    out.drain(..).filter_map(fate).collect()
}

/// A channel that loses the transmissions with these numbers (from 0), and records all transmissions.
pub(crate) struct Losing {
    pub(crate) lost: Vec<usize>,
    pub(crate) seen: Vec<Transmission>,
}

impl Losing {
    pub(crate) fn new(lost: &[usize]) -> Losing {
        Losing { lost: lost.to_vec(), seen: Vec::new() }
    }
}

impl Channel for Losing {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        self.seen.push(*transmission);
        if self.lost.contains(&(self.seen.len() - 1)) { Reception::Lost } else { Reception::Intact }
    }
}
