//! NewReno: recovery lasts until all data outstanding at its start is acknowledged (RFC 6582, koga Fig. 2.7).

use super::{AckNews, Build, COUNTED, Duplicates, LIMITED_TRANSMIT, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "new_reno",
        summary: "fast recovery that retransmits on each partial ACK",
        source: "RFC 6582 §3.2; koga §2.1.6",
        parameters: &[LIMITED_TRANSMIT, COUNTED],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(NewReno {
            duplicates: Duplicates::new(values),
            recover: 0,
            recovering: false,
            must_send: false,
            partial_seen: false,
            left: 0,
        })
    },
};

struct NewReno {
    duplicates: Duplicates,
    /// Offset after the highest byte sent at the last detected loss or timeout (RFC 6582 §3.2 steps 2 and 4).
    recover: u64,
    recovering: bool,
    must_send: bool,
    partial_seen: bool,
    /// Outstanding bytes that have left the network, as duplicate ACKs show, minus the "partial window deflation" of
    /// partial ACKs. Negative after partial ACKs of several segments.
    left: i64,
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        if self.recovering {
            return self.on_ack_in_recovery(news, scoreboard);
        }
        // Duplicate ACKs indicate a new loss only if their ACK number is above `recover` (RFC 6582 §3.2 step 2).
        if !self.duplicates.reach_threshold(news) || (scoreboard.una() <= self.recover && !news.certain) {
            return RecoveryStep::Same;
        }
        self.recovering = true;
        self.must_send = true;
        self.partial_seen = false;
        self.recover = scoreboard.nxt();
        self.left = i64::from(self.duplicates.count) * news.mss as i64;
        RecoveryStep::Enter
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.nxt();
        self.recovering = false;
        self.must_send = true;
        self.duplicates.reset();
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.una().saturating_sub(1);
        self.recovering = false;
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
        if self.recovering { None } else { scoreboard.next_lost() }
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.must_send &= !is_retransmission;
        if !self.recovering {
            self.duplicates.on_sent(range, is_retransmission);
        }
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.recovering {
            (scoreboard.outstanding() as i64 - self.left).max(0) as u64
        } else {
            self.duplicates.in_flight(scoreboard).saturating_sub(scoreboard.left_network())
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
}

impl NewReno {
    fn on_ack_in_recovery(&mut self, news: &AckNews, scoreboard: &Scoreboard) -> RecoveryStep {
        if news.acked == 0 {
            if news.duplicate {
                self.left += news.mss as i64;
            }
            return RecoveryStep::Same;
        }
        if scoreboard.una() >= self.recover {
            self.recovering = false;
            self.must_send = false;
            self.duplicates.reset();
            return RecoveryStep::Leave;
        }
        // RFC 6582 §3.2 step 3 deflates the inflated cwnd by the bytes acknowledged, then adds SMSS if at least SMSS
        // was acknowledged. Here the same changes apply to `left` instead of cwnd.
        self.left -= news.acked as i64;
        if news.acked >= news.mss {
            self.left += news.mss as i64;
        }
        self.must_send = true;
        let first = !std::mem::replace(&mut self.partial_seen, true);
        RecoveryStep::Partial { first }
    }
}
