//! Start and expiry of the timer (RFC 6298 §5, RFC 5681 §3.1).

use super::congestion::LossEvent;
use super::recovery::AckNews;
use super::timer::Kind;
use super::{Expiry, Sender};
use crate::event::{Event, Log, Reason};
use lasthop_base::Time;

impl Sender {
    /// Handles an expired timer; `heard_at`: time of the peer's last acceptable segment.
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

    /// Marks losses by time (RFC 8985 §6.2 step 5).
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
        if expired.r1_reached {
            log.trace(now, Event::R1Reached);
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

    /// Begins to retransmit all outstanding data that is marked lost.
    pub(super) fn start_over(&mut self, why: Reason) {
        self.tail.forget();
        self.reductions.forget_mark();
        self.reductions.reopen(self.board.nxt());
        self.repair.start_over(why, &self.board);
        if let Some(discriminator) = &mut self.discriminator {
            discriminator.on_timeout();
            self.reductions.forget_entry();
        }
    }

    /// Retransmits all outstanding data for a reason other than congestion.
    pub(super) fn send_all_again(&mut self, now: Time, why: Reason) {
        self.board.mark_all_lost();
        if let Some(rates) = &mut self.rates {
            rates.ignore_losses(&mut self.board);
        }
        self.start_over(why);
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
    }

    pub(super) fn report_losses(&mut self, now: Time) {
        if let Some(rates) = &mut self.rates {
            rates.report_losses(now, &mut self.board, &mut self.window);
        }
    }

    /// If loss discrimination excludes congestion, only retransmits the first segment and returns true.
    pub(super) fn is_spared_timeout(&mut self, now: Time) -> bool {
        let Some(first) = self.board.first() else { return false };
        if !self.discriminator.as_mut().is_some_and(|discriminator| discriminator.spares_timeout(first)) {
            return false;
        }
        self.board.lose_first_again();
        self.tell_again(first.start);
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        true
    }

    /// The retransmission timer expired under a zero window: not a loss. The first segment serves as a probe.
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

    /// The window opens: outstanding data is retransmitted, under the former cwnd.
    #[cold]
    pub(super) fn thaw(&mut self, now: Time) {
        self.persist.thaw();
        if self.board.outstanding() > 0 {
            self.send_all_again(now, Reason::WindowOpened);
        }
        self.take_stock();
    }

    /// Restarts the timer of outstanding data: the retransmission timer, or the probe timer if that is earlier.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn arm(&mut self, now: Time) {
        let expires = now + self.rtt.rto();
        match self.tail.expires().is_some() && self.is_undisturbed() {
            true => self.arm_probe(now, expires),
            false => self.timer.start(expires, Kind::Retransmit),
        }
    }

    /// New data postpones the probe, at most until the retransmission timer would expire.
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

    /// Whether nothing is lost, reported or repaired: otherwise recovery makes the probe unnecessary.
    #[inline(never)]
    fn is_undisturbed(&self) -> bool {
        self.board.sacked() == 0
            && self.board.lost() == 0
            && !self.repair.recovery().is_recovering()
            && !self.repair.restarts(self.board.una())
    }

    fn expire_probe(&mut self, now: Time) -> Expiry {
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        self.tail.fall_due();
        self.calm = false;
        Expiry::GoesOn
    }
}
