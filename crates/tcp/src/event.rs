//! Counters and events of an endpoint. All counters are always updated. Most events are recorded only while tracing is
//! on; events about the cause of a loss are always recorded.

use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use lasthop_wire::SenderCounts;
use std::collections::VecDeque;

/// Reason of a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// First retransmission of a recovery, after three duplicate ACKs or by SACK.
    FastRetransmit,
    /// Later retransmission of a recovery, after a partial ACK or for another hole in the SACK scoreboard.
    Hole,
    /// Retransmission of the first outstanding segment after the retransmission timer expired.
    Timeout,
    /// Retransmission of a segment that follows the first outstanding segment, after a timeout or after a Tahoe
    /// restart.
    GoBackN,
    /// Rescue retransmission: the scoreboard contains no lost segment to retransmit, and no new data may be sent (RFC
    /// 6675 NextSeg rules 3 and 4).
    Rescue,
    /// Tail loss probe (RFC 8985 §7).
    TailProbe,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// Retransmission of a segment that was too long for the path MTU (ICMP).
    PathMtu,
    /// Retransmission after a zero window opened.
    WindowOpened,
    /// Retransmission of a segment that the receiver reported as damaged, or of data after a timeout that loss
    /// discrimination attributed to the wireless link.
    Reported,
    /// Retransmission of a SYN, SYN-ACK or FIN.
    Handshake,
}

impl Reason {
    /// Name of the reason in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::FastRetransmit => "fast_retransmit",
            Reason::Hole => "hole",
            Reason::Timeout => "timeout",
            Reason::GoBackN => "go_back_n",
            Reason::Rescue => "rescue",
            Reason::TailProbe => "tail_probe",
            Reason::WindowProbe => "window_probe",
            Reason::PathMtu => "too_long",
            Reason::WindowOpened => "thawed",
            Reason::Reported => "reported",
            Reason::Handshake => "handshake",
        }
    }
}

/// Cause of a loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// Congestion in a queue.
    Congestion,
    /// Transmission error on the last hop.
    Wireless,
}

/// Event of a trace. Offsets of data are absolute and start with the SYN, which is byte 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The connection is over: both directions closed and TIME-WAIT elapsed, or the connection was refused or reset.
    Closed,
    /// The sender entered fast recovery.
    RecoveryEntered {
        /// FlightSize, bytes.
        flight: u64,
        /// cwnd after the reduction, bytes.
        cwnd: u64,
    },
    /// The sender left fast recovery.
    RecoveryLeft {
        /// cwnd after the recovery, bytes.
        cwnd: u64,
    },
    /// The retransmission timer expired.
    TimedOut {
        /// Timeout (RTO) that expired.
        rto: Duration,
    },
    /// The last timeout was spurious, so the sender undid the effects of the timeout (RFC 5682).
    TimeoutUndone {
        /// cwnd after the undo, bytes.
        cwnd: u64,
    },
    /// A segment was retransmitted.
    Retransmitted {
        /// Range of the retransmitted bytes.
        range: Range,
        /// Reason of the retransmission.
        reason: Reason,
    },
    /// An ECN echo reduced the window.
    MarkEchoed {
        /// cwnd after the reduction, bytes.
        cwnd: u64,
    },
    /// A loss was attributed to congestion or to the wireless link. At the receiver, the loss is a gap in the sequence
    /// space. At the sender, the loss is a segment, or a window of data in which losses were repaired.
    LossClassified {
        /// Gap (at the receiver), or lost segment or window of data (at the sender).
        range: Range,
        /// Cause.
        cause: Cause,
    },
    /// The receiver answered a packet with the number of ACKs that ACK splitting chose. Occurs only if the ACK
    /// splitting mechanism uses the length of the uplink queue.
    AckSplit {
        /// Number of ACKs.
        acks: u32,
        /// Packets waiting in the uplink queue before the ACKs.
        queue_before: u32,
        /// Packets waiting in the uplink queue after the ACKs, as counted by the ACK splitting.
        queue_after: u32,
    },
    /// The peer sent an unacceptable segment.
    Rejected,
    /// The number of retransmissions of the same data (or SYN) reached R1 ([`crate::config::UserTimeouts`]).
    R1Reached,
}

/// Counters of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Pure ACKs sent.
    pub acks_sent: u64,
    /// Segments with data received.
    pub data_received: u64,
    /// Segments with data sent, retransmissions included.
    pub data_sent: u64,
    /// Fast recoveries (or Tahoe restarts) entered.
    pub recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Segments with data retransmitted.
    pub retransmitted: u64,
    /// Segments sent with low priority (tagged).
    pub tagged_sent: u64,
    /// Spurious timeouts undone (F-RTO).
    pub timeouts_undone: u64,
    /// Recoveries undone because all retransmissions were unnecessary (D-SACK).
    pub recoveries_undone: u64,
    /// Duplicate segments reported by D-SACK: unnecessary retransmissions, or copies made by the network.
    pub duplicates_reported: u64,
    /// Received segments that had data and a congestion mark.
    pub marked: u64,
    /// Window reductions that an ECN echo caused.
    pub marks: u64,
    /// Losses attributed to congestion. The receiver counts gaps; the sender counts windows of data with losses.
    pub judged_congestion: u64,
    /// Losses attributed to the wireless link. The receiver counts gaps; the sender counts windows of data with losses.
    pub judged_wireless: u64,
    /// Challenge ACKs (RFC 5961), and ACKs under the same rate limit that answer unacceptable segments without data.
    pub challenges: u64,
}

impl Counters {
    /// Returns the increase of each counter since the earlier counters `before`.
    pub fn since(&self, before: &Counters) -> Counters {
        Counters {
            recoveries: self.recoveries - before.recoveries,
            timeouts: self.timeouts - before.timeouts,
            data_sent: self.data_sent - before.data_sent,
            acks_sent: self.acks_sent - before.acks_sent,
            data_received: self.data_received - before.data_received,
            tagged_sent: self.tagged_sent - before.tagged_sent,
            retransmitted: self.retransmitted - before.retransmitted,
            timeouts_undone: self.timeouts_undone - before.timeouts_undone,
            recoveries_undone: self.recoveries_undone - before.recoveries_undone,
            duplicates_reported: self.duplicates_reported - before.duplicates_reported,
            duplicate_acks: self.duplicate_acks - before.duplicate_acks,
            marked: self.marked - before.marked,
            marks: self.marks - before.marks,
            judged_congestion: self.judged_congestion - before.judged_congestion,
            judged_wireless: self.judged_wireless - before.judged_wireless,
            challenges: self.challenges - before.challenges,
        }
    }
}

/// Selects the counts that a sender reports to the receiver.
impl From<Counters> for SenderCounts {
    fn from(counters: Counters) -> SenderCounts {
        let Counters { data_sent, retransmitted, recoveries, .. } = counters;
        SenderCounts { sent: data_sent, retransmitted, detected_by_duplicates: recoveries }
    }
}

/// Part of [`Counters`] that changes often; the counters that every segment changes come first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct FrequentCounters {
    pub(crate) acks_sent: u64,
    pub(crate) data_received: u64,
    pub(crate) data_sent: u64,
    pub(crate) recoveries: u64,
    pub(crate) timeouts: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) retransmitted: u64,
    pub(crate) tagged_sent: u64,
}

/// Part of [`Counters`] that changes rarely, and the queue of events.
#[derive(Debug, Default)]
pub(crate) struct RareCounters {
    pub(crate) timeouts_undone: u64,
    pub(crate) recoveries_undone: u64,
    pub(crate) duplicates_reported: u64,
    pub(crate) marked: u64,
    pub(crate) marks: u64,
    pub(crate) judged_congestion: u64,
    pub(crate) judged_wireless: u64,
    pub(crate) challenges: u64,
    queue: VecDeque<(Time, Event)>,
}

#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Log {
    pub(crate) has_events: bool,
    /// Whether every event is queued. If false, only attributions of losses are queued, because accounting needs these
    /// events.
    pub(crate) tracing: bool,
    /// Whether a recovery or timeout was counted. Stored next to the frequent counters, because every outgoing packet
    /// reads this flag.
    pub(crate) has_detected_loss: bool,
    pub(crate) frequent: FrequentCounters,
    /// `None` while every rare counter is zero and no event was queued.
    rare: Option<Box<RareCounters>>,
}

impl Log {
    pub(crate) fn count_recovery(&mut self) {
        self.frequent.recoveries += 1;
        self.has_detected_loss = true;
    }

    pub(crate) fn count_timeout(&mut self) {
        self.frequent.timeouts += 1;
        self.has_detected_loss = true;
    }

    #[cold]
    pub(crate) fn rare(&mut self) -> &mut RareCounters {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn duplicates_reported(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.duplicates_reported)
    }

    pub(crate) fn counters(&self) -> Counters {
        let FrequentCounters { acks_sent, data_received, data_sent, recoveries, timeouts, .. } =
            self.frequent;
        let FrequentCounters { duplicate_acks, retransmitted, tagged_sent, .. } = self.frequent;
        let counted = Counters {
            acks_sent,
            data_received,
            data_sent,
            recoveries,
            timeouts,
            duplicate_acks,
            retransmitted,
            tagged_sent,
            ..Counters::default()
        };
        let Some(rare) = &self.rare else { return counted };
        Counters {
            timeouts_undone: rare.timeouts_undone,
            recoveries_undone: rare.recoveries_undone,
            duplicates_reported: rare.duplicates_reported,
            marked: rare.marked,
            marks: rare.marks,
            judged_congestion: rare.judged_congestion,
            judged_wireless: rare.judged_wireless,
            challenges: rare.challenges,
            ..counted
        }
    }

    pub(crate) fn trace(&mut self, now: Time, event: Event) {
        if self.tracing {
            self.push(now, event);
        }
    }

    /// Counts and queues an attribution of a loss.
    pub(crate) fn loss_classified(&mut self, now: Time, range: Range, cause: Cause) {
        match cause {
            Cause::Congestion => self.rare().judged_congestion += 1,
            Cause::Wireless => self.rare().judged_wireless += 1,
        }
        self.push(now, Event::LossClassified { range, cause });
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, Event)> {
        let queue = &mut self.rare.as_mut()?.queue;
        let oldest = queue.pop_front();
        self.has_events = !queue.is_empty();
        oldest
    }

    fn push(&mut self, now: Time, event: Event) {
        self.rare().queue.push_back((now, event));
        self.has_events = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each result is the later count minus the earlier count: 30 - 7 = 23 for the first counter, 31 - 8 = 23 for the
    /// second.
    #[test]
    fn counts_since_are_differences() {
        let of = |first: u64| Counters {
            recoveries: first,
            timeouts: first + 1,
            data_sent: first + 2,
            acks_sent: first + 3,
            data_received: first + 4,
            tagged_sent: first + 5,
            retransmitted: first + 6,
            timeouts_undone: first + 7,
            recoveries_undone: first + 8,
            duplicates_reported: first + 9,
            duplicate_acks: first + 10,
            marked: first + 11,
            marks: first + 12,
            judged_congestion: first + 13,
            judged_wireless: first + 14,
            challenges: first + 15,
        };
        let same = Counters {
            recoveries: 23,
            timeouts: 23,
            data_sent: 23,
            acks_sent: 23,
            data_received: 23,
            tagged_sent: 23,
            retransmitted: 23,
            timeouts_undone: 23,
            recoveries_undone: 23,
            duplicates_reported: 23,
            duplicate_acks: 23,
            marked: 23,
            marks: 23,
            judged_congestion: 23,
            judged_wireless: 23,
            challenges: 23,
        };
        assert_eq!(of(30).since(&of(7)), same);
    }
}
