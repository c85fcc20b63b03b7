//! A queue for each flow behind one transmitter: what flows are told apart by, where their packets wait, and whose turn
//! it is (deficit round robin: Shreedhar and Varghese 1996; with new flows before old ones: RFC 8290 §4).
//!
//! Packets of all flows lie in one slab that grows to the most that ever waited, and never again.
//!
//! # What a flow is
//! One direction of a flow of the run; which real routers tell by addresses and ports. Its number and direction are
//! mixed with a salt (SplitMix64), the same in every repetition. So are collisions: where more flows than a few meet,
//! the salt says which ones share a queue.

use super::waiting::Front;
use lasthop_base::{Parameter, Time, Unit, random};
use lasthop_wire::{Backlog, Packet};

/// How many queues.
pub(super) const FLOWS: Parameter = Parameter {
    name: "flows",
    unit: Unit::Count(1, 65_536),
    default: Some("1024"),
    doc: "queues that flows are hashed to",
};

/// The turn of a flow.
pub(super) const QUANTUM: Parameter = Parameter {
    name: "quantum",
    unit: Unit::Bytes(1, 1_000_000),
    default: Some("1500 bytes"),
    doc: "what a flow may send in a turn: a full packet (Linux: 1514, with Ethernet's header, which links here do not have)",
};

/// Which collisions.
pub(super) const SALT: Parameter = Parameter {
    name: "salt",
    unit: Unit::Count(0, 1_000_000),
    default: Some("0"),
    doc: "another one makes other flows share a queue (Linux draws it)",
};

/// Mixed bits of the flow's number and direction.
pub(super) fn hash(packet: &Packet, salt: u64) -> u64 {
    let flow = u64::from(packet.flow.0) << 1 | u64::from(packet.forward);
    random::derive(flow, 1 + salt as u32)
}

const NONE: u32 = u32::MAX;

/// See the file.
pub(super) struct Flows {
    slots: Vec<Slot>,
    /// The first of the slots without a packet.
    free: u32,
    flows: Vec<Flow>,
    /// Whether a flow that has had nothing waiting comes before those that had.
    favours_new: bool,
    new: List,
    old: List,
    waiting: u32,
    bytes: u64,
}

struct Slot {
    came: Time,
    packet: Packet,
    next: u32,
}

#[derive(Clone)]
struct Flow {
    /// Slots.
    head: u32,
    tail: u32,
    waiting: u32,
    bytes: u64,
    /// What is left of its turn, bytes.
    deficit: i64,
    /// Whether it is in a list, and which flow follows it there.
    is_listed: bool,
    next: u32,
}

/// Flows one after the other.
struct List {
    head: u32,
    tail: u32,
    len: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE, len: 0 };

impl Flows {
    /// So many queues.
    pub(super) fn new(count: u64, favours_new: bool) -> Flows {
        let none =
            Flow { head: NONE, tail: NONE, waiting: 0, bytes: 0, deficit: 0, is_listed: false, next: NONE };
        Flows {
            slots: Vec::new(),
            free: NONE,
            flows: vec![none; count as usize],
            favours_new,
            new: EMPTY,
            old: EMPTY,
            waiting: 0,
            bytes: 0,
        }
    }

    /// How many queues there are.
    pub(super) fn count(&self) -> u64 {
        self.flows.len() as u64
    }

    /// Packets that wait, of all flows.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Packets of one flow that wait.
    pub(super) fn waiting_of(&self, flow: u32) -> u32 {
        self.flows[flow as usize].waiting
    }

    /// What waits, bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Flows that are not new.
    pub(super) fn old(&self) -> u32 {
        self.old.len
    }

    /// Whether it has packets, or had some since its last turn.
    pub(super) fn is_active(&self, flow: u32) -> bool {
        self.flows[flow as usize].is_listed
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog { waiting: self.waiting, in_service: false, bytes: self.bytes }
    }

    /// A packet joins its flow's queue. A flow that was in no list gets its first turn of `quantum`.
    pub(super) fn push(&mut self, flow: u32, now: Time, packet: Packet, quantum: i64) {
        let bytes = u64::from(packet.wire_bytes);
        let slot = Slot { came: now, packet, next: NONE };
        let at = match self.free {
            NONE => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
            free => {
                self.free = self.slots[free as usize].next;
                self.slots[free as usize] = slot;
                free
            }
        };
        let queue = &mut self.flows[flow as usize];
        match queue.tail {
            NONE => queue.head = at,
            tail => self.slots[tail as usize].next = at,
        }
        queue.tail = at;
        queue.waiting += 1;
        queue.bytes += bytes;
        self.waiting += 1;
        self.bytes += bytes;
        if !queue.is_listed {
            queue.deficit = quantum;
            if self.favours_new {
                append(&mut self.new, &mut self.flows, flow)
            } else {
                append(&mut self.old, &mut self.flows, flow)
            }
        }
    }

    /// Takes the first packet of a flow, with the time at which it came.
    pub(super) fn pop(&mut self, flow: u32) -> Option<(Time, Packet)> {
        let queue = &mut self.flows[flow as usize];
        let at = queue.head;
        let slot = self.slots.get_mut(at as usize)?;
        queue.head = slot.next;
        if queue.head == NONE {
            queue.tail = NONE;
        }
        slot.next = self.free;
        self.free = at;
        let bytes = u64::from(slot.packet.wire_bytes);
        queue.waiting -= 1;
        queue.bytes -= bytes;
        self.waiting -= 1;
        self.bytes -= bytes;
        Some((slot.came, slot.packet))
    }

    /// The flow with the most bytes waiting, the first of several. A look at every queue: for a router that is full.
    pub(super) fn fattest(&self) -> u32 {
        let mut fattest = 0;
        for (flow, queue) in self.flows.iter().enumerate() {
            if queue.bytes > self.flows[fattest].bytes {
                fattest = flow;
            }
        }
        fattest as u32
    }

    /// Places for packets, with one or without.
    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.slots.len()
    }

    /// One flow's queue alone.
    pub(super) fn front(&mut self, flow: u32) -> FlowFront<'_> {
        FlowFront { flows: self, flow }
    }

    /// The packet whose turn it is: `take` gives the next one of a flow, or none if its queue is empty (RFC 8290 §4.2).
    pub(super) fn next(
        &mut self,
        quantum: i64,
        take: impl FnMut(&mut Flows, u32) -> Option<Packet>,
    ) -> Option<Packet> {
        self.next_by(&mut |_, _| quantum, take, &mut |_| ())
    }

    /// The same with turns that differ: `turn` says how many bytes a flow may send in its next one, which has packets or
    /// not, and `leaves` is told of who has none in its turn, and no further one.
    #[inline(always)]
    pub(super) fn next_by(
        &mut self,
        turn: &mut impl FnMut(u32, bool) -> i64,
        mut take: impl FnMut(&mut Flows, u32) -> Option<Packet>,
        leaves: &mut impl FnMut(u32),
    ) -> Option<Packet> {
        loop {
            let is_new = self.new.head != NONE;
            let flow = if is_new { self.new.head } else { self.old.head };
            if flow == NONE {
                return None;
            }
            if self.flows[flow as usize].deficit <= 0 {
                let has_some = self.flows[flow as usize].waiting > 0;
                self.flows[flow as usize].deficit += turn(flow, has_some);
                self.drop_head(is_new);
                append(&mut self.old, &mut self.flows, flow);
                continue;
            }
            if let Some(packet) = take(self, flow) {
                self.flows[flow as usize].deficit -= i64::from(packet.wire_bytes);
                return Some(packet);
            }
            self.drop_head(is_new);
            // A new flow passes through the old ones once, or it could be new again at once and starve them.
            if is_new && self.old.head != NONE {
                append(&mut self.old, &mut self.flows, flow);
            } else {
                leaves(flow);
            }
        }
    }

    fn drop_head(&mut self, of_new: bool) {
        let list = if of_new { &mut self.new } else { &mut self.old };
        let head = &mut self.flows[list.head as usize];
        head.is_listed = false;
        list.head = head.next;
        list.len -= 1;
        if list.head == NONE {
            list.tail = NONE;
        }
    }
}

fn append(list: &mut List, flows: &mut [Flow], flow: u32) {
    flows[flow as usize].is_listed = true;
    flows[flow as usize].next = NONE;
    match list.tail {
        NONE => list.head = flow,
        tail => flows[tail as usize].next = flow,
    }
    list.tail = flow;
    list.len += 1;
}

/// One flow's queue.
pub(super) struct FlowFront<'a> {
    flows: &'a mut Flows,
    flow: u32,
}

impl Front for FlowFront<'_> {
    fn pop(&mut self) -> Option<(Time, Packet)> {
        self.flows.pop(self.flow)
    }

    fn bytes(&self) -> u64 {
        self.flows.flows[self.flow as usize].bytes
    }
}
