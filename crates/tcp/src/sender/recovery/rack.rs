//! RACK-TLP (RFC 8985): a segment counts as lost if a segment sent sufficiently later has arrived. Tail loss probes are
//! sent before the retransmission timer expires.
//!
//! # Originals and copies
//! An ACK that arrives less than the smallest RTT after a retransmission acknowledges the original transmission. With
//! Eifel (`eifel = true`), the same holds for an ACK whose echoed timestamp is older than the retransmission (RFC 8985
//! §6.2 step 2).
//!
//! # A lost retransmission causes no further reduction
//! RFC 5681 §4.3 treats a lost retransmission as a second sign of congestion. Here the same recovery retransmits the
//! segment again and leaves cwnd unchanged. After slow start has overshot, losses may thus continue for several round
//! trips. RFC 6675 would repair a lost retransmission only after a timeout.

use super::{AckNews, Build, DUP_THRESH, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Info, Mechanism, Need, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "rack",
        summary: "loss detection by time: segments sent well before an arrived one are lost; tail loss probes",
        source: "RFC 8985",
        parameters: &[Parameter {
            name: "tail_probe",
            unit: Unit::Flag,
            default: Some("true"),
            doc: "whether a tail loss probe precedes the timeout (TLP, RFC 8985 §7)",
        }],
        needs: &[Need::Sack],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Rack::new(values.flag("tail_probe"))),
};

/// Number of recoveries after which a widened reordering window returns to its normal size (RACK.reo_wnd_persist).
const WINDOW_PERSISTS: u32 = 16;
/// Upper bound of the reordering window, in quarters of the smallest RTT. SRTT is another upper bound.
const MAX_QUARTERS: u64 = 255;

struct Rack {
    probes_tail: bool,
    /// Sending time (RACK.xmit_ts) and end offset (RACK.end_seq) of the most recently sent segment that has arrived.
    newest: Option<(Time, u64)>,
    /// RACK.rtt: round-trip time of `newest`.
    rtt: Duration,
    /// RACK.reo_wnd_mult: width of the reordering window, in quarters of the smallest RTT.
    quarters: u64,
    /// Number of further recoveries after which `quarters` returns to 1.
    persists: u32,
    /// RACK.dsack_round: D-SACKs do not widen the reordering window until this offset is acknowledged.
    widened_until: u64,
    shortest: Duration,
    srtt: Duration,
    mss: u64,
    /// Offset after the highest byte sent at the start of the last recovery or at the last timeout.
    recover: u64,
    recovering: bool,
    /// Whether data that was outstanding at the last timeout is not yet acknowledged.
    restarting: bool,
    must_send: bool,
    deadline: Time,
}

impl Rack {
    fn new(probes_tail: bool) -> Rack {
        Rack {
            probes_tail,
            newest: None,
            rtt: Duration::ZERO,
            quarters: 1,
            persists: 0,
            widened_until: 0,
            shortest: Duration::ZERO,
            srtt: Duration::ZERO,
            mss: 1,
            recover: 0,
            recovering: false,
            restarting: false,
            must_send: false,
            deadline: Time::NEVER,
        }
    }

    /// Reordering window (RFC 8985 §6.2 step 4). The window is zero if no reordering was ever seen and, in addition,
    /// three segments are SACKed or a recovery is in progress.
    fn reordering_window(&self, scoreboard: &Scoreboard) -> Duration {
        let is_repairing = self.recovering || self.restarting;
        let enough_reported = scoreboard.sacked() >= u64::from(DUP_THRESH) * self.mss;
        if !scoreboard.has_reordered() && (is_repairing || enough_reported) {
            return Duration::ZERO;
        }
        (self.shortest.divided_by(4) * self.quarters).min(self.srtt)
    }

    /// Marks segments as lost whose reordering window has passed, and sets the next deadline (RFC 8985 §6.2 step 5).
    fn detect(&mut self, now: Time, scoreboard: &mut Scoreboard) {
        self.deadline = match self.newest {
            Some(newest) => {
                scoreboard.mark_lost_by_time(now, newest, self.rtt + self.reordering_window(scoreboard))
            }
            None => Time::NEVER,
        };
    }

    /// Updates `newest`, the most recently sent segment that has arrived, and its round-trip time (RFC 8985 §6.2 step
    /// 2).
    fn update_newest(&mut self, news: &AckNews, scoreboard: &Scoreboard) {
        let Some(seen) = scoreboard.newest() else { return };
        let rtt = news.now.since(seen.sent_at);
        let is_echoed = news.sent_before.is_none_or(|end| seen.sent_at < end);
        let is_of_original = seen.is_retransmitted && (rtt < self.shortest || !is_echoed);
        if !is_of_original && self.newest.is_none_or(|known| known < (seen.sent_at, seen.end)) {
            self.newest = Some((seen.sent_at, seen.end));
            self.rtt = rtt;
        }
    }

    /// Widens the reordering window at most once per round trip if a D-SACK reports a spurious retransmission (RFC 8985
    /// §6.2 step 4).
    fn widen_reordering_window(&mut self, news: &AckNews, scoreboard: &Scoreboard) {
        if news.is_dsack && scoreboard.una() >= self.widened_until {
            self.widened_until = scoreboard.nxt();
            self.quarters = (self.quarters + 1).min(MAX_QUARTERS);
            self.persists = WINDOW_PERSISTS;
        }
    }

    fn enter(&mut self, scoreboard: &Scoreboard) -> RecoveryStep {
        if self.recovering || self.restarting || scoreboard.lost() == 0 {
            return RecoveryStep::Same;
        }
        self.recovering = true;
        self.must_send = true;
        self.recover = scoreboard.nxt();
        RecoveryStep::Enter
    }

    fn leave(&mut self) -> RecoveryStep {
        self.recovering = false;
        self.must_send = false;
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
        RecoveryStep::Leave
    }
}

impl LossRecovery for Rack {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.mss = news.mss;
        (self.srtt, self.shortest) = news.rtts.unwrap_or((self.srtt, self.shortest));
        self.widen_reordering_window(news, scoreboard);
        self.update_newest(news, scoreboard);
        self.restarting &= scoreboard.una() < self.recover;
        self.detect(news.now, scoreboard);
        if self.recovering && scoreboard.una() >= self.recover {
            return self.leave();
        }
        if self.recovering && news.acked > 0 {
            return RecoveryStep::Partial { first: false };
        }
        if news.certain && !self.recovering {
            scoreboard.mark_first_lost();
        }
        self.enter(scoreboard)
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, now: Time, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.detect(now, scoreboard);
        self.enter(scoreboard)
    }

    fn probes_tail(&self) -> bool {
        self.probes_tail
    }

    fn needs_times(&self) -> bool {
        true
    }

    /// RFC 8985 §6.3: marks the first segment as lost, and the segments whose reordering window has passed. Segments
    /// sent recently may still arrive.
    ///
    /// The fast path does not call `on_ack`, so the stored round-trip times may be outdated. `news` contains the
    /// current round-trip times.
    fn mark_at_timeout(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) {
        if scoreboard.has_reneged() {
            return scoreboard.mark_all_lost();
        }
        (self.srtt, self.shortest) = news.rtts.unwrap_or((self.srtt, self.shortest));
        self.rtt = news.rtt.unwrap_or(self.rtt);
        let wait = self.rtt + self.reordering_window(scoreboard);
        scoreboard.mark_lost_by_time(news.now, (Time::NEVER, u64::MAX), wait);
        scoreboard.mark_first_and_copy_lost();
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.nxt();
        self.recovering = false;
        self.restarting = true;
        self.must_send = true;
        self.deadline = Time::NEVER;
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.recover = scoreboard.una();
        self.recovering = false;
        self.restarting = false;
        self.must_send = false;
    }

    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        if self.must_send { scoreboard.next_lost() } else { None }
    }

    fn may_have_forced(&self) -> bool {
        self.must_send
    }

    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        if scoreboard.lost() > 0 { scoreboard.next_lost() } else { None }
    }

    fn on_sent(&mut self, _: Range, is_retransmission: bool) {
        self.must_send &= !is_retransmission;
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.pipe()
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.outstanding()
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn is_idle(&self) -> bool {
        !self.recovering && !self.restarting && !self.must_send && self.deadline == Time::NEVER
    }

    fn uses_sack(&self) -> bool {
        true
    }
}
