//! Recovery of ns-2's `Agent/TCP/Sack1`. `pipe`, the estimate of the data in flight, is reduced by a segment per ACK,
//! and every hole counts as lost.
//!
//! * The third duplicate ACK begins a recovery. `pipe` starts as the outstanding data minus three segments, so it
//!   includes lost segments.
//! * Each duplicate ACK subtracts a segment from `pipe`, and a partial ACK subtracts two. Each transmission except the
//!   first retransmission adds a segment.
//! * While `pipe` is below cwnd, the lowest hole that was not yet retransmitted is retransmitted. If all holes were
//!   retransmitted, new data is sent. IsLost and rescue retransmissions (RFC 6675) are not used.
//! * A timeout, the end of a recovery, and each new ACK outside of a recovery clear all SACK marks of the scoreboard.
//! * After a timeout all outstanding data is retransmitted. Duplicate ACKs can begin a recovery again when all data
//!   outstanding at the timeout is acknowledged.
//!
//! # Not modelled
//! ns-2 halves min(cwnd, receiver's window) in whole segments. Here `congestion.halve = "window"` halves the same
//! minimum in bytes. `partial_ack_` (2003) is not implemented; it is off by default in ns-2.

use super::{AckNews, Build, COUNTED, Duplicates, LIMITED_TRANSMIT, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Need};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "sack1",
        summary: "ns-2's Sack1: each ACK lowers pipe, every hole counts as lost, SACK marks are cleared after recovery",
        source: "ns-2.35, tcp/tcp-sack1.cc; docs/development/validation/ns2.md",
        parameters: &[LIMITED_TRANSMIT, COUNTED],
        needs: &[Need::Sack],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Sack1 {
            duplicates: Duplicates::new(values),
            recover: 0,
            recovering: false,
            deaf: false,
            must_send: false,
            pipe: 0,
        })
    },
};

struct Sack1 {
    duplicates: Duplicates,
    /// Offset after the highest byte sent at the start of a recovery or at a timeout (`recover_`); 0 after a recovery.
    recover: u64,
    recovering: bool,
    /// Whether duplicate ACKs are ignored, from a timeout until the next new ACK (`timeout_`).
    deaf: bool,
    must_send: bool,
    /// Estimate of the bytes in flight during a recovery (`pipe_`). Negative if ACKs have subtracted more than
    /// transmissions have added.
    pipe: i64,
}

impl LossRecovery for Sack1 {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.deaf &= news.acked == 0;
        if self.recovering {
            return self.on_ack_in_recovery(news, scoreboard);
        }
        // An ACK counts as a duplicate only if the scoreboard has SACK marks. After a recovery no marks remain, because
        // ns-2 also discards the SACK blocks of the ACK that ends the recovery.
        let duplicate = news.is_pure_duplicate() && scoreboard.sacked() > 0 && !self.deaf;
        if news.acked > 0 || self.deaf || scoreboard.una() <= self.recover {
            scoreboard.forget_reports();
        }
        let reached = self.duplicates.reach_threshold(&AckNews { duplicate, ..*news });
        if !reached || scoreboard.una() <= self.recover {
            return RecoveryStep::Same;
        }
        self.recovering = true;
        self.must_send = true;
        self.recover = scoreboard.nxt();
        self.pipe = scoreboard.outstanding() as i64 - i64::from(self.duplicates.count) * news.mss as i64;
        RecoveryStep::Enter
    }

    fn mark_at_timeout(&mut self, _: &AckNews, scoreboard: &mut Scoreboard) {
        scoreboard.forget_reports();
        scoreboard.mark_all_lost();
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.nxt();
        self.recovering = false;
        self.deaf = true;
        self.must_send = true;
        self.duplicates.reset();
    }

    fn on_spurious(&mut self, _: &Scoreboard) {
        self.recover = 0;
        self.recovering = false;
        self.deaf = false;
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
        if self.recovering {
            scoreboard.next_doubtful().and_then(|hole| scoreboard.mark_lost_at(hole.start))
        } else {
            scoreboard.next_lost()
        }
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        let is_first = self.must_send && is_retransmission;
        self.must_send &= !is_retransmission;
        if !self.recovering {
            self.duplicates.on_sent(range, is_retransmission);
        } else if !is_first {
            self.pipe += range.len() as i64;
        }
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.recovering {
            self.pipe.max(0) as u64
        } else {
            // After a timeout, lost data that is not yet retransmitted does not count as in flight. SACKed data still
            // counts as in flight.
            self.duplicates
                .in_flight(scoreboard)
                .saturating_sub(scoreboard.left_network().saturating_sub(scoreboard.sacked()))
        }
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.duplicates.flight(scoreboard)
    }

    fn is_idle(&self) -> bool {
        !self.recovering && !self.must_send && self.duplicates.count == 0
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn uses_sack(&self) -> bool {
        true
    }
}

impl Sack1 {
    fn on_ack_in_recovery(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        let is_over = news.acked > 0 && scoreboard.una() >= self.recover;
        if is_over {
            self.recover = 0;
            self.recovering = false;
            self.must_send = false;
            self.duplicates.reset();
            scoreboard.forget_reports();
            scoreboard.forget_losses();
            return RecoveryStep::Leave;
        }
        let left = if news.acked > 0 { 2 } else { 1 };
        self.pipe -= left * news.mss as i64;
        if news.acked > 0 { RecoveryStep::Partial { first: false } } else { RecoveryStep::Same }
    }
}
