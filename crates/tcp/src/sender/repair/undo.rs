//! Undo of spurious retransmissions ("repairs"), which reordering or delay has caused.
//!
//! Three kinds of evidence count: D-SACKs for every retransmission (RFC 3708); an echoed timestamp older than the first
//! retransmission (`eifel.rs`); the arrival of an original segment after a timeout (`f_rto.rs`). The response follows
//! RFC 4015 or Linux. Linux restores the whole cwnd at once and does not change the RTO. After D-SACKs the response
//! always follows Linux.
//!
//! Echoed timestamps do not undo a fast recovery if [loss discrimination](crate::sender::loss_discrimination) is on,
//! because loss discrimination then decides whether the window reduction is undone.

use super::eifel::{Echo, SpuriousRepair};
use crate::rtt::RttEstimator;
use crate::sender::congestion::Level;
use lasthop_base::{Duration, Time};

/// Kinds of evidence for a spurious repair that are enabled, and extent of the undo.
#[derive(Clone, Copy, Debug)]
pub(super) struct UndoRules {
    /// Whether D-SACKs count as evidence of a spurious repair.
    pub(super) dsack: bool,
    /// Tick of the timestamp clock, if Eifel is enabled.
    pub(super) eifel_tick: Option<Duration>,
    /// Whether the undo restores the whole cwnd at once, as Linux does.
    pub(super) restores_whole: bool,
    /// Upper bound of the burst after an undo that limits cwnd, bytes: the initial window (RFC 4015 §3.2).
    pub(super) burst: u64,
}

#[derive(Debug)]
pub(super) struct Undo {
    rules: UndoRules,
    /// cwnd, ssthresh and RTT before the repair. `None`: no repair can be undone.
    before: Option<StateBefore>,
    /// Number of segments retransmitted in this repair and not reported as duplicates by D-SACK (Linux:
    /// `undo_retrans`).
    undo_retransmissions: u32,
    is_due: bool,
    first_retransmitted_at: Option<Time>,
    /// After a spurious timeout: state of the RTT estimator before the timeout, and an offset. The first RTT sample of
    /// data above this offset is combined with this state (RFC 4015 §3).
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
    burst: u64,
}

impl StateBefore {
    /// Returns the state before a repair. `flight`: FlightSize, bytes; `tick`: clock granularity; `has_timed_out`: the
    /// repair begins with a timeout, not with a fast recovery.
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

    /// Returns cwnd and ssthresh after the undo. `from`: the current cwnd and ssthresh; `outstanding`: outstanding
    /// bytes.
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

    /// Records an expiry of the timer. `goes_on`: whether the expiry belongs to the current repair, so that `before` is
    /// ignored.
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

    /// Returns the kind of the repair if the echoed timestamp shows that the repair was spurious. `covers_all`: the ACK
    /// covers all outstanding data; `has_dsack`: the receiver has sent a D-SACK before.
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
        // A D-SACK in this ACK reports a duplicate arrival, so this ACK does not show which copy filled the first hole
        // (RFC 3522 step 5).
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
        assert!(!undo.is_spurious(), "the third retransmission was not reported by D-SACK yet");
    }

    /// After the undo, cwnd = min(cwnd_prev, current FlightSize + min(bytes acknowledged, IW)), where IW is the initial
    /// window (RFC 4015 §3.2). ssthresh is at least the FlightSize that was outstanding before the timeout.
    #[test]
    fn the_response_limits_the_burst() {
        let from = Level { window: 1000, ssthresh: 2000 };
        let mut careful = undo(false);
        careful.begin(Some(before(true)));
        let taken = careful.finish(Some(9000), 50_001).expect("a repair to undo");
        assert!(taken.was_timeout());
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 14_000, ssthresh: 30_000 });
        assert!(careful.finish(Some(9000), 50_001).is_none(), "a repair can be undone only once");
        let mut linux = undo(true);
        linux.begin(Some(before(true)));
        let taken = linux.finish(Some(9000), 50_001).expect("a repair to undo");
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 20_000, ssthresh: 30_000 });
        assert!(!linux.awaits_sample(), "Linux does not change the RTO, so no RTT sample is awaited");
    }

    /// RFC 4015 §3, step 8: the first RTT sample of data sent after the undo (above offset 5001) adapts the RTO.
    #[test]
    fn the_spike_waits_for_new_data() {
        let mut undo = undo(false);
        undo.begin(Some(before(true)));
        assert!(undo.finish(Some(1000), 5001).is_some() && undo.awaits_sample());
        assert!(undo.take_previous_rtt(5001).is_none());
        assert!(undo.take_previous_rtt(5002).is_some() && !undo.awaits_sample());
    }
}
