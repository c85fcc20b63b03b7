//! What an ACK does while something is lost, reported or repeated: the long way that [`Sender::handle_ack`] takes then.

use super::congestion::{AckEvent, Phase};
use super::eifel::{Echo, end_of_echo};
use super::f_rto::ForwardRto;
use super::judge::{Heard, Measured};
use super::recovery::{AckNews, LossRecovery, Step};
use super::scoreboard::Scoreboard;
use super::tail::Tail;
use super::told::Told;
use super::undo::{Undo, Ways};
use super::{Ack, Sender};
use crate::config::Config;
use crate::event::{Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;

/// What is being repaired, and how.
pub(super) struct Repair {
    pub(super) recovery: Box<dyn LossRecovery>,
    /// Why the next thing that must go out does.
    pub(super) why: Reason,
    /// Whether timeouts are asked if they were spurious (F-RTO), and the question that is open.
    pub(super) asks: bool,
    pub(super) f_rto: Option<Box<ForwardRto>>,
    /// What the last repair changed, if repairs that were for nothing are taken back.
    pub(super) undo: Option<Box<Undo>>,
    /// Whether the window after a timeout has room for what was not given up.
    pub(super) spares: bool,
    /// Whether round trips are measured by what SACK reports.
    samples_sack: bool,
    /// Whether `recovery` tells losses by time.
    pub(super) times: bool,
    /// What goes again because somebody told of it; `None`: nobody ever did.
    pub(super) told: Option<Box<Told>>,
}

impl Repair {
    pub(super) fn new(recovery: Box<dyn LossRecovery>, config: &Config, burst: u64) -> Repair {
        let undoes = config.f_rto || config.dsack_undo || config.eifel;
        let ways = Ways {
            told: config.dsack_undo,
            stamped: config.eifel.then_some(config.timestamp_tick),
            whole: config.undo_whole,
            burst,
        };
        Repair {
            spares: config.loss_window_spares,
            samples_sack: config.sack_rtt && recovery.needs_times(),
            times: recovery.needs_times(),
            recovery,
            why: Reason::Hole,
            asks: config.f_rto,
            f_rto: None,
            undo: undoes.then(|| Box::new(Undo::new(ways))),
            told: None,
        }
    }

    /// What is outstanding was marked lost, or some of it.
    pub(super) fn start_over(&mut self, why: Reason, board: &Scoreboard) {
        self.f_rto = None;
        if let Some(undo) = self.undo.as_mut().filter(|_| why != Reason::Timeout) {
            undo.forget();
        }
        self.why = why;
        self.recovery.on_timeout(board);
    }
}

/// Whether the first block tells of data received twice: below the ACK, or inside the second block (RFC 2883 §4). The
/// scoreboard learns nothing from such a block.
fn says_duplicate(ack: &Ack<'_>) -> bool {
    let Some(first) = ack.sack.first().filter(|first| !first.is_empty()) else { return false };
    let holds = |second: &Range| second.start <= first.start && first.end <= second.end;
    first.end <= ack.ack || ack.sack.get(1).is_some_and(holds)
}

impl Sender {
    /// An acknowledgement while something is lost, reported or repeated, or one that is not new.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn handle_ack_in_repair(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        same_window: bool,
        log: &mut Log,
    ) {
        let advanced = ack.ack > self.board.una();
        // It may have left the receiver before anything that was concluded since, a timeout too: it measures nothing.
        let is_old = ack.ack < self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        self.board.begin_ack();
        let original = self.repair.f_rto.is_some() && self.tells_of_original(ack);
        let acked = if advanced { self.board.acknowledge(ack.ack) } else { Default::default() };
        self.reductions.reach(ack.ack);
        let twice = says_duplicate(ack);
        if twice {
            self.hear_duplicate(log);
        }
        let mut reported = 0;
        if self.repair.recovery.uses_sack() {
            for block in ack.sack {
                reported += self.board.sack(*block);
            }
        }
        let duplicate = match self.repair.recovery.uses_sack() && ack.selective {
            true => reported > 0,
            false => !advanced && was_outstanding && !ack.carries_data && same_window,
        };
        if duplicate {
            log.often.duplicate_acks += 1;
        }

        if self.repair.f_rto.is_some() && !is_old {
            self.consider_timeout(now, acked.bytes, duplicate, original, ack.ece, log);
        }
        let stamped = self.repair.undo.as_ref().and_then(|undo| undo.ways.stamped);
        let sent_before = stamped.zip(ack.echoed_rtt).map(|(tick, age)| end_of_echo(now, tick, age));
        if advanced && self.repair.undo.is_some() {
            let echo = Echo { acked: acked.bytes, sent_before, twice, marked: ack.ece };
            self.undo_if_echoed(now, &echo, log);
        }
        let reported_at =
            if self.repair.samples_sack && !is_old { self.board.oldest_reported() } else { None };
        let rtt = match (advanced, acked.sent_at) {
            (true, Some(sent_at)) => Some(now.since(sent_at)),
            _ if reported_at.is_some() => reported_at.map(|sent_at| now.since(sent_at)),
            (true, None) => ack.echoed_rtt,
            (false, _) => None,
        };
        if let Some(rtt) = rtt {
            self.sample_rtt(rtt);
        }

        let certain = match &mut self.judge {
            Some(judge) if advanced || duplicate => judge.on_ack(&Heard {
                now,
                una: self.board.una(),
                advanced,
                duplicate,
                hint: ack.hint,
                marked: ack.ece,
            }),
            _ => false,
        };
        let news = AckNews {
            now,
            acked: acked.bytes,
            duplicate,
            twice,
            certain,
            rtt,
            clock: ack.clock,
            sent_before,
            rtts: if self.repair.times { self.rtt.srtt().zip(self.rtt.smallest()) } else { None },
            mss: self.mss,
        };
        if self.observes && (advanced || duplicate) {
            self.observe(&news);
        }
        let delivered = acked.delivered + reported;
        let mut rate = if self.rates.is_some() { self.sample(now, delivered) } else { None };
        let lost_before = self.board.lost_total();
        if self.tail != Tail::Off {
            self.conclude_probe(now, twice, advanced, ack.selective, log);
        }
        let step = self.repair.recovery.on_ack(&news, &mut self.board);
        self.take_step(now, step, ack.ece, log);
        let mut entered = step;
        if step == Step::Leave && duplicate {
            // It ends one recovery, and what it reports can begin the next (RFC 6675 §5).
            let next = self.repair.recovery.on_ack(&AckNews { acked: 0, ..news }, &mut self.board);
            self.take_step(now, next, ack.ece, log);
            entered = next;
        }
        if self.repair.undo.is_some() {
            self.undo_if_told(now, log);
        }
        if ack.ece {
            self.heed_mark(now, log);
        }
        let lost = self.reductions.news_of_losses(self.board.lost_total());
        if self.rates.is_some() && lost > 0 {
            if let Some(rate) = &mut rate {
                rate.lost += self.board.lost_total() - lost_before;
            }
            self.tell_losses(now);
        }
        if advanced || duplicate {
            let is_unused = self.leaves_window_unused(now, acked.bytes);
            let in_flight = self.repair.recovery.in_flight(&self.board);
            let counts_end = step == Step::Leave && self.counts_end;
            let event = AckEvent {
                now,
                phase: if step == Step::Leave && !counts_end { Phase::Recovery } else { self.phase() },
                // What SACK had reported during the recovery counts no more.
                acked: if counts_end { acked.delivered } else { acked.bytes },
                segments: acked.segments,
                delivered,
                reported,
                marked: u64::from(ack.marked),
                rtt,
                srtt: self.rtt.srtt(),
                in_flight,
                lost,
                rate: rate.as_ref(),
                held: ack.ece || is_unused,
            };
            match event.phase != Phase::Recovery && self.is_watched_slow_start() {
                true => self.grow_watched(&event),
                false => self.congestion.on_ack(&event, &mut *self.counting),
            }
            self.note_restraint(in_flight);
        }
        if advanced {
            self.restart_timer(now, step);
            if self.board.outstanding() == 0 {
                self.idle.since = acked.sent_at.unwrap_or(now);
            }
        } else if reported_at < self.board.first_sent_at() && reported_at.is_some() {
            // What went out after the first hole did must not put its timeout off for ever (netdev, "tcp: do not rearm RTO
            // when future data are sacked", 2013).
            self.arm(now);
        }
        if ack.ece {
            self.hold_back(now);
        }
        self.take_stock();
        if self.reductions.is_gradual() {
            self.come_down(entered, &news, delivered, reported);
        }
    }

    /// Shows an ACK, before its effect, to the congestion control and to a judge that measures.
    #[inline(never)]
    pub(super) fn observe(&mut self, news: &AckNews) {
        if self.congestion.observes() {
            self.congestion.observe(news);
        }
        if let (Some(judge), Some(rtt)) = (&mut self.judge, news.rtt) {
            judge.on_measured(&Measured {
                now: news.now,
                rtt,
                clock: news.clock,
                una: self.board.una(),
                outstanding: self.board.outstanding(),
                mss: news.mss,
            });
        }
    }

    /// The receiver reports data that arrived twice.
    #[cold]
    #[inline(never)]
    fn hear_duplicate(&mut self, log: &mut Log) {
        log.seldom().duplicates_told += 1;
        self.congestion.on_told_twice();
        if let Some(undo) = &mut self.repair.undo {
            undo.on_told();
        }
    }

    pub(super) fn phase(&self) -> Phase {
        if self.repair.recovery.is_recovering() || self.reductions.lasts_by_mark() {
            Phase::Recovery
        } else if self.board.una() < self.restart_until {
            Phase::Restart
        } else {
            Phase::Open
        }
    }

    /// Notes what the window is now, and whether anything is lost.
    pub(super) fn take_stock(&mut self) {
        self.cwnd = self.congestion.window();
        if !self.repair.recovery.is_recovering() && !self.reductions.lasts_by_mark() {
            self.reductions.end();
        }
        if self.repair.times {
            self.timer.look(self.repair.recovery.deadline());
        }
        let probes = match self.tail {
            Tail::Off => false,
            Tail::Quiet { .. } => self.board.again() > 0,
            Tail::Due | Tail::Asked { .. } => true,
        };
        self.calm = !probes
            && self.repair.told.as_ref().is_none_or(|told| told.is_empty())
            && self.has_shortcut
            && !self.persist.is_frozen()
            && !self.timer.holds()
            && self.board.sacked() == 0
            && self.board.lost() == 0
            && !self.reductions.lasts_by_mark()
            && !self.repair.undo.as_ref().is_some_and(|undo| undo.awaits_sample())
            && self.repair.recovery.is_idle();
    }
}
