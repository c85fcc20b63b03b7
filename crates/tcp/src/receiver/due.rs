//! Time and content of the next ACK.

use super::Receiver;
use super::ack_policy::AckTime;
use lasthop_base::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    /// An ACK for data is due. The ACK splitting chooses the number of ACKs.
    Now,
    /// An ACK that the ACK splitting does not split is due, for example a window update or a challenge ACK.
    Bare,
    At(Time),
}

impl Receiver {
    /// Makes an ACK due at once, for example a window update or an answer to duplicate data.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_is_current = false;
        if self.due != Pending::Now {
            self.due = Pending::Bare;
        }
    }

    pub(crate) fn timer(&self) -> Time {
        let due = match self.due {
            Pending::At(time) => time,
            _ => Time::NEVER,
        };
        if self.always_single { due } else { due.min(self.next_window_decision()) }
    }

    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.sooner
    }

    pub(crate) fn note_timer(&mut self) {
        self.sooner = false;
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if !self.always_single && self.next_window_decision() <= now {
            let decision = self.window.on_decision_time(now);
            self.apply_window_decision(decision);
        }
        if matches!(self.due, Pending::At(time) if time <= now) {
            self.due = if self.holds_acks { self.due_after_wait(now) } else { Pending::Now };
        }
    }

    #[cold]
    fn due_after_wait(&mut self, now: Time) -> Pending {
        match self.ack_policy.on_timer(now) {
            AckTime::Now => {
                self.release();
                Pending::Now
            }
            AckTime::After(span) | AckTime::By(span) => {
                self.sooner = true;
                Pending::At(now + span)
            }
        }
    }

    /// Schedules the ACKs that the ACK policy releases. Each released ACK carries the current SACK blocks.
    #[cold]
    pub(super) fn release(&mut self) {
        let count = self.ack_policy.release();
        self.copy_acks(count);
    }

    /// Returns the offset to acknowledge, if an ACK is due and no data segment has carried the ACK.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn poll_ack(&mut self) -> Option<u64> {
        if !matches!(self.due, Pending::Now | Pending::Bare) {
            return None;
        }
        self.end_burst();
        Some(self.finish_ack())
    }

    /// Returns the ACK number, and the window in units of `1 << shift`, for an outgoing data segment. Uses cached
    /// values until a segment arrives or the window changes.
    #[inline(always)]
    pub(crate) fn ack_and_window(&mut self, shift: u8) -> (u64, u16) {
        if self.ack_is_current {
            (self.acknowledged, self.window_units)
        } else {
            self.recompute_ack_and_window(shift)
        }
    }

    #[inline(never)]
    fn recompute_ack_and_window(&mut self, shift: u8) -> (u64, u16) {
        let ack = self.piggyback();
        let units = self.advertise(ack, shift);
        self.ack_is_current = self.caches_advertisement;
        (ack, units)
    }

    /// Returns the ACK number for an outgoing segment that acknowledges all data in order. Afterwards no separate ACK
    /// is due.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn piggyback(&mut self) -> u64 {
        self.end_burst();
        self.finish_ack()
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn finish_ack(&mut self) -> u64 {
        let next = self.next();
        if self.needs_estimate
            && self.acknowledged < next
            && let Some(analysis) = &mut self.analysis
        {
            analysis.estimator.on_ack_sent();
        }
        self.acknowledged = next;
        self.due = Pending::Nothing;
        next
    }

    pub(crate) fn stop(&mut self) {
        self.due = Pending::Nothing;
        self.end_burst();
    }
}
