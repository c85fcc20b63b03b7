//! Time and content of the next ACK.

use super::Receiver;
use lasthop_base::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    /// For data: the ACK splitting sets the number of ACKs.
    Now,
    /// For a window update or challenge: one ACK.
    Bare,
    At(Time),
}

impl Receiver {
    /// Makes an ACK due without new data.
    pub(crate) fn acknowledge_now(&mut self) {
        self.all_told = false;
        if self.due != Pending::Now {
            self.due = Pending::Bare;
        }
    }

    pub(crate) fn timer(&self) -> Time {
        let due = match self.due {
            Pending::At(time) => time,
            _ => Time::NEVER,
        };
        if self.always_once { due } else { due.min(self.window_turns()) }
    }

    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.sooner
    }

    pub(crate) fn note_timer(&mut self) {
        self.sooner = false;
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if !self.always_once && self.window_turns() <= now {
            let turn = self.window.on_turn(now);
            self.turn_window(turn);
        }
        if matches!(self.due, Pending::At(time) if time <= now) {
            self.due = Pending::Now;
            if self.holds {
                self.release();
            }
        }
    }

    /// Releases held duplicate ACKs, each with the current SACK report.
    #[cold]
    pub(super) fn release(&mut self) {
        let count = self.ack_policy.release();
        self.copy_acks(count);
    }

    /// Returns the byte of the ACK due that no data segment carried.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn poll_ack(&mut self) -> Option<u64> {
        if !matches!(self.due, Pending::Now | Pending::Bare) {
            return None;
        }
        self.end_burst();
        Some(self.finish_ack())
    }

    /// ACK number and window of an outgoing data segment. Both stay the same while the peer sends nothing.
    #[inline(always)]
    pub(crate) fn tell(&mut self, shift: u8) -> (u64, u16) {
        match self.all_told {
            true => (self.acknowledged, self.units),
            false => self.tell_anew(shift),
        }
    }

    #[inline(never)]
    fn tell_anew(&mut self, shift: u8) -> (u64, u16) {
        let ack = self.piggyback();
        let units = self.advertise(ack, shift);
        self.all_told = self.remembers;
        (ack, units)
    }

    /// Acknowledges all data in an outgoing data segment.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn piggyback(&mut self) -> u64 {
        self.end_burst();
        self.finish_ack()
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn finish_ack(&mut self) -> u64 {
        let next = self.next();
        if self.estimates
            && self.acknowledged < next
            && let Some(studied) = &mut self.studied
        {
            studied.estimator.on_ack_sent();
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
