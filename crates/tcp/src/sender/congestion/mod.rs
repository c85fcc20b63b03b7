//! Congestion control.

mod bbr;
pub mod bbr3;
mod bic;
mod compound;
mod copa;
mod cubic;
mod cubic_linux;
mod dctcp;
mod estimate;
mod htcp;
mod hybla;
mod illinois;
mod jersey;
mod jtcp;
mod ledbat;
mod ledbat_plus_plus;
mod new_jersey;
mod non_congestion;
mod peach;
mod prague;
mod reno;
#[cfg(test)]
mod rounds;
mod scalable;
mod variant;
mod vegas;
mod veno;
mod vivace;
mod w_cw;
mod westwood;
mod westwood_plus;
mod windowed_min;
mod yeah;

pub use crate::sender::rate::{LostSegment, RateSample};
pub use reno::Reno;
pub use variant::{OnReno, Variant};

use crate::sender::ack_counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Mechanism, Rate, Stream, Time, Values};

/// Initial state of a congestion control.
#[derive(Clone, Debug)]
pub struct Start {
    /// Initial window, bytes.
    pub window: u64,
    /// Initial slow start threshold, bytes.
    pub ssthresh: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Whether SACK reports losses, so that a round trip can reveal several losses.
    pub selective: bool,
    /// Random stream of this sender.
    pub random: Stream,
}

/// An ACK that advances `una` or is a duplicate, and its effects.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent<'a> {
    /// Arrival of the ACK.
    pub now: Time,
    /// Phase of the sender with regard to losses.
    pub phase: LossPhase,
    /// First unacknowledged byte after the ACK (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT).
    pub nxt: u64,
    /// Bytes newly acknowledged by the cumulative ACK; 0 for a duplicate.
    pub acked: u64,
    /// Number of segments that the ACK completes, except those that SACK reported earlier.
    pub segments: u32,
    /// Bytes newly delivered, including those that SACK reports.
    pub delivered: u64,
    /// Bytes of `delivered` that SACK blocks report.
    pub reported: u64,
    /// Bytes newly reported as received with a congestion mark (AccECN, RFC 9768).
    pub marked: u64,
    /// RTT sample of the ACK.
    pub rtt: Option<Duration>,
    /// Smoothed RTT after the ACK (RFC 6298).
    pub srtt: Option<Duration>,
    /// Bytes in flight after the ACK.
    pub in_flight: u64,
    /// Bytes found lost since the last ACK.
    pub lost: u64,
    /// Delivery rate sample, if the control [samples](Nature::uses_rate_samples).
    pub rate: Option<&'a RateSample>,
    /// Whether growth is forbidden: the ACK echoes a mark (RFC 3168 §6.1.2), or the window was not used (RFC 7661
    /// §4.3).
    pub held: bool,
}

/// Transmission of a segment, new or retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentEvent {
    /// Time of sending.
    pub now: Time,
    /// First unacknowledged byte (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT), after the segment.
    pub nxt: u64,
    /// First byte of the segment.
    pub start: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Bytes in flight, including the segment.
    pub in_flight: u64,
    /// Whether application-limited data is still in flight.
    pub limited: bool,
}

/// Phase of the sender with regard to losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPhase {
    /// No known loss.
    #[default]
    Open,
    /// Fast recovery: no growth, including its last ACK (but see
    /// [`crate::sender::ack_counting::AckCounting::counts_end`]).
    Recovery,
    /// After a timeout (or Tahoe's restart), until the data outstanding at that time is acknowledged.
    Restart,
}

/// Loss, timeout or mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossEvent {
    /// Time of the event.
    pub now: Time,
    /// First unacknowledged byte (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT): end of the affected window of data.
    pub nxt: u64,
    /// FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
    pub flight: u64,
    /// min(cwnd, advertised window), bytes.
    pub window: u64,
    /// Whether the reporting duplicate ACK echoes a congestion mark.
    pub marked: bool,
    /// At a timeout: bytes in flight that cwnd includes in addition to one segment (OnEnterRTO; Linux). RFC 5681 §3.1
    /// adds 0.
    pub still_in_flight: u64,
}

/// Frequency of reactions to echoed marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MarkPace {
    /// Once per window of data (RFC 3168 §6.1.2).
    #[default]
    Window,
    /// Once per smoothed round-trip time.
    Rtt,
    /// At every marked ACK.
    Every,
}

/// cwnd and ssthresh at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// cwnd, bytes.
    pub window: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
}

/// Outcome of a recovery, which decides whether its window reduction stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovered {
    /// The reduction stays.
    Kept,
    /// No loss was congestion: the reduction is undone.
    Revised {
        /// Current level.
        from: Level,
        /// Level before the recovery.
        to: Level,
    },
    /// Undecided: F-RTO may send two new segments, and cwnd also has room for one retransmission (RFC 5682 §2.1 step 3
    /// a).
    Probed {
        /// cwnd, bytes.
        window: u64,
    },
}

/// Constant properties of a congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nature {
    /// Whether [`CongestionControl::observe`] is called.
    pub observes: bool,
    /// Whether the control is rate-based: uses [`AckEvent::rate`], [`RateHooks`] and a pacer.
    pub uses_rate_samples: bool,
    /// Whether [`RateHooks::extra_at`] and [`RateHooks::on_extra`] are used; requires `uses_rate_samples`.
    pub sends_extra: bool,
    /// Whether the control itself sets the window in recovery, without a [reduction](crate::sender::reduction)
    /// mechanism.
    pub conserves: bool,
    /// Whether the control uses [`Start::random`], so that repetitions may differ.
    pub draws: bool,
    /// Whether the control is scalable (RFC 9331 §4.3). With AccECN, [`AckEvent::marked`] reports marks, and
    /// [`CongestionControl::on_mark`] is not called.
    pub is_scalable: bool,
    /// Whether packets of a scalable control carry ECT(1) (L4S) instead of ECT(0) (DCTCP).
    pub sends_ect1: bool,
    /// Whether the control is delay-based: an ACK may lower the window.
    pub follows_delay: bool,
    /// Frequency of reactions to marks.
    pub mark_pace: MarkPace,
    /// Whether a loss reported by an unmarked duplicate ACK counts as a random error. Such attributions are counted.
    pub judges_by_mark: bool,
}

impl Nature {
    /// Properties of a deterministic control without special inputs.
    pub const FIXED: Nature = Nature {
        observes: false,
        uses_rate_samples: false,
        sends_extra: false,
        conserves: false,
        draws: false,
        is_scalable: false,
        sends_ect1: false,
        follows_delay: false,
        mark_pace: MarkPace::Window,
        judges_by_mark: false,
    };

    /// Properties of a control that draws random numbers and needs no other special inputs.
    pub const DRAWS: Nature = Nature { draws: true, ..Nature::FIXED };
}

/// Hooks of rate-based controls (BBR, Prague), called only if the control [samples](Nature::uses_rate_samples).
pub trait RateHooks {
    /// The connection is open; `rtt` is the handshake's round-trip time.
    fn on_open(&mut self, rtt: Option<Duration>) {
        let _ = rtt;
    }
    /// A segment was sent.
    fn on_sent(&mut self, sent: &SentEvent) {
        let _ = sent;
    }
    /// A segment was found lost. Called before [`CongestionControl::on_ack`] for the ACK that reports the loss.
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        let _ = (now, lost);
    }
    /// Whether the control limits the data in flight so much (as in ProbeRTT) that rate samples count as
    /// application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// Pacing rate of payload; `None`: no pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Time of the next extra segment: a copy of the last segment with low priority, outside of the window, as a probe
    /// of the path. [`Time::NEVER`]: none. Requires outstanding data.
    fn extra_at(&self) -> Time {
        Time::NEVER
    }
    /// An extra segment was sent. Extra segments do not count as in flight, and no timer runs for them.
    fn on_extra(&mut self, now: Time) {
        let _ = now;
    }
    /// A D-SACK was received (RFC 2883): an extra segment arrived, or a retransmission was unnecessary.
    fn on_dsack(&mut self) {}
}

/// Congestion control: rules of cwnd and ssthresh.
pub trait CongestionControl: RateHooks + Send {
    /// cwnd, bytes.
    fn window(&self) -> u64;
    /// Slow start threshold, bytes.
    fn ssthresh(&self) -> u64;
    /// Constant properties.
    fn nature(&self) -> Nature;
    /// Handles every ACK before the ACK has any other effect. Called only if the control [observes](Nature::observes).
    fn observe(&mut self, news: &AckNews) {
        let _ = news;
    }
    /// Handles every ACK that advances or is a duplicate, after recovery has processed the ACK.
    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting);
    /// Calls [`CongestionControl::on_ack`] and returns cwnd, so that an ACK costs one virtual call instead of two. Do
    /// not override.
    fn window_after(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) -> u64 {
        self.on_ack(ack, ack_counting);
        self.window()
    }
    /// A loss was found that fast recovery repairs and that is attributed to congestion.
    fn on_loss(&mut self, loss: &LossEvent);
    /// A loss was found after which the window restarts from one segment without a timeout (Tahoe).
    fn on_restart(&mut self, loss: &LossEvent);
    /// The retransmission timer expired. `first`: whether this is the first expiry for this data.
    fn on_timeout(&mut self, loss: &LossEvent, first: bool);
    /// The first ECN echo (ECE) in a window of data arrived.
    fn on_mark(&mut self, loss: &LossEvent);
    /// Slow start ends without a loss ([`SlowStart`](crate::sender::slow_start::SlowStart)): sets ssthresh to cwnd.
    /// Does nothing in a control without slow start.
    fn leave_slow_start(&mut self) {}
    /// Limits cwnd to `window` bytes, because nothing was sent for an RTO (RFC 5681 §4.1).
    fn on_idle(&mut self, window: u64);
    /// The path MTU changes the payload of a full segment to `mss` bytes. cwnd in bytes stays.
    fn on_segment(&mut self, mss: u64);
    /// A segment that seemed lost was only late (RFC 4653). Limits cwnd to `to.window`; slow start returns to
    /// `to.ssthresh`. A control that paces may ignore the call.
    fn on_reordered(&mut self, to: Level) {
        let _ = to;
    }
    /// Recovery ends while `flight` bytes are outstanding.
    fn on_recovered(&mut self, flight: u64, recovered: Recovered);
}

/// Builds a congestion control.
pub type Build = dyn Fn(&Values, Start) -> Box<dyn CongestionControl> + Send + Sync;

/// All congestion controls.
pub const ALL: &[Mechanism<Build>] = &[
    reno::MECHANISM,
    cubic::MECHANISM,
    bbr::MECHANISM,
    bbr3::MECHANISM,
    prague::MECHANISM,
    westwood::MECHANISM,
    westwood_plus::MECHANISM,
    w_cw::MECHANISM,
    veno::MECHANISM,
    jersey::MECHANISM,
    new_jersey::MECHANISM,
    jtcp::MECHANISM,
    hybla::MECHANISM,
    peach::MECHANISM,
    vegas::MECHANISM,
    scalable::MECHANISM,
    htcp::MECHANISM,
    illinois::MECHANISM,
    bic::MECHANISM,
    yeah::MECHANISM,
    compound::MECHANISM,
    ledbat::MECHANISM,
    ledbat_plus_plus::MECHANISM,
    copa::MECHANISM,
    dctcp::MECHANISM,
    vivace::MECHANISM,
];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = reno::MECHANISM;
