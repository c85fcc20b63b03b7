//! All that an endpoint tells of itself: counters that always run, events when asked for.

use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use lasthop_wire::SenderCounts;
use std::collections::VecDeque;

/// Why something was sent again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Three duplicate ACKs, or SACK said so: the first retransmission of a recovery.
    FastRetransmit,
    /// A partial ACK, or another hole that SACK showed.
    Hole,
    /// The retransmission timer expired, for this segment.
    Timeout,
    /// It was outstanding when the timer expired (or Tahoe started again), and its turn came.
    GoBackN,
    /// SACK doubts it and there was nothing else to send (RFC 6675 NextSeg rules 3 and 4).
    Rescue,
    /// The end of a flight is probed (RFC 8985 §7).
    TailProbe,
    /// A probe of a closed window.
    WindowProbe,
    /// The path takes no segments as long as it was (ICMP).
    TooLong,
    /// The receiver's window was zero, and has opened.
    Thawed,
    /// The receiver says that it arrived damaged, or a timeout was judged to be the air's.
    Told,
    /// SYN, SYN-ACK or FIN again.
    Handshake,
}

impl Reason {
    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::FastRetransmit => "fast_retransmit",
            Reason::Hole => "hole",
            Reason::Timeout => "timeout",
            Reason::GoBackN => "go_back_n",
            Reason::Rescue => "rescue",
            Reason::TailProbe => "tail_probe",
            Reason::WindowProbe => "window_probe",
            Reason::TooLong => "too_long",
            Reason::Thawed => "thawed",
            Reason::Told => "told",
            Reason::Handshake => "handshake",
        }
    }
}

/// What a judgement says of a loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The path is congested.
    Congestion,
    /// The last hop lost it.
    Wireless,
}

/// Something worth a line in a trace. Offsets are absolute (the SYN is byte 0).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// Both directions are closed and TIME-WAIT is over, or the connection was refused or reset.
    Closed,
    /// Fast recovery begins with this cwnd and ssthresh, bytes.
    RecoveryEntered {
        /// FlightSize, bytes.
        flight: u64,
        /// cwnd after the reduction.
        cwnd: u64,
    },
    /// Fast recovery is over.
    RecoveryLeft {
        /// cwnd after it, bytes.
        cwnd: u64,
    },
    /// The retransmission timer expired.
    TimedOut {
        /// The timeout that ran out.
        rto: Duration,
    },
    /// The last timeout was found to be spurious, and its effects are undone (RFC 5682).
    TimeoutUndone {
        /// cwnd after it, bytes.
        cwnd: u64,
    },
    /// A segment was sent again.
    Retransmitted {
        /// Which bytes.
        range: Range,
        /// Why.
        reason: Reason,
    },
    /// The window was reduced because the receiver echoed a mark.
    MarkEchoed {
        /// cwnd after the reduction, bytes.
        cwnd: u64,
    },
    /// The receiver judged a gap in the sequence space, or the sender a window in which it repaired a loss.
    Judged {
        /// The gap.
        range: Range,
        /// The verdict.
        cause: Cause,
    },
    /// A packet was answered with several ACKs.
    Shaped {
        /// Number of ACKs.
        acks: u32,
        /// Uplink queue before them, packets that wait.
        queue_before: u32,
        /// Uplink queue after them, as the shape counts it.
        queue_after: u32,
    },
    /// A segment from the peer was not acceptable.
    Rejected,
    /// The same data (or SYN) was sent again as often as [`crate::config::Patience`] thinks worth telling (R1).
    Troubled,
}

/// Counters that always run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Segments without data and with ACK sent.
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
    /// Segments with data sent again.
    pub retransmitted: u64,
    /// Segments sent with a tag (low priority).
    pub tags_sent: u64,
    /// Timeouts found to be spurious and undone (F-RTO).
    pub timeouts_undone: u64,
    /// Recoveries undone, because all that they sent again had arrived already (D-SACK).
    pub recoveries_undone: u64,
    /// Segments with data that the peer says it received twice (D-SACK): sent again in vain, or copied on the way.
    pub duplicates_told: u64,
    /// Segments with data received with a congestion mark.
    pub marked: u64,
    /// Reductions because of an echoed mark.
    pub marks: u64,
    /// Gaps (at the sender: windows with losses) judged to be congestion.
    pub judged_congestion: u64,
    /// Gaps (at the sender: windows with losses) judged to be wireless.
    pub judged_wireless: u64,
    /// Episodes of ACK splitting.
    pub episodes: u64,
    /// Challenge ACKs (RFC 5961), and ACKs that answer other unacceptable segments without data.
    pub challenges: u64,
}

impl Counters {
    /// What was counted after `before`.
    pub fn since(&self, before: &Counters) -> Counters {
        Counters {
            recoveries: self.recoveries - before.recoveries,
            timeouts: self.timeouts - before.timeouts,
            data_sent: self.data_sent - before.data_sent,
            acks_sent: self.acks_sent - before.acks_sent,
            data_received: self.data_received - before.data_received,
            tags_sent: self.tags_sent - before.tags_sent,
            retransmitted: self.retransmitted - before.retransmitted,
            timeouts_undone: self.timeouts_undone - before.timeouts_undone,
            recoveries_undone: self.recoveries_undone - before.recoveries_undone,
            duplicates_told: self.duplicates_told - before.duplicates_told,
            duplicate_acks: self.duplicate_acks - before.duplicate_acks,
            marked: self.marked - before.marked,
            marks: self.marks - before.marks,
            judged_congestion: self.judged_congestion - before.judged_congestion,
            judged_wireless: self.judged_wireless - before.judged_wireless,
            episodes: self.episodes - before.episodes,
            challenges: self.challenges - before.challenges,
        }
    }
}

/// What a host tells a peer that wants to know what it has sent.
impl From<Counters> for SenderCounts {
    fn from(counters: Counters) -> SenderCounts {
        let Counters { data_sent, retransmitted, recoveries, .. } = counters;
        SenderCounts { sent: data_sent, sent_again: retransmitted, told_by_duplicates: recoveries }
    }
}

/// What most connections count, first what each segment does. See [`Counters`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Often {
    pub(crate) acks_sent: u64,
    pub(crate) data_received: u64,
    pub(crate) data_sent: u64,
    pub(crate) recoveries: u64,
    pub(crate) timeouts: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) retransmitted: u64,
    pub(crate) tags_sent: u64,
}

/// What few connections count or tell. See [`Counters`].
#[derive(Debug, Default)]
pub(crate) struct Seldom {
    pub(crate) timeouts_undone: u64,
    pub(crate) recoveries_undone: u64,
    pub(crate) duplicates_told: u64,
    pub(crate) marked: u64,
    pub(crate) marks: u64,
    pub(crate) judged_congestion: u64,
    pub(crate) judged_wireless: u64,
    pub(crate) episodes: u64,
    pub(crate) challenges: u64,
    queue: VecDeque<(Time, Event)>,
}

/// Counters, and the events since the last poll.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Log {
    /// Whether the queue has something.
    pub(crate) has_events: bool,
    /// Whether every event is queued; otherwise only judgements are, which accounting needs.
    pub(crate) tracing: bool,
    /// Whether a recovery or a timeout was counted: each packet that goes out says so, and this line is at hand then.
    pub(crate) has_noticed_loss: bool,
    pub(crate) often: Often,
    /// `None`: nothing of it was counted so far, and no event was told.
    seldom: Option<Box<Seldom>>,
}

impl Log {
    /// A recovery begins.
    pub(crate) fn count_recovery(&mut self) {
        self.often.recoveries += 1;
        self.has_noticed_loss = true;
    }

    /// The retransmission timer has expired.
    pub(crate) fn count_timeout(&mut self) {
        self.often.timeouts += 1;
        self.has_noticed_loss = true;
    }

    /// What is seldom counted, to count it.
    #[cold]
    pub(crate) fn seldom(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_default()
    }

    /// [`Counters::duplicates_told`].
    pub(crate) fn duplicates_told(&self) -> u64 {
        self.seldom.as_ref().map_or(0, |seldom| seldom.duplicates_told)
    }

    /// All that was counted.
    pub(crate) fn counters(&self) -> Counters {
        let Often { acks_sent, data_received, data_sent, recoveries, timeouts, .. } = self.often;
        let Often { duplicate_acks, retransmitted, tags_sent, .. } = self.often;
        let counted = Counters {
            acks_sent,
            data_received,
            data_sent,
            recoveries,
            timeouts,
            duplicate_acks,
            retransmitted,
            tags_sent,
            ..Counters::default()
        };
        let Some(seldom) = &self.seldom else { return counted };
        Counters {
            timeouts_undone: seldom.timeouts_undone,
            recoveries_undone: seldom.recoveries_undone,
            duplicates_told: seldom.duplicates_told,
            marked: seldom.marked,
            marks: seldom.marks,
            judged_congestion: seldom.judged_congestion,
            judged_wireless: seldom.judged_wireless,
            episodes: seldom.episodes,
            challenges: seldom.challenges,
            ..counted
        }
    }

    /// Queues an event if tracing is on.
    pub(crate) fn trace(&mut self, now: Time, event: Event) {
        if self.tracing {
            self.push(now, event);
        }
    }

    /// Queues a judgement.
    pub(crate) fn judged(&mut self, now: Time, range: Range, cause: Cause) {
        match cause {
            Cause::Congestion => self.seldom().judged_congestion += 1,
            Cause::Wireless => self.seldom().judged_wireless += 1,
        }
        self.push(now, Event::Judged { range, cause });
    }

    /// The oldest event, which is no longer queued.
    pub(crate) fn pop(&mut self) -> Option<(Time, Event)> {
        let queue = &mut self.seldom.as_mut()?.queue;
        let oldest = queue.pop_front();
        self.has_events = !queue.is_empty();
        oldest
    }

    fn push(&mut self, now: Time, event: Event) {
        self.seldom().queue.push_back((now, event));
        self.has_events = true;
    }
}
