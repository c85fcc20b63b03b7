//! Loss discrimination at the sender.
//!
//! [`LossDiscriminator::on_loss`] returns the cause of a loss when fast recovery begins. If the cause is wireless,
//! recovery repairs the loss, and cwnd and ssthresh stay. [`LossDiscriminator::review`] returns the cause at the end of
//! a recovery that has reduced cwnd. If the cause is wireless, cwnd is restored. The other methods receive hints from
//! ACKs and nodes.

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
    /// Handles the sending of new data. `window`: cwnd, bytes. Returns the packet's priority.
    fn on_sent(&mut self, range: Range, window: u64, scoreboard: &Scoreboard) -> Priority {
        let _ = (range, window, scoreboard);
        Priority::NORMAL
    }

    /// Handles a retransmission. Returns the packet's priority.
    fn on_retransmitted(&mut self, range: Range) -> Priority {
        let _ = range;
        Priority::NORMAL
    }

    /// Handles a duplicate ACK, or a new ACK that the slow path handles. Returns `true` if the first outstanding
    /// segment is certainly lost.
    fn on_ack(&mut self, ack: &AckHint) -> bool {
        let _ = ack;
        false
    }

    /// Handles a round-trip sample, before the ACK has any other effect. Called only if
    /// [`LossDiscriminator::needs_rtt_samples`] returns `true`.
    fn on_rtt_sample(&mut self, sample: &RttSample) {
        let _ = sample;
    }

    /// Returns the cause of the loss that begins fast recovery. `None`: the sender reduces cwnd now and calls
    /// [review](LossDiscriminator::review) at the end of the recovery.
    fn on_loss(&mut self, lost: Range) -> Option<Cause> {
        let _ = lost;
        None
    }

    /// Handles the begin of a fast recovery that reduces cwnd. At its end, [review](LossDiscriminator::review) may
    /// restore cwnd. `recover`: offset after the last outstanding byte.
    fn on_entered(&mut self, recover: u64) {
        let _ = recover;
    }

    /// Returns the cause of all losses of the recovery that ends now. [`Cause::Wireless`] restores cwnd.
    fn review(&mut self) -> Cause {
        Cause::Congestion
    }

    /// Whether a timeout keeps cwnd, ssthresh and RTO. `first`: first outstanding segment, which the timeout
    /// retransmits.
    fn keeps_window_at_timeout(&mut self, first: Range) -> bool {
        let _ = first;
        false
    }

    /// Handles a timeout, after which all outstanding data is retransmitted. Implementations discard their state.
    fn on_timeout(&mut self) {}

    /// Handles the receiver's report that an outstanding segment was damaged. Returns `true` if the sender must
    /// retransmit the segment now, without an effect on cwnd.
    fn on_damaged(&mut self, segment: Range) -> bool {
        let _ = segment;
        false
    }

    /// Handles a node's report that these outstanding bytes have reached the last hop.
    fn on_last_hop(&mut self, range: Range) {
        let _ = range;
    }

    /// Handles a node's report that its link layer retransmits. Returns `true` if the sender must restart the
    /// retransmission timer. `backed_off`: the timer has expired for the outstanding data. `heard_at`: time of the last
    /// arrival from the peer.
    fn on_bad_state(&mut self, now: Time, backed_off: bool, heard_at: Time) -> bool {
        let _ = (now, backed_off, heard_at);
        false
    }

    /// Whether the mechanism attributes losses to causes. If so, the attributions are counted.
    fn discriminates_losses(&self) -> bool {
        true
    }

    /// Whether [`LossDiscriminator::on_loss`] returns a cause for each loss.
    fn discriminates_each_loss(&self) -> bool {
        false
    }

    /// Whether the sender calls [`LossDiscriminator::on_rtt_sample`]. The result must be constant, because the sender
    /// reads it only once.
    fn needs_rtt_samples(&self) -> bool {
        false
    }

    /// Whether a review that restores cwnd also restores ssthresh.
    fn restores_ssthresh(&self) -> bool {
        false
    }
}

/// A duplicate ACK, or a new ACK that the slow path handles, such as during recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckHint {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Offset of the first byte not yet acknowledged (SND.UNA).
    pub una: u64,
    /// Whether the ACK advances SND.UNA.
    pub advanced: bool,
    /// Whether the ACK is a duplicate ACK, which data above a hole has caused.
    pub duplicate: bool,
    /// Hint in the ACK about the cause of the loss.
    pub hint: LossHint,
    /// Whether the ACK echoes a congestion mark.
    pub marked: bool,
}

/// Builds a discriminator. `None`: every loss counts as congestion.
pub type Build = dyn Fn(&Values) -> Option<Box<dyn LossDiscriminator>> + Send + Sync;

/// All loss discrimination mechanisms of the sender.
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
