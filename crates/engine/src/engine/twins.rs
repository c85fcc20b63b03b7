//! Datagrams that links have duplicated: only the first arrival counts.

use lasthop_wire::{Body, FlowId, Packet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Duplicated datagrams by flow and number: packets in flight, and whether one has arrived.
#[derive(Default)]
pub(super) struct Twins(BTreeMap<(FlowId, u64), (u32, bool)>);

impl Twins {
    /// Counts a copy that is about to be sent.
    pub(super) fn add(&mut self, packet: &Packet) {
        if let Body::Datagram { number } = packet.body {
            self.0.entry((packet.flow, number)).or_insert((1, false)).0 += 1;
        }
    }

    /// Counts a packet that has arrived or was lost. Returns whether it is its datagram's first arrival.
    pub(super) fn end(&mut self, packet: &Packet, arrives: bool) -> bool {
        if self.0.is_empty() { arrives } else { self.end_of_copied(packet, arrives) }
    }

    #[cold]
    fn end_of_copied(&mut self, packet: &Packet, arrives: bool) -> bool {
        let Body::Datagram { number } = packet.body else { return arrives };
        let Entry::Occupied(mut entry) = self.0.entry((packet.flow, number)) else { return arrives };
        let (left, has_arrived) = entry.get_mut();
        let is_first = arrives && !*has_arrived;
        *has_arrived |= arrives;
        *left -= 1;
        if *left == 0 {
            entry.remove();
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::super::sending::blank;
    use super::*;

    fn datagram(number: u64) -> Packet {
        Packet { body: Body::Datagram { number }, ..blank() }
    }

    #[test]
    fn the_first_of_a_datagram_to_arrive_counts_and_nothing_is_kept_then() {
        let mut twins = Twins::default();
        assert!(twins.end(&datagram(1), true), "not copied");
        twins.add(&datagram(1));
        twins.add(&datagram(1));
        assert!(!twins.end(&datagram(1), false), "lost");
        assert!(twins.end(&datagram(2), true), "another datagram");
        assert!(twins.end(&datagram(1), true));
        assert!(!twins.end(&datagram(1), true), "the copy");
        assert!(twins.0.is_empty());
    }
}
