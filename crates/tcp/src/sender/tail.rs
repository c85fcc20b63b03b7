//! Tail loss probe (RFC 8985 §7). The loss of a flight's last segments causes no duplicate ACKs, because no later
//! segment follows. The probe makes the receiver send an ACK that reveals the loss. The probe is new data if any may be
//! sent, otherwise a retransmission of the last segment.

use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe(ProbeState);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ProbeState {
    Off,
    /// No probe is outstanding.
    Idle {
        /// Time at which the retransmission timer would expire if the probe timer did not replace it.
        expires: Time,
    },
    Due,
    /// A probe is outstanding.
    Outstanding {
        /// Offset after the probe (TLP.end_seq). The probe is outstanding until this offset is acknowledged.
        end: u64,
        /// Whether the probe is a retransmission, not new data.
        is_retransmission: bool,
    },
}

/// TLP.max_ack_delay: longest delay of the ACK of a lone segment.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

impl TailLossProbe {
    pub(super) fn new(probes: bool) -> TailLossProbe {
        TailLossProbe(if probes { ProbeState::Idle { expires: Time::NEVER } } else { ProbeState::Off })
    }

    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.0 != ProbeState::Off
    }

    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.0 == ProbeState::Due
    }

    /// Time at which the retransmission timer would expire. `None` if a probe is due or outstanding, or if probes are
    /// off.
    #[inline(always)]
    pub(super) fn expires(&self) -> Option<Time> {
        match self.0 {
            ProbeState::Idle { expires } => Some(expires),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn permits_fast_path(&self) -> bool {
        let TailLossProbe(state) = self;
        match state {
            ProbeState::Off | ProbeState::Idle { .. } => true,
            ProbeState::Due | ProbeState::Outstanding { .. } => false,
        }
    }

    /// Returns the time at which to send a tail loss probe (TLP_calc_PTO, RFC 8985 §7.2). `expires`: expiry of the
    /// retransmission timer; `is_lone`: at most one segment is outstanding.
    pub(super) fn arm(&mut self, now: Time, expires: Time, srtt: Option<Duration>, is_lone: bool) -> Time {
        let timeout = match srtt {
            Some(srtt) => srtt * 2 + if is_lone { MAX_ACK_DELAY } else { Duration::ZERO },
            None => Duration::from_secs(1),
        };
        self.0 = ProbeState::Idle { expires };
        (now + timeout).min(expires)
    }

    pub(super) fn set_due(&mut self) {
        self.0 = ProbeState::Due;
    }

    /// Records that a probe was sent. `end`: offset after its last byte; `is_retransmission`: the probe is a
    /// retransmission, not new data.
    pub(super) fn on_probe_sent(&mut self, end: u64, is_retransmission: bool) {
        self.0 = ProbeState::Outstanding { end, is_retransmission };
    }

    /// Handles an ACK up to the offset `una`. Returns whether the probe repaired a loss (RFC 8985 §7.4.2). `is_dsack`:
    /// the ACK carries a D-SACK; `advanced`: the ACK acknowledges new data; `selective`: SACK is in use.
    #[inline]
    pub(super) fn on_ack(&mut self, una: u64, is_dsack: bool, advanced: bool, selective: bool) -> bool {
        let ProbeState::Outstanding { end, is_retransmission } = self.0 else { return false };
        if una < end {
            return false;
        }
        let has_repaired = is_retransmission && !is_dsack && una > end;
        if !is_retransmission || is_dsack || has_repaired || (!advanced && !selective) {
            self.cancel();
        }
        has_repaired
    }

    /// Cancels the probe after a timeout or when a recovery begins, because the ACK of the probe then no longer shows
    /// whether the probe repaired a loss.
    pub(super) fn cancel(&mut self) {
        if self.is_on() {
            self.0 = ProbeState::Idle { expires: Time::NEVER };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outstanding(is_retransmission: bool) -> TailLossProbe {
        let mut tail = TailLossProbe::new(true);
        tail.set_due();
        assert!(tail.is_due() && !tail.permits_fast_path());
        tail.on_probe_sent(5001, is_retransmission);
        tail
    }

    /// RFC 8985 §7.2: the probe timeout is two round trips, plus the longest ACK delay for a lone segment, and at most
    /// the RTO.
    #[test]
    fn the_probe_waits_for_two_round_trips() {
        let (at, ms) = (|ms| Time::ZERO + Duration::from_millis(ms), Duration::from_millis);
        let mut tail = TailLossProbe::new(true);
        assert_eq!(tail.arm(at(0), at(900), Some(ms(100)), false), at(200));
        assert_eq!(tail.arm(at(0), at(900), Some(ms(100)), true), at(400));
        assert_eq!(tail.arm(at(0), at(300), Some(ms(100)), true), at(300));
        assert_eq!(tail.arm(at(0), at(3000), None, false), at(1000));
        assert_eq!(tail.expires(), Some(at(3000)));
    }

    /// RFC 8985 §7.4.2: an ACK beyond the probe without a D-SACK shows that the probe repaired a loss.
    #[test]
    fn a_repeated_segment_that_was_needed_is_a_loss() {
        assert!(!outstanding(true).on_ack(4001, false, true, true), "the ACK does not cover the probe yet");
        let mut tail = outstanding(true);
        assert!(tail.on_ack(6001, false, true, true) && tail.permits_fast_path());
        let mut tail = outstanding(true);
        assert!(
            !tail.on_ack(5001, true, false, true) && tail.permits_fast_path(),
            "D-SACK shows that the probe was a duplicate"
        );
        let mut tail = outstanding(false);
        assert!(
            !tail.on_ack(5001, false, true, true) && tail.permits_fast_path(),
            "new data repairs nothing"
        );
    }

    #[test]
    fn nothing_turns_probes_on() {
        let mut tail = TailLossProbe::new(false);
        tail.cancel();
        assert!(!tail.is_on() && tail.permits_fast_path() && tail.expires().is_none());
    }
}
