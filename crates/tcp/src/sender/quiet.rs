//! Whether a sender is quiet: nothing is lost, reported, repeated, asked or held back, so that an ACK may leave out what
//! concerns repairs (`ack.rs`), and new data goes out by the windows alone (`new_data.rs`).
//!
//! Every part answers for itself. A new part does not compile until this file says whether it is ever in the way.

use super::Sender;
use super::persist::Persist;
use super::reductions::Reductions;
use super::tail::Tail;
use super::timer::Timer;

impl Sender {
    /// Notes what the window is now, and whether anything is lost.
    pub(super) fn take_stock(&mut self) {
        self.window.settle();
        if !self.repair.recovery().is_recovering() && !self.reductions.lasts_by_mark() {
            self.reductions.end();
        }
        if self.repair.needs_times() {
            self.timer.look(self.repair.recovery().deadline());
        }
        self.calm = self.is_quiet();
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        let Sender {
            // These may have something to do.
            board,
            tail,
            timer,
            persist,
            repair,
            reductions,
            has_shortcut,
            // These follow an ACK in the same way, or not at all.
            mss: _,
            peer: _,
            fits: _,
            calm: _,
            observes: _,
            watches: _,
            waits_for: _,
            tells: _,
            rates: _,
            application: _,
            window: _,
            judge: _,
            config: _,
            rtt: _,
            idle: _,
            user_timeout: _,
            waiting: _,
            usage: _,
        } = self;
        *has_shortcut
            && tail.is_quiet()
            && persist.is_quiet()
            && timer.is_quiet()
            && board.is_quiet()
            && reductions.is_quiet()
            && repair.is_quiet(board.una())
    }
}

impl Tail {
    /// No probe is out, or about to go.
    #[inline(always)]
    fn is_quiet(self) -> bool {
        match self {
            Tail::Off | Tail::Quiet { .. } => true,
            Tail::Due | Tail::Asked { .. } => false,
        }
    }
}

impl Timer {
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        !self.holds()
    }
}

impl Persist {
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        !self.is_frozen()
    }
}

impl Reductions {
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        !self.lasts_by_mark()
    }
}
