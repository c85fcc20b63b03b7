//! The timer: when it is started for outstanding data, and what its expiry does (RFC 6298 §5, RFC 5681 §3.1).
//!
//! A chapter of the sender.

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
            Kind::Persist => {
                let waits = self.has_new_data();
                let expiry = self.persist.expire(now, heard_at, waits, &self.user_timeout);
                if expiry == Expiry::GoesOn {
                    self.timer.stop();
                    self.take_stock();
                }
                expiry
            }
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
        self.report_losses(now);
        self.take_stock();
        if self.reductions.is_gradual() {
            let news = AckNews { now, mss: self.mss, ..AckNews::default() };
            let target = self.window.rules().window();
            self.reductions.come_down(step, &news, (0, 0), target, self.repair.recovery(), &self.board);
        }
    }

    fn expire_retransmission(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        if self.persist.freezes() && self.peer.window() == 0 {
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
            if self.repair.spares() || self.window.rules().nature().samples { self.board.pipe() } else { 0 };
        self.window.on_timeout(&LossEvent { spared, ..loss }, expired.first);
        self.tells = true;
        self.rtt.back_off();
        self.report_losses(now);
        self.start_over(Reason::Timeout);
        self.repair.ask(question);
        self.timer.start((now + self.rtt.rto()).min(expired.end), Kind::Retransmit);
        self.take_stock();
        Expiry::GoesOn
    }

    /// What is outstanding is to be sent again as far as it was marked lost.
    pub(super) fn start_over(&mut self, why: Reason) {
        self.tail.forget();
        self.reductions.forget_mark();
        self.reductions.reopen(self.board.nxt());
        self.repair.start_over(why, &self.board);
        if let Some(judge) = &mut self.judge {
            judge.on_timeout();
            self.reductions.forget_entry();
        }
    }

    /// All that is outstanding goes out again, for a reason that says nothing of the path's load.
    pub(super) fn send_all_again(&mut self, now: Time, why: Reason) {
        self.board.mark_all_lost();
        if let Some(rates) = &mut self.rates {
            rates.ignore_losses(&mut self.board);
        }
        self.start_over(why);
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
    }

    /// Reports segments found lost to a control that samples rates.
    pub(super) fn report_losses(&mut self, now: Time) {
        if let Some(rates) = &mut self.rates {
            rates.report_losses(now, &mut self.board, &mut self.window);
        }
    }

    /// The timer has expired for the first outstanding segment: whether the judge knows that this is no congestion. It goes
    /// again, and that is all.
    pub(super) fn is_spared_timeout(&mut self, now: Time) -> bool {
        let Some(first) = self.board.first() else { return false };
        if !self.judge.as_mut().is_some_and(|judge| judge.spares_timeout(first)) {
            return false;
        }
        self.board.lose_first_again();
        self.tell_again(first.start);
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        true
    }

    /// The retransmission timer has expired while the receiver's window is zero: that is no loss. The first segment goes as a
    /// probe, and everything stays as it is.
    #[cold]
    fn freeze(&mut self, now: Time, heard_at: Time) -> Expiry {
        let Some(since) = self.persist.freeze(now, heard_at, &self.user_timeout) else {
            return Expiry::GivenUp;
        };
        let next = now + self.rtt.doubled(self.persist.doublings());
        self.board.lose_first_again();
        if let Some(first) = self.board.first() {
            self.tell_again(first.start);
        }
        self.timer.start(next.min(self.user_timeout.ends(since)), Kind::Retransmit);
        self.take_stock();
        Expiry::GoesOn
    }

    /// The window opens: data that was outstanding all the while goes again, under the window that was.
    #[cold]
    pub(super) fn thaw(&mut self, now: Time) {
        self.persist.thaw();
        if self.board.outstanding() > 0 {
            self.send_all_again(now, Reason::Thawed);
        }
        self.take_stock();
    }

    /// Starts the timer of outstanding data anew: the retransmission timer, or the probe's where that comes before it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn arm(&mut self, now: Time) {
        let expires = now + self.rtt.rto();
        match self.tail.expires().is_some() && self.is_undisturbed() {
            true => self.arm_probe(now, expires),
            false => self.timer.start(expires, Kind::Retransmit),
        }
    }

    /// New data went out behind what is outstanding: the probe waits for it too, at most until the timer would expire.
    #[cold]
    pub(super) fn put_probe_off(&mut self, now: Time) {
        if let Some(expires) = self.tail.expires()
            && self.timer.kind() == Kind::Probe
        {
            self.arm_probe(now, expires);
        }
    }

    #[cold]
    fn arm_probe(&mut self, now: Time, expires: Time) {
        let is_lone = self.board.outstanding() <= self.mss;
        self.timer.start(self.tail.wait(now, expires, self.rtt.srtt(), is_lone), Kind::Probe);
    }

    /// No loss is repaired and nothing is reported: else recovery asks by itself.
    #[inline(never)]
    fn is_undisturbed(&self) -> bool {
        self.board.sacked() == 0
            && self.board.lost() == 0
            && !self.repair.recovery().is_recovering()
            && !self.repair.restarts(self.board.una())
    }

    /// The probe's time has come; from now on the retransmission timer runs.
    fn expire_probe(&mut self, now: Time) -> Expiry {
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        self.tail.fall_due();
        self.calm = false;
        Expiry::GoesOn
    }
}
