//! The single timer of a sender (RFC 6298 §5), its purpose, and the deadlines of loss detection and pacing.

use lasthop_base::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimerKind {
    /// Retransmission of the oldest outstanding data.
    Retransmit,
    /// Tail loss probe (RFC 8985 §7).
    Probe,
    /// Probe of a closed window while no data is outstanding (RFC 9293 §3.8.6.1).
    Persist,
    /// Delay of new data after an ECN mark at a cwnd of one segment (RFC 3168 §6.1.2). No data is outstanding.
    Hold,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Timer {
    at: Time,
    /// Earlier time of `detection_at` and `departure_at`.
    others: Time,
    kind: TimerKind,
    /// Whether the earliest deadline may have become earlier since [`Timer::note_read`].
    sooner: bool,
    detection_at: Time,
    /// Time at which the next paced packet may be sent.
    departure_at: Time,
}

impl Timer {
    pub(super) const OFF: Timer = Timer {
        at: Time::NEVER,
        kind: TimerKind::Retransmit,
        sooner: false,
        detection_at: Time::NEVER,
        departure_at: Time::NEVER,
        others: Time::NEVER,
    };

    #[inline]
    pub(super) fn start(&mut self, at: Time, kind: TimerKind) {
        self.sooner |= at < self.at;
        self.at = at;
        self.kind = kind;
    }

    /// Stops the timer. The deadlines of loss detection and pacing stay.
    pub(super) fn stop(&mut self) {
        self.start(Time::NEVER, TimerKind::Retransmit);
    }

    #[inline]
    pub(super) fn next(&self) -> Time {
        self.at.min(self.others)
    }

    #[inline]
    pub(super) fn set_detection(&mut self, at: Time) {
        self.detection_at = at;
        self.set_others();
    }

    pub(super) fn detection_at(&self) -> Time {
        self.detection_at
    }

    /// Sets the departure time of the next packet. The caller must set [`Time::NEVER`] once this time has passed,
    /// because nothing else clears it.
    pub(super) fn set_departure(&mut self, at: Time) {
        self.departure_at = at;
        self.set_others();
    }

    #[inline]
    fn set_others(&mut self) {
        let earlier = self.detection_at.min(self.departure_at);
        self.sooner |= earlier < self.others;
        self.others = earlier;
    }

    /// Whether [`Timer::next`] may be earlier than it was at the last [`Timer::note_read`].
    #[inline]
    pub(super) fn is_sooner(&self) -> bool {
        self.sooner
    }

    pub(super) fn note_read(&mut self) {
        self.sooner = false;
    }

    /// Time of expiry; [`Time::NEVER`] if the timer is stopped.
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    pub(super) fn kind(&self) -> TimerKind {
        self.kind
    }

    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.at == Time::NEVER
    }

    #[inline(always)]
    pub(super) fn permits_fast_path(&self) -> bool {
        let Timer { kind, at: _, others: _, sooner: _, detection_at: _, departure_at: _ } = self;
        *kind != TimerKind::Hold
    }

    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.kind == TimerKind::Hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// `stop` also ends the kind `Hold`. New data would otherwise wait for a timer that never expires.
    #[test]
    fn a_stopped_timer_holds_nothing() {
        let mut timer = Timer::OFF;
        timer.start(Time::ZERO + Duration::from_secs(1), TimerKind::Hold);
        assert!(timer.holds() && !timer.is_off());
        timer.stop();
        assert!(!timer.holds() && timer.is_off());
    }

    #[test]
    fn the_earliest_deadline_counts() {
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        let mut timer = Timer::OFF;
        timer.start(at(5), TimerKind::Retransmit);
        assert_eq!(timer.next(), at(5));
        timer.set_detection(at(3));
        timer.set_departure(at(2));
        assert_eq!((timer.next(), timer.at(), timer.detection_at()), (at(2), at(5), at(3)));
        timer.set_departure(Time::NEVER);
        assert_eq!(timer.next(), at(3));
        timer.set_detection(Time::NEVER);
        timer.stop();
        assert_eq!(timer.next(), Time::NEVER);
    }

    #[test]
    fn earlier_deadlines_are_reported() {
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        let mut timer = Timer::OFF;
        for (set, is_sooner) in [(4, true), (3, true), (3, false), (5, false)] {
            timer.note_read();
            timer.set_detection(at(set));
            assert_eq!(timer.is_sooner(), is_sooner, "{set}");
        }
        timer.note_read();
        timer.start(at(9), TimerKind::Retransmit);
        assert!(timer.is_sooner(), "the timer was off");
    }
}
