//! Start and expiry of the timer (RFC 6298 §5, RFC 5681 §3.1).

use super::congestion::LossEvent;
use super::recovery::AckNews;
use super::timer::TimerKind;
use super::{Expiry, Sender};
use crate::event::{Event, Log, Reason};
use lasthop_base::Time;

impl Sender {
    /// Handles an expired timer or deadline. `heard_at`: time of the peer's last acceptable segment.
    pub(crate) fn handle_timeout(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        self.timer.set_departure(Time::NEVER);
        if now >= self.timer.detection_at() {
            self.detect_losses_by_time(now, log);
        }
        if now < self.timer.at() {
            return Expiry::Continue;
        }
        match self.timer.kind() {
            TimerKind::Retransmit => self.expire_retransmission(now, heard_at, log),
            TimerKind::Probe => self.expire_probe(now),
            TimerKind::Persist => {
                let waits = self.has_new_data();
                let expiry = self.persist.expire(now, heard_at, waits, &self.user_timeout);
                if expiry == Expiry::Continue {
                    self.timer.stop();
                    self.update_fast_path();
                }
                expiry
            }
            TimerKind::Hold => {
                self.timer.stop();
                self.update_fast_path();
                Expiry::Continue
            }
        }
    }

    /// Marks segments as lost when their reordering window has passed (RFC 8985 §6.2 step 5).
    #[cold]
    fn detect_losses_by_time(&mut self, now: Time, log: &mut Log) {
        let step = self.repair.on_deadline(now, &mut self.scoreboard);
        self.apply_step(now, step, false, log);
        self.report_losses(now);
        self.update_fast_path();
        if self.reductions.is_gradual() {
            let news = AckNews { now, mss: self.mss, ..AckNews::default() };
            let target = self.window.control().window();
            self.reductions.update_allowance(
                step,
                &news,
                (0, 0),
                target,
                self.repair.recovery(),
                &self.scoreboard,
            );
        }
    }

    fn expire_retransmission(&mut self, now: Time, heard_at: Time, log: &mut Log) -> Expiry {
        if self.persist.freezes() && self.peer.window() == 0 {
            return self.freeze(now, heard_at);
        }
        let una = self.scoreboard.una();
        let window_is_closed = self.peer.usable_from(una) == 0;
        let rto = self.rtt.rto();
        let Some(expired) = self.user_timeout.expire(now, rto, una, window_is_closed.then_some(heard_at))
        else {
            return Expiry::Abort;
        };
        if expired.reached_r1 {
            log.trace(now, Event::R1Reached);
        }
        log.count_timeout();
        log.trace(now, Event::TimedOut { rto });
        if self.is_non_congestive_timeout(now) {
            return Expiry::Continue;
        }
        let f_rto_test = self.repair.f_rto_test(expired.first, &self.scoreboard);
        let loss = self.loss_event(now, self.scoreboard.outstanding());
        self.repair.note_timeout(expired.first, self.state_before(true));
        let rtts = self.rtt.srtt().zip(self.rtt.smallest());
        let known = AckNews { now, rtt: self.rtt.latest(), rtts, mss: self.mss, ..AckNews::default() };
        self.repair.mark_at_timeout(&known, &mut self.scoreboard);
        let still_in_flight =
            if self.repair.keeps_in_flight() || self.window.control().nature().uses_rate_samples {
                self.scoreboard.pipe()
            } else {
                0
            };
        self.window.on_timeout(&LossEvent { still_in_flight, ..loss }, expired.first);
        self.needs_cwr = true;
        self.rtt.back_off();
        self.report_losses(now);
        self.begin_go_back_n(Reason::Timeout);
        self.repair.start_test(f_rto_test);
        self.timer.start((now + self.rtt.rto()).min(expired.end), TimerKind::Retransmit);
        self.update_fast_path();
        Expiry::Continue
    }

    /// Begins to retransmit the outstanding data that the caller has marked as lost (go-back-N).
    pub(super) fn begin_go_back_n(&mut self, why: Reason) {
        self.tail.cancel();
        self.reductions.end_ecn_reduction();
        self.reductions.allow_from(self.scoreboard.nxt());
        self.repair.begin_go_back_n(why, &self.scoreboard);
        if let Some(discriminator) = &mut self.discriminator {
            discriminator.on_timeout();
            self.reductions.forget_entry();
        }
    }

    /// Retransmits all outstanding data for a reason other than congestion.
    pub(super) fn retransmit_all(&mut self, now: Time, why: Reason) {
        self.scoreboard.mark_all_lost();
        if let Some(rates) = &mut self.rates {
            rates.ignore_losses(&mut self.scoreboard);
        }
        self.begin_go_back_n(why);
        self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
    }

    pub(super) fn report_losses(&mut self, now: Time) {
        if let Some(rates) = &mut self.rates {
            rates.report_losses(now, &mut self.scoreboard, &mut self.window);
        }
    }

    /// Returns true if loss discrimination decides that the timeout is no sign of congestion. Only the first segment is
    /// then retransmitted, and cwnd stays.
    pub(super) fn is_non_congestive_timeout(&mut self, now: Time) -> bool {
        let Some(first) = self.scoreboard.first() else { return false };
        if !self
            .discriminator
            .as_mut()
            .is_some_and(|discriminator| discriminator.keeps_window_at_timeout(first))
        {
            return false;
        }
        self.scoreboard.mark_first_and_copy_lost();
        self.queue_reported(first.start);
        self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
        true
    }

    /// Handles an expiry of the retransmission timer while the receiver advertises a zero window. This expiry is no
    /// sign of loss. The retransmitted first segment serves as a window probe.
    #[cold]
    fn freeze(&mut self, now: Time, heard_at: Time) -> Expiry {
        let Some(since) = self.persist.freeze(now, heard_at, &self.user_timeout) else {
            return Expiry::Abort;
        };
        let next = now + self.rtt.doubled(self.persist.doublings());
        self.scoreboard.mark_first_and_copy_lost();
        if let Some(first) = self.scoreboard.first() {
            self.queue_reported(first.start);
        }
        self.timer.start(next.min(self.user_timeout.ends(since)), TimerKind::Retransmit);
        self.update_fast_path();
        Expiry::Continue
    }

    /// Handles the opening of the receiver's window: retransmits outstanding data and keeps cwnd as it was.
    #[cold]
    pub(super) fn thaw(&mut self, now: Time) {
        self.persist.thaw();
        if self.scoreboard.outstanding() > 0 {
            self.retransmit_all(now, Reason::WindowOpened);
        }
        self.update_fast_path();
    }

    /// Restarts the timer for outstanding data, as a tail loss probe timer if a probe may be sent, otherwise as the
    /// retransmission timer.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn arm(&mut self, now: Time) {
        let expires = now + self.rtt.rto();
        if self.tail.expires().is_some() && self.is_undisturbed() {
            self.arm_probe(now, expires);
        } else {
            self.timer.start(expires, TimerKind::Retransmit);
        }
    }

    /// Postpones the tail loss probe after new data was sent, at most until the retransmission timer would expire.
    #[cold]
    pub(super) fn postpone_probe(&mut self, now: Time) {
        if let Some(expires) = self.tail.expires()
            && self.timer.kind() == TimerKind::Probe
        {
            self.arm_probe(now, expires);
        }
    }

    #[cold]
    fn arm_probe(&mut self, now: Time, expires: Time) {
        let is_lone = self.scoreboard.outstanding() <= self.mss;
        self.timer.start(self.tail.arm(now, expires, self.rtt.srtt(), is_lone), TimerKind::Probe);
    }

    /// Whether no segment is SACKed, marked lost or being repaired. In any other state, recovery makes the tail loss
    /// probe unnecessary.
    #[inline(never)]
    fn is_undisturbed(&self) -> bool {
        self.scoreboard.sacked() == 0
            && self.scoreboard.lost() == 0
            && !self.repair.recovery().is_recovering()
            && !self.repair.is_going_back_n(self.scoreboard.una())
    }

    fn expire_probe(&mut self, now: Time) -> Expiry {
        self.timer.start(now + self.rtt.rto(), TimerKind::Retransmit);
        self.tail.set_due();
        self.is_on_fast_path = false;
        Expiry::Continue
    }
}
