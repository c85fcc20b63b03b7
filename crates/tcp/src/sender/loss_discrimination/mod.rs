//! Loss discrimination at the sender.
//!
//! [`LossDiscriminator::on_loss`] attributes a loss when fast recovery begins. If the cause is "wireless", recovery
//! repairs the loss, and cwnd and ssthresh stay. [`LossDiscriminator::review`] attributes the loss after a recovery
//! that has reduced the window; "wireless" then restores the window. The other methods receive hints from ACKs and
//! nodes. Without discrimination a sender has no discriminator.

mod always;
mod coherence;
mod ebsn;
mod ecn;
mod eln;
mod hack;
mod lhack;
mod ncpld;
mod rtt_sample;
mod santa_cruz;
mod tagged;
mod trend;

pub use crate::event::Cause;
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Mechanism, Time, Values};
use lasthop_wire::{LossHint, Priority};
pub use rtt_sample::RttSample;
use rtt_sample::SampledRound;

/// Loss discrimination of a sender.
pub trait LossDiscriminator: Send {
    /// New data is sent while the congestion window is `window` bytes. Returns the packet's priority.
    fn on_sent(&mut self, range: Range, window: u64, scoreboard: &Scoreboard) -> Priority {
        let _ = (range, window, scoreboard);
        Priority::Normal
    }

    /// A segment is retransmitted. Returns the packet's priority.
    fn on_retransmitted(&mut self, range: Range) -> Priority {
        let _ = range;
        Priority::Normal
    }

    /// Handles a duplicate ACK, or a new ACK during a repair. Returns `true` if the first outstanding segment is
    /// certainly lost.
    fn on_ack(&mut self, ack: &AckHint) -> bool {
        let _ = ack;
        false
    }

    /// Handles a round-trip sample, before the ACK has any other effect. Called only if
    /// [`LossDiscriminator::needs_rtt_samples`].
    fn on_rtt_sample(&mut self, sample: &RttSample) {
        let _ = sample;
    }

    /// Attributes the loss that begins fast recovery. `None`: the sender reduces the window now and calls
    /// [review](LossDiscriminator::review) after the repair.
    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        let _ = lost;
        None
    }

    /// Fast recovery begins and reduces the window, subject to review. `recover`: offset after the last outstanding
    /// byte.
    fn on_entered(&mut self, recover: u64) {
        let _ = recover;
    }

    /// Attributes the losses in the window of data in which the completed recovery began.
    fn review(&mut self) -> Cause {
        Cause::Congestion
    }

    /// Whether a timeout that retransmits this segment keeps cwnd, ssthresh and RTO.
    fn keeps_window_at_timeout(&mut self, first: Range) -> bool {
        let _ = first;
        false
    }

    /// A timeout will retransmit all outstanding data. Implementations discard all state.
    fn on_timeout(&mut self) {}

    /// The receiver reports that an outstanding segment was damaged. Returns `true` to retransmit it now, without an
    /// effect on the window.
    fn on_damaged(&mut self, segment: Range) -> bool {
        let _ = segment;
        false
    }

    /// A node reports that these outstanding bytes reached the last hop.
    fn on_last_hop(&mut self, range: Range) {
        let _ = range;
    }

    /// A node reports that its link fails and retries. Returns `true` to restart the retransmission timer.
    /// `backed_off`: the timer has expired for the outstanding data. `heard_at`: time of the last arrival from the
    /// peer.
    fn on_bad_state(&mut self, now: Time, backed_off: bool, heard_at: Time) -> bool {
        let _ = (now, backed_off, heard_at);
        false
    }

    /// Whether the mechanism attributes losses, so that attributions are counted.
    fn discriminates_losses(&self) -> bool {
        true
    }

    /// Whether [`LossDiscriminator::on_loss`] returns a cause for each loss.
    fn discriminates_each_loss(&self) -> bool {
        false
    }

    /// Whether [`LossDiscriminator::on_rtt_sample`] is called. The sender calls this function only once.
    fn needs_rtt_samples(&self) -> bool {
        false
    }

    /// Whether restoring the window also restores ssthresh.
    fn restores_ssthresh(&self) -> bool {
        false
    }
}

/// A duplicate ACK, or a new ACK during a repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckHint {
    /// Arrival of the ACK.
    pub now: Time,
    /// First byte not acknowledged.
    pub una: u64,
    /// Whether the ACK advances.
    pub advanced: bool,
    /// Whether the ACK is a duplicate, caused by data that arrived after a hole.
    pub duplicate: bool,
    /// Hint about the cause of the reported loss.
    pub hint: LossHint,
    /// Whether the ACK echoes a congestion mark.
    pub marked: bool,
}

/// Builds a discriminator; `None`: every loss is congestion.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn LossDiscriminator>> + Send + Sync;

/// All mechanisms.
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

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = always::MECHANISM;
