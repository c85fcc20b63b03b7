//! Infers the losses of a connection from its captured packets.
//!
//! If a hole in the sequence numbers is filled much later, the missing packet was lost before the capture point. If the
//! hole is filled at once, packets were reordered. If a captured packet is retransmitted, its first transmission was
//! lost after the capture point, unless an ACK, SACK or D-SACK shows that the first transmission arrived.

use crate::losses::LossRecord;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug)]
struct SentRange {
    end: u64,
    /// Index of the last transmission of this byte range in the record of losses.
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
    /// Round-trip time at the moment when the hole appeared, s.
    rtt: Option<f64>,
}

/// Largest number of stored byte ranges that were sent but are not acknowledged.
const MAX_SENT_RANGES: usize = 1_000_000;
/// Largest number of stored retransmissions that a later D-SACK may report as unnecessary.
const MAX_RETRANSMISSIONS: usize = 4096;
/// Limit for the number of packets in all holes together: `HOLES_PER_PACKET` times the number of packets captured so
/// far, plus `MIN_HOLE_PACKETS`. A window grows by at most one packet for each acknowledged packet. A larger gap is
/// therefore a jump: sequence numbers of another stream, or an interrupted capture.
const HOLES_PER_PACKET: u64 = 8;
/// Number of packets that holes may have regardless of the number of captured packets; see `HOLES_PER_PACKET`.
const MIN_HOLE_PACKETS: u64 = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AckResult {
    pub(crate) bytes: u64,
    /// Time since the newest acknowledged packet was sent, s. `None` if that packet was sent more than once.
    pub(crate) since: Option<f64>,
}

#[derive(Debug)]
pub(crate) struct LossInference {
    segment: u64,
    sent: BTreeMap<u64, SentRange>,
    /// Start of each sent byte range that no SACK block has covered yet.
    unsacked: BTreeSet<u64>,
    holes: BTreeMap<u64, Hole>,
    next: Option<u64>,
    acked: u64,
    /// One bit for each transmission, set if the transmission was lost.
    lost: Vec<u64>,
    packets: u64,
    retransmissions: VecDeque<(u64, u64)>,
    /// Round-trip time at each loss, s.
    pub(crate) rtts_at_losses: Vec<f32>,
    pub(crate) lost_before: u64,
    pub(crate) lost_after: u64,
    pub(crate) spurious: u64,
    pub(crate) reordered: u64,
    pub(crate) uncaptured: u64,
    pub(crate) untracked: u64,
    /// Number of gaps in the sequence numbers that are too large to count as losses.
    pub(crate) jumps: u64,
    /// Number of data packets captured so far.
    packets_seen: u64,
    /// Number of packets that are missing in all holes together.
    missing: u64,
}

impl LossInference {
    pub(crate) fn new(segment: u32) -> LossInference {
        LossInference {
            segment: u64::from(segment.max(1)),
            sent: BTreeMap::new(),
            unsacked: BTreeSet::new(),
            holes: BTreeMap::new(),
            next: None,
            acked: 0,
            lost: Vec::new(),
            packets: 0,
            retransmissions: VecDeque::new(),
            rtts_at_losses: Vec::new(),
            lost_before: 0,
            lost_after: 0,
            spurious: 0,
            reordered: 0,
            uncaptured: 0,
            untracked: 0,
            jumps: 0,
            packets_seen: 0,
            missing: 0,
        }
    }

    /// Sets the start of the stream, as given by a SYN.
    pub(crate) fn begin(&mut self, at: u64) {
        self.next.get_or_insert(at);
        self.acked = self.acked.max(at);
    }

    fn set_lost(&mut self, place: u64, is_lost: bool) -> bool {
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
            self.set_lost(place, true);
        }
        place
    }

    /// Handles data from `start` to `end`, captured at time `at`, s. `rtt` is the current round-trip time, s. Returns
    /// whether some of the data is new.
    pub(crate) fn handle_data(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
        let mut is_new = false;
        let mut from = start;
        // A capture at the sender contains large segments, because segmentation offload splits segments after the
        // capture point. This loop splits the segments into packets.
        while from < end {
            let to = end.min(from + self.segment);
            is_new |= self.handle_packet(from, to, at, rtt);
            from = to;
        }
        while self.sent.len() > MAX_SENT_RANGES {
            if let Some((begun, _)) = self.sent.pop_first() {
                self.unsacked.remove(&begun);
            }
            self.untracked += 1;
        }
        is_new
    }

    fn handle_packet(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
        let next = *self.next.get_or_insert(start);
        self.packets_seen += 1;
        if end > next {
            if start > next {
                self.add_hole(next, start, at, rtt);
            }
            self.next = Some(end);
            let place = self.push(false);
            self.track(start.max(next), SentRange { end, place, at, times: 1, is_sacked: false });
            return true;
        }
        if self.fill_hole(start, end, at, rtt) {
            return true;
        }
        // An earlier packet with this data was captured, so this packet is a retransmission. The earlier packet was
        // lost after the capture point, unless an ACK or SACK has shown that the earlier packet arrived.
        let seen = self.sent.range_mut(..=start).next_back().filter(|(_, sent_range)| sent_range.end > start);
        let known = seen.map(|(begun, sent_range)| (*begun, sent_range.place, sent_range.is_sacked));
        let place = self.push(false);
        match known.filter(|(begun, ..)| *begun >= self.acked || end > self.acked) {
            None => self.spurious += 1,
            Some((_, _, true)) => self.spurious += 1,
            Some((begun, before, false)) => {
                if self.set_lost(before, true) {
                    self.lost_after += 1;
                    self.record_rtt(rtt);
                }
                if self.retransmissions.len() >= MAX_RETRANSMISSIONS {
                    self.retransmissions.pop_front();
                }
                self.retransmissions.push_back((begun, before));
                if let Some(sent_range) = self.sent.get_mut(&begun) {
                    (sent_range.place, sent_range.at, sent_range.times) = (place, at, sent_range.times + 1);
                }
            }
        }
        false
    }

    fn record_rtt(&mut self, rtt: Option<f64>) {
        if let Some(rtt) = rtt
            && self.rtts_at_losses.len() < 4_000_000
        {
            self.rtts_at_losses.push(rtt as f32);
        }
    }

    fn add_hole(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) {
        let packets = (end - start).div_ceil(self.segment);
        // The limit applies to the sum of all holes, so time and memory are proportional to the number of packets.
        if self.missing + packets > MIN_HOLE_PACKETS + HOLES_PER_PACKET * self.packets_seen {
            self.jumps += 1;
            return;
        }
        self.missing += packets;
        let mut from = start;
        while from < end {
            let to = end.min(from + self.segment);
            let place = self.push(true);
            self.lost_before += 1;
            self.holes.insert(from, Hole { end: to, place, at, rtt });
            from = to;
        }
    }

    fn fill_hole(&mut self, start: u64, end: u64, at: f64, rtt: Option<f64>) -> bool {
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
            // A retransmission fills a hole at least one round-trip time after the hole appeared. A packet that fills
            // the hole within half that time (3 ms if no round-trip time is known) was reordered, not lost.
            let soon = rtt.map_or(0.003, |rtt| 0.5 * rtt);
            if at - hole.at < soon {
                if self.set_lost(hole.place, false) {
                    self.lost_before -= 1;
                    self.reordered += 1;
                    is_late = true;
                }
            } else {
                self.record_rtt(hole.rtt);
            }
        }
        let place = if is_late { self.packets.saturating_sub(1) } else { self.push(false) };
        // This packet was probably retransmitted, so its ACK gives no round-trip time.
        self.track(start, SentRange { end, place, at, times: 2, is_sacked: false });
        true
    }

    fn track(&mut self, start: u64, sent_range: SentRange) {
        self.sent.insert(start, sent_range);
        self.unsacked.insert(start);
    }

    /// Handles an ACK with its SACK blocks, captured at time `at`, s.
    pub(crate) fn handle_ack(&mut self, ack: u64, sack: &[Option<(u64, u64)>; 4], at: f64) -> AckResult {
        let mut result = AckResult::default();
        let Some(next) = self.next else { return result };
        let mut newest: Option<f64> = None;
        let mut known = |sent_range: &SentRange, result: &mut AckResult, length: u64| {
            result.bytes += length;
            if sent_range.times == 1 && newest.is_none_or(|newest| sent_range.at > newest) {
                newest = Some(sent_range.at);
            }
        };
        for (index, block) in sack.iter().enumerate() {
            let Some((left, right)) = *block else { continue };
            if left >= right || right > next {
                continue;
            }
            // RFC 2883 §4: the first block is a D-SACK if it is below the ACK or inside the second block.
            let is_twice = index == 0
                && (right <= ack || matches!(sack[1], Some((from, to)) if from <= left && right <= to));
            if is_twice {
                while let Some(at) =
                    self.retransmissions.iter().position(|(begun, _)| (left..right).contains(begun))
                {
                    let Some((_, place)) = self.retransmissions.remove(at) else { break };
                    if self.set_lost(place, false) {
                        self.lost_after -= 1;
                        self.spurious += 1;
                    }
                }
                continue;
            }
            let covered: Vec<u64> = self.unsacked.range(left..right).copied().collect();
            for begun in covered {
                if let Some(sent_range) =
                    self.sent.get_mut(&begun).filter(|sent_range| sent_range.end <= right)
                {
                    sent_range.is_sacked = true;
                    self.unsacked.remove(&begun);
                    known(sent_range, &mut result, sent_range.end - begun);
                }
            }
        }
        if ack > self.acked && ack <= next {
            while let Some(first) = self.sent.first_entry() {
                if first.get().end > ack {
                    break;
                }
                let (begun, sent_range) = first.remove_entry();
                self.unsacked.remove(&begun);
                if !sent_range.is_sacked {
                    known(&sent_range, &mut result, sent_range.end - begun);
                }
            }
            // Data in an acknowledged hole has arrived, but the capture missed that data.
            while let Some(first) = self.holes.first_entry() {
                if first.get().end > ack {
                    break;
                }
                let (begun, hole) = first.remove_entry();
                result.bytes += hole.end - begun;
                if self.set_lost(hole.place, false) {
                    self.lost_before -= 1;
                    self.uncaptured += 1;
                }
            }
            self.acked = ack;
        }
        result.since = newest.map(|newest| at - newest);
        result
    }

    pub(crate) fn record(&self) -> LossRecord {
        (0..self.packets).map(|place| self.lost[(place / 64) as usize] >> (place % 64) & 1 == 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Option<(u64, u64)>; 4] = [None; 4];

    fn lost(inference: &LossInference) -> (u64, u64, u64) {
        (inference.packets, inference.record().lost(), inference.lost_before + inference.lost_after)
    }

    #[test]
    fn at_the_sender_what_is_sent_again_was_lost_once() {
        let mut inference = LossInference::new(100);
        inference.begin(0);
        (0..4).for_each(|n| assert!(inference.handle_data(n * 100, n * 100 + 100, n as f64 * 0.001, None)));
        // Bytes 100 to 200 are missing; all other bytes have arrived.
        let result = inference.handle_ack(100, &[Some((200, 400)), None, None, None], 0.1);
        assert_eq!((result.bytes, result.since), (300, Some(0.1 - 0.003)));
        assert!(!inference.handle_data(100, 200, 0.11, Some(0.1)));
        assert_eq!(lost(&inference), (5, 1, 1));
        // The retransmission of data that was SACKed is unnecessary.
        assert!(!inference.handle_data(200, 300, 0.12, Some(0.1)));
        assert_eq!((lost(&inference), inference.spurious), ((6, 1, 1), 1));
        // The ACK of a retransmission gives no round-trip time (Karn's algorithm).
        assert_eq!(inference.handle_ack(400, &NONE, 0.21), AckResult { bytes: 100, since: None });
    }

    /// With random sequence numbers, memory grows with the number of packets, not with the gaps between the numbers.
    #[test]
    fn numbers_that_jump_make_no_holes() {
        let mut inference = LossInference::new(100);
        inference.begin(0);
        for n in 0..1000 {
            let start = n * (1 << 27);
            inference.handle_data(start, start + 100, n as f64 * 0.001, None);
        }
        assert_eq!(lost(&inference), (1000, 0, 0));
        assert_eq!(inference.jumps, 999);
        // The packets of a gap count as missing if the gap is no larger than a plausible window.
        let start = 999 * (1 << 27) + 100;
        inference.handle_data(start + 4000 * 100, start + 4001 * 100, 1.0, None);
        assert_eq!((lost(&inference), inference.jumps), ((5001, 4000, 4000), 999));
    }

    #[test]
    fn a_d_sack_takes_a_loss_back() {
        let mut inference = LossInference::new(100);
        inference.begin(0);
        inference.handle_data(0, 100, 0.0, None);
        inference.handle_data(0, 100, 1.0, None);
        assert_eq!(lost(&inference), (2, 1, 1));
        inference.handle_ack(100, &NONE, 1.05);
        inference.handle_ack(100, &[Some((0, 100)), None, None, None], 1.1);
        assert_eq!(lost(&inference), (2, 0, 0));
    }

    #[test]
    fn behind_the_loss_a_hole_that_is_filled_late_was_one() {
        let mut inference = LossInference::new(100);
        inference.begin(0);
        inference.handle_data(0, 100, 0.0, None);
        inference.handle_data(300, 400, 0.001, Some(0.05));
        assert_eq!(lost(&inference), (4, 2, 2));
        // Bytes 200 to 300 fill their hole after 1 ms, so they were reordered. Bytes 100 to 200 fill their hole after
        // more than a round-trip time of 50 ms, so they were lost and retransmitted.
        inference.handle_data(200, 300, 0.002, Some(0.05));
        inference.handle_data(100, 200, 0.06, Some(0.05));
        assert_eq!((lost(&inference), inference.reordered), ((5, 1, 1), 1));
        // Bytes 400 to 500 are acknowledged, but the capture lacks them. These bytes count as uncaptured, not as lost.
        inference.handle_data(500, 600, 0.07, Some(0.05));
        inference.handle_ack(600, &NONE, 0.1);
        assert_eq!((lost(&inference), inference.uncaptured), ((7, 1, 1), 1));
    }
}
