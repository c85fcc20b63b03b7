//! Tail loss probe (RFC 8985 §7): new data, or the last segment again, makes the receiver report. No later segment
//! would reveal the loss of a flight's last segments.

use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Tail(State);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Off,
    /// No probe is outstanding. `expires`: expiry of the retransmission timer, if the probe timer did not precede it.
    Quiet {
        expires: Time,
    },
    Due,
    /// A probe is outstanding until `end` is acknowledged (TLP.end_seq); `again`: its bytes were sent before.
    Asked {
        end: u64,
        again: bool,
    },
}

/// TLP.max_ack_delay: longest delay of the ACK of a lone segment.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(200);

impl Tail {
    pub(super) fn new(probes: bool) -> Tail {
        Tail(if probes { State::Quiet { expires: Time::NEVER } } else { State::Off })
    }

    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.0 != State::Off
    }

    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.0 == State::Due
    }

    /// Expiry of the retransmission timer, if no probe is outstanding.
    #[inline(always)]
    pub(super) fn expires(&self) -> Option<Time> {
        match self.0 {
            State::Quiet { expires } => Some(expires),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        let Tail(state) = self;
        match state {
            State::Off | State::Quiet { .. } => true,
            State::Due | State::Asked { .. } => false,
        }
    }

    /// TLP_calc_PTO (RFC 8985 §7.2). `expires`: retransmission timer; `is_lone`: at most one segment outstanding.
    pub(super) fn wait(&mut self, now: Time, expires: Time, srtt: Option<Duration>, is_lone: bool) -> Time {
        let timeout = match srtt {
            Some(srtt) => srtt * 2 + if is_lone { LONGEST_ACK_DELAY } else { Duration::ZERO },
            None => Duration::from_secs(1),
        };
        self.0 = State::Quiet { expires };
        (now + timeout).min(expires)
    }

    pub(super) fn fall_due(&mut self) {
        self.0 = State::Due;
    }

    /// A probe that ends at `end` is sent; `again`: its bytes were sent before.
    pub(super) fn ask(&mut self, end: u64, again: bool) {
        self.0 = State::Asked { end, again };
    }

    /// Whether the probe repaired a loss (RFC 8985 §7.4.2). The ACK of `una`: D-SACK (`twice`), or new (`advanced`).
    #[inline]
    pub(super) fn conclude(&mut self, una: u64, twice: bool, advanced: bool, selective: bool) -> bool {
        let State::Asked { end, again } = self.0 else { return false };
        if una < end {
            return false;
        }
        let has_repaired = again && !twice && una > end;
        if !again || twice || has_repaired || (!advanced && !selective) {
            self.forget();
        }
        has_repaired
    }

    /// A timeout or a recovery makes the probe's answer meaningless.
    pub(super) fn forget(&mut self) {
        if self.is_on() {
            self.0 = State::Quiet { expires: Time::NEVER };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(again: bool) -> Tail {
        let mut tail = Tail::new(true);
        tail.fall_due();
        assert!(tail.is_due() && !tail.is_quiet());
        tail.ask(5001, again);
        tail
    }

    /// RFC 8985 §7.2: two round trips plus the longest ACK delay of a lone segment, at most the RTO.
    #[test]
    fn the_probe_waits_for_two_round_trips() {
        let (at, ms) = (|ms| Time::ZERO + Duration::from_millis(ms), Duration::from_millis);
        let mut tail = Tail::new(true);
        assert_eq!(tail.wait(at(0), at(900), Some(ms(100)), false), at(200));
        assert_eq!(tail.wait(at(0), at(900), Some(ms(100)), true), at(400));
        assert_eq!(tail.wait(at(0), at(300), Some(ms(100)), true), at(300));
        assert_eq!(tail.wait(at(0), at(3000), None, false), at(1000));
        assert_eq!(tail.expires(), Some(at(3000)));
    }

    /// RFC 8985 §7.4.2: an ACK beyond the probe without a D-SACK shows that the probe repaired a loss.
    #[test]
    fn a_repeated_segment_that_was_needed_is_a_loss() {
        assert!(!asked(true).conclude(4001, false, true, true), "a probe is outstanding");
        let mut tail = asked(true);
        assert!(tail.conclude(6001, false, true, true) && tail.is_quiet());
        let mut tail = asked(true);
        assert!(!tail.conclude(5001, true, false, true) && tail.is_quiet(), "D-SACK");
        let mut tail = asked(false);
        assert!(!tail.conclude(5001, false, true, true) && tail.is_quiet(), "new data repairs nothing");
    }

    #[test]
    fn nothing_turns_probes_on() {
        let mut tail = Tail::new(false);
        tail.forget();
        assert!(!tail.is_on() && tail.is_quiet() && tail.expires().is_none());
    }
}
