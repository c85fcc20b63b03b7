//! Which flow a packet belongs to, and what the receivers have acknowledged.

use super::End;
use super::measured::Measured;
use lasthop_engine::Entering;
use lasthop_wire::bytes::Ends;
use lasthop_wire::{Body, Flags};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Connections seen so far, by the addresses and ports of their ends.
#[derive(Debug)]
pub struct Connections {
    lanes: u32,
    known: HashMap<(bool, SocketAddr, SocketAddr), Connection>,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    lane: u32,
    /// The last acknowledgement that each end has sent.
    acked: [Option<u32>; 2],
}

/// More connections than this at a time are not told apart for long.
const MOST: usize = 1 << 16;

impl Connections {
    /// None so far; `lanes` of them can be told apart on the links.
    pub fn new(lanes: u32) -> Connections {
        Connections { lanes: lanes.max(1), known: HashMap::new(), count: 0 }
    }

    /// A packet begins its way: the lane it takes. What an acknowledgement adds counts as goodput at its sender.
    pub fn enter(&mut self, entering: &Entering, ends: Option<&Ends>, measured: &mut Measured) -> u32 {
        let Some(ends) = ends else { return 0 };
        let is_tcp = matches!(entering.body, Body::Tcp(_));
        let key = match entering.forward {
            true => (is_tcp, ends.source, ends.destination),
            false => (is_tcp, ends.destination, ends.source),
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let (count, lanes) = (&mut self.count, self.lanes);
        let connection = self.known.entry(key).or_insert_with(|| {
            *count = count.wrapping_add(1);
            Connection { lane: count.wrapping_sub(1) % lanes, acked: [None; 2] }
        });
        let end = if entering.forward { End::Server } else { End::Client };
        if let Body::Tcp(segment) = &entering.body
            && segment.flags.has(Flags::ACK)
        {
            let acked = &mut connection.acked[end as usize];
            let new = acked.map_or(0, |before| segment.ack.0.wrapping_sub(before));
            if new < 1 << 31 {
                measured.acknowledge(end, u64::from(new));
                *acked = Some(segment.ack.0);
            }
        }
        connection.lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::{Ecn, Priority, Segment, Seq};

    fn segment(forward: bool, ack: u32) -> Entering {
        let segment = Segment { ack: Seq(ack), flags: Flags::ACK, ..Segment::default() };
        Entering {
            wire_bytes: 40,
            forward,
            ecn: Ecn::NotEct,
            priority: Priority::Normal,
            body: Body::Tcp(segment),
        }
    }

    fn ends(from: u16, to: u16) -> Ends {
        Ends {
            source: SocketAddr::from(([10, 0, 0, 1], from)),
            destination: SocketAddr::from(([10, 0, 0, 2], to)),
        }
    }

    #[test]
    fn only_new_bytes_that_a_receiver_acknowledges_count() {
        let (mut connections, mut measured) = (Connections::new(4), Measured::default());
        // The client's ACKs, over the wrap of the sequence numbers; one repeated, one from the past.
        for ack in [u32::MAX - 99, 900, 900, 400, 1900] {
            assert_eq!(connections.enter(&segment(false, ack), Some(&ends(1, 2)), &mut measured), 0);
        }
        assert_eq!(measured.tallies[End::Client as usize].acknowledged_bytes, 2000);
        assert_eq!(measured.tallies[End::Server as usize].acknowledged_bytes, 0);
    }

    #[test]
    fn both_directions_of_a_connection_share_a_lane() {
        let (mut connections, mut measured) = (Connections::new(4), Measured::default());
        let mut lane =
            |forward, from, to| connections.enter(&segment(forward, 0), Some(&ends(from, to)), &mut measured);
        let reversed = Ends { source: ends(1, 5).destination, destination: ends(1, 5).source };
        assert_eq!(lane(true, 1, 5), 0);
        assert_eq!(lane(true, 1, 6), 1);
        assert_eq!(connections.enter(&segment(false, 0), Some(&reversed), &mut measured), 0);
    }
}
