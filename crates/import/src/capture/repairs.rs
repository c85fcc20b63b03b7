//! Losses of a connection, inferred from its packets.
//!
//! A hole that is filled later was lost before the capture; a hole that is filled at once is reordering. A packet that
//! is retransmitted was lost after the capture, unless an ACK, SACK or D-SACK shows that it had arrived.

use crate::losses::Record;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug)]
struct Piece {
    end: u64,
    /// Place of its last transmission in the record.
    place: u64,
    at: f64,
    times: u32,
    is_sacked: bool,
}

#[derive(Debug)]
struct Hole {
    end: u64,
    place: u64,
    at: f64,
    /// Round trip when the hole appeared, s.
    rtt: Option<f64>,
}

/// Most unacknowledged pieces, and most retransmissions that a D-SACK may report.
const MOST_PIECES: usize = 1_000_000;
const MOST_REPEATS: usize = 4096;
/// Limit of the packets in holes, per packet seen and in any case: a window grows by one packet per packet
/// acknowledged. A larger gap is a jump, caused by another stream's numbers or an interrupted capture.
const HOLES_PER_PACKET: u64 = 8;
const HOLES_ALWAYS: u64 = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) bytes: u64,
    /// Time since the newest acknowledged packet, s, if it was sent once.
    pub(crate) since: Option<f64>,
}

#[derive(Debug)]
pub(crate) struct Repairs {
    segment: u64,
    pieces: BTreeMap<u64, Piece>,
    /// Pieces not SACKed yet.
    unsacked: BTreeSet<u64>,
    holes: BTreeMap<u64, Hole>,
    next: Option<u64>,
    acked: u64,
    /// A bit for each transmission: lost.
    lost: Vec<u64>,
    packets: u64,
    repeats: VecDeque<(u64, u64)>,
    /// Round trip at each loss, s.
    pub(crate) rtts_at_losses: Vec<f32>,
    pub(crate) before: u64,
    pub(crate) behind: u64,
    pub(crate) needless: u64,
    pub(crate) reordered: u64,
    pub(crate) unseen: u64,
    pub(crate) forgotten: u64,
    /// Gaps in the sequence that are not holes.
    pub(crate) jumps: u64,
    /// Packets seen, and packets in holes.
    seen: u64,
    missing: u64,
}

impl Repairs {
    pub(crate) fn new(segment: u32) -> Repairs {
        Repairs {
            segment: u64::from(segment.max(1)),
            pieces: BTreeMap::new(),
            unsacked: BTreeSet::new(),
            holes: BTreeMap::new(),
            next: None,
            acked: 0,
            lost: Vec::new(),
            packets: 0,
            repeats: VecDeque::new(),
            rtts_at_losses: Vec::new(),
            before: 0,
            behind: 0,
            needless: 0,
            reordered: 0,
            unseen: 0,
            forgotten: 0,
            jumps: 0,
            seen: 0,
            missing: 0,
        }
    }

    /// Sets the start of the stream, after a SYN.
    pub(crate) fn begin(&mut self, at: u64) {
        self.next.get_or_insert(at);
        self.acked = self.acked.max(at);
    }

    fn mark(&mut self, place: u64, is_lost: bool) -> bool {
        let (word, bit) = ((place / 64) as usize, 1_u64 << (place % 64));
        let Some(word) = self.lost.get_mut(word) else { return false };
        let changes = (*word & bit != 0) != is_lost;
        if changes {
            *word ^= bit;
        }
        changes
    }

    fn push(&mut self, is_lost: bool) -> u64 {
        let place = self.packets;
        self.packets += 1;
        if place.is_multiple_of(64) {
            self.lost.push(0);
        }
        if is_lost {
            self.mark(place, true);
        }
        place
    }

    /// Handles data from `start` to `end` at a time, s; `rtt`: current round trip, s. Returns whether some data is new.
    pub(crate) fn data(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
        let mut is_new = false;
        let mut from = start;
        // At the sender a capture has segments before segmentation.
        while from < end {
            let to = end.min(from + self.segment);
            is_new |= self.piece(from, to, at, rtt);
            from = to;
        }
        while self.pieces.len() > MOST_PIECES {
            if let Some((begun, _)) = self.pieces.pop_first() {
                self.unsacked.remove(&begun);
            }
            self.forgotten += 1;
        }
        is_new
    }

    fn piece(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
        let next = *self.next.get_or_insert(start);
        self.seen += 1;
        if end > next {
            if start > next {
                self.hole(next, start, at, rtt);
            }
            self.next = Some(end);
            let place = self.push(false);
            self.keep(start.max(next), Piece { end, place, at, times: 1, is_sacked: false });
            return true;
        }
        if self.fill(start, end, at, rtt) {
            return true;
        }
        // Seen before: lost after the capture, unless it is known to have arrived.
        let seen = self.pieces.range_mut(..=start).next_back().filter(|(_, piece)| piece.end > start);
        let known = seen.map(|(begun, piece)| (*begun, piece.place, piece.is_sacked));
        let place = self.push(false);
        match known.filter(|(begun, ..)| *begun >= self.acked || end > self.acked) {
            None => self.needless += 1,
            Some((_, _, true)) => self.needless += 1,
            Some((begun, before, false)) => {
                if self.mark(before, true) {
                    self.behind += 1;
                    self.note(rtt);
                }
                if self.repeats.len() >= MOST_REPEATS {
                    self.repeats.pop_front();
                }
                self.repeats.push_back((begun, before));
                if let Some(piece) = self.pieces.get_mut(&begun) {
                    (piece.place, piece.at, piece.times) = (place, at, piece.times + 1);
                }
            }
        }
        false
    }

    fn note(&mut self, rtt: Option<f64>) {
        if let Some(rtt) = rtt
            && self.rtts_at_losses.len() < 4_000_000
        {
            self.rtts_at_losses.push(rtt as f32);
        }
    }

    fn hole(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) {
        let packets = (end - start).div_ceil(self.segment);
        // Limits all holes together, so that time and memory grow with the number of packets.
        if self.missing + packets > HOLES_ALWAYS + HOLES_PER_PACKET * self.seen {
            self.jumps += 1;
            return;
        }
        self.missing += packets;
        let mut from = start;
        while from < end {
            let to = end.min(from + self.segment);
            let place = self.push(true);
            self.before += 1;
            self.holes.insert(from, Hole { end: to, place, at, rtt });
            from = to;
        }
    }

    fn fill(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
        let first = self
            .holes
            .range(..=start)
            .next_back()
            .filter(|(_, hole)| hole.end > start)
            .map(|(begun, _)| *begun);
        let Some(first) = first.or_else(|| self.holes.range(start..end).next().map(|(begun, _)| *begun))
        else {
            return false;
        };
        let mut is_late = false;
        let begun: Vec<u64> = self.holes.range(first..end).map(|(begun, _)| *begun).collect();
        for begun in begun {
            let Some(hole) = self.holes.remove(&begun) else { continue };
            // A retransmission takes at least a round trip from here.
            let soon = rtt.map_or(0.003, |rtt| 0.5 * rtt);
            if at - hole.at < soon {
                if self.mark(hole.place, false) {
                    self.before -= 1;
                    self.reordered += 1;
                    is_late = true;
                }
            } else {
                self.note(hole.rtt);
            }
        }
        let place = if is_late { self.packets.saturating_sub(1) } else { self.push(false) };
        // Probably sent twice: its ACK gives no round trip.
        self.keep(start, Piece { end, place, at, times: 2, is_sacked: false });
        true
    }

    fn keep(&mut self, start: u64, piece: Piece) {
        self.pieces.insert(start, piece);
        self.unsacked.insert(start);
    }

    /// Handles an ACK with its SACK blocks at a time, s.
    pub(crate) fn ack(&mut self, ack: u64, sack: &[Option<(u64, u64)>; 4], at: f64) -> Told {
        let mut told = Told::default();
        let Some(next) = self.next else { return told };
        let mut newest: Option<f64> = None;
        let mut known = |piece: &Piece, told: &mut Told, length: u64| {
            told.bytes += length;
            if piece.times == 1 && newest.is_none_or(|newest| piece.at > newest) {
                newest = Some(piece.at);
            }
        };
        for (index, block) in sack.iter().enumerate() {
            let Some((left, right)) = *block else { continue };
            if left >= right || right > next {
                continue;
            }
            // RFC 2883 §4: the first block, below the ACK or inside the second block, is a D-SACK.
            let is_twice = index == 0
                && (right <= ack || matches!(sack[1], Some((from, to)) if from <= left && right <= to));
            if is_twice {
                while let Some(at) = self.repeats.iter().position(|(begun, _)| (left..right).contains(begun))
                {
                    let Some((_, place)) = self.repeats.remove(at) else { break };
                    if self.mark(place, false) {
                        self.behind -= 1;
                        self.needless += 1;
                    }
                }
                continue;
            }
            let covered: Vec<u64> = self.unsacked.range(left..right).copied().collect();
            for begun in covered {
                if let Some(piece) = self.pieces.get_mut(&begun).filter(|piece| piece.end <= right) {
                    piece.is_sacked = true;
                    self.unsacked.remove(&begun);
                    known(piece, &mut told, piece.end - begun);
                }
            }
        }
        if ack > self.acked && ack <= next {
            while let Some(first) = self.pieces.first_entry() {
                if first.get().end > ack {
                    break;
                }
                let (begun, piece) = first.remove_entry();
                self.unsacked.remove(&begun);
                if !piece.is_sacked {
                    known(&piece, &mut told, piece.end - begun);
                }
            }
            // Acknowledged data has arrived: the capture missed it.
            while let Some(first) = self.holes.first_entry() {
                if first.get().end > ack {
                    break;
                }
                let (begun, hole) = first.remove_entry();
                told.bytes += hole.end - begun;
                if self.mark(hole.place, false) {
                    self.before -= 1;
                    self.unseen += 1;
                }
            }
            self.acked = ack;
        }
        told.since = newest.map(|newest| at - newest);
        told
    }

    pub(crate) fn record(&self) -> Record {
        (0..self.packets).map(|place| self.lost[(place / 64) as usize] >> (place % 64) & 1 == 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Option<(u64, u64)>; 4] = [None; 4];

    fn lost(repairs: &Repairs) -> (u64, u64, u64) {
        (repairs.packets, repairs.record().lost(), repairs.before + repairs.behind)
    }

    #[test]
    fn at_the_sender_what_is_sent_again_was_lost_once() {
        let mut repairs = Repairs::new(100);
        repairs.begin(0);
        (0..4).for_each(|n| assert!(repairs.data(n * 100, n * 100 + 100, n as f64 * 0.001, None)));
        // 100..200 is missing; the rest has arrived.
        let told = repairs.ack(100, &[Some((200, 400)), None, None, None], 0.1);
        assert_eq!((told.bytes, told.since), (300, Some(0.1 - 0.003)));
        assert!(!repairs.data(100, 200, 0.11, Some(0.1)));
        assert_eq!(lost(&repairs), (5, 1, 1));
        // Retransmission of SACKed data is unnecessary.
        assert!(!repairs.data(200, 300, 0.12, Some(0.1)));
        assert_eq!((lost(&repairs), repairs.needless), ((6, 1, 1), 1));
        // The ACK of a retransmission gives no round trip (Karn).
        assert_eq!(repairs.ack(400, &NONE, 0.21), Told { bytes: 100, since: None });
    }

    /// Random sequence numbers, as in noise: memory grows with the number of packets, not with the distances.
    #[test]
    fn numbers_that_jump_make_no_holes() {
        let mut repairs = Repairs::new(100);
        repairs.begin(0);
        for n in 0..1000 {
            let start = n * (1 << 27);
            repairs.data(start, start + 100, n as f64 * 0.001, None);
        }
        assert_eq!(lost(&repairs), (1000, 0, 0));
        assert_eq!(repairs.jumps, 999);
        // A gap within a possible window is a hole.
        let start = 999 * (1 << 27) + 100;
        repairs.data(start + 4000 * 100, start + 4001 * 100, 1.0, None);
        assert_eq!((lost(&repairs), repairs.jumps), ((5001, 4000, 4000), 999));
    }

    #[test]
    fn a_d_sack_takes_a_loss_back() {
        let mut repairs = Repairs::new(100);
        repairs.begin(0);
        repairs.data(0, 100, 0.0, None);
        repairs.data(0, 100, 1.0, None);
        assert_eq!(lost(&repairs), (2, 1, 1));
        repairs.ack(100, &NONE, 1.05);
        repairs.ack(100, &[Some((0, 100)), None, None, None], 1.1);
        assert_eq!(lost(&repairs), (2, 0, 0));
    }

    #[test]
    fn behind_the_loss_a_hole_that_is_filled_late_was_one() {
        let mut repairs = Repairs::new(100);
        repairs.begin(0);
        repairs.data(0, 100, 0.0, None);
        repairs.data(300, 400, 0.001, Some(0.05));
        assert_eq!(lost(&repairs), (4, 2, 2));
        // 200..300 was reordered, 100..200 retransmitted.
        repairs.data(200, 300, 0.002, Some(0.05));
        repairs.data(100, 200, 0.06, Some(0.05));
        assert_eq!((lost(&repairs), repairs.reordered), ((5, 1, 1), 1));
        // The capture missed acknowledged data.
        repairs.data(500, 600, 0.07, Some(0.05));
        repairs.ack(600, &NONE, 0.1);
        assert_eq!((lost(&repairs), repairs.unseen), ((7, 1, 1), 1));
    }
}
