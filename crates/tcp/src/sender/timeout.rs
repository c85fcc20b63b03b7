//! The retransmission timeout: the timer expires (RFC 6298 §5, RFC 5681 §3.1).

use super::congestion::LossEvent;
use super::recovery::AckNews;
use super::timer::Kind;
use super::{Expiry, Sender};
use crate::event::{Event, Log, Reason};
use lasthop_base::Time;

impl Sender {
    /// The timer expired (if `now` has reached it); `heard_at` is when the peer last said something acceptable.
    pub(crate) fn handle_timeout(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        self.timer.pace(Time::NEVER);
        if now >= self.timer.look_at() {
            self.look_for_losses(now, log);
        }
        if now < self.timer.at() {
            return Expiry::GoesOn;
        }
        match self.timer.kind() {
            Kind::Retransmit => self.expire_retransmission(now, heard_at, log),
            Kind::Probe => self.expire_probe(now),
            Kind::Persist => self.expire_persist(now, heard_at),
            Kind::Hold => {
                self.timer.stop();
                self.take_stock();
                Expiry::GoesOn
            }
        }
    }

    /// Time alone may tell that something is lost (RFC 8985 §6.2 step 5).
    #[cold]
    fn look_for_losses(&mut self, now: Time, log: &mut Log) {
        let step = self.repair.on_deadline(now, &mut self.board);
        self.take_step(now, step, false, log);
        self.tell_losses(now);
        self.take_stock();
        if self.reductions.is_gradual() {
            let news = AckNews { now, mss: self.mss, ..AckNews::default() };
            let target = self.window.rules().window();
            self.reductions.come_down(step, &news, (0, 0), target, self.repair.recovery(), &self.board);
        }
    }

    fn expire_retransmission(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        if self.persist.freezes && self.peer.window() == 0 {
            return self.freeze(now, heard_at);
        }
        let una = self.board.una();
        let window_is_closed = self.peer.usable_from(una) == 0;
        let rto = self.rtt.rto();
        let Some(expired) = self.user_timeout.expire(now, rto, una, window_is_closed.then_some(heard_at))
        else {
            return Expiry::GivenUp;
        };
        if expired.troubled {
            log.trace(now, Event::Troubled);
        }
        log.count_timeout();
        log.trace(now, Event::TimedOut { rto });
        if self.is_spared_timeout(now) {
            return Expiry::GoesOn;
        }
        let question = self.repair.question(expired.first, &self.board);
        let loss = self.loss_event(now, self.board.outstanding());
        self.repair.note_timeout(expired.first, self.before(true));
        let rtts = self.rtt.srtt().zip(self.rtt.smallest());
        let known = AckNews { now, rtt: self.rtt.latest(), rtts, mss: self.mss, ..AckNews::default() };
        self.repair.mark_at_timeout(&known, &mut self.board);
        let spared =
            if self.repair.spares() || self.window.rules().samples() { self.board.pipe() } else { 0 };
        self.window.on_timeout(&LossEvent { spared, ..loss }, expired.first);
        self.tells = true;
        self.rtt.back_off();
        self.tell_losses(now);
        self.start_over(Reason::Timeout);
        self.repair.ask(question);
        self.timer.start((now + self.rtt.rto()).min(expired.end), Kind::Retransmit);
        self.take_stock();
        Expiry::GoesOn
    }

    /// What is outstanding is to be sent again as far as it was marked lost.
    pub(super) fn start_over(&mut self, why: Reason) {
        self.forget_probe();
        self.reductions.forget_mark();
        self.reductions.reopen(self.board.nxt());
        self.repair.start_over(why, &self.board);
        if let Some(judge) = &mut self.judge {
            judge.on_timeout();
            self.reductions.forget_entry();
        }
    }
}
