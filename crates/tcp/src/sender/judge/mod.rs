//! Loss differentiation: was it congestion, after all?
//!
//! Asked by the sender when fast recovery begins ([`LossJudge::on_loss`]): a verdict "wireless" then leaves cwnd and ssthresh
//! as they are, and the recovery repairs as always. And again when it is over, after a reduction ([`LossJudge::review`]). A
//! judge also hears what ACKs and nodes say of losses. A sender that asks nobody has no judge, and pays nothing for it.

mod always;
mod coherence;
mod ebsn;
mod ecn;
mod eln;
mod hack;
mod lhack;
mod measured;
mod ncpld;
mod santa_cruz;
mod tagged;
mod trend;

pub use crate::event::Cause;
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Mechanism, Time, Values};
use lasthop_wire::{LossHint, Priority};
pub use measured::Measured;
use measured::Round;

/// A sender's judge of losses.
pub trait LossJudge: Send {
    /// New data goes out under this congestion window (bytes); the board has what was acknowledged and reported by now.
    fn on_sent(&mut self, range: Range, window: u64, board: &Scoreboard) -> Priority {
        let _ = (range, window, board);
        Priority::Normal
    }

    /// A segment goes out again.
    fn on_sent_again(&mut self, range: Range) -> Priority {
        let _ = range;
        Priority::Normal
    }

    /// An ACK came that is a duplicate, or new while something is repaired. Whether it makes the loss of the first outstanding
    /// segment certain: then recovery waits for no further duplicate.
    fn on_ack(&mut self, heard: &Heard) -> bool {
        let _ = heard;
        false
    }

    /// An ACK measured a round trip; called before the ACK has any other effect. Only if [`LossJudge::measures`].
    fn on_measured(&mut self, sample: &Measured) {
        let _ = sample;
    }

    /// Fast recovery begins with the loss of this segment. `None`: as congestion, reviewed once it is repaired.
    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        let _ = lost;
        None
    }

    /// Fast recovery begins and reduces the window, which may be reviewed; `recover` is the byte behind the last one outstanding.
    fn on_entered(&mut self, recover: u64) {
        let _ = recover;
    }

    /// Fast recovery is over: were there congestion losses in the window in which it was entered?
    fn review(&mut self) -> Cause {
        Cause::Congestion
    }

    /// The retransmission timer expired for this segment, which goes again. Whether cwnd, ssthresh and the timeout stay.
    fn spares_timeout(&mut self, first: Range) -> bool {
        let _ = first;
        false
    }

    /// Everything outstanding is to be sent again: nothing that is known of it counts any more.
    fn on_timeout(&mut self) {}

    /// The receiver says that this outstanding segment arrived damaged. Whether it is to go again at once, without any effect
    /// on the window.
    fn on_damaged(&mut self, segment: Range) -> bool {
        let _ = segment;
        false
    }

    /// A node says that these outstanding bytes have reached the last hop.
    fn on_last_hop(&mut self, range: Range) {
        let _ = range;
    }

    /// A node says that the link behind it fails, and tries again. Whether the retransmission timer starts anew; `backed_off`:
    /// it has expired for what is outstanding. `heard_at`: when the peer was heard last.
    fn on_bad_state(&mut self, now: Time, backed_off: bool, heard_at: Time) -> bool {
        let _ = (now, backed_off, heard_at);
        false
    }

    /// Whether it judges losses at all: its judgements are accounted.
    fn judges(&self) -> bool {
        true
    }

    /// Whether [`LossJudge::on_loss`] has its verdicts, one for each loss that is found.
    fn judges_losses(&self) -> bool {
        false
    }

    /// Whether it wants [`LossJudge::on_measured`]; read once.
    fn measures(&self) -> bool {
        false
    }

    /// Whether ssthresh is restored together with the window.
    fn restores_ssthresh(&self) -> bool {
        false
    }
}

/// What an ACK says that is a duplicate, or new while something is repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// When it came.
    pub now: Time,
    /// The first byte that it does not acknowledge.
    pub una: u64,
    /// It acknowledges something new.
    pub advanced: bool,
    /// It is a duplicate: of data behind a hole.
    pub duplicate: bool,
    /// What it says about the loss that it tells of.
    pub hint: LossHint,
    /// It echoes a congestion mark.
    pub marked: bool,
}

/// How a judge is built; `None`: every loss is congestion, and nobody is asked.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn LossJudge>> + Send + Sync;

/// All judges of a sender.
pub const ALL: &[Mechanism<Build>] = &[
    always::MECHANISM,
    tagged::MECHANISM,
    eln::MECHANISM,
    hack::MECHANISM,
    lhack::MECHANISM,
    coherence::MECHANISM,
    ecn::MECHANISM,
    ncpld::MECHANISM,
    santa_cruz::MECHANISM,
    trend::MECHANISM,
    ebsn::MECHANISM,
];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = always::MECHANISM;
