//! F-RTO: Forward RTO-recovery (RFC 5682), detection of spurious timeouts.
//!
//! After a timeout the sender retransmits the first segment. After the first ACK the sender sends new data instead of
//! further retransmissions. The evidence of a spurious timeout depends on SACK:
//!
//! * without SACK (§2.1): the second ACK also advances SND.UNA, so it acknowledges data that was sent only once;
//! * with SACK (§3.1): the second ACK acknowledges or SACKs data that was outstanding at the timeout and sent only
//!   once, and no data sent later. Further expiries for the same data are also tested. With `undo = "linux"`, the first
//!   ACK may suffice, before new data is sent (netdev, "tcp: implement RFC5682 F-RTO", March 2013).
//!
//! The response to a spurious timeout is in `undo.rs`.

use crate::ranges::Range;
use crate::sender::Ack;
use crate::sender::scoreboard::Scoreboard;

#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct FrtoTest {
    /// Offset of the end of the retransmitted segment.
    first: u64,
    /// Offset of the end of all data outstanding at the timeout.
    recover: u64,
    /// Number of new segments sent for the test; `None` before the ACK of the retransmission.
    probes: Option<u32>,
    /// Whether the SACK variant is used (§3.1).
    selective: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sender) enum FrtoResult {
    Undecided,
    Spurious,
    /// A duplicate ACK arrived after new data was sent: the timeout was not spurious. cwnd becomes three segments (step
    /// 3 a).
    Probed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sender) enum ProbePermission {
    Nothing,
    /// A test is in progress, and nothing may be sent until the next ACK.
    Wait,
    /// New data may be sent. `first`: no new data was sent for this test yet. If no new data is available then, the
    /// test ends.
    Probe {
        first: bool,
    },
}

/// Largest number of new segments sent for the test (RFC 5682 §2.1, step 2 b).
const MAX_PROBES: u32 = 2;

impl FrtoTest {
    /// Starts a test after the timer has expired for the segment `sent`, while all data up to offset `recover` was
    /// outstanding.
    pub(super) fn new(sent: Range, recover: u64, selective: bool) -> FrtoTest {
        FrtoTest { first: sent.end, recover, probes: None, selective }
    }

    /// Whether an ACK shows the arrival of data that was outstanding at the timeout and sent only once (§3.1, step 3
    /// b). The caller must not yet have updated the scoreboard. `is_eager`: whether the test may end before new data
    /// was sent, as in Linux.
    #[cold]
    pub(super) fn shows_original(&self, ack: &Ack<'_>, is_eager: bool, scoreboard: &Scoreboard) -> bool {
        if !self.selective {
            return false;
        }
        let is_beyond = ack.ack > self.recover || ack.sack.iter().any(|block| block.end > self.recover);
        if !is_eager && (self.probes.is_none() || is_beyond) {
            return false;
        }
        let is_covered = |start, end: u64| scoreboard.has_original(start, end.min(self.recover));
        is_covered(scoreboard.una(), ack.ack)
            || ack
                .sack
                .iter()
                .any(|block| block.end <= scoreboard.nxt() && is_covered(block.start, block.end))
    }

    /// Handles an ACK. Returns the result, and whether the test continues. `original`: result of
    /// [`FrtoTest::shows_original`].
    pub(super) fn on_ack(
        &mut self,
        acked: u64,
        duplicate: bool,
        original: bool,
        una: u64,
    ) -> (FrtoResult, bool) {
        if acked == 0 && !duplicate {
            return (FrtoResult::Undecided, true);
        }
        let is_probed = self.probes.is_some();
        if original || (!self.selective && is_probed && acked > 0) {
            return (FrtoResult::Spurious, false);
        }
        let begins_probing = acked > 0 && self.first <= una && una < self.recover;
        let stays = match self.probes {
            // Before the ACK of the retransmission, duplicate ACKs do not end the test (§3.1, step 2).
            None if self.selective && acked == 0 => true,
            None if begins_probing => {
                self.probes = Some(0);
                true
            }
            _ => false,
        };
        (if is_probed && duplicate { FrtoResult::Probed } else { FrtoResult::Undecided }, stays)
    }

    pub(super) fn probe_permission(&self) -> ProbePermission {
        match self.probes {
            Some(sent) if sent < MAX_PROBES => ProbePermission::Probe { first: sent == 0 },
            _ => ProbePermission::Wait,
        }
    }

    pub(super) fn on_probe_sent(&mut self) {
        self.probes = self.probes.map(|sent| sent + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f_rto_test(selective: bool) -> FrtoTest {
        FrtoTest::new(Range { start: 1, end: 1001 }, 5001, selective)
    }

    /// RFC 5682 §2.1: after the first ACK the sender sends two new segments. If the second ACK also advances SND.UNA,
    /// the timeout was spurious.
    #[test]
    fn without_sack_the_second_advance_tells() {
        let mut test = f_rto_test(false);
        assert_eq!(test.probe_permission(), ProbePermission::Wait);
        assert_eq!(test.on_ack(1000, false, false, 1001), (FrtoResult::Undecided, true));
        assert_eq!(test.probe_permission(), ProbePermission::Probe { first: true });
        test.on_probe_sent();
        assert_eq!(test.probe_permission(), ProbePermission::Probe { first: false });
        test.on_probe_sent();
        assert_eq!(test.probe_permission(), ProbePermission::Wait);
        assert_eq!(test.on_ack(1000, false, false, 2001), (FrtoResult::Spurious, false));
    }

    /// RFC 5682 §2.1, step 2 a: an ACK ends the test without a result if the ACK covers only part of the retransmitted
    /// segment, or if the ACK covers all outstanding data.
    #[test]
    fn an_ack_outside_the_flight_ends_the_question() {
        for una in [501, 5001] {
            assert_eq!(
                f_rto_test(false).on_ack(500, false, false, una),
                (FrtoResult::Undecided, false),
                "{una}"
            );
        }
        let (mut plain, mut selective) = (f_rto_test(false), f_rto_test(true));
        assert_eq!(plain.on_ack(0, true, false, 1), (FrtoResult::Undecided, false));
        // §3.1, step 2: with SACK, a duplicate ACK does not end the test. The test waits for the ACK of the
        // retransmission.
        assert_eq!(selective.on_ack(0, true, false, 1), (FrtoResult::Undecided, true));
    }

    /// RFC 5682 §3.1, step 3 a: a duplicate ACK after new data was sent shows that the timeout was not spurious.
    #[test]
    fn a_duplicate_after_new_data_says_that_the_loss_was_real() {
        let mut test = f_rto_test(true);
        test.on_ack(1000, false, false, 1001);
        assert_eq!(test.on_ack(0, true, false, 1001), (FrtoResult::Probed, false));
    }
}
