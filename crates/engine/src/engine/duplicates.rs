//! Datagrams that links have duplicated. Only the first arrival of each datagram is counted as a received datagram.

use lasthop_wire::{Body, FlowId, Packet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// State of each duplicated datagram, by the datagram's flow and number. The value has the number of the datagram's
/// packets in flight, and whether one of these packets has arrived.
#[derive(Default)]
pub(super) struct Duplicates(BTreeMap<(FlowId, u64), (u32, bool)>);

impl Duplicates {
    /// Counts a copy that is about to be sent.
    pub(super) fn add(&mut self, packet: &Packet) {
        if let Body::Datagram { number } = packet.body {
            self.0.entry((packet.flow, number)).or_insert((1, false)).0 += 1;
        }
    }

    /// Counts a packet that has arrived or was lost. Returns true if this packet is the first packet of its datagram
    /// that arrives.
    pub(super) fn count_end(&mut self, packet: &Packet, arrives: bool) -> bool {
        if self.0.is_empty() { arrives } else { self.count_end_of_copy(packet, arrives) }
    }

    #[cold]
    fn count_end_of_copy(&mut self, packet: &Packet, arrives: bool) -> bool {
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
    use super::super::sending::empty_packet;
    use super::*;

    fn datagram(number: u64) -> Packet {
        Packet { body: Body::Datagram { number }, ..empty_packet() }
    }

    #[test]
    fn the_first_of_a_datagram_to_arrive_counts_and_nothing_is_kept_then() {
        let mut duplicates = Duplicates::default();
        assert!(duplicates.count_end(&datagram(1), true), "the datagram has no copy");
        duplicates.add(&datagram(1));
        duplicates.add(&datagram(1));
        assert!(!duplicates.count_end(&datagram(1), false), "lost");
        assert!(duplicates.count_end(&datagram(2), true), "another datagram must count");
        assert!(duplicates.count_end(&datagram(1), true));
        assert!(!duplicates.count_end(&datagram(1), true), "the second arrival must not count");
        assert!(duplicates.0.is_empty());
    }
}
