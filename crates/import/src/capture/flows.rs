//! Finds the connections of a capture. A SYN with a different initial sequence number starts a new connection between
//! the same addresses and ports.

use super::segment::CapturedSegment;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// An interface and two ends (address and port). The end with the smaller address is first.
type Ports = (u32, SocketAddr, SocketAddr);

/// Key of a connection: its ends, and the number of earlier connections between them.
pub(crate) type ConnectionKey = (Ports, u32);

/// Largest number of connections of a capture. Packets of further connections are left out.
const MAX_CONNECTIONS: usize = 200_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSummary {
    /// Payload bytes sent by each end.
    pub(crate) bytes: [u64; 2],
    pub(crate) packets: u64,
    pub(crate) largest: [u32; 2],
    /// Smallest value of the MSS option in the SYNs.
    pub(crate) mss: Option<u16>,
    pub(crate) has_syn: bool,
}

#[derive(Default)]
pub(crate) struct FlowTable {
    port_pairs: PortPairs,
    all: BTreeMap<ConnectionKey, FlowSummary>,
    pub(crate) left_out: u64,
}

/// The current connection between each pair of ends.
#[derive(Debug, Default)]
pub(crate) struct PortPairs {
    all: BTreeMap<Ports, PortPair>,
}

#[derive(Debug, Default)]
struct PortPair {
    earlier: u32,
    /// Initial sequence number of each side, if it is known.
    first: [Option<u32>; 2],
}

impl PortPairs {
    /// Returns the connection to which a segment belongs, and the side that sent the segment (0 or 1). Returns `None`
    /// if the capture has more than [`MAX_CONNECTIONS`] connections.
    pub(crate) fn of(&mut self, interface: u32, segment: &CapturedSegment) -> Option<(ConnectionKey, usize)> {
        let (ports, side) = if segment.from <= segment.to {
            ((interface, segment.from, segment.to), 0)
        } else {
            ((interface, segment.to, segment.from), 1)
        };
        if !self.all.contains_key(&ports) {
            if self.all.len() >= MAX_CONNECTIONS {
                return None;
            }
            self.all.insert(ports, PortPair::begun_by(segment, side, 0));
        }
        let now = self.all.get_mut(&ports)?;
        if now.is_over(segment, side) {
            *now = PortPair::begun_by(segment, side, now.earlier + 1);
        } else if segment.syn {
            now.first[side] = Some(segment.seq);
        }
        Some(((ports, now.earlier), side))
    }
}

impl PortPair {
    fn begun_by(segment: &CapturedSegment, side: usize, earlier: u32) -> PortPair {
        let mut first = [None; 2];
        if segment.syn {
            first[side] = Some(segment.seq);
            first[1 - side] = segment.ack.map(|ack| ack.wrapping_sub(1));
        }
        PortPair { earlier, first }
    }

    /// Returns whether a segment starts the next connection between the same ends. A SYN starts the next connection,
    /// unless the SYN is a retransmission of this connection's SYN (RFC 9293 §3.10.7.4) or the SYN-ACK for this
    /// connection's SYN.
    fn is_over(&self, segment: &CapturedSegment, side: usize) -> bool {
        if !segment.syn || self.first[side] == Some(segment.seq) {
            return false;
        }
        let answers = segment.ack.map(|ack| ack.wrapping_sub(1));
        match (self.first[side], self.first[1 - side]) {
            // So far only the opposite side has sent a SYN. A SYN-ACK for the sequence number of that SYN belongs to
            // this connection. A SYN without ACK also belongs to this connection: both sides opened at the same time
            // (RFC 9293 §3.5).
            (None, Some(other)) => answers.is_some_and(|answered| answered != other),
            // A stateless listener may answer a repeated SYN with a different sequence number (RFC 4987 §3.6).
            (Some(_), Some(other)) => answers != Some(other),
            _ => true,
        }
    }
}

impl FlowTable {
    pub(crate) fn add_segment(&mut self, interface: u32, segment: &CapturedSegment) {
        let Some((key, side)) = self.port_pairs.of(interface, segment) else {
            self.left_out += 1;
            return;
        };
        if self.all.len() >= MAX_CONNECTIONS && !self.all.contains_key(&key) {
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

    /// Returns the connections ordered by size, the largest first. Connections of equal size are ordered by address.
    pub(crate) fn by_size(self) -> Vec<CapturedFlow> {
        let mut all: Vec<CapturedFlow> =
            self.all.into_iter().map(|(key, flow)| CapturedFlow { key, flow }).collect();
        all.sort_by_key(|captured| (std::cmp::Reverse(captured.bytes()), captured.key));
        all
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CapturedFlow {
    pub(crate) key: ConnectionKey,
    pub(crate) flow: FlowSummary,
}

impl CapturedFlow {
    /// Returns the side that sends more data, 0 or 1.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.flow.bytes[1] > self.flow.bytes[0])
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.flow.bytes[self.sender()]
    }
}

impl fmt::Display for CapturedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((_, first, second), earlier) = self.key;
        let (from, to) = if self.sender() == 0 { (first, second) } else { (second, first) };
        write!(f, "{from} > {to}")?;
        // The first connection between two ends is shown without a number.
        if earlier > 0 { write!(f, " #{}", earlier + 1) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(forward: bool, syn: bool, seq: u32, ack: Option<u32>) -> CapturedSegment {
        let [near, far] = [([10, 0, 0, 1], 1), ([10, 0, 0, 2], 2)].map(SocketAddr::from);
        let (from, to) = if forward { (near, far) } else { (far, near) };
        CapturedSegment {
            from,
            to,
            seq,
            ack,
            syn,
            payload: 0,
            length: 40,
            stamps: None,
            sack: [None; 4],
            mss: None,
        }
    }

    fn numbers(segments: &[CapturedSegment]) -> Vec<u32> {
        let mut port_pairs = PortPairs::default();
        segments.iter().map(|one| port_pairs.of(0, one).unwrap().0.1).collect()
    }

    #[test]
    fn a_syn_with_another_number_begins_a_new_connection() {
        let (syn, syn_ack) = (segment(true, true, 100, None), segment(false, true, 900, Some(101)));
        let ack = segment(true, false, 101, Some(901));
        let again = [segment(true, true, 5000, None), segment(false, true, 7000, Some(5001))];
        let [next, next_answer] = again;
        // Retransmitted SYNs belong to the same connection as the original SYNs.
        let all =
            [&syn, &syn, &syn_ack, &syn_ack, &ack, &next, &next_answer, &next].map(CapturedSegment::clone);
        assert_eq!(numbers(&all), [0, 0, 0, 0, 0, 1, 1, 1]);
        // The capture begins within a connection, so the SYN starts the second connection.
        assert_eq!(numbers(&[ack.clone(), syn.clone(), syn_ack.clone()]), [0, 1, 1]);
        // The capture has only one side. Each of two SYN-ACKs with different sequence numbers starts a connection.
        assert_eq!(numbers(&[syn_ack.clone(), next_answer.clone()]), [0, 1]);
        // Each of the two captures has one connection. In the first capture, both sides open at the same time. In the
        // second capture, the SYN-ACK precedes the SYN.
        assert_eq!(numbers(&[syn.clone(), segment(false, true, 900, None)]), [0, 0]);
        assert_eq!(numbers(&[syn_ack, syn]), [0, 0]);
    }
}
