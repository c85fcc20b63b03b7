//! A flow whose two ends are transport implementations of other projects ([`Stack`]).

use crate::flow::FlowSide;
use lasthop_base::Time;
use lasthop_stack::{Guarded, Observed, Stack};
use std::collections::VecDeque;

/// The two ends of a flow, its application, and the datagrams in flight. The source's application writes data; the
/// destination's application reads the data.
pub struct StackFlow {
    /// The stacks at the two ends: first the source, then the destination.
    pub(crate) ends: [Guarded; 2],
    /// Side that opens the connection.
    pub(crate) opener: FlowSide,
    pub(crate) is_open: bool,
    /// Bytes that the source's application has yet to write.
    pub(crate) unwritten: u64,
    pub(crate) is_finished: bool,
    pub(crate) delivered: [u64; 2],
    pub(crate) sent: [u64; 2],
    /// Time of the last call of an end, and the number of calls at this time.
    pub(crate) calls: (Time, u32),
    pub(crate) failure: Option<(Time, String)>,
    pub(crate) in_flight: DatagramBuffers,
}

impl StackFlow {
    /// Creates a flow between two ends, in the order source and destination. `bytes` is the amount of data that the
    /// source's application writes; `None`: unlimited.
    pub fn new(ends: [Box<dyn Stack>; 2], opener: FlowSide, bytes: Option<u64>) -> StackFlow {
        StackFlow {
            ends: ends.map(Guarded::new),
            opener,
            is_open: false,
            unwritten: bytes.unwrap_or(u64::MAX),
            is_finished: false,
            delivered: [0; 2],
            sent: [0; 2],
            calls: (Time::ZERO, 0),
            failure: None,
            in_flight: DatagramBuffers::default(),
        }
    }

    /// Payload that applications have read, bytes: first at the destination, then at the source.
    pub fn delivered(&self) -> [u64; 2] {
        self.delivered
    }

    /// Number of datagrams sent: first by the source, then by the destination.
    pub fn sent(&self) -> [u64; 2] {
        self.sent
    }

    /// Time of the failure that has ended the flow, and the reason for the failure.
    pub fn failure(&self) -> Option<(Time, &str)> {
        self.failure.as_ref().map(|(at, reason)| (*at, reason.as_str()))
    }

    /// State of the source's sender.
    pub fn observe(&self) -> Observed {
        self.ends[0].observe()
    }

    /// Number of datagrams in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.used()
    }

    /// Returns the stack at this side of the flow.
    pub fn end(&mut self, side: FlowSide) -> &mut dyn Stack {
        &mut self.ends[usize::from(side == FlowSide::Destination)]
    }
}

/// Bytes of the datagrams in flight. A packet's datagram number is the number of its slot. Slots and their buffers are
/// reused.
#[derive(Default)]
pub(crate) struct DatagramBuffers {
    /// For each slot, the bytes of a datagram, and the number of packets in flight with these bytes.
    slots: Vec<(Vec<u8>, u32)>,
    free: VecDeque<u32>,
}

impl DatagramBuffers {
    /// Reserves a slot with an empty buffer for one packet.
    pub(crate) fn reserve(&mut self) -> u64 {
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push((Vec::with_capacity(1536), 0));
            self.slots.len() as u32 - 1
        });
        let (bytes, packets) = &mut self.slots[slot as usize];
        bytes.clear();
        *packets = 1;
        u64::from(slot)
    }

    pub(crate) fn buffer(&mut self, slot: u64) -> &mut Vec<u8> {
        &mut self.slots[slot as usize].0
    }

    /// Counts a copy of a packet.
    pub(crate) fn add_copy(&mut self, slot: u64) {
        self.slots[slot as usize].1 += 1;
    }

    /// Counts a packet that has arrived or was lost.
    pub(crate) fn release(&mut self, slot: u64) {
        let packets = &mut self.slots[slot as usize].1;
        *packets = packets.saturating_sub(1);
        if *packets == 0 {
            self.free.push_back(slot as u32);
        }
    }

    fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_reused_after_its_last_packet() {
        let mut buffers = DatagramBuffers::default();
        let (one, two) = (buffers.reserve(), buffers.reserve());
        buffers.buffer(one).push(7);
        buffers.add_copy(one);
        buffers.release(one);
        assert_eq!((buffers.used(), &buffers.buffer(one)[..]), (2, &[7][..]));
        buffers.release(one);
        buffers.release(two);
        assert_eq!((buffers.used(), buffers.reserve(), buffers.buffer(one).len()), (0, one, 0));
    }
}
