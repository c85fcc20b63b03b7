//! When an acknowledgement leaves, and what it acknowledges.

use super::Receiver;
use lasthop_base::Time;

/// The acknowledgement that is due, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    /// For data: the shape says in how many pieces.
    Now,
    /// For anything else, a window or a challenge: one ACK.
    Bare,
    At(Time),
}

impl Receiver {
    /// An acknowledgement must go out although no data asks for it.
    pub(crate) fn acknowledge_now(&mut self) {
        self.all_told = false;
        if self.due != Pending::Now {
            self.due = Pending::Bare;
        }
    }

    /// When a delayed ACK leaves at the latest.
    pub(crate) fn timer(&self) -> Time {
        let due = match self.due {
            Pending::At(time) => time,
            _ => Time::NEVER,
        };
        if self.always_once { due } else { due.min(self.window_turns()) }
    }

    /// Whether [`Receiver::timer`] may be earlier than at the last [`Receiver::note_timer`].
    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.sooner
    }

    /// Somebody has looked at [`Receiver::timer`] and remembers it.
    pub(crate) fn note_timer(&mut self) {
        self.sooner = false;
    }

    /// The delayed ACK's time has come (if `now` has reached it).
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

    /// Duplicates that were kept back leave together, each with what is to be reported now.
    #[cold]
    pub(super) fn release(&mut self) {
        let count = self.timing.release();
        self.copy_acks(count);
    }

    /// The ACK that is due, if one is and no data carried it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn poll_ack(&mut self) -> Option<u64> {
        if !matches!(self.due, Pending::Now | Pending::Bare) {
            return None;
        }
        self.end_burst();
        Some(self.finish_ack())
    }

    /// A data segment is leaving: what it acknowledges, everything, and the window that it advertises. While the peer sends
    /// nothing, both are what they were.
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

    /// A data segment is leaving: it acknowledges everything.
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

    /// The connection is over: nothing is acknowledged any more.
    pub(crate) fn stop(&mut self) {
        self.due = Pending::Nothing;
        self.end_burst();
    }
}
