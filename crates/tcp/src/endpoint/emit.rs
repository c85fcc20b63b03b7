//! Choice and construction of the next segment.

use super::accecn::{field_of, flags_of, handshake_field};
use super::{Endpoint, Feedback, Special, State};
use crate::event::Reason;
use crate::sender::{FullSegment, Outgoing};
use lasthop_base::Time;
use lasthop_wire::{Ecn, Flags, Priority, SackBlocks, Segment, Seq, Timestamps};

/// Length of a SACK option without blocks, padding included, bytes.
const SACK_HEADER: u64 = 4;
/// Length of each block of a SACK option, bytes.
const SACK_BLOCK: u64 = 8;

/// Properties of a segment to send that are not part of the segment itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendInfo {
    /// See [`Sending::is_retransmission`].
    pub is_retransmission: bool,
    /// See [`Sending::priority`].
    pub priority: Priority,
    /// See [`Sending::ecn`].
    pub ecn: Ecn,
    /// Whether another segment may follow at this time. If false, the driver need not poll again now.
    pub more: bool,
}

/// A segment to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sending {
    /// The segment.
    pub segment: Segment,
    /// Whether the segment is a retransmission.
    pub is_retransmission: bool,
    /// Priority of the packet.
    pub priority: Priority,
    /// ECN field of the packet. Retransmissions and pure ACKs are not ECN-capable (RFC 3168 §6.1.5).
    pub ecn: Ecn,
}

/// Properties of a segment without data, after which another segment may follow.
const BARE: SendInfo =
    SendInfo { is_retransmission: false, priority: Priority::NORMAL, ecn: Ecn::NotEct, more: true };

impl Default for SendInfo {
    fn default() -> SendInfo {
        BARE
    }
}

impl Endpoint {
    /// Writes the next segment into `segment` and its properties into `sent`. Returns whether a segment is due.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn next_segment(&mut self, now: Time, segment: &mut Segment, sent: &mut SendInfo) -> bool {
        if self.special.is_some() || self.state != State::Established {
            return fill(sent, self.next_outside_established(now, segment));
        }
        if let Some(ack) = self.receiver.poll_burst() {
            return fill(sent, Some(self.write_separate_ack(now, ack, segment)));
        }
        match self.sending.sender_mut() {
            None => {
                if !self.is_silent {
                    self.note_nothing_to_send(now);
                }
            }
            Some(sender) => {
                if !sender.has_nothing_to_send(now) {
                    // Fast path for nearly all data: sends the next full segment.
                    if let Some(full) = sender.send_full(now) {
                        self.write_full(now, &full, segment, sent);
                        return true;
                    }
                    if let Some(outgoing) = sender.poll(now, &mut self.log) {
                        return fill(sent, Some(self.write_data(now, &outgoing, segment)));
                    }
                }
            }
        }
        // No data may be sent now, so no segment follows this ACK.
        let Some(ack) = self.receiver.poll_ack() else { return false };
        self.write_ack(now, ack, segment);
        *sent = SendInfo { more: false, ..BARE };
        true
    }

    /// Writes the next segment of a connection that is opening or closing into `segment`. Also writes special segments,
    /// such as resets and keep-alive probes. Returns the properties of the segment; `None` if no segment is due.
    #[cold]
    fn next_outside_established(&mut self, now: Time, segment: &mut Segment) -> Option<SendInfo> {
        if self.special.is_some() || !self.is_synchronised() {
            return self.next_special(now, segment);
        }
        if let Some(ack) = self.receiver.poll_burst() {
            return Some(self.write_separate_ack(now, ack, segment));
        }
        if self.may_send_data() {
            match self.sending.sender_mut() {
                None => self.note_nothing_to_send(now),
                Some(sender) => {
                    if let Some(outgoing) = sender.poll(now, &mut self.log) {
                        return Some(self.write_data(now, &outgoing, segment));
                    }
                }
            }
        }
        let ack = self.receiver.poll_ack()?;
        self.write_separate_ack(now, ack, segment);
        Some(SendInfo { more: false, ..BARE })
    }

    #[cold]
    fn next_special(&mut self, now: Time, segment: &mut Segment) -> Option<SendInfo> {
        match self.special.take() {
            Some(Special::Reset { seq, ack }) => {
                *segment = self.reset(now, seq, ack);
                return Some(BARE);
            }
            Some(Special::Damaged { seq, copies }) => {
                if copies > 1 {
                    self.special = Some(Special::Damaged { seq, copies: copies - 1 });
                }
                let ack = self.receiver.piggyback();
                self.write_separate_ack(now, ack, segment);
                segment.set_damaged(seq);
                return Some(BARE);
            }
            Some(Special::KeepAlive) => {
                let ack = self.receiver.piggyback();
                let before = self.sending.nxt().wrapping_sub(1);
                self.write_bare(now, before, ack, segment);
                return Some(BARE);
            }
            Some(Special::HandshakeAck(arrived)) => {
                let ack = self.receiver.piggyback();
                self.write_separate_ack(now, ack, segment);
                let others = Flags(segment.flags.0 & !flags_of(field_of(segment.flags)).0);
                segment.flags = others | flags_of(handshake_field(arrived));
                return Some(BARE);
            }
            None => {}
        }
        if let Some(handshake) = self.handshake.as_ref().filter(|handshake| handshake.pending) {
            let is_retransmission = handshake.sent_at.is_none();
            *segment = self.syn(now);
            return Some(SendInfo { is_retransmission, ..BARE });
        }
        if self.state == State::SynReceived {
            let ack = self.receiver.poll_ack()?;
            self.write_separate_ack(now, ack, segment);
            return Some(BARE);
        }
        None
    }

    fn reset(&self, now: Time, seq: Seq, ack: Option<Seq>) -> Segment {
        // In a segment without ACK, the echo is invalid and must be zero (RFC 7323 §3.2).
        let echo = if ack.is_some() { self.ts_recent } else { 0 };
        let stamps = Timestamps { echo, ..self.stamp(now) };
        Segment {
            seq,
            ack: ack.unwrap_or_default(),
            flags: if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST },
            timestamps: self.agreed.timestamps.then_some(stamps),
            ..Segment::default()
        }
    }

    fn may_send_data(&self) -> bool {
        matches!(
            self.state,
            State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck
        )
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn write_ack(&mut self, now: Time, ack: u64, segment: &mut Segment) {
        let window = self.receiver.advertise(ack, self.agreed.shift);
        self.write_header(now, self.sending.nxt(), (ack, window), (0, u64::MAX), segment);
        self.log.frequent.acks_sent += 1;
    }

    /// Writes an ACK, like [`Endpoint::write_ack`], outside of the common path. Not inlined, to keep the common path
    /// small.
    #[cold]
    fn write_separate_ack(&mut self, now: Time, ack: u64, segment: &mut Segment) -> SendInfo {
        self.write_bare(now, self.sending.nxt(), ack, segment);
        self.log.frequent.acks_sent += 1;
        BARE
    }

    #[cold]
    fn write_bare(&mut self, now: Time, start: u64, ack: u64, segment: &mut Segment) {
        let window = self.receiver.advertise(ack, self.agreed.shift);
        self.write_header(now, start, (ack, window), (0, u64::MAX), segment);
    }

    /// Writes a full segment of new data, faster than [`Endpoint::write_data`]. The caller ensures that more data
    /// follows, so the segment needs neither PSH nor FIN.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn write_full(&mut self, now: Time, full: &FullSegment, segment: &mut Segment, sent: &mut SendInfo) {
        let FullSegment { range, room, priority, cwr, more } = *full;
        let ack_and_window = self.receiver.ack_and_window(self.agreed.shift);
        self.write_header(now, range.start, ack_and_window, (range.len(), room), segment);
        if cwr && self.agreed.ecn == Feedback::Classic {
            segment.flags = segment.flags | Flags::CWR;
        }
        self.log.frequent.data_sent += 1;
        if priority == Priority::LOW {
            self.log.frequent.tagged_sent += 1;
        }
        *sent = SendInfo { is_retransmission: false, priority, ecn: self.data_ecn, more };
    }

    #[inline(never)]
    fn write_data(&mut self, now: Time, outgoing: &Outgoing, segment: &mut Segment) -> SendInfo {
        let Outgoing { range, is_retransmission, fin, priority, cwr } = *outgoing;
        let len = range.len() - u64::from(fin);
        let Some(sender) = self.sending.sender_mut() else { return BARE };
        let more = sender.may_send_more(now);
        let room = sender.segment().saturating_sub(len);
        let is_last = range.end >= sender.end_of_data();
        let ack_and_window = self.receiver.ack_and_window(self.agreed.shift);
        self.write_header(now, range.start, ack_and_window, (len, room), segment);
        if fin {
            segment.flags = segment.flags | Flags::FIN;
        }
        if len > 0 && is_last {
            segment.flags = segment.flags | Flags::PSH;
        }
        if cwr && self.agreed.ecn == Feedback::Classic {
            segment.flags = segment.flags | Flags::CWR;
        }
        self.log.frequent.data_sent += 1;
        self.log.frequent.tagged_sent += u64::from(priority == Priority::LOW);
        let ecn = if is_retransmission || len == 0 { Ecn::NotEct } else { self.data_ecn };
        SendInfo { is_retransmission, priority, ecn, more }
    }

    /// Writes the header of a segment that is neither SYN nor RST. `start`: offset of the payload; `len`: payload,
    /// bytes; `room`: space for SACK and AccECN options, bytes.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn write_header(
        &mut self,
        now: Time,
        start: u64,
        (ack, window): (u64, u16),
        (len, room): (u64, u64),
        segment: &mut Segment,
    ) {
        self.last_ack = ack;
        // Writes each field separately, so that the unused SACK blocks are not written.
        segment.seq = self.iss.at(start);
        segment.ack = self.irs.at(ack);
        segment.len = len as u32;
        segment.flags = Flags::ACK | self.echoed;
        segment.window = window;
        segment.mss = None;
        segment.window_scale = None;
        segment.sack_permitted = false;
        segment.timestamps = if self.agreed.timestamps { Some(self.stamp(now)) } else { None };
        segment.sack.clear();
        if self.receiver.has_report() && self.agreed.sack {
            self.report(room, segment);
        }
        if self.agreed.ecn == Feedback::Accurate {
            self.tell_marks(room, segment);
        }
    }

    #[cold]
    fn tell_marks(&mut self, room: u64, segment: &mut Segment) {
        if let Some(accecn) = self.mark_feedback.accecn_mut() {
            let blocks = segment.sack.len() as u64;
            let taken = if blocks > 0 { SACK_HEADER + SACK_BLOCK * blocks } else { 0 };
            accecn.add_option(room.saturating_sub(taken), segment);
        }
    }

    #[cold]
    fn report(&mut self, room: u64, segment: &mut Segment) {
        let fitting = room.saturating_sub(SACK_HEADER) / SACK_BLOCK;
        let most = self.most_blocks().min(fitting as usize);
        let irs = self.irs;
        self.receiver
            .emit_sack_blocks(most, |range| segment.sack.push(irs.at(range.start), irs.at(range.end)));
    }

    /// Number of SACK blocks that fit into the header: four without other options, three with timestamps (RFC 2018 §3),
    /// two with an AccECN option.
    fn most_blocks(&self) -> usize {
        if self.agreed.ecn == Feedback::Accurate
            && self.mark_feedback.accecn().is_some_and(|accecn| accecn.is_due())
        {
            return SackBlocks::BESIDE_ACCECN;
        }
        if self.agreed.timestamps { SackBlocks::CAPACITY - 1 } else { SackBlocks::CAPACITY }
    }

    /// Shortens data segments, so that SACK blocks and AccECN's counters fit (RFC 9293 §3.7.1, RFC 6691 §3).
    #[cold]
    pub(super) fn leave_room_for_options(&mut self) {
        if self.sending.sender().is_none() {
            return;
        }
        let room = self.room_for_options();
        if let Some(sender) = self.sending.sender_mut() {
            sender.reserve_option_space(room);
        }
    }

    pub(super) fn room_for_options(&self) -> u64 {
        let blocks = self.receiver.reassembly().beyond().len().min(self.most_blocks()) as u64;
        let sack = if blocks > 0 { SACK_HEADER + SACK_BLOCK * blocks } else { 0 };
        let counters = match self.agreed.ecn {
            Feedback::Accurate => self.mark_feedback.accecn().map_or(0, |accecn| accecn.option_bytes()),
            _ => 0,
        };
        sack + counters
    }
}

#[inline(always)]
fn fill(sent: &mut SendInfo, what: Option<SendInfo>) -> bool {
    if let Some(what) = what {
        *sent = what;
    }
    what.is_some()
}

impl Reason {
    /// Whether the retransmission follows a detected loss, and not an expired timer or a probe.
    pub const fn is_seen_loss(self) -> bool {
        matches!(self, Reason::FastRetransmit | Reason::Hole)
    }
}
