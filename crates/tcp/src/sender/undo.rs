//! A repair that was for nothing is taken back: what was taken for a loss was reordering, or a delay.
//!
//! Three things tell it: the receiver says of each segment that went out again that it had arrived already (D-SACK, RFC
//! 3708); a timestamp's echo is older than the first retransmission (`eifel.rs`); or what was sent once arrives after a
//! timeout (`f_rto.rs`). The response is RFC 4015's, or Linux's, which gives back the whole window at once and keeps the
//! timeout as it is. For D-SACK it is Linux's always.
//!
//! # Who judges losses is not asked
//! Where a [judge](super::judge) decides what a recovery leaves, timestamps take no recovery back.

use super::Sender;
use super::congestion::{Level, Recovered};
use crate::event::{Event, Log};
use lasthop_base::{Duration, Time};

/// What tells that a repair was for nothing, and how much is given back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// D-SACK.
    pub(super) told: bool,
    /// Eifel: the length of a tick of the timestamps' clock.
    pub(super) stamped: Option<Duration>,
    /// All of the window, as Linux.
    pub(super) whole: bool,
    /// Else no larger burst than this, bytes: the initial window (RFC 4015 §3.2).
    pub(super) burst: u64,
}

/// What the last repair changed, and whether it was needed.
#[derive(Debug)]
pub(super) struct Undo {
    pub(super) ways: Ways,
    /// As it was before; `None` if there is nothing to take back.
    before: Option<Before>,
    /// Segments that went out again, less those that are known to have arrived twice.
    again: u32,
    is_due: bool,
    /// When the first of them went out.
    pub(super) first_again: Option<Time>,
    /// After a timeout that was for nothing: what the timeout is to remember, once data behind this offset is measured.
    spike: Option<(Spike, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Before {
    level: Level,
    /// FlightSize, bytes.
    flight: u64,
    spike: Spike,
    /// The timer has expired since.
    by_timeout: bool,
}

/// SRTT_prev and RTTVAR_prev (RFC 4015 §3.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Spike {
    pub(super) srtt: Duration,
    pub(super) variation: Duration,
}

impl Undo {
    pub(super) fn new(ways: Ways) -> Undo {
        Undo { ways, before: None, again: 0, is_due: false, first_again: None, spike: None }
    }

    /// There is nothing to take back any more.
    pub(super) fn forget(&mut self) {
        self.before = None;
        self.again = 0;
        self.is_due = false;
        self.first_again = None;
    }

    /// A segment goes out again.
    pub(super) fn on_sent_again(&mut self, now: Time) {
        self.again += 1;
        self.is_due = false;
        self.first_again.get_or_insert(now);
    }

    /// The receiver tells that a segment arrived twice.
    pub(super) fn on_told(&mut self) {
        if self.ways.told && self.again > 0 {
            self.again -= 1;
            self.is_due = self.again == 0;
        }
    }

    /// Whether there is something to take back, and a timeout is part of it.
    pub(super) fn is_of_timeout(&self) -> Option<bool> {
        self.before.map(|before| before.by_timeout)
    }

    /// Whether the next round-trip time is measured for it.
    #[inline]
    pub(super) fn awaits_sample(&self) -> bool {
        self.spike.is_some()
    }
}

impl Sender {
    fn before(&self, by_timeout: bool) -> Before {
        let srtt = self.rtt.srtt().unwrap_or(self.rtt.rto());
        let spike = Spike { srtt: srtt + self.config.rto.tick * 2, variation: self.rtt.variation() };
        Before { level: self.level(), flight: self.board.outstanding(), spike, by_timeout }
    }

    /// A recovery is about to lower the window.
    pub(super) fn note_before_recovery(&mut self) {
        let before = self.repair.undo.is_some().then(|| self.before(false));
        if let Some(undo) = &mut self.repair.undo {
            undo.forget();
            undo.before = before;
        }
    }

    /// The timer has expired, `first`: for the first time for this data. What a repair that is under way has changed, or the
    /// expiry before this one, belongs to it.
    pub(super) fn note_before_timeout(&mut self, first: bool) {
        let before = self.repair.undo.is_some().then(|| self.before(true));
        let goes_on = self.repair.recovery.is_recovering() || !first;
        let Some(undo) = &mut self.repair.undo else { return };
        match &mut undo.before {
            Some(known) if goes_on => known.by_timeout = true,
            _ => {
                undo.forget();
                undo.before = before;
            }
        }
    }

    /// An ACK has come: once no recovery lasts, takes the last repair back if the receiver has told that nothing of it was
    /// needed.
    #[inline(never)]
    pub(super) fn undo_if_told(&mut self, now: Time, log: &mut Log) {
        let is_due = self.repair.undo.as_ref().is_some_and(|undo| undo.is_due && undo.before.is_some());
        if is_due && !self.repair.recovery.is_recovering() {
            self.take_back(now, None, false, log);
        }
    }

    /// The repair was for nothing. The ACK that tells it has acknowledged `acked` bytes (`None`: D-SACK tells it, of a repair
    /// that may be over), and may echo a congestion mark: then the window stays low (RFC 4015 §3.2).
    pub(super) fn take_back(&mut self, now: Time, acked: Option<u64>, marked: bool, log: &mut Log) {
        let Some(undo) = &mut self.repair.undo else { return };
        let Some(Before { level, flight, spike, by_timeout }) = undo.before else { return };
        let whole = undo.ways.whole || acked.is_none();
        let acked = acked.unwrap_or(0);
        let burst = acked.min(undo.ways.burst);
        undo.forget();
        if by_timeout && !whole {
            undo.spike = Some((spike, self.board.nxt()));
        }
        let was_at = self.board.una() - acked;
        if self.repair.recovery.is_recovering() || was_at < self.restart_until {
            self.board.forget_losses();
            self.repair.recovery.on_spurious(&self.board);
        }
        self.repair.f_rto = None;
        self.restart_until = 0;
        self.reductions.reopen(self.board.una());
        if !marked {
            let from = self.level();
            let to = match whole {
                true => Level {
                    window: level.window.max(from.window),
                    ssthresh: level.ssthresh.max(from.ssthresh),
                },
                false => Level {
                    window: level.window.min((self.board.outstanding() + burst).max(self.mss)),
                    ssthresh: level.ssthresh.max(flight),
                },
            };
            self.window.on_recovered(self.board.outstanding(), Recovered::Revised { from, to });
        }
        match by_timeout {
            true => {
                log.seldom().timeouts_undone += 1;
                log.trace(now, Event::TimeoutUndone { cwnd: self.window.rules().window() });
            }
            false => log.seldom().recoveries_undone += 1,
        }
    }

    /// A round-trip time was measured: the first one of data sent after a timeout that was for nothing keeps the timeout long
    /// (RFC 4015 §3).
    pub(super) fn sample_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(&self.config.rto, rtt);
        let una = self.board.una();
        if let Some(undo) = &mut self.repair.undo
            && let Some((spike, from)) = undo.spike
            && una > from
        {
            undo.spike = None;
            self.rtt.remember(&self.config.rto, spike.srtt, spike.variation, rtt);
        }
    }
}
