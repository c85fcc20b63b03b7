//! Non-congestion robustness (RFC 4653): a hole counts as lost only after a window of data has arrived above it.
//! Reordering within a round trip thus causes no retransmission.
//!
//! Until the hole counts as lost, new data is sent: one segment for every two SACKed segments ("careful") or for each
//! SACKed segment ("aggressive"). If the hole is filled, cwnd becomes the outstanding data plus at most one segment,
//! and slow start restores the former cwnd. Otherwise the recovery of RFC 6675 begins.
//!
//! Source: programs that quote RFC 4653, not the RFC itself. Each ACK recomputes the threshold from the outstanding
//! data.

use super::disorder::Disorder;
use super::{AckNews, Build, LastResort, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Need, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ncr",
        summary: "SACK recovery; a hole counts as lost once a window of data has arrived above it",
        source: "RFC 4653 (from programs that quote it)",
        parameters: &[Parameter {
            name: "mode",
            unit: Unit::Word(&["careful", "aggressive"]),
            default: Some("careful"),
            doc: "careful: loss when 2/3 of FlightSize is SACKed, one new segment per two SACKed segments; \
                  aggressive: loss when 1/2 is SACKed, one new segment per SACKed segment",
        }],
        needs: &[Need::Sack],
        ..Info::PLAIN
    },
    build: &|values| {
        let careful = values.word("mode") == "careful";
        let (share, reports_per_segment) = if careful { ((2, 3), 2) } else { ((1, 2), 1) };
        Box::new(Ncr { disorder: Disorder::new(reports_per_segment), share })
    },
};

struct Ncr {
    disorder: Disorder,
    /// LT_F of RFC 4653, as a fraction: share of FlightSize that must arrive above a hole.
    share: (u64, u64),
}

impl LossRecovery for Ncr {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        if self.disorder.sack.repairs() {
            self.disorder.forget();
            return self.disorder.sack.on_ack(news, scoreboard);
        }
        let ended = self.disorder.on_ack(news.acked > 0, news.mss, scoreboard);
        let threshold = (self.share.0 * scoreboard.outstanding()).div_ceil(self.share.1 * news.mss.max(1));
        if news.certain || self.disorder.has_reported(threshold, scoreboard) {
            return self.disorder.sack.enter(scoreboard);
        }
        ended.map_or(RecoveryStep::Same, |flight| RecoveryStep::Reordered { flight })
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.disorder.forget();
        self.disorder.sack.on_timeout(scoreboard);
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.disorder.forget();
        self.disorder.sack.on_spurious(scoreboard);
    }

    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.disorder.sack.next_forced(scoreboard)
    }

    fn may_have_forced(&self) -> bool {
        self.disorder.sack.may_have_forced()
    }

    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.disorder.sack.next_retransmission(scoreboard)
    }

    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        self.disorder.sack.last_resort(scoreboard)
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.disorder.on_sent(range, is_retransmission);
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.disorder.sack.repairs() {
            self.disorder.sack.in_flight(scoreboard)
        } else {
            self.disorder.in_flight(scoreboard)
        }
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.disorder.flight_at_loss(scoreboard)
    }

    fn is_recovering(&self) -> bool {
        self.disorder.sack.is_recovering()
    }

    fn is_idle(&self) -> bool {
        self.disorder.sack.is_idle() && self.disorder.flight.is_none()
    }

    fn uses_sack(&self) -> bool {
        true
    }
}
