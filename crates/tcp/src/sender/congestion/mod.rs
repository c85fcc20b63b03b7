//! Congestion control: the rules that set cwnd and ssthresh.

mod bbr;
pub mod bbr3;
mod bic;
#[cfg(test)]
mod bottleneck;
mod compound;
mod copa;
mod cubic;
mod cubic_linux;
mod dctcp;
mod estimate;
mod external;
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
mod segments;
mod sprout;
mod variant;
mod vegas;
mod veno;
mod verus;
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

/// Initial values of a congestion control.
#[derive(Clone, Debug)]
pub struct Start {
    /// Initial window, bytes.
    pub window: u64,
    /// Initial slow start threshold, bytes.
    pub ssthresh: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Whether the connection uses SACK, so that a round trip can reveal several losses.
    pub selective: bool,
    /// Stream of random numbers of this sender.
    pub random: Stream,
}

/// An ACK that advances SND.UNA or is a duplicate, with its effects on the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent<'a> {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Phase of loss recovery after the ACK.
    pub phase: LossPhase,
    /// First unacknowledged byte after the ACK (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT).
    pub nxt: u64,
    /// Bytes newly acknowledged by the cumulative ACK; 0 for a duplicate.
    pub acked: u64,
    /// Number of segments that the ACK acknowledges completely, except segments that SACK reported earlier.
    pub segments: u32,
    /// Bytes newly delivered: acknowledged cumulatively or reported by SACK.
    pub delivered: u64,
    /// Part of `delivered` that SACK blocks report, bytes.
    pub reported: u64,
    /// Bytes that the receiver newly reports as CE-marked (AccECN, RFC 9768).
    pub marked: u64,
    /// RTT sample of the ACK, if any.
    pub rtt: Option<Duration>,
    /// Smoothed RTT after the ACK (RFC 6298); `None` before the first RTT sample.
    pub srtt: Option<Duration>,
    /// Bytes in flight after the ACK.
    pub in_flight: u64,
    /// Bytes marked lost since the previous ACK.
    pub lost: u64,
    /// Delivery rate sample of the ACK; `None` unless the control [uses rate samples](Nature::uses_rate_samples).
    pub rate: Option<&'a RateSample>,
    /// Whether cwnd must not grow: the ACK echoes a mark (RFC 3168 §6.1.2), or cwnd was not fully used (RFC 7661 §4.3).
    pub held: bool,
}

/// Transmission of a segment, which may be a retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentEvent {
    /// Time of the transmission.
    pub now: Time,
    /// First unacknowledged byte (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT), after the segment.
    pub nxt: u64,
    /// Sequence number of the first byte of the segment.
    pub start: u64,
    /// Payload of the segment, bytes.
    pub bytes: u64,
    /// Bytes in flight, the segment included.
    pub in_flight: u64,
    /// Whether a rate sample of the segment will count as application-limited.
    pub limited: bool,
}

/// Phase of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPhase {
    /// No loss is known.
    #[default]
    Open,
    /// Fast recovery. cwnd does not grow, not even at the ACK that ends fast recovery, unless
    /// [`crate::sender::ack_counting::AckCounting::counts_end`] allows growth.
    Recovery,
    /// Go-back-N after a timeout, or after a loss that Tahoe detects by duplicate ACKs. The phase ends when all data
    /// outstanding at its start is acknowledged.
    Restart,
}

/// A loss, a timeout or a congestion mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossEvent {
    /// Time of the event.
    pub now: Time,
    /// First unacknowledged byte (SND.UNA).
    pub una: u64,
    /// Next byte to send (SND.NXT): the end of the window of data that the event concerns.
    pub nxt: u64,
    /// FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
    pub flight: u64,
    /// min(cwnd, advertised window), bytes.
    pub window: u64,
    /// Whether the duplicate ACK that reveals the loss echoes a congestion mark.
    pub marked: bool,
    /// At a timeout: bytes still in flight. Linux and BBR's draft (OnEnterRTO) set cwnd to these bytes plus one
    /// segment. The value is 0 if the scenario selects the rule of RFC 5681 §3.1 (cwnd of one segment).
    pub still_in_flight: u64,
}

/// Largest frequency of reactions to echoed congestion marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MarkPace {
    /// At most one reaction per window of data (RFC 3168 §6.1.2).
    #[default]
    Window,
    /// At most one reaction per smoothed RTT.
    Rtt,
    /// A reaction at every marked ACK.
    Every,
}

/// Values of cwnd and ssthresh at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// cwnd, bytes.
    pub window: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
}

/// Outcome of a recovery: whether the window reduction is kept or undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovered {
    /// The window reduction stays.
    Kept,
    /// The window reduction is undone: the loss was not congestion, or the retransmission was spurious.
    Revised {
        /// Current cwnd and ssthresh.
        from: Level,
        /// cwnd and ssthresh to restore.
        to: Level,
    },
    /// F-RTO has not decided yet and may send two new segments. cwnd has room for these segments and for one
    /// retransmission (RFC 5682 §2.1 step 3 a).
    Probed {
        /// New cwnd, bytes.
        window: u64,
    },
}

/// Constant properties of a congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nature {
    /// Whether the sender calls [`CongestionControl::observe`].
    pub observes: bool,
    /// Whether the control uses [`AckEvent::rate`], [`RateHooks`] and a pacer.
    pub uses_rate_samples: bool,
    /// Whether the control uses [`RateHooks::extra_at`] and [`RateHooks::on_extra`]; requires `uses_rate_samples`.
    pub sends_extra: bool,
    /// Whether the control itself sets cwnd in recovery, so that no mechanism for [window
    /// reduction](crate::sender::reduction) (PRR, for example) applies.
    pub conserves: bool,
    /// Whether the control draws random numbers from [`Start::random`], so that repetitions may differ.
    pub draws: bool,
    /// Whether the control is scalable (RFC 9331 §4.3). With AccECN, a scalable control receives [`AckEvent::marked`]
    /// instead of calls of [`CongestionControl::on_mark`].
    pub is_scalable: bool,
    /// Whether packets of a scalable control carry ECT(1) (as in L4S) or ECT(0) (as in DCTCP).
    pub sends_ect1: bool,
    /// Whether the control is delay-based: the RTT sample of an ACK may lower cwnd.
    pub follows_delay: bool,
    /// Largest frequency of reactions to congestion marks.
    pub mark_pace: MarkPace,
    /// Whether a loss counts as a random error unless the duplicate ACK that reveals the loss echoes a congestion mark.
    /// The sender logs each of these verdicts.
    pub judges_by_mark: bool,
    /// Whether cwnd and pacing rate may be set from outside the simulation ([`CongestionControl::steer`]).
    pub takes_orders: bool,
}

impl Nature {
    /// Properties of a control that draws no random numbers and needs no special input.
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
        takes_orders: false,
    };

    /// Properties of a control that draws random numbers and needs no other special input.
    pub const DRAWS: Nature = Nature { draws: true, ..Nature::FIXED };
}

/// Hooks of rate-based controls (BBR, Prague). The sender calls the hooks only if the control [uses rate
/// samples](Nature::uses_rate_samples).
pub trait RateHooks {
    /// Handles the opening of the connection. `rtt`: round-trip time of the handshake.
    fn on_open(&mut self, rtt: Option<Duration>) {
        let _ = rtt;
    }
    /// Handles the transmission of a segment.
    fn on_sent(&mut self, sent: &SentEvent) {
        let _ = sent;
    }
    /// Handles a segment marked lost, before [`CongestionControl::on_ack`] handles the ACK that reveals the loss.
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        let _ = (now, lost);
    }
    /// Whether the control limits the bytes in flight so much (as in ProbeRTT) that rate samples count as
    /// application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// Pacing rate of the payload; `None` if the control sets no pacing rate.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Time of the next extra segment; [`Time::NEVER`] if none is planned. An extra segment is a low-priority copy of
    /// the last segment, sent regardless of cwnd to probe the path. Without outstanding data, no extra segment is sent.
    fn extra_at(&self) -> Time {
        Time::NEVER
    }
    /// Handles the transmission of an extra segment. Extra segments do not count as in flight, and no timer covers
    /// them.
    fn on_extra(&mut self, now: Time) {
        let _ = now;
    }
    /// Handles a D-SACK (RFC 2883): an extra segment arrived, or a retransmission was unnecessary.
    fn on_dsack(&mut self) {}
}

/// Congestion control: the rules that set cwnd and ssthresh.
pub trait CongestionControl: RateHooks + Send {
    /// cwnd, bytes.
    fn window(&self) -> u64;
    /// Slow start threshold, bytes.
    fn ssthresh(&self) -> u64;
    /// Constant properties of the control.
    fn nature(&self) -> Nature;
    /// Handles every ACK before the ACK has any other effect. The sender calls this function only if the control
    /// [observes ACKs](Nature::observes).
    fn observe(&mut self, news: &AckNews) {
        let _ = news;
    }
    /// Handles every ACK that advances SND.UNA or is a duplicate, after loss recovery has processed the ACK.
    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting);
    /// Calls [`CongestionControl::on_ack`] and returns cwnd. One virtual call per ACK is faster than two. Do not
    /// override.
    fn window_after(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) -> u64 {
        self.on_ack(ack, ack_counting);
        self.window()
    }
    /// Reduces cwnd at a loss that is attributed to congestion and that fast recovery repairs.
    fn on_loss(&mut self, loss: &LossEvent);
    /// Reduces cwnd to one segment at a loss without a timeout, as Tahoe does.
    fn on_restart(&mut self, loss: &LossEvent);
    /// Handles an expiry of the retransmission timer. `first`: whether the timer expires for the first time for this
    /// data.
    fn on_timeout(&mut self, loss: &LossEvent, first: bool);
    /// Handles an ECN echo (ECE), as often as [`Nature::mark_pace`] allows.
    fn on_mark(&mut self, loss: &LossEvent);
    /// Ends slow start without a loss ([`SlowStart`](crate::sender::slow_start::SlowStart)) by setting ssthresh to
    /// cwnd. Does nothing in a control without slow start.
    fn leave_slow_start(&mut self) {}
    /// Limits cwnd to `window` bytes after the sender has sent nothing for an RTO (RFC 5681 §4.1).
    fn on_idle(&mut self, window: u64);
    /// Sets the payload of a full segment to `mss` bytes after a change of the path MTU. cwnd in bytes stays the same.
    fn on_segment(&mut self, mss: u64);
    /// Handles a segment that seemed lost but was reordered (RFC 4653). Limits cwnd to `to.window` and sets ssthresh to
    /// `to.ssthresh`. A control that paces may ignore the call.
    fn on_reordered(&mut self, to: Level) {
        let _ = to;
    }
    /// Handles the end of a recovery. `flight`: outstanding bytes.
    fn on_recovered(&mut self, flight: u64, recovered: Recovered);
    /// Sets cwnd or the pacing rate by an order from outside the simulation. The sender calls this function only if the
    /// control [takes orders](Nature::takes_orders).
    fn steer(&mut self, order: &Steer) {
        let _ = order;
    }
}

/// Order from outside the simulation. `None` leaves a value unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Steer {
    /// cwnd, bytes. The window in effect has at least one segment.
    pub window: Option<u64>,
    /// Pacing rate of the payload. `Some(None)` turns pacing off.
    pub pacing: Option<Option<Rate>>,
}

impl Steer {
    /// Returns this order, completed by the values of an earlier order.
    pub fn over(self, earlier: Steer) -> Steer {
        Steer { window: self.window.or(earlier.window), pacing: self.pacing.or(earlier.pacing) }
    }
}

/// Function that builds a congestion control.
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
    verus::MECHANISM,
    sprout::MECHANISM,
    external::MECHANISM,
];

/// Default congestion control.
pub const DEFAULT: Mechanism<Build> = reno::MECHANISM;
