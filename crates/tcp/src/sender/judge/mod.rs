//! Loss differentiation after the repair: was it congestion, after all?
//!
//! Asked by the sender when fast recovery is over. A sender that asks nobody has no judge, and pays nothing for it.

mod always;
mod tagged;

pub use crate::event::Cause;
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Mechanism, Values};
use lasthop_wire::Priority;

/// A sender's judge of losses.
pub trait LossJudge: Send {
    /// New data goes out under this congestion window (bytes); the board has what was acknowledged and reported by now.
    fn on_sent(&mut self, range: Range, window: u64, board: &Scoreboard) -> Priority;

    /// A segment goes out again.
    fn on_sent_again(&mut self, range: Range) -> Priority;

    /// Fast recovery begins; `recover` is the byte behind the last one outstanding.
    fn on_entered(&mut self, recover: u64);

    /// Fast recovery is over: were there congestion losses in the window in which it was entered?
    fn review(&mut self) -> Cause;

    /// Everything outstanding is to be sent again: nothing that is known of it counts any more.
    fn on_timeout(&mut self);

    /// Whether ssthresh is restored together with the window.
    fn restores_ssthresh(&self) -> bool {
        false
    }
}

/// How a judge is built; `None`: every loss is congestion, and nobody is asked.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn LossJudge>> + Send + Sync;

/// All judges of a sender.
pub const ALL: &[Mechanism<Build>] = &[always::MECHANISM, tagged::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = always::MECHANISM;
