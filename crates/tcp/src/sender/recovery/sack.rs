//! SACK-based recovery (RFC 6675): the pipe decides, holes go first.
//!
//! # No detection of lost retransmissions
//! As in RFC 6675 itself: a retransmission that is lost waits for the timer.

use super::{
    AckNews, Build, COUNTED, DUP_THRESH, Duplicates, LIMITED_TRANSMIT, LastResort, LossRecovery, Step,
};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Need, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "sack",
        summary: "selective acknowledgements, pipe-limited recovery",
        source: "RFC 6675; RFC 2018",
        parameters: &[
            LIMITED_TRANSMIT,
            COUNTED,
            Parameter {
                name: "rescue",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether the last segment is sent again once per recovery when nothing else may be (NextSeg rule 4)",
            },
        ],
        needs: &[Need::Sack],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Sack::new(Duplicates::new(values), values.flag("rescue"))),
};

/// Its repair, which others begin by rules of their own.
pub(super) struct Sack {
    duplicates: Duplicates,
    rescues: bool,
    /// RecoveryPoint; survives a timeout (RFC 6675 §5.1).
    recover: u64,
    recovering: bool,
    /// After a timeout, until all that was outstanding then is acknowledged.
    restarting: bool,
    must_send: bool,
    rescued: bool,
}

impl LossRecovery for Sack {
    fn on_ack(&mut self, news: &AckNews, board: &mut Scoreboard) -> Step {
        if board.sacked() > 0 {
            board.mark_lost_by_sack(news.mss);
        }
        if self.recovering {
            if news.acked == 0 {
                return Step::Same;
            }
            if board.una() >= self.recover {
                self.recovering = false;
                self.must_send = false;
                self.duplicates.reset();
                return Step::Leave;
            }
            return Step::Partial { first: false };
        }
        self.restarting &= board.una() < self.recover;
        let reached = self.duplicates.reach_threshold(news);
        let found = reached || (self.duplicates.count > 0 && board.sacked() > 0 && board.first_is_lost());
        if !found || board.una() < self.recover {
            return Step::Same;
        }
        self.enter(board)
    }

    fn on_timeout(&mut self, board: &Scoreboard) {
        self.recover = board.nxt();
        self.recovering = false;
        self.restarting = true;
        self.must_send = true;
        self.duplicates.reset();
    }

    fn on_spurious(&mut self, board: &Scoreboard) {
        self.recover = board.una();
        self.recovering = false;
        self.restarting = false;
        self.must_send = false;
        self.duplicates.reset();
    }

    fn must_send(&mut self, board: &mut Scoreboard) -> Option<Range> {
        if self.must_send { board.lose_first() } else { None }
    }

    fn may_have_to_send(&self) -> bool {
        self.must_send
    }

    fn next_retransmission(&mut self, board: &mut Scoreboard) -> Option<Range> {
        // What SACK tells of data behind `recover` waits for the recovery of its own.
        if self.repairs() && board.lost() > 0 { board.next_lost() } else { None }
    }

    fn last_resort(&mut self, board: &mut Scoreboard) -> Option<LastResort> {
        if !self.recovering {
            return None;
        }
        if let Some(range) = board.next_doubtful() {
            return Some(LastResort::Doubtful(range));
        }
        let last = board.last_doubtful().filter(|_| self.rescues && !self.rescued)?;
        self.rescued = true;
        Some(LastResort::Rescue(last))
    }

    fn on_sent(&mut self, range: Range, again: bool) {
        self.must_send &= !again;
        if !self.recovering {
            self.duplicates.on_sent(range, again);
        }
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        match self.repairs() {
            true => board.pipe(),
            false => self.duplicates.in_flight(board),
        }
    }

    fn flight_at_loss(&self, board: &Scoreboard) -> u64 {
        self.duplicates.flight(board)
    }

    fn is_idle(&self) -> bool {
        !self.repairs() && !self.must_send && self.duplicates.count == 0
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn uses_sack(&self) -> bool {
        true
    }
}

impl Sack {
    pub(super) fn new(duplicates: Duplicates, rescues: bool) -> Sack {
        Sack {
            duplicates,
            rescues,
            recover: 0,
            recovering: false,
            restarting: false,
            must_send: false,
            rescued: false,
        }
    }

    /// Recovery, or what follows a timeout.
    pub(super) fn repairs(&self) -> bool {
        self.recovering || self.restarting
    }

    /// The first outstanding segment is lost: recovery begins.
    pub(super) fn enter(&mut self, board: &mut Scoreboard) -> Step {
        self.recovering = true;
        // A segment sent after the last recovery began may have been repaired in it already (NextSeg rule 1 is not
        // bounded by RecoveryPoint): it is not sent a third time while its copy is in flight.
        self.must_send = !board.first_is_sent_again();
        self.rescued = false;
        self.recover = board.nxt();
        self.duplicates.count = self.duplicates.count.max(DUP_THRESH);
        board.mark_first_lost();
        Step::Enter
    }
}
