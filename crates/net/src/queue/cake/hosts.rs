//! Fairness between hosts, as sch_cake has it: the turn of a flow is divided by how many flows its host keeps busy, so that
//! a host with many gets no more than a host with one.
//!
//! A flow counts for its hosts from its first full turn with more to send (a bulk flow) until its queue is found empty. Of
//! both hosts the busier one divides in `triple_isolate`. What is left of a division is given at random (dithering).
//!
//! A host is a node of the scenario. sch_cake hashes addresses to 1024 places; here no two hosts share one.

use super::super::Hosts;
use lasthop_base::Stream;
use lasthop_wire::Packet;

/// Which hosts get the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sides {
    pub(super) source: bool,
    pub(super) destination: bool,
}

impl Sides {
    /// None of `flows`.
    pub(super) fn named(word: &str) -> Option<Sides> {
        match word {
            "dual_srchost" => Some(Sides { source: true, destination: false }),
            "dual_dsthost" => Some(Sides { source: false, destination: true }),
            "triple_isolate" => Some(Sides { source: true, destination: true }),
            _ => None,
        }
    }
}

/// What a queue's flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    /// It has nothing to send.
    None,
    /// New: it has had no full turn yet.
    Sparse,
    /// It had sent all when its first turn was over.
    Waits,
    /// It has more to send than a turn, and counts.
    Bulk,
}

/// How busy hosts are.
pub(super) struct Isolation {
    sides: Sides,
    hosts: Hosts,
    /// Of each queue: what it is, and its source and destination.
    queues: Vec<(Set, [u32; 2])>,
    /// Of each node: its bulk flows as a source, and as a destination.
    busy: Vec<[u32; 2]>,
    random: Stream,
}

impl Isolation {
    pub(super) fn new(sides: Sides, hosts: Hosts, queues: usize, random: Stream) -> Isolation {
        let nodes = hosts.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        Isolation {
            sides,
            hosts,
            queues: vec![(Set::None, [0; 2]); queues],
            busy: vec![[0; 2]; nodes.max(1)],
            random,
        }
    }

    /// A packet is about to join a queue. The turn of a flow that had nothing to send.
    pub(super) fn join(&mut self, queue: u32, packet: &Packet, is_active: bool, quantum: i64) -> i64 {
        let [from, to] = self.hosts.get(packet.flow.0 as usize).copied().unwrap_or_default();
        let ends = if packet.forward { [from, to] } else { [to, from] };
        let (set, known) = self.queues[queue as usize];
        let next = match set {
            _ if !is_active => Set::Sparse,
            Set::Waits => Set::Bulk,
            same => same,
        };
        // Flows of several hosts may have to share a queue: it is the last one's.
        if (set == Set::Bulk) != (next == Set::Bulk) || (set == Set::Bulk && known != ends) {
            self.count(set, known, false);
            self.count(next, ends, true);
        }
        self.queues[queue as usize] = (next, ends);
        if is_active { quantum } else { self.share(ends, quantum) }
    }

    /// A flow's turn begins.
    pub(super) fn turn(&mut self, queue: u32, has_some: bool, quantum: i64) -> i64 {
        let (set, ends) = self.queues[queue as usize];
        if set == Set::Sparse {
            let next = if has_some { Set::Bulk } else { Set::Waits };
            self.queues[queue as usize].0 = next;
            self.count(next, ends, true);
        }
        self.share(ends, quantum)
    }

    /// A flow has nothing to send.
    pub(super) fn leave(&mut self, queue: u32) {
        let (set, ends) = self.queues[queue as usize];
        self.count(set, ends, false);
        self.queues[queue as usize].0 = Set::None;
    }

    /// Bulk flows of all nodes.
    #[cfg(test)]
    pub(super) fn busy_of_all(&self) -> u32 {
        self.busy.iter().flatten().sum()
    }

    fn count(&mut self, set: Set, ends: [u32; 2], is_more: bool) {
        if set == Set::Bulk {
            for (side, node) in ends.into_iter().enumerate() {
                let busy = &mut self.busy[node as usize][side];
                *busy = if is_more { *busy + 1 } else { busy.saturating_sub(1) };
            }
        }
    }

    /// A flow's part of a turn.
    fn share(&mut self, [from, to]: [u32; 2], quantum: i64) -> i64 {
        let of =
            |counts: bool, node: u32, side: usize| if counts { self.busy[node as usize][side] } else { 0 };
        let load = of(self.sides.source, from, 0).max(of(self.sides.destination, to, 1)).max(1);
        match i64::from(load) {
            1 => quantum,
            load => quantum / load + i64::from((self.random.draw() % load as u64) < (quantum % load) as u64),
        }
    }
}
