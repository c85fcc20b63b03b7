//! State of repairs: while something is lost, reported or retransmitted. `ack.rs` has the effects of an ACK on it.

use super::Sender;
use super::congestion::Phase;
use super::f_rto::ForwardRto;
use super::recovery::LossRecovery;
use super::scoreboard::Scoreboard;
use super::told::Told;
use super::undo::{Undo, Ways};
use crate::config::Config;
use crate::event::Reason;

/// State of repairs.
pub(super) struct Repair {
    pub(super) recovery: Box<dyn LossRecovery>,
    /// Why the next thing that must go out does.
    pub(super) why: Reason,
    /// Whether timeouts are asked if they were spurious (F-RTO), and the question that is open.
    pub(super) asks: bool,
    pub(super) f_rto: Option<Box<ForwardRto>>,
    /// What the last repair changed, if repairs that were for nothing are taken back.
    pub(super) undo: Option<Box<Undo>>,
    /// Whether the window after a timeout has room for what was not given up.
    pub(super) spares: bool,
    /// Whether round trips are measured by what SACK reports.
    pub(super) samples_sack: bool,
    /// Whether `recovery` tells losses by time.
    pub(super) times: bool,
    /// What goes again because somebody told of it; `None`: nobody ever did.
    pub(super) told: Option<Box<Told>>,
}

impl Repair {
    pub(super) fn new(recovery: Box<dyn LossRecovery>, config: &Config, burst: u64) -> Repair {
        let undoes = config.f_rto || config.dsack_undo || config.eifel;
        let ways = Ways {
            told: config.dsack_undo,
            stamped: config.eifel.then_some(config.timestamp_tick),
            whole: config.undo_whole,
            burst,
        };
        Repair {
            spares: config.loss_window_spares,
            samples_sack: config.sack_rtt && recovery.needs_times(),
            times: recovery.needs_times(),
            recovery,
            why: Reason::Hole,
            asks: config.f_rto,
            f_rto: None,
            undo: undoes.then(|| Box::new(Undo::new(ways))),
            told: None,
        }
    }

    /// What is outstanding was marked lost, or some of it.
    pub(super) fn start_over(&mut self, why: Reason, board: &Scoreboard) {
        self.f_rto = None;
        if let Some(undo) = self.undo.as_mut().filter(|_| why != Reason::Timeout) {
            undo.forget();
        }
        self.why = why;
        self.recovery.on_timeout(board);
    }
}

impl Sender {
    #[inline]
    pub(super) fn phase(&self) -> Phase {
        if self.repair.recovery.is_recovering() || self.reductions.lasts_by_mark() {
            Phase::Recovery
        } else if self.board.una() < self.restart_until {
            Phase::Restart
        } else {
            Phase::Open
        }
    }
}
