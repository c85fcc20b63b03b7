//! While something is lost, reported or repeated: the long way that [`Sender::handle_ack`] and [`Sender::poll`] take then.

use super::congestion::{AckEvent, Phase};
use super::eifel::{Echo, end_of_echo};
use super::f_rto::ForwardRto;
use super::judge::Heard;
use super::recovery::{AckNews, LastResort, LossRecovery, Step};
use super::scoreboard::Scoreboard;
use super::tail::Tail;
use super::timer::Kind;
use super::told::Told;
use super::undo::{Undo, Ways};
use super::{Ack, Limit, Outgoing, Sender};
use crate::config::Config;
use crate::event::{Event, Log, Reason};
use crate::ranges::Range;
use lasthop_base::Time;
use lasthop_wire::Priority;

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
        let was_outstanding = self.board.outstanding() > 0;
        self.board.begin_ack();
        let original = self.repair.f_rto.is_some() && self.tells_of_original(ack);
        let acked = if advanced { self.board.acknowledge(ack.ack) } else { Default::default() };
        self.reductions.reach(ack.ack);
        let twice = says_duplicate(ack);
        if twice {
            log.seldom().duplicates_told += 1;
            if let Some(undo) = &mut self.repair.undo {
                undo.on_told();
            }
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

        if self.repair.f_rto.is_some() {
            self.consider_timeout(now, acked.bytes, duplicate, original, ack.ece, log);
        }
        let stamped = self.repair.undo.as_ref().and_then(|undo| undo.ways.stamped);
        let sent_before = stamped.zip(ack.echoed_rtt).map(|(tick, age)| end_of_echo(now, tick, age));
        if advanced && self.repair.undo.is_some() {
            let echo = Echo { acked: acked.bytes, sent_before, twice, marked: ack.ece };
            self.undo_if_echoed(now, &echo, log);
        }
        let reported_at = if self.repair.samples_sack { self.board.oldest_reported() } else { None };
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
            self.congestion.observe(&news);
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
                held: ack.ece || self.leaves_window_unused(self.board.outstanding() + acked.bytes),
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

    /// What goes out while something is lost, reported or repeated.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn poll_in_repair(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.timer.holds() {
            self.wait_for(now, Limit::Congestion);
            return None;
        }
        if self.tail == Tail::Due
            && let Some(outgoing) = self.poll_probe(now, log)
        {
            return Some(outgoing);
        }
        if self.repair.told.is_some()
            && let Some(range) = self.next_told()
        {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            return Some(self.again(now, range, Reason::Told, log));
        }
        if let Some(range) = self.repair.recovery.must_send(&mut self.board)
            && !self.was_told(range)
        {
            let why = std::mem::replace(&mut self.repair.why, Reason::Hole);
            if why == Reason::FastRetransmit {
                // The repair gets a whole timeout (RFC 6675 §6 leaves it open); partial ACKs do not (RFC 6582 §4).
                self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            }
            return Some(self.again(now, range, why, log));
        }
        let in_flight = self.repair.recovery.in_flight(&self.board);
        let room = self.window().saturating_sub(in_flight);
        if self.repair.f_rto.is_some()
            && let Ok(outgoing) = self.poll_f_rto(now, room)
        {
            if outgoing.is_none() {
                self.wait_for(now, Limit::Congestion);
            }
            return outgoing;
        }
        if let Some(range) = self.repair.recovery.next_retransmission(&mut self.board) {
            // As for new data, a FIN takes no room.
            let fin = u64::from(self.application.ends_with(range));
            if room < range.len() - fin {
                self.wait_for(now, Limit::Congestion);
                return None;
            }
            let why = if self.restart_until > range.start { Reason::GoBackN } else { Reason::Hole };
            return Some(self.again(now, range, why, log));
        }
        match self.next_new(room) {
            Ok(range) => return Some(self.send_new(now, range)),
            Err(limit) => self.wait_for(now, limit),
        }
        if self.board.outstanding() == 0 {
            return self.poll_persist(now, log);
        }
        if room < self.mss || self.board.sacked() == 0 {
            return None;
        }
        match self.repair.recovery.last_resort(&mut self.board)? {
            LastResort::Doubtful(range) => Some(self.again(now, range, Reason::Rescue, log)),
            LastResort::Rescue(range) => {
                self.board.sent_rescue(range.start, now);
                Some(self.outgoing_again(now, range, Reason::Rescue, log))
            }
        }
    }

    /// Whether [`Sender::poll_in_repair`] may find something more; if not, what keeps it back is noted as there.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn may_send_in_repair(&mut self, now: Time) -> bool {
        let repair = &self.repair;
        let is_special = self.rates.is_some()
            || self.timer.holds()
            || self.tail == Tail::Due
            || repair.told.is_some()
            || repair.f_rto.is_some()
            || repair.recovery.may_have_to_send();
        if is_special {
            return true;
        }
        let room = self.window().saturating_sub(self.in_flight());
        let limit = match self.repair.recovery.next_retransmission(&mut self.board) {
            Some(range) => {
                let fin = u64::from(self.application.ends_with(range));
                if room >= range.len() - fin { Ok(range) } else { Err(Limit::Congestion) }
            }
            None => self.next_new(room),
        };
        let has_last_resort = room >= self.mss && self.board.sacked() > 0;
        match limit {
            Ok(_) => true,
            Err(_) if self.board.outstanding() == 0 || has_last_resort => true,
            Err(limit) => {
                self.wait_for(now, limit);
                false
            }
        }
    }

    pub(super) fn again(&mut self, now: Time, range: Range, reason: Reason, log: &mut Log) -> Outgoing {
        self.board.sent_again(range.start, now);
        self.outgoing_again(now, range, reason, log)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn outgoing_again(
        &mut self,
        now: Time,
        range: Range,
        reason: Reason,
        log: &mut Log,
    ) -> Outgoing {
        self.repair.recovery.on_sent(range, true);
        self.reductions.on_sent(range.len());
        if self.watches {
            self.note_sent(now, range);
        }
        if self.repair.times && range.start == self.board.una() {
            // The first hole is filled once more: it has a whole timeout again, as Linux gives it.
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if self.timer.is_off() {
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        }
        if let Some(undo) = &mut self.repair.undo {
            undo.on_sent_again(now);
        }
        log.often.retransmitted += 1;
        log.trace(now, Event::Retransmitted { range, reason });
        let priority = match &mut self.judge {
            Some(judge) => judge.on_sent_again(range),
            None => Priority::Normal,
        };
        Outgoing { range, again: true, fin: self.application.ends_with(range), priority, cwr: false }
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
