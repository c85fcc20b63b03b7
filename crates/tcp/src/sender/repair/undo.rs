//! Undo of spurious repairs, which reordering or delay has caused.
//!
//! There are three kinds of evidence: D-SACKs for every retransmission (RFC 3708); an echoed timestamp older than the
//! first retransmission (`eifel.rs`); an original segment that arrives after a timeout (`f_rto.rs`). The response is
//! RFC 4015's or Linux's. Linux's response restores the whole window at once and keeps the timeout. After D-SACKs the
//! response is always Linux's.
//!
//! If [loss discrimination](crate::sender::loss_discrimination) decides the outcome of a recovery, timestamps do not
//! undo it.

use super::eifel::{Echo, SpuriousRepair};
use crate::rtt::RttEstimator;
use crate::sender::congestion::Level;
use lasthop_base::{Duration, Time};

/// Kinds of evidence that are enabled, and extent of the undo.
#[derive(Clone, Copy, Debug)]
pub(super) struct UndoRules {
    /// Whether D-SACKs are evidence.
    pub(super) dsack: bool,
    /// Tick of the timestamp clock, if Eifel is enabled.
    pub(super) eifel_tick: Option<Duration>,
    /// Whether to restore the whole window, as Linux does.
    pub(super) restores_whole: bool,
    /// Largest burst in bytes, if the window is not restored as a whole: the initial window (RFC 4015 §3.2).
    pub(super) burst: u64,
}

#[derive(Debug)]
pub(super) struct Undo {
    rules: UndoRules,
    /// State before the repair; `None`: nothing to undo.
    before: Option<StateBefore>,
    /// Number of retransmitted segments, minus the number of segments reported as duplicates.
    undo_retransmissions: u32,
    is_due: bool,
    first_retransmitted_at: Option<Time>,
    /// After a spurious timeout: state of the RTT estimator before the timeout, and an offset. The first sample of data
    /// above the offset restores the state.
    previous_rtt: Option<(PreviousRtt, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct StateBefore {
    level: Level,
    /// FlightSize, bytes.
    flight: u64,
    previous_rtt: PreviousRtt,
    /// Whether the timer has expired since the repair began.
    has_timed_out: bool,
}

/// SRTT_prev and RTTVAR_prev (RFC 4015 §3.1).
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct PreviousRtt {
    pub(in crate::sender) srtt: Duration,
    pub(in crate::sender) variation: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Undone {
    before: StateBefore,
    restores_whole: bool,
    /// Largest burst in bytes, if the window is not restored as a whole.
    burst: u64,
}

impl StateBefore {
    /// `flight`: FlightSize, bytes; `tick`: clock granularity; `has_timed_out`: the repair begins with a timeout, not a
    /// recovery.
    pub(in crate::sender) fn new(
        level: Level,
        flight: u64,
        rtt: &RttEstimator,
        tick: Duration,
        has_timed_out: bool,
    ) -> StateBefore {
        let srtt = rtt.srtt().unwrap_or(rtt.rto());
        let previous_rtt = PreviousRtt { srtt: srtt + tick * 2, variation: rtt.variation() };
        StateBefore { level, flight, previous_rtt, has_timed_out }
    }
}

impl Undone {
    pub(in crate::sender) fn was_timeout(&self) -> bool {
        self.before.has_timed_out
    }

    /// Window and threshold to restore. `from`: the current ones; `outstanding`: outstanding bytes.
    pub(in crate::sender) fn level(&self, from: Level, outstanding: u64, mss: u64) -> Level {
        let StateBefore { level, flight, .. } = self.before;
        if self.restores_whole {
            Level { window: level.window.max(from.window), ssthresh: level.ssthresh.max(from.ssthresh) }
        } else {
            Level {
                window: level.window.min((outstanding + self.burst).max(mss)),
                ssthresh: level.ssthresh.max(flight),
            }
        }
    }
}

impl Undo {
    pub(super) fn new(rules: UndoRules) -> Undo {
        Undo {
            rules,
            before: None,
            undo_retransmissions: 0,
            is_due: false,
            first_retransmitted_at: None,
            previous_rtt: None,
        }
    }

    pub(super) fn begin(&mut self, before: Option<StateBefore>) {
        self.before = before;
        self.undo_retransmissions = 0;
        self.is_due = false;
        self.first_retransmitted_at = None;
    }

    /// Records an expiry of the timer. `goes_on`: the expiry belongs to the current repair.
    pub(super) fn note_timeout(&mut self, before: Option<StateBefore>, goes_on: bool) {
        match &mut self.before {
            Some(known) if goes_on => known.has_timed_out = true,
            _ => self.begin(before),
        }
    }

    pub(super) fn on_retransmitted(&mut self, now: Time) {
        self.undo_retransmissions += 1;
        self.is_due = false;
        self.first_retransmitted_at.get_or_insert(now);
    }

    pub(super) fn on_dsack(&mut self) {
        if self.rules.dsack && self.undo_retransmissions > 0 {
            self.undo_retransmissions -= 1;
            self.is_due = self.undo_retransmissions == 0;
        }
    }

    pub(super) fn is_spurious(&self) -> bool {
        self.is_due && self.before.is_some()
    }

    /// Kind of the repair, if the echoed timestamp shows that the repair was spurious. `covers_all`: the ACK covers all
    /// outstanding data.
    pub(super) fn check_echo(
        &self,
        echo: &Echo,
        covers_all: bool,
        has_dsack: impl FnOnce() -> bool,
    ) -> Option<SpuriousRepair> {
        let (sent_before, sent, before) = (echo.sent_before?, self.first_retransmitted_at?, self.before?);
        if sent < sent_before {
            return None;
        }
        let is_certain = self.rules.restores_whole || !covers_all || has_dsack();
        // RFC 3522 step 5: a D-SACK in this ACK reports the arrival of the copy, so it proves nothing about the first
        // hole.
        let counts = is_certain && (self.rules.restores_whole || !echo.is_dsack);
        counts.then_some(if before.has_timed_out {
            SpuriousRepair::Timeout
        } else {
            SpuriousRepair::Recovery
        })
    }

    /// Ends the repair; see [`Repair::undo`](super::Repair::undo). `nxt`: next new byte to send.
    pub(super) fn finish(&mut self, acked: Option<u64>, nxt: u64) -> Option<Undone> {
        let before = self.before?;
        let restores_whole = self.rules.restores_whole || acked.is_none();
        let burst = acked.unwrap_or(0).min(self.rules.burst);
        self.begin(None);
        if before.has_timed_out && !restores_whole {
            self.previous_rtt = Some((before.previous_rtt, nxt));
        }
        Some(Undone { before, restores_whole, burst })
    }

    #[inline]
    pub(super) fn awaits_sample(&self) -> bool {
        self.previous_rtt.is_some()
    }

    /// See [`Repair::take_previous_rtt`](super::Repair::take_previous_rtt).
    #[inline]
    pub(super) fn take_previous_rtt(&mut self, una: u64) -> Option<PreviousRtt> {
        let (previous_rtt, from) = self.previous_rtt?;
        if una <= from {
            return None;
        }
        self.previous_rtt = None;
        Some(previous_rtt)
    }

    pub(super) fn restores_whole(&self) -> bool {
        self.rules.restores_whole
    }

    pub(super) fn eifel_tick(&self) -> Option<Duration> {
        self.rules.eifel_tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn undo(restores_whole: bool) -> Undo {
        Undo::new(UndoRules { dsack: true, eifel_tick: None, restores_whole, burst: 4000 })
    }

    fn before(has_timed_out: bool) -> StateBefore {
        let level = Level { window: 20_000, ssthresh: 30_000 };
        StateBefore::new(
            level,
            25_000,
            &RttEstimator::new(&Config::default().rto),
            Duration::ZERO,
            has_timed_out,
        )
    }

    /// RFC 3708: the undo requires D-SACKs for all retransmissions.
    #[test]
    fn dsack_has_to_cover_every_retransmission() {
        let mut undo = undo(true);
        undo.begin(Some(before(false)));
        undo.on_retransmitted(Time::ZERO);
        undo.on_retransmitted(Time::ZERO);
        undo.on_dsack();
        assert!(!undo.is_spurious());
        undo.on_dsack();
        assert!(undo.is_spurious());
        undo.on_retransmitted(Time::ZERO);
        assert!(!undo.is_spurious(), "one retransmission is unreported");
    }

    /// RFC 4015 §3.2: cwnd = min(cwnd_prev, FlightSize + min(bytes acknowledged, IW)); ssthresh >= former FlightSize.
    #[test]
    fn the_response_limits_the_burst() {
        let from = Level { window: 1000, ssthresh: 2000 };
        let mut careful = undo(false);
        careful.begin(Some(before(true)));
        let taken = careful.finish(Some(9000), 50_001).expect("a repair to undo");
        assert!(taken.was_timeout());
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 14_000, ssthresh: 30_000 });
        assert!(careful.finish(Some(9000), 50_001).is_none(), "once");
        let mut linux = undo(true);
        linux.begin(Some(before(true)));
        let taken = linux.finish(Some(9000), 50_001).expect("a repair to undo");
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 20_000, ssthresh: 30_000 });
        assert!(!linux.awaits_sample(), "Linux keeps the timeout");
    }

    /// RFC 4015 §3, step 8: the first sample of data sent after the timeout adapts the timeout.
    #[test]
    fn the_spike_waits_for_new_data() {
        let mut undo = undo(false);
        undo.begin(Some(before(true)));
        assert!(undo.finish(Some(1000), 5001).is_some() && undo.awaits_sample());
        assert!(undo.take_previous_rtt(5001).is_none());
        assert!(undo.take_previous_rtt(5002).is_some() && !undo.awaits_sample());
    }
}
