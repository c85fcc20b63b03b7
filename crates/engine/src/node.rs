//! A node with a middlebox, between the pipes that end there and those that begin.

use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_middlebox::Middlebox;
use lasthop_net::Trouble;
use lasthop_wire::Packet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Which node: the number that its owner gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// What a node's middlebox has done. A node without one only forwards, and the engine knows nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeAccount {
    /// Packets that came.
    pub came: u64,
    /// Of these, those that went on.
    pub passed: u64,
    /// Of those, the ones with another header.
    pub changed: u64,
    /// Copies of earlier packets.
    pub repeated: u64,
    /// Packets of its own.
    pub made: u64,
    /// Packets that it received in the place of the host that they were sent to.
    pub received: u64,
    /// Packets that it took out.
    pub dropped: u64,
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) middlebox: Box<dyn Middlebox>,
    /// For each route the hop by which it leaves the node, if it passes.
    pub(crate) exits: Vec<Option<u8>>,
    pub(crate) account: NodeAccount,
    /// Transmissions of the links behind it that will fail, if the middlebox asks for them.
    pub(crate) failing: BinaryHeap<Failing>,
}

/// For each route the hop behind the one that ends in one of these pipes.
pub(crate) fn exits(routes: &[Vec<PipeId>], ending: &[PipeId]) -> Vec<Option<u8>> {
    let exit = |route: &Vec<PipeId>| {
        let before_last = &route[..route.len() - 1];
        before_last.iter().position(|pipe| ending.contains(pipe)).map(|hop| hop as u8 + 1)
    };
    routes.iter().map(exit).collect()
}

impl Node {
    /// When its middlebox, or a link behind it, has something to tell.
    pub(crate) fn deadline(&self) -> Time {
        let failure = self.failing.peek().map_or(Time::NEVER, |failing| failing.at);
        self.middlebox.poll_timeout().min(failure)
    }
}

/// A packet on a link whose transmissions fail: which of them is known to have failed next, and when.
pub(crate) struct Failing {
    pub(crate) at: Time,
    pub(crate) attempt: u32,
    pub(crate) packet: Packet,
    trouble: Trouble,
}

impl Failing {
    /// The first one; `None` if none failed.
    pub(crate) fn new(packet: Packet, trouble: Trouble) -> Option<Failing> {
        Failing { at: trouble.since, attempt: trouble.before, packet, trouble }.next()
    }

    /// The one after this.
    pub(crate) fn next(self) -> Option<Failing> {
        let at = self.trouble.at(self.attempt + 1)?;
        Some(Failing { at, attempt: self.attempt + 1, ..self })
    }

    fn rank(&self) -> (Time, u64) {
        (self.at, self.packet.number)
    }
}

/// The earliest is the greatest, for a heap.
impl Ord for Failing {
    fn cmp(&self, other: &Failing) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}

impl PartialOrd for Failing {
    fn partial_cmp(&self, other: &Failing) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Failing {
    fn eq(&self, other: &Failing) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Failing {}
