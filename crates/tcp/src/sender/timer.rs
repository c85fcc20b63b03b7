//! The one timer of a sender (RFC 6298 §5), and what it stands for.

use lasthop_base::Time;

/// What happens when the timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The oldest outstanding data goes out again.
    Retransmit,
    /// Nothing is outstanding and the receiver's window is closed: it is probed (RFC 9293 §3.8.6.1).
    Persist,
    /// Nothing is outstanding and a mark came at a window of one segment: new data may go out (RFC 3168 §6.1.2).
    Hold,
}

/// When it expires, and what for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timer {
    at: Time,
    kind: Kind,
}

impl Timer {
    /// It does not run.
    pub(super) const OFF: Timer = Timer { at: Time::NEVER, kind: Kind::Retransmit };

    /// It expires at `at`, whatever it stood for before.
    #[inline]
    pub(super) fn start(&mut self, at: Time, kind: Kind) {
        *self = Timer { at, kind };
    }

    pub(super) fn stop(&mut self) {
        *self = Timer::OFF;
    }

    /// [`Time::NEVER`] if it does not run.
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.at == Time::NEVER
    }

    /// Whether new data waits for it because of a mark.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.kind == Kind::Hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// A timer that is off holds nothing back: else nothing would ever let the data go.
    #[test]
    fn a_stopped_timer_holds_nothing() {
        let mut timer = Timer::OFF;
        timer.start(Time::ZERO + Duration::from_secs(1), Kind::Hold);
        assert!(timer.holds() && !timer.is_off());
        timer.stop();
        assert!(!timer.holds() && timer.is_off());
    }
}
