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

use super::congestion::Recovered;
use super::{Ack, Outgoing, Sender};
use crate::event::Log;
use lasthop_base::Time;

/// What is to be found out.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForwardRto {
    /// The bytes behind the segment that was sent again, and behind all that was outstanding.
    first: u64,
    recover: u64,
    /// New segments that the first ACK allows, once it has come.
    probes: Option<Probes>,
    /// By SACK (§3.1).
    selective: bool,
}

#[derive(Clone, Copy, Debug)]
struct Probes {
    sent: u32,
}

/// RFC 5682 §2.1, step 2 b.
const MOST_PROBES: u32 = 2;

impl Sender {
    /// What is asked about the timeout that has just come, `first`: for the first time for this data, before it takes its
    /// effect; nothing while an earlier one, or a loss that was seen, is being repaired.
    #[cold]
    pub(super) fn ask_about_timeout(&self, first: bool) -> Option<Box<ForwardRto>> {
        let una = self.board.una();
        let selective = self.repair.recovery.uses_sack();
        let is_calm =
            self.restart_until <= una && !self.repair.recovery.is_recovering() && self.board.lost() == 0;
        let is_first = is_calm || (selective && !first);
        let first = self.board.first().filter(|_| self.repair.asks && is_first)?.end;
        Some(Box::new(ForwardRto { first, recover: self.board.nxt(), probes: None, selective }))
    }

    /// Whether an ACK that the board has not taken in tells of something that was outstanding at the timeout and went out
    /// once (§3.1, step 3 b), and may do so.
    #[cold]
    pub(super) fn tells_of_original(&self, ack: &Ack<'_>) -> bool {
        let Some(question) = self.repair.f_rto.as_deref().filter(|question| question.selective) else {
            return false;
        };
        let is_eager = self.repair.undo.as_ref().is_some_and(|undo| undo.ways.whole);
        let is_beyond =
            ack.ack > question.recover || ack.sack.iter().any(|block| block.end > question.recover);
        if !is_eager && (question.probes.is_none() || is_beyond) {
            return false;
        }
        let is_told = |start, end: u64| self.board.has_original(start, end.min(question.recover));
        is_told(self.board.una(), ack.ack)
            || ack.sack.iter().any(|block| block.end <= self.board.nxt() && is_told(block.start, block.end))
    }

    /// An ACK came; `acked` bytes of it are new, `original`: [`Sender::tells_of_original`]; `marked`: it echoes a mark.
    #[inline(never)]
    pub(super) fn consider_timeout(
        &mut self,
        now: Time,
        acked: u64,
        duplicate: bool,
        original: bool,
        marked: bool,
        log: &mut Log,
    ) {
        let Some(question) = self.repair.f_rto.as_deref_mut().filter(|_| acked > 0 || duplicate) else {
            return;
        };
        let una = self.board.una();
        let is_probed = question.probes.is_some();
        if original || (!question.selective && is_probed && acked > 0) {
            self.repair.f_rto = None;
            return self.take_back(now, Some(acked), marked, log);
        }
        let begins_probing = acked > 0 && question.first <= una && una < question.recover;
        match question.probes {
            // Duplicates wait for the ACK of the retransmission (§3.1, step 2).
            None if question.selective && acked == 0 => {}
            None if begins_probing => question.probes = Some(Probes { sent: 0 }),
            _ => self.repair.f_rto = None,
        }
        if is_probed && duplicate && !self.repair.spares {
            // Room for a retransmission beside the two new segments (step 3 a).
            let window = 3 * self.mss;
            self.window.on_recovered(self.board.outstanding(), Recovered::Probed { window });
        }
    }

    /// What goes out until the answer is there; `Err` if it cannot be had, because nothing new
    /// may be sent.
    #[cold]
    pub(super) fn poll_f_rto(&mut self, now: Time, room: u64) -> Result<Option<Outgoing>, ()> {
        let Some(Probes { sent }) = self.repair.f_rto.as_ref().and_then(|question| question.probes) else {
            return Ok(None);
        };
        if sent == MOST_PROBES {
            return Ok(None);
        }
        match self.next_new(room) {
            Ok(range) => {
                if let Some(question) = &mut self.repair.f_rto {
                    question.probes = Some(Probes { sent: sent + 1 });
                }
                Ok(Some(self.send_new(now, range)))
            }
            Err(_) if sent > 0 => Ok(None),
            Err(_) => {
                self.repair.f_rto = None;
                Err(())
            }
        }
    }
}
