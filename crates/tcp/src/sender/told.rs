//! What others tell of losses: a receiver that got a segment damaged, a node before the last hop. Only a sender whose judge
//! believes them does anything about it.

use super::Sender;
use super::timer::Kind;
use crate::ranges::Range;
use lasthop_base::Time;

/// Segments that go again because somebody told of them, whatever recovery thinks.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// First bytes of those that are to go.
    due: Vec<u64>,
    /// Of those that went: a recovery which finds the same loss need not send it a second time.
    sent: Vec<u64>,
}

/// More are not remembered: whoever tells of more may be lying, and the usual means find them too.
const MOST: usize = 256;

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

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
        let told = self.repair.told.get_or_insert_default();
        if told.due.len() < MOST && !told.due.contains(&start) {
            told.due.push(start);
        }
        self.take_stock();
    }

    /// The next segment that goes again because somebody told of it, unless its repeat is under way already.
    #[cold]
    pub(super) fn next_told(&mut self) -> Option<Range> {
        let told = self.repair.told.as_mut()?;
        let una = self.board.una();
        told.sent.retain(|start| *start >= una);
        while let Some(start) = told.due.pop() {
            if let Some(range) = self.board.lose(start) {
                if told.sent.len() < MOST {
                    told.sent.push(start);
                }
                return Some(range);
            }
        }
        self.take_stock();
        None
    }

    /// Whether this segment, which recovery would send, went out because somebody told of it; true once for each repeat.
    pub(super) fn was_told(&mut self, range: Range) -> bool {
        let Some(told) = &mut self.repair.told else { return false };
        let Some(place) = told.sent.iter().position(|start| *start == range.start) else { return false };
        told.sent.remove(place);
        let is_under_way = self.board.first_is_sent_again();
        if is_under_way {
            self.repair.recovery.on_sent(range, true);
        }
        is_under_way
    }
}
