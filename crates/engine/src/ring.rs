//! The packets on a pipe, in order of arrival at the pipe's end. The packets are stored in a ring buffer, in which
//! entries move only if a packet overtakes another packet.

use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{Body, Packet, Segment};

/// Kind of an [`InFlight`] entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    /// A packet in flight.
    Packet,
    /// Notice that the link layer has discarded a packet.
    Discarded,
    /// Notice that the link layer has discarded a packet whose header is readable.
    DiscardedReadable,
}

/// A packet in flight, or the notice of a discard. An entry takes two cache lines. If the segment has no SACK blocks
/// and no SYN options, the endpoint reads only the first cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    /// Number of the next pipe, or [`NO_NEXT`].
    next: u32,
    pub(crate) kind: EntryKind,
    /// Whether the packet reaches its host at the end of this pipe.
    pub(crate) reaches_host: bool,
    pub(crate) packet: Packet,
}

const NO_NEXT: u32 = u32::MAX;

const _: () = {
    use std::mem::{align_of, offset_of, size_of};
    let segment = offset_of!(InFlight, packet) + offset_of!(Packet, body);
    assert!(segment + offset_of!(Segment, sack) + 2 <= 64);
    assert!(size_of::<Body>() == size_of::<Segment>().next_multiple_of(align_of::<Body>()));
};

impl InFlight {
    pub(crate) fn next(&self) -> Option<PipeId> {
        (self.next != NO_NEXT).then_some(PipeId(self.next))
    }

    pub(crate) fn is_discard_notice(&self) -> bool {
        self.kind != EntryKind::Packet
    }
}

pub(crate) struct Ring {
    /// The number of slots is 0 or a power of two. Unused slots hold stale entries.
    slots: Vec<InFlight>,
    /// Index of the first entry; [`EMPTY`] if the ring is empty.
    head: usize,
    len: usize,
    last_due: Time,
}

const MIN_SLOTS: usize = 4;

const EMPTY: usize = usize::MAX;

impl Default for Ring {
    fn default() -> Ring {
        Ring { slots: Vec::new(), head: EMPTY, len: 0, last_due: Time::ZERO }
    }
}

impl Ring {
    /// Adds an entry. Returns whether this entry is now the first of the ring.
    pub(crate) fn push(&mut self, due: Time, packet: &Packet, next: Option<PipeId>, kind: EntryKind) -> bool {
        if due < self.last_due || self.len >= self.slots.len() {
            return self.push_slow(due, packet, next, kind);
        }
        let place = self.place(self.len);
        let slot = &mut self.slots[place];
        slot.due = due;
        slot.packet = *packet;
        slot.next = next.map_or(NO_NEXT, |next| next.0);
        slot.kind = kind;
        slot.reaches_host = next.is_none() && kind == EntryKind::Packet;
        self.last_due = due;
        self.len += 1;
        if self.len > 1 {
            return false;
        }
        self.head = place;
        true
    }

    /// Adds an entry that overtakes other entries or needs more slots. This function is separate, because the same code
    /// within [`Ring::push`] would cost two to six instructions for each packet.
    #[cold]
    #[inline(never)]
    fn push_slow(&mut self, due: Time, packet: &Packet, next: Option<PipeId>, kind: EntryKind) -> bool {
        if self.len == self.slots.len() {
            self.grow(packet);
        }
        if self.len == 0 {
            self.last_due = Time::ZERO;
        }
        let before = self.last_due;
        self.last_due = self.last_due.min(due);
        let is_first = self.push(due, packet, next, kind);
        if due >= before {
            return is_first;
        }
        self.last_due = before;
        self.overtake()
    }

    pub(crate) fn first(&self) -> Option<&InFlight> {
        self.slots.get(self.head)
    }

    pub(crate) fn drop_first(&mut self) {
        if self.len > 1 {
            self.head = self.place(1);
            self.len -= 1;
        } else {
            (self.head, self.len) = (EMPTY, 0);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &InFlight> {
        (0..self.len).map(|number| &self.slots[self.place(number)])
    }

    fn place(&self, number: usize) -> usize {
        self.head.wrapping_add(number) & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self, packet: &Packet) {
        if self.len > 0 {
            self.slots.rotate_left(self.head);
            self.head = 0;
        }
        let (due, kind) = (Time::NEVER, EntryKind::Packet);
        let filler = InFlight { due, next: NO_NEXT, kind, reaches_host: true, packet: *packet };
        self.slots.resize((2 * self.slots.len()).max(MIN_SLOTS), filler);
    }

    /// Moves the last entry to its position in the order of due times, after entries with the same due time. Returns
    /// true if the entry is then the first entry of the ring. ARQ may let packets overtake each other.
    #[cold]
    fn overtake(&mut self) -> bool {
        let mut number = self.len - 1;
        let one = self.slots[self.place(number)];
        while number > 0 && self.slots[self.place(number - 1)].due > one.due {
            let (behind, before) = (self.place(number), self.place(number - 1));
            self.slots[behind] = self.slots[before];
            number -= 1;
        }
        let place = self.place(number);
        self.slots[place] = one;
        number == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::{Ecn, FlowId, Priority};

    fn packet(number: u64) -> Packet {
        Packet {
            number,
            flow: FlowId(0),
            wire_bytes: 40,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Priority::NORMAL,
            route: 0,
            hop: 0,
            enqueued_at: Time::ZERO,
            body: Body::Datagram { number },
        }
    }

    fn push(ring: &mut Ring, due: u64, number: u64) -> bool {
        ring.push(Time::from_nanos(due), &packet(number), None, EntryKind::Packet)
    }

    fn numbers(ring: &Ring) -> Vec<u64> {
        ring.iter().map(|one| one.packet.number).collect()
    }

    #[test]
    fn packets_leave_as_they_are_due_and_equals_as_they_came() {
        let mut ring = Ring::default();
        assert!(push(&mut ring, 10, 0), "the entry must be the first of the ring");
        assert!(!push(&mut ring, 20, 1));
        assert!(!push(&mut ring, 10, 2), "an entry must follow entries with the same time");
        assert!(push(&mut ring, 5, 3), "an entry with the earliest time must be the first");
        assert!(!push(&mut ring, 20, 4) && !push(&mut ring, 19, 5));
        assert_eq!(numbers(&ring), [3, 0, 2, 5, 1, 4]);
        ring.drop_first();
        assert_eq!(ring.first().map(|one| one.due), Some(Time::from_nanos(10)));
    }

    /// Compares the ring with a sorted list. During the test, the ring grows, and its head wraps around many times.
    #[test]
    fn it_turns_and_grows() {
        let (mut ring, mut list) = (Ring::default(), Vec::new());
        for number in 0..500_u64 {
            let due = 100 + 10 * number - (number * 7919) % 45;
            push(&mut ring, due, number);
            list.push((due, number));
            list.sort_by_key(|(due, _)| *due);
            if number % 3 > 0 || number > 300 {
                ring.drop_first();
                list.remove(0);
            }
            assert_eq!(numbers(&ring), list.iter().map(|(_, number)| *number).collect::<Vec<_>>());
        }
        while ring.first().is_some() {
            ring.drop_first();
        }
        ring.drop_first();
        assert!(push(&mut ring, 1, 7), "the entry must be the first, even if the previous entry was later");
        assert!(!push(&mut ring, 2, 8));
        assert_eq!(numbers(&ring), [7, 8]);
    }
}
