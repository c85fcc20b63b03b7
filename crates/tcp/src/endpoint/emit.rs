//! What goes out next.

use super::{Endpoint, Special, State};
use crate::event::Reason;
use crate::sender::Outgoing;
use lasthop_base::Time;
use lasthop_wire::{Flags, Priority, SackBlocks, Segment, Seq, Timestamps};

/// Bytes of a SACK option, its padding included, and of each block in it.
const SACK_HEADER: u64 = 4;
const SACK_BLOCK: u64 = 8;

/// What a driver knows of a segment to send beside the segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// See [`Sending::again`].
    pub again: bool,
    /// See [`Sending::priority`].
    pub priority: Priority,
    /// See [`Sending::ecn_capable`].
    pub ecn_capable: bool,
    /// Whether it may be worth asking for another one now; if not, there is none.
    pub more: bool,
}

/// A segment to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sending {
    /// The segment.
    pub segment: Segment,
    /// Whether its bytes were sent before.
    pub again: bool,
    /// The priority that the packet should have.
    pub priority: Priority,
    /// Whether the packet should be marked ECN-capable (RFC 3168 §6.1.5: not retransmissions, not pure ACKs).
    pub ecn_capable: bool,
}

impl Endpoint {
    /// Fills `segment` with the next one to send.
    #[inline]
    pub(super) fn next_segment(&mut self, now: Time, segment: &mut Segment) -> Option<Sent> {
        if self.special.is_some() || self.handshake.pending || !self.is_synchronised() {
            return self.next_of_opening(now, segment);
        }
        if let Some(ack) = self.receiver.poll_burst() {
            return Some(self.pure_ack(now, ack, segment));
        }
        if self.may_send_data()
            && let Some(outgoing) = self.sender.poll(now, &mut self.log)
        {
            return Some(self.data(now, outgoing, segment));
        }
        let ack = self.receiver.poll_ack()?;
        // Nobody had data, and now nothing is due.
        Some(Sent { more: false, ..self.pure_ack(now, ack, segment) })
    }

    /// Resets, keep-alive probes, SYNs, and what is sent before the connection is open.
    #[cold]
    fn next_of_opening(&mut self, now: Time, segment: &mut Segment) -> Option<Sent> {
        if let Some(special) = self.special.take() {
            return Some(self.special(now, special, segment));
        }
        if self.handshake.pending {
            *segment = self.syn(now);
            return Some(Sent {
                again: self.handshake.repeats > 0,
                priority: Priority::Normal,
                ecn_capable: false,
                more: true,
            });
        }
        if self.state == State::SynReceived {
            let ack = self.receiver.poll_ack()?;
            return Some(self.pure_ack(now, ack, segment));
        }
        None
    }

    fn special(&mut self, now: Time, special: Special, segment: &mut Segment) -> Sent {
        match special {
            Special::Reset { seq, ack } => {
                // Without an ACK the echo means nothing (RFC 7323 §3.2).
                let echo = if ack.is_some() { self.ts_recent } else { 0 };
                let stamps = Timestamps { echo, ..self.stamp(now) };
                *segment = Segment {
                    seq,
                    ack: ack.unwrap_or_default(),
                    flags: if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST },
                    timestamps: self.agreed.timestamps.then_some(stamps),
                    ..Segment::default()
                };
            }
            Special::KeepAlive => {
                let ack = self.receiver.piggyback();
                let seq = Seq(self.iss.at(self.sender.board().nxt()).0.wrapping_sub(1));
                self.header(now, seq, ack, u64::MAX, segment);
            }
        }
        Sent { again: false, priority: Priority::Normal, ecn_capable: false, more: true }
    }

    fn may_send_data(&self) -> bool {
        matches!(
            self.state,
            State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck
        )
    }

    fn data(&mut self, now: Time, outgoing: Outgoing, segment: &mut Segment) -> Sent {
        let Outgoing { range, again, fin, priority, cwr } = outgoing;
        let ack = self.receiver.piggyback();
        let len = range.len() - u64::from(fin);
        let room = self.sender.segment().saturating_sub(len);
        self.header(now, self.iss.at(range.start), ack, room, segment);
        segment.len = len as u32;
        if fin {
            segment.flags = segment.flags | Flags::FIN;
        }
        if segment.len > 0 && range.end >= self.sender.end_of_data() {
            segment.flags = segment.flags | Flags::PSH;
        }
        if cwr && self.agreed.ecn {
            segment.flags = segment.flags | Flags::CWR;
        }
        self.log.counters.data_sent += 1;
        self.log.counters.tags_sent += u64::from(priority == Priority::Low);
        let ecn_capable = self.agreed.ecn && !again && segment.len > 0;
        Sent { again, priority, ecn_capable, more: self.sender.may_send_more(now) }
    }

    fn pure_ack(&mut self, now: Time, ack: u64, segment: &mut Segment) -> Sent {
        self.log.counters.acks_sent += 1;
        self.header(now, self.iss.at(self.sender.board().nxt()), ack, u64::MAX, segment);
        Sent { again: false, priority: Priority::Normal, ecn_capable: false, more: true }
    }

    /// All but the payload; SACK blocks as far as `room` bytes hold them.
    fn header(&mut self, now: Time, seq: Seq, ack: u64, room: u64, segment: &mut Segment) {
        self.last_ack = ack;
        let mut flags = Flags::ACK;
        if self.echoes_mark {
            flags = flags | Flags::ECE;
        }
        // Field by field: the blocks of SACK stay as they are while none is told.
        segment.seq = seq;
        segment.ack = self.irs.at(ack);
        segment.len = 0;
        segment.flags = flags;
        segment.window = self.receiver.advertise(ack, self.agreed.shift);
        segment.mss = None;
        segment.window_scale = None;
        segment.sack_permitted = false;
        segment.timestamps = if self.agreed.timestamps { Some(self.stamp(now)) } else { None };
        segment.sack.clear();
        if self.agreed.sack && self.receiver.reports() {
            self.report(room, segment);
        }
    }

    #[inline(never)]
    fn report(&mut self, room: u64, segment: &mut Segment) {
        let fitting = room.saturating_sub(SACK_HEADER) / SACK_BLOCK;
        let most = self.most_blocks().min(fitting as usize);
        let irs = self.irs;
        self.receiver.report(most, |range| segment.sack.push(irs.at(range.start), irs.at(range.end)));
    }

    /// Three blocks fit beside timestamps, four without (RFC 2018 §3).
    fn most_blocks(&self) -> usize {
        if self.agreed.timestamps { SackBlocks::MOST - 1 } else { SackBlocks::MOST }
    }

    /// New data leaves room for the SACK blocks that there are now: with them its packet is no longer than the peer can
    /// take (RFC 9293 §3.7.1, RFC 6691 §3).
    #[inline(never)]
    pub(super) fn leave_room_for_sack(&mut self) {
        let blocks = self.receiver.reassembly().beyond().len().min(self.most_blocks()) as u64;
        self.sender.leave_room(if blocks > 0 { SACK_HEADER + SACK_BLOCK * blocks } else { 0 });
    }
}

impl Reason {
    /// Whether a retransmission for this reason answers a loss that was seen, rather than a timer or a doubt.
    pub const fn is_seen_loss(self) -> bool {
        matches!(self, Reason::FastRetransmit | Reason::Hole)
    }
}
