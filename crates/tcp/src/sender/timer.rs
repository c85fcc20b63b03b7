//! The one timer of a sender (RFC 6298 §5), what it stands for, and two deadlines beside it.

use lasthop_base::Time;

/// What happens when the timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The oldest outstanding data goes out again.
    Retransmit,
    /// The end of a flight is probed (RFC 8985 §7).
    Probe,
    /// Nothing is outstanding and the receiver's window is closed: it is probed (RFC 9293 §3.8.6.1).
    Persist,
    /// Nothing is outstanding and a mark came at a window of one segment: new data may go out (RFC 3168 §6.1.2).
    Hold,
}

/// When it expires, and what for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Timer {
    at: Time,
    /// The earlier of the two.
    others: Time,
    kind: Kind,
    /// Whether the earliest of all may have become earlier since that was asked last.
    sooner: bool,
    /// When recovery wants to look for losses that time alone tells; and when the pacer lets the next packet go.
    look: Time,
    pace: Time,
}

impl Timer {
    /// It does not run.
    pub(super) const OFF: Timer = Timer {
        at: Time::NEVER,
        kind: Kind::Retransmit,
        sooner: false,
        look: Time::NEVER,
        pace: Time::NEVER,
        others: Time::NEVER,
    };

    /// It expires at `at`, whatever it stood for before.
    #[inline]
    pub(super) fn start(&mut self, at: Time, kind: Kind) {
        self.sooner |= at < self.at;
        self.at = at;
        self.kind = kind;
    }

    /// It runs no more; the other deadlines stay.
    pub(super) fn stop(&mut self) {
        self.start(Time::NEVER, Kind::Retransmit);
    }

    /// The earliest of all.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.at.min(self.others)
    }

    /// Recovery wants to look for losses at `at`.
    #[inline]
    pub(super) fn look(&mut self, at: Time) {
        self.look = at;
        self.set_others();
    }

    /// When it wants to.
    pub(super) fn look_at(&self) -> Time {
        self.look
    }

    /// What is next may leave at `at`. A time that has gone by must not stay: in states in which nothing is sent, nobody
    /// would ever replace it.
    pub(super) fn pace(&mut self, at: Time) {
        self.pace = at;
        self.set_others();
    }

    #[inline]
    fn set_others(&mut self) {
        let earlier = self.look.min(self.pace);
        self.sooner |= earlier < self.others;
        self.others = earlier;
    }

    /// Whether [`Timer::next`] may have become earlier since [`Timer::note_asked`].
    #[inline]
    pub(super) fn is_sooner(&self) -> bool {
        self.sooner
    }

    pub(super) fn note_asked(&mut self) {
        self.sooner = false;
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

    /// It holds nothing back.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        let Timer { kind, at: _, others: _, sooner: _, look: _, pace: _ } = self;
        *kind != Kind::Hold
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

    #[test]
    fn the_earliest_deadline_counts() {
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        let mut timer = Timer::OFF;
        timer.start(at(5), Kind::Retransmit);
        assert_eq!(timer.next(), at(5));
        timer.look(at(3));
        timer.pace(at(2));
        assert_eq!((timer.next(), timer.at(), timer.look_at()), (at(2), at(5), at(3)));
        timer.pace(Time::NEVER);
        assert_eq!(timer.next(), at(3));
        timer.look(Time::NEVER);
        timer.stop();
        assert_eq!(timer.next(), Time::NEVER);
    }
}
