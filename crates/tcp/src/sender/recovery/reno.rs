//! Reno: fast retransmit and fast recovery (RFC 5681 §3.2, koga §2.1.6, Figs. 2.5 and 2.6).
//!
//! RFC 5681 enters recovery at any third duplicate ACK, even if go-back-N has caused the duplicate ACKs. NewReno's
//! condition prevents this by default: the ACK number must be above `recover` (RFC 6582 §3.2 step 2). The parameter
//! `reenter` follows RFC 5681 literally.

use super::{AckNews, Build, COUNTED, Duplicates, LIMITED_TRANSMIT, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "reno",
        summary: "fast retransmit and fast recovery; the first new ACK ends the recovery",
        source: "RFC 5681 §3.2; koga §2.1.6",
        parameters: &[
            LIMITED_TRANSMIT,
            COUNTED,
            Parameter {
                name: "reenter",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "whether a second loss in the same window, or duplicates after a timeout, halve the window again \
                      (Reno of the 1990s, literal RFC 5681). Otherwise only duplicates beyond the data outstanding at \
                      the last loss or timeout count (RFC 6582 §3.2 step 2)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Reno {
            duplicates: Duplicates::new(values),
            reenters: values.flag("reenter"),
            recover: 0,
            recovering: false,
            must_send: false,
            left: 0,
        })
    },
};

struct Reno {
    duplicates: Duplicates,
    reenters: bool,
    /// Offset after the highest byte sent at the last detected loss or timeout.
    recover: u64,
    recovering: bool,
    must_send: bool,
    left: u64,
}

impl LossRecovery for Reno {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        if self.recovering {
            if news.acked > 0 {
                self.recovering = false;
                self.must_send = false;
                self.duplicates.reset();
                return RecoveryStep::Leave;
            }
            if news.duplicate {
                self.left += news.mss;
            }
            return RecoveryStep::Same;
        }
        // The condition on `recover` excludes duplicate ACKs caused by go-back-N. An explicit notification (`certain`)
        // does not need this condition.
        let guarded = !(self.reenters || news.certain) && scoreboard.una() <= self.recover;
        if !self.duplicates.reach_threshold(news) || guarded {
            return RecoveryStep::Same;
        }
        let is_retransmission = scoreboard.una() < self.recover;
        self.recovering = true;
        self.must_send = true;
        self.recover = scoreboard.nxt();
        self.left = u64::from(self.duplicates.count) * news.mss;
        if is_retransmission { RecoveryStep::Reenter } else { RecoveryStep::Enter }
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
            scoreboard.outstanding().saturating_sub(self.left)
        } else {
            // After a timeout, data that is marked lost and not yet retransmitted does not count as in flight.
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
