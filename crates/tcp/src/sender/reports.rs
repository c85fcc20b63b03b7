//! What others tell of losses: a receiver that got a segment damaged, a node before the last hop. Only a sender whose judge
//! believes them does anything about it.

use super::Sender;
use super::timer::Kind;
use crate::ranges::Range;
use lasthop_base::Time;

impl Sender {
    /// The receiver says that the segment at this offset arrived damaged (HACK).
    pub(crate) fn handle_damaged(&mut self, offset: u64) {
        let Some(segment) = self.board.segment_at(offset) else { return };
        if let Some(judge) = &mut self.judge
            && judge.on_damaged(segment)
        {
            self.tell_again(segment.start);
        }
    }

    /// A node says that these bytes have reached the last hop (LHACK).
    pub(crate) fn handle_last_hop(&mut self, range: Range) {
        let outstanding =
            Range { start: range.start.max(self.board.una()), end: range.end.min(self.board.nxt()) };
        if let Some(judge) = &mut self.judge
            && outstanding.start < outstanding.end
        {
            judge.on_last_hop(outstanding);
        }
    }

    /// A node says that the link behind it fails and tries again (EBSN); the peer was heard last at `heard_at`.
    pub(crate) fn handle_bad_state(&mut self, now: Time, heard_at: Time) {
        let is_waiting = self.timer.kind() == Kind::Retransmit && !self.timer.is_off();
        if !is_waiting || self.board.outstanding() == 0 {
            return;
        }
        let backed_off = self.rtt.is_backed_off();
        if let Some(judge) = &mut self.judge
            && judge.on_bad_state(now, backed_off, heard_at)
        {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
    }

    /// The timer has expired for the first outstanding segment: whether the judge knows that this is no congestion. It goes
    /// again, and that is all.
    pub(super) fn is_spared_timeout(&mut self, now: Time) -> bool {
        let Some(first) = self.board.first() else { return false };
        if !self.judge.as_mut().is_some_and(|judge| judge.spares_timeout(first)) {
            return false;
        }
        self.board.lose_first_again();
        self.tell_again(first.start);
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        true
    }

    /// The segment that begins there goes again.
    pub(super) fn tell_again(&mut self, start: u64) {
        self.repair.report(start);
        self.take_stock();
    }
}
