//! Undo of spurious repairs, caused by reordering or delay.
//!
//! Evidence: D-SACKs for each retransmission (RFC 3708); an echoed timestamp older than the first one (`eifel.rs`); an
//! original that arrives after a timeout (`f_rto.rs`). The response is RFC 4015's, or Linux's, which restores the whole
//! window at once and keeps the timeout; after D-SACKs always Linux's.
//!
//! If [loss discrimination](crate::sender::loss_discrimination) decides the outcome of a recovery, timestamps undo no recovery.

use super::eifel::{Echo, Refuted};
use crate::rtt::RttEstimator;
use crate::sender::congestion::Level;
use lasthop_base::{Duration, Time};

/// Enabled evidence, and extent of the undo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// D-SACK.
    pub(super) told: bool,
    /// Eifel: tick of the timestamp clock.
    pub(super) stamped: Option<Duration>,
    /// Restore the whole window, as Linux.
    pub(super) whole: bool,
    /// Otherwise the largest burst, bytes: the initial window (RFC 4015 §3.2).
    pub(super) burst: u64,
}

#[derive(Debug)]
pub(super) struct Undo {
    ways: Ways,
    /// State before the repair; `None`: nothing to undo.
    before: Option<Before>,
    /// Number of retransmitted segments, less those reported as duplicates.
    again: u32,
    is_due: bool,
    first_again: Option<Time>,
    /// After a spurious timeout: the estimator state to restore with the first sample of data above this offset.
    spike: Option<(Spike, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Before {
    level: Level,
    /// FlightSize, bytes.
    flight: u64,
    spike: Spike,
    /// Whether the timer has expired since.
    by_timeout: bool,
}

/// SRTT_prev and RTTVAR_prev (RFC 4015 §3.1).
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Spike {
    pub(in crate::sender) srtt: Duration,
    pub(in crate::sender) variation: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct TakenBack {
    before: Before,
    whole: bool,
    /// Otherwise the largest burst, bytes.
    burst: u64,
}

impl Before {
    /// `flight`: FlightSize, bytes; `tick`: clock granularity; `by_timeout`: begins with a timeout, not a recovery.
    pub(in crate::sender) fn new(
        level: Level,
        flight: u64,
        rtt: &RttEstimator,
        tick: Duration,
        by_timeout: bool,
    ) -> Before {
        let srtt = rtt.srtt().unwrap_or(rtt.rto());
        let spike = Spike { srtt: srtt + tick * 2, variation: rtt.variation() };
        Before { level, flight, spike, by_timeout }
    }
}

impl TakenBack {
    pub(in crate::sender) fn is_of_timeout(&self) -> bool {
        self.before.by_timeout
    }

    /// Restored window and threshold, given the current ones (`from`) and the outstanding bytes.
    pub(in crate::sender) fn level(&self, from: Level, outstanding: u64, mss: u64) -> Level {
        let Before { level, flight, .. } = self.before;
        match self.whole {
            true => {
                Level { window: level.window.max(from.window), ssthresh: level.ssthresh.max(from.ssthresh) }
            }
            false => Level {
                window: level.window.min((outstanding + self.burst).max(mss)),
                ssthresh: level.ssthresh.max(flight),
            },
        }
    }
}

impl Undo {
    pub(super) fn new(ways: Ways) -> Undo {
        Undo { ways, before: None, again: 0, is_due: false, first_again: None, spike: None }
    }

    pub(super) fn begin(&mut self, before: Option<Before>) {
        self.before = before;
        self.again = 0;
        self.is_due = false;
        self.first_again = None;
    }

    /// The timer expired; `goes_on`: as part of the current repair.
    pub(super) fn note_timeout(&mut self, before: Option<Before>, goes_on: bool) {
        match &mut self.before {
            Some(known) if goes_on => known.by_timeout = true,
            _ => self.begin(before),
        }
    }

    pub(super) fn on_sent_again(&mut self, now: Time) {
        self.again += 1;
        self.is_due = false;
        self.first_again.get_or_insert(now);
    }

    pub(super) fn on_told(&mut self) {
        if self.ways.told && self.again > 0 {
            self.again -= 1;
            self.is_due = self.again == 0;
        }
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.is_due && self.before.is_some()
    }

    /// Kind of the repair, if the echo shows that it was spurious. `covers_all`: the ACK covers all outstanding data.
    pub(super) fn hear_echo(
        &self,
        echo: &Echo,
        covers_all: bool,
        has_dsack: impl FnOnce() -> bool,
    ) -> Option<Refuted> {
        let (sent_before, sent, before) = (echo.sent_before?, self.first_again?, self.before?);
        if sent < sent_before {
            return None;
        }
        let is_certain = self.ways.whole || !covers_all || has_dsack();
        // RFC 3522 step 5: a D-SACK in this ACK reports the copy's arrival, and is inconclusive for the first hole.
        let counts = is_certain && (self.ways.whole || !echo.twice);
        counts.then_some(if before.by_timeout { Refuted::Timeout } else { Refuted::Recovery })
    }

    /// Ends the repair; see [`Repair::take_back`](super::Repair::take_back). `nxt`: next new byte.
    pub(super) fn take(&mut self, acked: Option<u64>, nxt: u64) -> Option<TakenBack> {
        let before = self.before?;
        let whole = self.ways.whole || acked.is_none();
        let burst = acked.unwrap_or(0).min(self.ways.burst);
        self.begin(None);
        if before.by_timeout && !whole {
            self.spike = Some((before.spike, nxt));
        }
        Some(TakenBack { before, whole, burst })
    }

    #[inline]
    pub(super) fn awaits_sample(&self) -> bool {
        self.spike.is_some()
    }

    /// See [`Repair::take_spike`](super::Repair::take_spike).
    #[inline]
    pub(super) fn take_spike(&mut self, una: u64) -> Option<Spike> {
        let (spike, from) = self.spike?;
        if una <= from {
            return None;
        }
        self.spike = None;
        Some(spike)
    }

    pub(super) fn gives_all_back(&self) -> bool {
        self.ways.whole
    }

    pub(super) fn eifel_tick(&self) -> Option<Duration> {
        self.ways.stamped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn undo(whole: bool) -> Undo {
        Undo::new(Ways { told: true, stamped: None, whole, burst: 4000 })
    }

    fn before(by_timeout: bool) -> Before {
        let level = Level { window: 20_000, ssthresh: 30_000 };
        Before::new(level, 25_000, &RttEstimator::new(&Config::default().rto), Duration::ZERO, by_timeout)
    }

    /// RFC 3708: D-SACKs must cover each retransmission.
    #[test]
    fn dsack_has_to_cover_every_retransmission() {
        let mut undo = undo(true);
        undo.begin(Some(before(false)));
        undo.on_sent_again(Time::ZERO);
        undo.on_sent_again(Time::ZERO);
        undo.on_told();
        assert!(!undo.is_refuted());
        undo.on_told();
        assert!(undo.is_refuted());
        undo.on_sent_again(Time::ZERO);
        assert!(!undo.is_refuted(), "one retransmission is unreported");
    }

    /// RFC 4015 §3.2: cwnd = min(cwnd_prev, FlightSize + min(bytes acknowledged, IW)); ssthresh >= former FlightSize.
    #[test]
    fn the_response_limits_the_burst() {
        let from = Level { window: 1000, ssthresh: 2000 };
        let mut careful = undo(false);
        careful.begin(Some(before(true)));
        let taken = careful.take(Some(9000), 50_001).expect("a repair to undo");
        assert!(taken.is_of_timeout());
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 14_000, ssthresh: 30_000 });
        assert!(careful.take(Some(9000), 50_001).is_none(), "once");
        let mut linux = undo(true);
        linux.begin(Some(before(true)));
        let taken = linux.take(Some(9000), 50_001).expect("a repair to undo");
        assert_eq!(taken.level(from, 10_000, 1000), Level { window: 20_000, ssthresh: 30_000 });
        assert!(!linux.awaits_sample(), "Linux keeps the timeout");
    }

    /// RFC 4015 §3, step 8: the first sample of data sent after the timeout adapts the timeout.
    #[test]
    fn the_spike_waits_for_new_data() {
        let mut undo = undo(false);
        undo.begin(Some(before(true)));
        assert!(undo.take(Some(1000), 5001).is_some() && undo.awaits_sample());
        assert!(undo.take_spike(5001).is_none());
        assert!(undo.take_spike(5002).is_some() && !undo.awaits_sample());
    }
}
