//! SACK-based recovery (RFC 6675): `pipe` (bytes in flight) is compared with cwnd, and holes are retransmitted before
//! new data. As in the RFC, a lost retransmission is repaired only after a timeout.

use super::{
    AckNews, Build, COUNTED, DUP_THRESH, Duplicates, LIMITED_TRANSMIT, LastResort, LossRecovery, RecoveryStep,
};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Need, Parameter, Unit};

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
                doc: "whether to retransmit the last segment once per recovery if nothing else may be sent (NextSeg \
                      rule 4)",
            },
        ],
        needs: &[Need::Sack],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Sack::new(Duplicates::new(values), values.flag("rescue"))),
};

/// SACK recovery. NCR and DCR reuse SACK recovery with another condition for its start.
pub(super) struct Sack {
    duplicates: Duplicates,
    rescues: bool,
    /// RecoveryPoint (RFC 6675 §5): offset after the highest byte sent at the last detected loss or timeout.
    recover: u64,
    recovering: bool,
    /// Whether data that was outstanding at the last timeout is not yet acknowledged.
    restarting: bool,
    must_send: bool,
    rescued: bool,
}

impl LossRecovery for Sack {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        if scoreboard.sacked() > 0 {
            scoreboard.mark_lost_by_sack(news.mss);
        }
        if self.recovering {
            if news.acked == 0 {
                return RecoveryStep::Same;
            }
            if scoreboard.una() >= self.recover {
                self.recovering = false;
                self.must_send = false;
                self.duplicates.reset();
                return RecoveryStep::Leave;
            }
            return RecoveryStep::Partial { first: false };
        }
        self.restarting &= scoreboard.una() < self.recover;
        let reached = self.duplicates.reach_threshold(news);
        let found =
            reached || (self.duplicates.count > 0 && scoreboard.sacked() > 0 && scoreboard.first_is_lost());
        if !found || scoreboard.una() < self.recover {
            return RecoveryStep::Same;
        }
        self.enter(scoreboard)
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.nxt();
        self.recovering = false;
        self.restarting = true;
        self.must_send = true;
        self.duplicates.reset();
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.una();
        self.recovering = false;
        self.restarting = false;
        self.must_send = false;
        self.duplicates.reset();
    }

    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        if self.must_send { scoreboard.first_marked_lost() } else { None }
    }

    fn may_have_forced(&self) -> bool {
        self.must_send
    }

    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        // Outside of a recovery, losses wait until the next recovery begins.
        if self.repairs() && scoreboard.lost() > 0 { scoreboard.next_lost() } else { None }
    }

    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        if !self.recovering {
            return None;
        }
        if let Some(range) = scoreboard.next_doubtful() {
            return Some(LastResort::Doubtful(range));
        }
        let last = scoreboard.last_doubtful().filter(|_| self.rescues && !self.rescued)?;
        self.rescued = true;
        Some(LastResort::Rescue(last))
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.must_send &= !is_retransmission;
        if !self.recovering {
            self.duplicates.on_sent(range, is_retransmission);
        }
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.repairs() { scoreboard.pipe() } else { self.duplicates.in_flight(scoreboard) }
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.duplicates.flight(scoreboard)
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

    /// Whether a recovery, or the retransmission of data after a timeout, is in progress.
    pub(super) fn repairs(&self) -> bool {
        self.recovering || self.restarting
    }

    pub(super) fn enter(&mut self, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.recovering = true;
        // The previous recovery may already have retransmitted this segment: NextSeg rule 1 also chooses lost segments
        // above RecoveryPoint.
        self.must_send = !scoreboard.first_is_retransmitted();
        self.rescued = false;
        self.recover = scoreboard.nxt();
        self.duplicates.count = self.duplicates.count.max(DUP_THRESH);
        scoreboard.mark_first_lost();
        RecoveryStep::Enter
    }
}
