//! F-RTO: was the timeout spurious? Forward RTO-recovery (RFC 5682).
//!
//! After the first retransmission the first ACK lets new data out instead of what may be lost. What then tells that nothing
//! was lost depends on what the recovery goes by:
//!
//! * without SACK (§2.1) the second ACK advances as well: it is for data that was sent once;
//! * with SACK (§3.1) it acknowledges or reports something that was outstanding at the timeout and sent once, and nothing
//!   sent since. Expiries one after another at the same place are asked, too. Where all of the window is given back
//!   (`undo = "linux"`), the first ACK may tell that already, without new data (netdev, "tcp: implement RFC5682 F-RTO",
//!   March 2013).
//!
//! The response is that of `undo.rs`.

use crate::ranges::Range;
use crate::sender::Ack;
use crate::sender::scoreboard::Scoreboard;

/// The open question about a timeout.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Question {
    /// The bytes behind the segment that was sent again, and behind all that was outstanding.
    first: u64,
    recover: u64,
    /// New segments that went out for it, once the first ACK has come.
    probes: Option<u32>,
    /// Uses SACK (§3.1).
    selective: bool,
}

/// Conclusion from an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sender) enum Answer {
    /// None, or none yet.
    Open,
    /// The timeout was spurious.
    Spurious,
    /// A duplicate has come while new data was out: the window takes a retransmission beside it (step 3 a).
    Probed,
}

/// Sending while a question is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sender) enum Turn {
    /// No question is open.
    Nothing,
    /// Nothing goes until the next ACK.
    Waits,
    /// New data may go out; `first`: none has, and if none can, the question is over.
    Probe { first: bool },
}

/// RFC 5682 §2.1, step 2 b.
const MOST_PROBES: u32 = 2;

impl Question {
    /// The timer has expired for the segment `sent`, with all up to `recover` outstanding.
    pub(super) fn new(sent: Range, recover: u64, selective: bool) -> Question {
        Question { first: sent.end, recover, probes: None, selective }
    }

    /// Whether an ACK that the scoreboard has not taken in shows that an original has arrived (§3.1, step 3 b): something that
    /// was outstanding at the timeout and went out once. `is_eager`: also before new data went out, as Linux.
    #[cold]
    pub(super) fn tells_of_original(&self, ack: &Ack<'_>, is_eager: bool, board: &Scoreboard) -> bool {
        if !self.selective {
            return false;
        }
        let is_beyond = ack.ack > self.recover || ack.sack.iter().any(|block| block.end > self.recover);
        if !is_eager && (self.probes.is_none() || is_beyond) {
            return false;
        }
        let is_told = |start, end: u64| board.has_original(start, end.min(self.recover));
        is_told(board.una(), ack.ack)
            || ack.sack.iter().any(|block| block.end <= board.nxt() && is_told(block.start, block.end))
    }

    /// An ACK came, by which `acked` bytes are new and `una` is the first byte outstanding; `original`:
    /// [`Question::tells_of_original`]. Whether the question stays open comes second.
    pub(super) fn hear(&mut self, acked: u64, duplicate: bool, original: bool, una: u64) -> (Answer, bool) {
        if acked == 0 && !duplicate {
            return (Answer::Open, true);
        }
        let is_probed = self.probes.is_some();
        if original || (!self.selective && is_probed && acked > 0) {
            return (Answer::Spurious, false);
        }
        let begins_probing = acked > 0 && self.first <= una && una < self.recover;
        let stays = match self.probes {
            // Duplicates wait for the ACK of the retransmission (§3.1, step 2).
            None if self.selective && acked == 0 => true,
            None if begins_probing => {
                self.probes = Some(0);
                true
            }
            _ => false,
        };
        (if is_probed && duplicate { Answer::Probed } else { Answer::Open }, stays)
    }

    pub(super) fn turn(&self) -> Turn {
        match self.probes {
            Some(sent) if sent < MOST_PROBES => Turn::Probe { first: sent == 0 },
            _ => Turn::Waits,
        }
    }

    /// New data went out for it.
    pub(super) fn note_probe(&mut self) {
        self.probes = self.probes.map(|sent| sent + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(selective: bool) -> Question {
        Question::new(Range { start: 1, end: 1001 }, 5001, selective)
    }

    /// RFC 5682 §2.1: the first ACK lets two new segments out, the second that advances is the answer.
    #[test]
    fn without_sack_the_second_advance_tells() {
        let mut asked = question(false);
        assert_eq!(asked.turn(), Turn::Waits);
        assert_eq!(asked.hear(1000, false, false, 1001), (Answer::Open, true));
        assert_eq!(asked.turn(), Turn::Probe { first: true });
        asked.note_probe();
        assert_eq!(asked.turn(), Turn::Probe { first: false });
        asked.note_probe();
        assert_eq!(asked.turn(), Turn::Waits);
        assert_eq!(asked.hear(1000, false, false, 2001), (Answer::Spurious, false));
    }

    /// Step 2 a: an ACK for less than the segment that was sent again, or for all, asks no further.
    #[test]
    fn an_ack_outside_the_flight_ends_the_question() {
        for una in [501, 5001] {
            assert_eq!(question(false).hear(500, false, false, una), (Answer::Open, false), "{una}");
        }
        let (mut plain, mut selective) = (question(false), question(true));
        assert_eq!(plain.hear(0, true, false, 1), (Answer::Open, false));
        // §3.1, step 2: duplicates wait for the ACK of the retransmission.
        assert_eq!(selective.hear(0, true, false, 1), (Answer::Open, true));
    }

    /// §3.1, step 3 a.
    #[test]
    fn a_duplicate_after_new_data_says_that_the_loss_was_real() {
        let mut asked = question(true);
        asked.hear(1000, false, false, 1001);
        assert_eq!(asked.hear(0, true, false, 1001), (Answer::Probed, false));
    }
}
