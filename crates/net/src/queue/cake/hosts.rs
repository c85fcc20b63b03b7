//! Fairness between hosts, as in sch_cake. The number of bytes that a flow may send in one round-robin turn is divided
//! by the number of bulk flows of the flow's host.
//!
//! A flow counts as bulk if it still has packets after its first turn, and until its queue is empty. `triple_isolate`
//! divides by the number of bulk flows of the source or of the destination, whichever is larger. The quotient is
//! rounded up or down at random, so that its mean is exact (dithering). A host is a node of the scenario, whereas
//! sch_cake hashes addresses to 1024 slots.

use super::super::Hosts;
use lasthop_base::Stream;
use lasthop_wire::Packet;

/// Hosts that get equal shares: sources, destinations, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sides {
    pub(super) source: bool,
    pub(super) destination: bool,
}

impl Sides {
    /// Parses the parameter `isolation`. Returns `None` for `flows`.
    pub(super) fn named(word: &str) -> Option<Sides> {
        match word {
            "dual_srchost" => Some(Sides { source: true, destination: false }),
            "dual_dsthost" => Some(Sides { source: false, destination: true }),
            "triple_isolate" => Some(Sides { source: true, destination: true }),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BulkState {
    None,
    /// The flow has not used up the bytes of its first turn.
    Sparse,
    /// The flow's queue was empty at the end of its first turn.
    Waits,
    /// The flow still had packets after its first turn, and counts as bulk.
    Bulk,
}

pub(super) struct Isolation {
    sides: Sides,
    hosts: Hosts,
    /// For each queue, the state of the queue's flow, and the source and the destination of that flow.
    queues: Vec<(BulkState, [u32; 2])>,
    /// Two numbers of bulk flows for each node: flows that the node sends, and flows that the node receives.
    busy: Vec<[u32; 2]>,
    random: Stream,
}

impl Isolation {
    pub(super) fn new(sides: Sides, hosts: Hosts, queues: usize, random: Stream) -> Isolation {
        let nodes = hosts.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        Isolation {
            sides,
            hosts,
            queues: vec![(BulkState::None, [0; 2]); queues],
            busy: vec![[0; 2]; nodes.max(1)],
            random,
        }
    }

    /// Handles a packet that is about to be enqueued. If the flow is not active, returns the number of bytes that the
    /// flow may send in its first turn; otherwise returns `quantum`.
    pub(super) fn on_packet(&mut self, queue: u32, packet: &Packet, is_active: bool, quantum: i64) -> i64 {
        let [from, to] = self.hosts.get(packet.flow.0 as usize).copied().unwrap_or_default();
        let ends = if packet.forward { [from, to] } else { [to, from] };
        let (state, known) = self.queues[queue as usize];
        let next = match state {
            _ if !is_active => BulkState::Sparse,
            BulkState::Waits => BulkState::Bulk,
            same => same,
        };
        // If flows of several hosts share a queue, the queue counts as a flow between the hosts of the last packet.
        if (state == BulkState::Bulk) != (next == BulkState::Bulk)
            || (state == BulkState::Bulk && known != ends)
        {
            self.count(state, known, false);
            self.count(next, ends, true);
        }
        self.queues[queue as usize] = (next, ends);
        if is_active { quantum } else { self.share(ends, quantum) }
    }

    pub(super) fn next_quantum(&mut self, queue: u32, has_some: bool, quantum: i64) -> i64 {
        let (state, ends) = self.queues[queue as usize];
        if state == BulkState::Sparse {
            let next = if has_some { BulkState::Bulk } else { BulkState::Waits };
            self.queues[queue as usize].0 = next;
            self.count(next, ends, true);
        }
        self.share(ends, quantum)
    }

    pub(super) fn leave(&mut self, queue: u32) {
        let (state, ends) = self.queues[queue as usize];
        self.count(state, ends, false);
        self.queues[queue as usize].0 = BulkState::None;
    }

    #[cfg(test)]
    pub(super) fn busy_of_all(&self) -> u32 {
        self.busy.iter().flatten().sum()
    }

    fn count(&mut self, state: BulkState, ends: [u32; 2], is_more: bool) {
        if state == BulkState::Bulk {
            for (side, node) in ends.into_iter().enumerate() {
                let busy = &mut self.busy[node as usize][side];
                *busy = if is_more { *busy + 1 } else { busy.saturating_sub(1) };
            }
        }
    }

    /// Returns the number of bytes that a flow may send in a turn: `quantum` divided by the number of bulk flows of the
    /// host.
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
