//! Tahoe: fast retransmit, then slow start (koga §2.1.5).
//!
//! Tahoe is go-back-N without SACK. After a loss, the sender retransmits all outstanding data in order, except data
//! that is acknowledged before its turn.

use super::{AckNews, Build, COUNTED, Duplicates, LIMITED_TRANSMIT, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "tahoe",
        summary: "retransmits after three duplicate ACKs, then slow start from one segment",
        source: "Jacobson 1988; koga §2.1.5",
        parameters: &[LIMITED_TRANSMIT, COUNTED],
        ..Info::PLAIN
    },
    build: &|values| Box::new(Tahoe { duplicates: Duplicates::new(values), recover: 0, must_send: false }),
};

struct Tahoe {
    duplicates: Duplicates,
    /// Offset after the highest byte sent at the last loss or timeout. Duplicate ACKs at or below this offset are
    /// caused by go-back-N and ignored.
    recover: u64,
    must_send: bool,
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        if !self.duplicates.reach_threshold(news) || scoreboard.una() <= self.recover {
            return RecoveryStep::Same;
        }
        RecoveryStep::Restart
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.nxt();
        self.must_send = true;
        self.duplicates.reset();
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.una().saturating_sub(1);
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
        scoreboard.next_lost()
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.must_send &= !is_retransmission;
        self.duplicates.on_sent(range, is_retransmission);
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.pipe().min(self.duplicates.in_flight(scoreboard))
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.duplicates.flight(scoreboard)
    }

    fn is_idle(&self) -> bool {
        !self.must_send && self.duplicates.count == 0
    }

    fn is_recovering(&self) -> bool {
        false
    }
}
