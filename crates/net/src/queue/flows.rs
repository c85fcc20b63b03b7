//! One queue per flow, served by deficit round robin (Shreedhar and Varghese 1996; new flows before old ones: RFC 8290
//! §4). The packets of all queues are stored in one vector.
//!
//! A hash (SplitMix64) of the flow's number, the packet's direction and the parameter `salt` selects the queue. The
//! salt is fixed, so that collisions are the same in every repetition. Real routers hash addresses and ports.

use super::fifo::Front;
use lasthop_base::{Parameter, Time, Unit, random};
use lasthop_wire::{Backlog, Packet};

pub(super) const FLOWS: Parameter = Parameter {
    name: "flows",
    unit: Unit::Count(1, 65_536),
    default: Some("1024"),
    doc: "number of hash queues",
};

pub(super) const QUANTUM: Parameter = Parameter {
    name: "quantum",
    unit: Unit::Bytes(1, 1_000_000),
    default: Some("1500 bytes"),
    doc: "bytes of a flow per turn: a full packet (Linux: 1514, with an Ethernet header, which is not modelled)",
};

pub(super) const SALT: Parameter = Parameter {
    name: "salt",
    unit: Unit::Count(0, 1_000_000),
    default: Some("0"),
    doc: "hash salt: decides which flows share a queue (random in Linux)",
};

pub(super) fn hash(packet: &Packet, salt: u64) -> u64 {
    let flow = u64::from(packet.flow.0) << 1 | u64::from(packet.forward);
    random::derive(flow, 1 + salt as u32)
}

const NONE: u32 = u32::MAX;

pub(super) struct Flows {
    slots: Vec<PacketSlot>,
    /// Index of the first free slot. The field `next` of this slot is the index of the second free slot.
    free: u32,
    flows: Vec<FlowQueue>,
    /// Whether a flow whose queue was empty is served before the other flows.
    favours_new: bool,
    new: FlowList,
    old: FlowList,
    waiting: u32,
    bytes: u64,
}

struct PacketSlot {
    arrived_at: Time,
    packet: Packet,
    next: u32,
}

#[derive(Clone)]
struct FlowQueue {
    head: u32,
    tail: u32,
    waiting: u32,
    bytes: u64,
    /// Bytes that the flow may still send in its current turn.
    deficit: i64,
    /// Whether the flow is in the list of new flows or in the list of old flows.
    is_listed: bool,
    /// Successor of the flow in its list.
    next: u32,
}

struct FlowList {
    head: u32,
    tail: u32,
    len: u32,
}

const EMPTY: FlowList = FlowList { head: NONE, tail: NONE, len: 0 };

impl Flows {
    pub(super) fn new(count: u64, favours_new: bool) -> Flows {
        let none = FlowQueue {
            head: NONE,
            tail: NONE,
            waiting: 0,
            bytes: 0,
            deficit: 0,
            is_listed: false,
            next: NONE,
        };
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

    pub(super) fn count(&self) -> u64 {
        self.flows.len() as u64
    }

    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    pub(super) fn waiting_of(&self, flow: u32) -> u32 {
        self.flows[flow as usize].waiting
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn bytes_of(&self, flow: u32) -> u64 {
        self.flows[flow as usize].bytes
    }

    /// Number of flows in the list of new flows and in the list of old flows.
    pub(super) fn active(&self) -> u32 {
        self.new.len + self.old.len
    }

    pub(super) fn old(&self) -> u32 {
        self.old.len
    }

    /// Whether the flow is in the list of new flows or in the list of old flows. A flow whose queue becomes empty stays
    /// in its list until its next turn.
    pub(super) fn is_active(&self, flow: u32) -> bool {
        self.flows[flow as usize].is_listed
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog { waiting: self.waiting, in_service: false, bytes: self.bytes }
    }

    /// Enqueues a packet. A flow that is in neither list (new or old flows) gets a first turn of `quantum` bytes.
    pub(super) fn push(&mut self, flow: u32, now: Time, packet: Packet, quantum: i64) {
        let bytes = u64::from(packet.wire_bytes);
        let slot = PacketSlot { arrived_at: now, packet, next: NONE };
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

    /// Removes the first packet of a flow, and returns it with its arrival time.
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
        Some((slot.arrived_at, slot.packet))
    }

    /// Packets in a flow's queue, in order.
    pub(super) fn packets(&self, flow: u32) -> impl Iterator<Item = &Packet> {
        let slot = |at: u32| self.slots.get(at as usize);
        let first = slot(self.flows[flow as usize].head);
        std::iter::successors(first, move |one| slot(one.next)).map(|slot| &slot.packet)
    }

    /// Removes the packet at a position of a flow's queue; position 0 is the first packet.
    pub(super) fn remove(&mut self, flow: u32, place: usize) -> Option<Packet> {
        if place == 0 {
            return self.pop(flow).map(|(_, packet)| packet);
        }
        let queue = &mut self.flows[flow as usize];
        let mut before = queue.head;
        for _ in 1..place {
            before = self.slots.get(before as usize)?.next;
        }
        let at = self.slots.get(before as usize)?.next;
        let (next, packet) = self.slots.get(at as usize).map(|slot| (slot.next, slot.packet))?;
        self.slots[before as usize].next = next;
        if next == NONE {
            queue.tail = before;
        }
        self.slots[at as usize].next = self.free;
        self.free = at;
        let bytes = u64::from(packet.wire_bytes);
        queue.waiting -= 1;
        queue.bytes -= bytes;
        self.waiting -= 1;
        self.bytes -= bytes;
        Some(packet)
    }

    /// Returns the flow with the most bytes in its queue; if several queues have equally many bytes, the first of these
    /// flows. Scans all queues, so call this function only if the queue limit is exceeded.
    pub(super) fn longest_queue(&self) -> u32 {
        let mut longest_queue = 0;
        for (flow, queue) in self.flows.iter().enumerate() {
            if queue.bytes > self.flows[longest_queue].bytes {
                longest_queue = flow;
            }
        }
        longest_queue as u32
    }

    #[cfg(test)]
    pub(super) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn front(&mut self, flow: u32) -> FlowFront<'_> {
        FlowFront { flows: self, flow }
    }

    /// Dequeues the next packet by deficit round robin (RFC 8290 §4.2). `dequeue` takes a packet from the queue of the
    /// given flow.
    pub(super) fn next(
        &mut self,
        quantum: i64,
        dequeue: impl FnMut(&mut Flows, u32) -> Option<Packet>,
    ) -> Option<Packet> {
        self.next_by(&mut |_, _| quantum, dequeue, &mut |_| ())
    }

    /// Dequeues like [`Flows::next`], but each flow may have turns of a different size. `quantum_of` returns the bytes
    /// of a flow's next turn; its second argument is true if the flow has packets. `on_leave` is called when a flow
    /// leaves the lists of active flows.
    #[inline(always)]
    pub(super) fn next_by(
        &mut self,
        quantum_of: &mut impl FnMut(u32, bool) -> i64,
        mut dequeue: impl FnMut(&mut Flows, u32) -> Option<Packet>,
        on_leave: &mut impl FnMut(u32),
    ) -> Option<Packet> {
        loop {
            let is_new = self.new.head != NONE;
            let flow = if is_new { self.new.head } else { self.old.head };
            if flow == NONE {
                return None;
            }
            if self.flows[flow as usize].deficit <= 0 {
                let has_some = self.flows[flow as usize].waiting > 0;
                self.flows[flow as usize].deficit += quantum_of(flow, has_some);
                self.drop_head(is_new);
                append(&mut self.old, &mut self.flows, flow);
                continue;
            }
            if let Some(packet) = dequeue(self, flow) {
                self.flows[flow as usize].deficit -= i64::from(packet.wire_bytes);
                return Some(packet);
            }
            self.drop_head(is_new);
            // A new flow whose queue is empty first moves to the list of old flows. Otherwise, flows that become empty
            // and return as new flows could starve old flows.
            if is_new && self.old.head != NONE {
                append(&mut self.old, &mut self.flows, flow);
            } else {
                on_leave(flow);
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

fn append(list: &mut FlowList, flows: &mut [FlowQueue], flow: u32) {
    flows[flow as usize].is_listed = true;
    flows[flow as usize].next = NONE;
    match list.tail {
        NONE => list.head = flow,
        tail => flows[tail as usize].next = flow,
    }
    list.tail = flow;
    list.len += 1;
}

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
