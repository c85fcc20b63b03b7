//! Which connections a capture has.

use super::segment::Segment;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// A connection at an interface. The smaller address comes first.
pub(crate) type Key = (u32, SocketAddr, SocketAddr);

/// More connections than this are not counted one by one.
const MOST: usize = 200_000;

/// What a connection carried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// Payload from the first address, and from the second.
    pub(crate) bytes: [u64; 2],
    pub(crate) packets: u64,
    /// The largest payload each way.
    pub(crate) largest: [u32; 2],
    /// The smallest MSS that its SYNs offer.
    pub(crate) mss: Option<u16>,
    pub(crate) has_syn: bool,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Flows {
    all: BTreeMap<Key, Flow>,
    pub(crate) left_out: u64,
}

pub(crate) fn key(interface: u32, segment: &Segment) -> (Key, usize) {
    match segment.from <= segment.to {
        true => ((interface, segment.from, segment.to), 0),
        false => ((interface, segment.to, segment.from), 1),
    }
}

impl Flows {
    pub(crate) fn take(&mut self, interface: u32, segment: &Segment) {
        let (key, side) = key(interface, segment);
        if self.all.len() >= MOST && !self.all.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let flow = self.all.entry(key).or_default();
        flow.packets += 1;
        flow.bytes[side] += u64::from(segment.payload);
        flow.largest[side] = flow.largest[side].max(segment.payload);
        if segment.syn {
            flow.has_syn = true;
            flow.mss = [flow.mss, segment.mss].into_iter().flatten().min();
        }
    }

    /// The largest first; equal ones by their addresses.
    pub(crate) fn by_size(self) -> Vec<Named> {
        let mut all: Vec<Named> = self.all.into_iter().map(|(key, flow)| Named { key, flow }).collect();
        all.sort_by_key(|named| (std::cmp::Reverse(named.bytes()), named.key));
        all
    }
}

/// A connection with its name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) key: Key,
    pub(crate) flow: Flow,
}

impl Named {
    /// Which side sends: 0 or 1.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.flow.bytes[1] > self.flow.bytes[0])
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.flow.bytes[self.sender()]
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, first, second) = self.key;
        let (from, to) = if self.sender() == 0 { (first, second) } else { (second, first) };
        write!(f, "{from} > {to}")
    }
}
