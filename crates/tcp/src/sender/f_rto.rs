//! F-RTO: was the timeout spurious? Forward RTO-recovery (RFC 5682 §2.1).
//!
//! After the first retransmission the first ACK lets new data out instead of what may be lost. If the second ACK
//! advances as well, it is for data that was sent once: nothing was lost, the timer was early. The response is RFC
//! 4015's, without its new estimate of the RTT.
//!
//! # SACK is not asked
//! The variant of RFC 5682 §3 would also find some spurious timeouts behind which segments were reordered.

use super::congestion::{Level, Recovered};
use super::{Outgoing, Sender};
use crate::event::{Event, Log};
use lasthop_base::Time;

/// What is to be found out.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForwardRto {
    /// What the timeout changed.
    before: Level,
    /// The bytes behind the segment that was sent again, and behind all that was outstanding.
    first: u64,
    recover: u64,
    /// New segments that the first ACK allows, once it has come.
    probes: Option<Probes>,
}

#[derive(Clone, Copy, Debug)]
struct Probes {
    sent: u32,
}

/// RFC 5682 §2.1, step 2 b.
const MOST_PROBES: u32 = 2;

impl Sender {
    /// What is asked about the timeout that has just come, before it takes its effect; nothing while an earlier one, or
    /// a loss that was seen, is being repaired.
    #[cold]
    pub(super) fn ask_about_timeout(&self) -> Option<ForwardRto> {
        let una = self.board.una();
        let is_first = self.repair.restart_until <= una
            && !self.repair.recovery.is_recovering()
            && self.board.lost() == 0;
        let first = self.board.first().filter(|_| self.repair.asks && is_first)?.end;
        Some(ForwardRto { before: self.level(), first, recover: self.board.nxt(), probes: None })
    }

    /// An ACK came; `acked` bytes of it are new.
    #[inline(never)]
    pub(super) fn consider_timeout(&mut self, now: Time, acked: u64, duplicate: bool, log: &mut Log) {
        let Some(question) = self.repair.f_rto.filter(|_| acked > 0 || duplicate) else { return };
        let una = self.board.una();
        self.repair.f_rto = match question.probes {
            None if acked > 0 && question.first <= una && una < question.recover => {
                Some(ForwardRto { probes: Some(Probes { sent: 0 }), ..question })
            }
            _ => None,
        };
        match question.probes {
            Some(_) if acked > 0 => self.undo_timeout(now, question.before, acked, log),
            // Room for a retransmission beside the two new segments (step 3 a).
            Some(_) => self.conclude(Recovered::Probed { window: 3 * self.mss }),
            None => {}
        }
    }

    /// What goes out until the answer is there; `Err` if it cannot be had, because nothing new
    /// may be sent.
    #[cold]
    pub(super) fn poll_f_rto(&mut self, now: Time, room: u64) -> Result<Option<Outgoing>, ()> {
        let Some(ForwardRto { probes: Some(Probes { sent }), .. }) = self.repair.f_rto else {
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

    fn undo_timeout(&mut self, now: Time, before: Level, acked: u64, log: &mut Log) {
        self.board.forget_losses();
        self.repair.recovery.on_spurious_timeout(&self.board);
        self.repair.restart_until = 0;
        self.reductions.until = self.board.una();
        // No burst: what the ACK says has left may be replaced (RFC 4015 §3.2).
        let window = before.window.min((self.board.outstanding() + acked).max(self.mss));
        self.conclude(Recovered::Revised { from: self.level(), to: Level { window, ..before } });
        log.counters.timeouts_undone += 1;
        log.trace(now, Event::TimeoutUndone { cwnd: self.congestion.window() });
    }

    fn conclude(&mut self, recovered: Recovered) {
        self.congestion.on_recovered(self.board.outstanding(), recovered);
    }
}
