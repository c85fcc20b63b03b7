//! Handling of segments in a synchronised state, in the order of SEGMENT ARRIVES (RFC 9293 §3.10.7.4).

use super::{Arriving, EndReason, Endpoint, Feedback, Role, State};
use crate::event::Event;
use crate::ranges::Range;
use crate::receiver::DataSegment;
use crate::sender::Ack;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Ecn, Flags, SackBlocks, Segment, Seq};

/// Idle time after which PAWS does not apply (RFC 7323 §5.5).
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 86_400);

impl Endpoint {
    pub(super) fn handle_synchronised(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if self.state == State::SynReceived && self.completes_simultaneous_open(segment) {
            self.establish(now, u64::from(segment.window));
            return self.handle_rest_of_syn_ack(now, segment, arriving);
        }
        let bare = self.agreed.timestamps && segment.timestamps.is_none();
        if bare && !segment.flags.has(Flags::RST | Flags::SYN) {
            // Drops a segment without the negotiated timestamps (RFC 7323 §3.2). A reset may lack timestamps, and so
            // may a SYN, which may belong to a new connection.
            return;
        }
        let Some(range) = self.acceptable(now, segment) else {
            return self.reject(now, segment, arriving);
        };
        if segment.flags.has(Flags::RST) {
            return self.handle_reset(now, segment);
        }
        if segment.flags.has(Flags::SYN) {
            if self.state == State::SynReceived && self.role == Role::Passive {
                return self.return_to_listen();
            }
            return self.challenge(now);
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if !self.handle_acknowledgement(now, segment, range.start) {
            return;
        }
        if self.state == State::TimeWait && range.start > self.receiver.next() {
            // The peer sends no data after its FIN, so a segment beyond the FIN is invalid.
            return self.challenge(now);
        }
        self.last_arrival = now;
        // TS.Recent changes only after the check of the ACK, so that a forged segment with an unacceptable ACK cannot
        // change TS.Recent.
        if let Some(stamps) =
            segment.timestamps.filter(|_| self.agreed.timestamps && range.start <= self.last_ack)
        {
            self.ts_recent = stamps.value;
        }
        let mut mark_is_urgent = false;
        match self.agreed.ecn {
            Feedback::None => {}
            Feedback::Classic => {
                if segment.flags.has(Flags::CWR) {
                    self.echoed = self.mark_feedback.on_reduced();
                }
            }
            Feedback::Accurate => mark_is_urgent = self.count_mark(segment, arriving),
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.handle_payload(now, segment, range, arriving, mark_is_urgent);
        }
    }

    /// Whether the peer's SYN-ACK crossed ours (RFC 9293 §3.5, Fig. 7). The SYN in this SYN-ACK was received before,
    /// but the ACK is the first for our SYN.
    fn completes_simultaneous_open(&self, segment: &Segment) -> bool {
        let Segment { seq, ack, flags, .. } = *segment;
        flags.has(Flags::SYN) && flags.has(Flags::ACK) && seq == self.irs && ack == self.iss.at(1)
    }

    /// Returns the range of the segment, if its sequence numbers are in the window (RFC 9293 §3.4, Table 6) and its
    /// timestamp passes PAWS. If the window is closed, a data segment at RCV.NXT is acceptable, but without its data
    /// (§3.10.7.4). A pure ACK at the right edge is also acceptable: if a peer has filled the window, its ACKs have
    /// this sequence number even after a loss of its data.
    #[inline]
    fn acceptable(&self, now: Time, segment: &Segment) -> Option<Range> {
        let next = self.receiver.next();
        let start = self.irs.offset_of(segment.seq, next)?;
        let end = start + u64::from(segment.len);
        if self.fails_paws(now, segment) {
            return None;
        }
        let edge = self.receiver.edge();
        let occupied = end + u64::from(segment.flags.has(Flags::FIN));
        // If the window is closed, only RCV.NXT is within it.
        let is_within = start < edge.max(next + 1);
        let fits = if occupied > start {
            is_within && occupied > next
        } else {
            next <= start && (is_within || (start == edge && segment.is_pure_ack()))
        };
        fits.then_some(Range { start, end })
    }

    /// Whether PAWS rejects the segment (RFC 7323 §5.3). PAWS does not apply to resets.
    #[inline]
    pub(super) fn fails_paws(&self, now: Time, segment: &Segment) -> bool {
        let Some(stamps) = segment.timestamps.filter(|_| self.agreed.timestamps) else { return false };
        let is_past = (stamps.value.wrapping_sub(self.ts_recent) as i32) < 0;
        is_past && !segment.flags.has(Flags::RST) && !self.has_outdated_stamp(now)
    }

    /// Range of an unacceptable segment with data, if all data of the segment was received before.
    fn received_before(&self, now: Time, segment: &Segment) -> Option<Range> {
        let next = self.receiver.next();
        let start = self.irs.offset_of(segment.seq, next)?;
        let range = Range { start, end: start + u64::from(segment.len) };
        (!range.is_empty() && range.end <= next && !self.fails_paws(now, segment)).then_some(range)
    }

    /// Whether TS.Recent is outdated. After 24 days of silence, the peer's clock may have advanced by half of its range
    /// (RFC 7323 §5.5).
    #[cold]
    fn has_outdated_stamp(&self, now: Time) -> bool {
        // A timestamp clock with a tick below 1 ms advances by half of its range in less than 24 days.
        let half_round = Duration::from_nanos(u64::from(self.tick) << 31);
        now.since(self.last_arrival) >= LONGEST_SILENCE.min(half_round)
    }

    /// Answers an unacceptable segment, except a reset, with an ACK.
    #[cold]
    fn reject(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if self.is_repeated_syn(now, segment) {
            return self.retransmit_syn_ack(now, segment, arriving);
        }
        self.log.trace(now, Event::Rejected);
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.len == 0 && !segment.flags.has(Flags::FIN) {
            return if self.is_repeated_syn_ack(segment) {
                self.acknowledge_repeated_syn_ack(now, arriving.ecn)
            } else {
                self.challenge(now)
            };
        }
        // The segment may be a duplicate whose ACK was lost, so the peer needs another ACK.
        if let Some(range) = self.received_before(now, segment) {
            self.receiver.note_duplicate(range);
            let is_recent = self.receiver.next() - range.start <= self.receiver.largest_window();
            if let Some(stamps) = segment.timestamps.filter(|_| self.agreed.timestamps && is_recent)
                && self.acceptable_ack(segment).is_some()
            {
                // TS.Recent takes the timestamp of the duplicate, so that the ACK echoes the duplicate. An echo of the
                // first copy, whose ACK was lost, would make the peer's RTT sample too long (RFC 7323 §4.3, 2).
                self.ts_recent = stamps.value;
            }
        }
        self.receiver.acknowledge_now();
        if self.state == State::TimeWait && self.is_peer_fin(segment) {
            self.restart_time_wait(now);
        }
    }

    /// Handles a reset. A reset closes the connection only if its sequence number is exactly RCV.NXT. At any other
    /// number in the window, a challenge ACK answers the reset (RFC 5961 §3).
    #[cold]
    fn handle_reset(&mut self, now: Time, segment: &Segment) {
        if segment.seq != self.irs.at(self.receiver.next()) {
            return self.challenge(now);
        }
        match (self.state, self.role) {
            (State::SynReceived, Role::Passive) => self.return_to_listen(),
            (State::SynReceived, Role::Active) => self.end(EndReason::Refused),
            (State::TimeWait, _) => self.end(EndReason::Closed),
            _ => self.end(EndReason::Reset),
        }
    }

    /// Handles the ACK field. Returns whether to process the rest of the segment.
    #[inline]
    fn handle_acknowledgement(&mut self, now: Time, segment: &Segment, at: u64) -> bool {
        let una = self.sending.una();
        let ack = self.acceptable_ack(segment);
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        let is_handshake = self.state == State::SynReceived;
        if is_handshake {
            if ack != Some(1) {
                self.refuse(segment);
                return false;
            }
            self.establish(now, window);
        }
        let Some(ack) = ack else {
            // The ACK acknowledges data that was never sent, or is too old for this connection (RFC 5961 §5).
            self.challenge(now);
            return false;
        };
        if ack < una {
            // The ACK number is old, but the data and the SACK blocks of the segment may be new.
            if self.agreed.sack && !segment.sack.is_empty() {
                self.process_overtaken_ack(now, segment, at, ack);
            }
            return true;
        }
        if ack == una && self.state == State::Established && self.expects_no_ack(segment) {
            // If only the peer sends data, all its segments carry the same ACK number. Such an ACK only updates the
            // window.
            self.sending.update_window(at, ack, window);
            return true;
        }
        self.process_ack(now, segment, at, ack, is_handshake);
        true
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn process_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        at: u64,
        ack: u64,
        is_handshake: bool,
    ) {
        let sender = self.sender();
        let una = sender.scoreboard().una();
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        let mut blocks = [Range::default(); SackBlocks::CAPACITY];
        let sack = self.sack_ranges(segment, una, &mut blocks);
        let (ece, marked) = self.reported_marks(segment, ack.saturating_sub(una), is_handshake);
        let news = Ack {
            ack,
            window,
            // A report of a damaged segment (HACK) is handled like data, because it must not count as a duplicate ACK.
            carries_data: segment.sequence_space() > 0 || segment.damaged().is_some(),
            sack,
            stamps: segment.timestamps.filter(|_| self.agreed.timestamps),
            tick: u64::from(self.tick),
            ece,
            marked,
            selective: self.agreed.sack,
            hint: segment.flags.hint(),
            at,
        };
        let sender = self.sending.created();
        sender.handle_ack(now, &news, &mut self.log);
        let is_finished = sender.is_finished();
        if let Some(seq) = segment.damaged() {
            self.handle_damage_report(seq);
        }
        if is_finished {
            self.after_our_fin(now);
        }
    }

    /// Handles an ACK that a later ACK overtook. Only the SACK blocks of the overtaken ACK count (RFC 6675 §5; Linux's
    /// `old_ack`). The next ACK repeats the report of congestion marks.
    #[cold]
    fn process_overtaken_ack(&mut self, now: Time, segment: &Segment, at: u64, ack: u64) {
        let una = self.sender().scoreboard().una();
        let mut blocks = [Range::default(); SackBlocks::CAPACITY];
        let news = Ack {
            ack,
            window: u64::from(segment.window) << self.agreed.peer_shift,
            carries_data: segment.sequence_space() > 0,
            sack: self.sack_ranges(segment, una, &mut blocks),
            selective: self.agreed.sack,
            at,
            ..Ack::BARE
        };
        self.sending.created().handle_ack(now, &news, &mut self.log);
    }

    /// Whether the segment can neither acknowledge data nor report anything: no data is outstanding, ECN is not
    /// negotiated, and the segment has no SACK blocks and no damage report.
    #[inline]
    fn expects_no_ack(&self, segment: &Segment) -> bool {
        self.sending
            .sender()
            .is_none_or(|sender| sender.is_on_fast_path() && sender.scoreboard().outstanding() == 0)
            && self.agreed.ecn == Feedback::None
            && segment.sack.is_empty()
            && segment.damaged().is_none()
    }

    #[cold]
    fn handle_damage_report(&mut self, seq: Seq) {
        if let Some(offset) = self.iss.offset_of(seq, self.sending.una()) {
            self.sender_mut().handle_damaged(offset);
        }
    }

    /// Stream offset up to which the segment acknowledges data. `None` if the data was never sent, or if the ACK is too
    /// old (RFC 5961 §5).
    #[inline]
    fn acceptable_ack(&self, segment: &Segment) -> Option<u64> {
        let acceptable = self.sending.oldest_ack()..=self.sending.may_acknowledge();
        let ack = self.iss.offset_of(segment.ack, self.sending.una())?;
        (segment.flags.has(Flags::ACK) && acceptable.contains(&ack)).then_some(ack)
    }

    fn sack_ranges<'a>(
        &self,
        segment: &Segment,
        una: u64,
        blocks: &'a mut [Range; SackBlocks::CAPACITY],
    ) -> &'a [Range] {
        if !self.agreed.sack || segment.sack.is_empty() {
            return &[];
        }
        let mut count = 0;
        for (left, right) in segment.sack.as_slice() {
            if let (Some(start), Some(end)) =
                (self.iss.offset_of(*left, una), self.iss.offset_of(*right, una))
            {
                blocks[count] = Range { start, end };
                count += 1;
            }
        }
        &blocks[..count]
    }

    pub(super) fn handle_payload(
        &mut self,
        now: Time,
        segment: &Segment,
        sent: Range,
        arriving: &Arriving,
        mark_is_urgent: bool,
    ) {
        // Data beyond the window is discarded (RFC 9293 §3.10.7.4). A FIN at the right edge is accepted, because a FIN
        // needs no buffer space.
        let range = Range { start: sent.start, end: sent.end.min(self.receiver.edge().max(sent.start)) };
        let fin = segment.flags.has(Flags::FIN) && range.end == sent.end;
        if range.is_empty() && !fin {
            self.receiver.acknowledge_now();
            return;
        }
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            // The peer's FIN arrived earlier, so this segment is a retransmission. The receiver acknowledges the
            // segment again.
            self.receiver.acknowledge_now();
            return;
        }
        let is_marked = arriving.ecn == Ecn::Ce;
        if self.agreed.ecn == Feedback::Classic {
            self.echoed = self.mark_feedback.on_data(is_marked);
        }
        if is_marked && self.agreed.ecn != Feedback::None {
            self.log.rare().marked += 1;
        }
        let stamps = segment.timestamps.filter(|_| self.agreed.timestamps && self.receiver.wants_times());
        let data = DataSegment {
            range,
            sent: stamps.map(|stamps| self.peer_time(now, stamps.value)),
            rtt: stamps.and_then(|stamps| self.since_echo(now, stamps.echo)),
            marked: mark_is_urgent || (is_marked && self.agreed.ecn == Feedback::Classic),
        };
        self.receiver.handle_data(now, &data, fin, &mut self.log);
        let has_option_space = self.sending.sender().is_some_and(|sender| sender.has_option_space());
        if self.receiver.has_report() || has_option_space || self.agreed.ecn == Feedback::Accurate {
            self.leave_room_for_options();
        }
        if self.receiver.has_finished() {
            self.after_peer_fin(now);
        }
    }

    fn after_our_fin(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.end(EndReason::Closed),
            _ => {}
        }
    }

    fn after_peer_fin(&mut self, now: Time) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }
}
