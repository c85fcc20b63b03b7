//! Rules of a snoop agent for the data of one direction of one flow.
//!
//! If the papers leave a rule open, this module follows ns-2's `snoop.cc` without its defects. Duplicate ACKs are
//! counted per flow, the round trip is smoothed as in RFC 6298, and the count of expected duplicate ACKs never falls
//! below zero.
//!
//! Three rules are ours. The timeout exceeds the smoothed round trip by at least a margin. An ACK gives no round-trip
//! sample if one of the acknowledged bytes has waited for the recovery of a loss. A spurious retransmission causes a
//! duplicate ACK, which does not trigger another retransmission.

use super::cache::{Cache, CachedPacket, Slot};
use super::selective::{self, Selective};
use crate::Decision;
use crate::acks::reports_duplicate;
use crate::sequence::{distance, end_of, is_before};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Flags, LossReason, Packet, Segment, Seq};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SnoopRules {
    pub(super) cache: usize,
    pub(super) max_repeats: u32,
    pub(super) threshold: u32,
    pub(super) chases: bool,
    pub(super) answers: bool,
    pub(super) drops_old: bool,
    /// Rules for SACK blocks; `None` if the agent ignores SACK blocks.
    pub(super) selective: Option<Selective>,
}

/// Largest number of retransmissions of a packet that duplicate ACKs trigger. After this number, the agent forwards
/// duplicate ACKs to the sender.
const MAX_BY_DUPLICATES: u32 = 2;
/// Initial values of the smoothed round trip and of its variation, before the first sample (ns-2's values).
const START: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(250));

#[derive(Debug)]
pub(super) struct SnoopFlow {
    cache: Cache,
    /// Last new ACK, as received. While `last` is `None`, the agent forwards all packets.
    last: Option<Packet>,
    /// End of the highest data seen.
    highest: Option<Seq>,
    /// Window and ECE flag of the last ACK that was forwarded.
    advertised: (u16, bool),
    duplicates: u32,
    /// Number of duplicate ACKs still expected for a locally recovered loss.
    expected_duplicates: u32,
    /// Number of duplicate ACKs still expected because of spurious retransmissions of data that is now acknowledged.
    spurious_duplicates: u32,
    rtt: Option<(Duration, Duration)>,
    limits: Limits,
    timer: Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) floor: Duration,
    /// Smallest excess of the timeout over the smoothed round trip. The timeout needs this margin because a constant
    /// round trip has no variation.
    pub(super) margin: Duration,
}

impl SnoopFlow {
    pub(super) fn new(limits: Limits) -> SnoopFlow {
        SnoopFlow {
            cache: Cache::default(),
            last: None,
            highest: None,
            advertised: (0, false),
            duplicates: 0,
            expected_duplicates: 0,
            spurious_duplicates: 0,
            rtt: None,
            limits,
            timer: Time::NEVER,
        }
    }

    /// Resets all state except the round-trip estimate.
    pub(super) fn reset(&mut self) {
        self.cache.clear();
        *self = SnoopFlow {
            cache: std::mem::take(&mut self.cache),
            rtt: self.rtt,
            ..SnoopFlow::new(self.limits)
        };
    }

    pub(super) fn cached_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    pub(super) fn deadline(&self) -> Time {
        self.timer
    }

    fn last_ack(&self) -> Option<Seq> {
        self.last.as_ref().and_then(Packet::segment).map(|segment| segment.ack)
    }

    /// Handles a data packet. Returns whether to forward the packet.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        rules: &SnoopRules,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Decision>,
    ) -> bool {
        if segment.flags.has(Flags::SYN) {
            self.reset();
            return true;
        }
        let Some(last) = self.last_ack() else { return true };
        if segment.sequence_space() == 0 {
            return true;
        }
        let end = end_of(segment);
        if !is_before(last, end) {
            // The mobile has acknowledged this data, but the sender retransmits it. The mobile's ACK was probably lost
            // on its way to the sender.
            if let (true, Some(ack)) = (rules.answers, self.last) {
                out.extend([
                    Decision::Retransmit(ack),
                    Decision::Drop(*packet, LossReason::MiddleboxRemoved),
                ]);
                return false;
            }
            return true;
        }
        match self.cache.slot(segment.seq) {
            Slot::Taken(index) => {
                let cached = self.cache.at_mut(index);
                *cached = CachedPacket {
                    packet: *packet,
                    end,
                    sent_at: now,
                    retransmissions: 0,
                    is_sender_retransmission: true,
                    ..*cached
                };
                self.restart_timer(now, rules);
            }
            Slot::Free(index) if self.cache.len() < rules.cache => {
                let is_new = self.highest.is_none_or(|highest| !is_before(segment.seq, highest));
                // The sender retransmits data below the highest byte, because this data was lost before the station. A
                // SACK sender may fill several such holes.
                self.cache.insert(index, now, *packet, !is_new);
                if index == 0 {
                    self.restart_timer(now, rules);
                }
            }
            Slot::Free(_) => {}
        }
        if self.highest.is_none_or(|highest| is_before(highest, end)) {
            self.highest = Some(end);
        }
        true
    }

    /// Handles a drop in the next link's queue. The loss is congestion, so the agent does not recover the packet.
    pub(super) fn on_queue_drop(&mut self, now: Time, rules: &SnoopRules, seq: Seq) {
        let was_first = self.cache.first().is_some_and(|first| first.seq == seq);
        self.cache.remove(seq);
        if was_first {
            self.restart_timer(now, rules);
        }
    }

    /// Handles an ACK of the mobile. Returns whether to forward the ACK.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        rules: &SnoopRules,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Decision>,
    ) -> bool {
        let step = self.last_ack().map_or(1, |last| distance(last, segment.ack));
        let is_forwarded = match step {
            1.. => {
                self.advance(now, rules, segment.ack, out);
                self.last = Some(*packet);
                self.restart_timer(now, rules);
                if let Some(selective) = rules.selective.filter(|_| !segment.sack.is_empty()) {
                    // The ACK's SACK blocks may show further holes, which the agent retransmits. The ACK is forwarded,
                    // because the sender needs the ACK's acknowledgement number.
                    self.retransmit_holes(now, rules, selective, segment, out);
                }
                true
            }
            0 if self.is_duplicate(segment) => match rules.selective.filter(|_| !segment.sack.is_empty()) {
                Some(selective) => self.retransmit_holes(now, rules, selective, segment, out),
                None => self.on_duplicate(now, rules, segment.ack, out),
            },
            0 => true,
            _ => !(rules.drops_old && segment.is_pure_ack()),
        };
        if is_forwarded {
            self.advertised = (segment.window, segment.flags.has(Flags::ECE))
        } else {
            out.push(Decision::Drop(*packet, LossReason::MiddleboxRemoved))
        }
        is_forwarded
    }

    /// Whether the ACK only reports out-of-order data (RFC 5681 §2). An ACK with a new ECN echo or a D-SACK is not a
    /// duplicate, because the sender needs this information.
    fn is_duplicate(&self, segment: &Segment) -> bool {
        segment.is_pure_ack()
            && (segment.window, segment.flags.has(Flags::ECE)) == self.advertised
            && !reports_duplicate(segment)
            && self.highest.is_some_and(|highest| is_before(segment.ack, highest))
    }

    fn advance(&mut self, now: Time, rules: &SnoopRules, ack: Seq, out: &mut Vec<Decision>) {
        (self.duplicates, self.expected_duplicates, self.spurious_duplicates) = (0, 0, 0);
        let Some((newest, once)) = self.cache.acknowledge(self.last_ack(), ack) else { return };
        self.spurious_duplicates = newest.retransmissions.saturating_sub(1);
        // Samples that include a recovery would lengthen the timeout and delay the next recovery.
        if once {
            self.sample(now.since(newest.sent_at));
        }
        let shows_next_hole = rules.chases
            && newest.retransmissions > 0
            && self.cache.first().is_some_and(|first| {
                first.contains(ack)
                    && first.retransmissions == 0
                    && !first.is_sender_retransmission
                    && first.sent_at < newest.sent_at
            });
        if shows_next_hole {
            // The packet at this hole was sent before the retransmission that has arrived, so the packet is lost, too.
            // Packets sent later may still be in flight.
            self.duplicates = rules.threshold;
            self.expected_duplicates = self.cache.sent_since(newest.sent_at) as u32;
            self.retransmit_first(now, out);
        }
    }

    fn on_duplicate(&mut self, now: Time, rules: &SnoopRules, ack: Seq, out: &mut Vec<Decision>) -> bool {
        let Some(first) = self.cache.first() else { return true };
        if !first.contains(ack) || first.is_sender_retransmission {
            return true;
        }
        if self.spurious_duplicates > 0 {
            self.spurious_duplicates -= 1;
            return false;
        }
        let retransmissions = first.retransmissions;
        self.duplicates += 1;
        if self.duplicates < rules.threshold {
            return true;
        }
        if self.duplicates > rules.threshold {
            if self.expected_duplicates > 0 {
                self.expected_duplicates -= 1;
                return false;
            }
            if retransmissions >= MAX_BY_DUPLICATES {
                return true;
            }
        }
        // Each cached packet after the lost packet causes a duplicate ACK.
        let behind = self.cache.len() as u32 - 1;
        self.expected_duplicates = behind.saturating_sub(self.duplicates);
        self.retransmit_first(now, out);
        self.restart_timer(now, rules);
        false
    }

    /// Retransmits the holes that SACK blocks show. Returns whether to forward the ACK. The ACK must be forwarded if
    /// the sender has to retransmit some of the holes.
    fn retransmit_holes(
        &mut self,
        now: Time,
        rules: &SnoopRules,
        selective: Selective,
        segment: &Segment,
        out: &mut Vec<Decision>,
    ) -> bool {
        let smoothed = self.rtt.map_or(START.0, |(smoothed, _)| smoothed);
        let wait = smoothed * u64::from(selective.resend_after);
        let filled = selective::retransmit_holes(
            &mut self.cache,
            now,
            segment,
            (selective.gap, wait, rules.max_repeats),
            out,
        );
        self.restart_timer(now, rules);
        !filled
    }

    pub(super) fn on_timeout(&mut self, now: Time, rules: &SnoopRules, out: &mut Vec<Decision>) {
        if self.timer <= now {
            self.retransmit_first(now, out);
            self.restart_timer(now, rules);
        }
    }

    fn retransmit_first(&mut self, now: Time, out: &mut Vec<Decision>) {
        if let Some(first) = self.cache.first_mut() {
            first.sent_at = now;
            first.retransmissions += 1;
            out.push(Decision::Retransmit(first.packet));
        }
    }

    /// Restarts the timer if the mobile awaits the first packet of the cache; otherwise stops the timer.
    fn restart_timer(&mut self, now: Time, rules: &SnoopRules) {
        let is_awaited = match (self.cache.first(), self.last_ack()) {
            (Some(first), Some(ack)) => first.contains(ack) && first.retransmissions < rules.max_repeats,
            _ => false,
        };
        self.timer = if is_awaited { now + self.timeout() } else { Time::NEVER };
    }

    fn timeout(&self) -> Duration {
        let (smoothed, variation) = self.rtt.unwrap_or(START);
        (smoothed + (variation * 4).max(self.limits.margin)).max(self.limits.floor)
    }

    /// Adds a round-trip sample (RFC 6298 §2).
    fn sample(&mut self, rtt: Duration) {
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt.divided_by(2)),
            Some((smoothed, variation)) => {
                let deviation = smoothed.abs_diff(rtt);
                let part = |old: Duration, new: Duration, of: u64| {
                    Duration::from_nanos(((of - 1) * old.as_nanos() + new.as_nanos()) / of)
                };
                (part(smoothed, rtt, 8), part(variation, deviation, 4))
            }
        });
    }
}
