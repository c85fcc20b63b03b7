//! Congestion control: how large is the congestion window?

mod bbr;
pub mod bbr3;
mod cubic;
mod cubic_linux;
mod estimate;
mod harmless;
mod hybla;
mod jersey;
mod jtcp;
mod new_jersey;
mod peach;
mod prague;
mod reno;
mod variant;
mod vegas;
mod veno;
mod w_cw;
mod westwood;
mod westwood_plus;

pub use crate::sender::rate::{LostSegment, RateSample};
pub use reno::Reno;
pub use variant::{OnReno, Variant};

use crate::sender::counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Mechanism, Rate, Stream, Time, Values};

/// What the window's rules start from.
#[derive(Clone, Debug)]
pub struct Start {
    /// Initial window, bytes.
    pub window: u64,
    /// Initial slow start threshold, bytes.
    pub ssthresh: u64,
    /// A full segment's payload, bytes.
    pub mss: u64,
    /// Whether losses are told by SACK, so that more than one of them shows in a round-trip time.
    pub selective: bool,
    /// Draws for those that draw: a stream of this sender's own.
    pub random: Stream,
}

/// One acknowledgement, new or duplicate.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent<'a> {
    /// When it came.
    pub now: Time,
    /// Whether a recovery or the repair after a timeout is under way.
    pub phase: Phase,
    /// First byte that is not acknowledged, after it; and first byte that was not sent yet: what was sent before the ACK ends
    /// there.
    pub una: u64,
    /// See `una`.
    pub nxt: u64,
    /// Bytes newly and cumulatively acknowledged; 0 for a duplicate.
    pub acked: u64,
    /// Segments completed by it, those not counted that SACK had reported before.
    pub segments: u32,
    /// Bytes that it reports for the first time, SACK included.
    pub delivered: u64,
    /// Of these, bytes that SACK reports beyond it.
    pub reported: u64,
    /// Bytes that it says arrived with a congestion mark and were not known to (AccECN, RFC 9768).
    pub marked: u64,
    /// The round-trip time it measured, if it did.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time after it (RFC 6298), once one was measured.
    pub srtt: Option<Duration>,
    /// Bytes in the network after it.
    pub in_flight: u64,
    /// Bytes found lost since the last one.
    pub lost: u64,
    /// Sample of the rate at which the path delivers, if the control [samples](Nature::samples).
    pub rate: Option<&'a RateSample>,
    /// No reason to grow: it echoes a congestion mark (RFC 3168 §6.1.2), or the window was not used (RFC 7661 §4.3).
    pub held: bool,
}

/// A segment that goes out, new or again.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentEvent {
    /// When.
    pub now: Time,
    /// First byte that is not acknowledged, and first byte that was not sent yet, after the segment.
    pub una: u64,
    /// See `una`.
    pub nxt: u64,
    /// Its payload, bytes.
    pub bytes: u64,
    /// Bytes in the network with it.
    pub in_flight: u64,
    /// The application had too little to send, and what was in the network then has not left it yet.
    pub limited: bool,
}

/// Where the sender stands between losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No loss known.
    #[default]
    Open,
    /// Fast recovery: the window does not grow. The ACK that ends it is included, unless it
    /// [counts](crate::sender::counting::AckCounting::counts_end).
    Recovery,
    /// After a timeout (or Tahoe's restart), until what was outstanding then is acknowledged.
    Restart,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossEvent {
    /// When.
    pub now: Time,
    /// First byte that is not acknowledged, and first byte that was not sent yet: the window of data that the loss is in.
    pub una: u64,
    /// See `una`.
    pub nxt: u64,
    /// FlightSize: bytes outstanding when it was noticed, as RFC 5681 §3.1 Eq. 4 counts them.
    pub flight: u64,
    /// min(cwnd, advertised window) at that moment, bytes.
    pub window: u64,
    /// The duplicate ACK that told it echoes a congestion mark.
    pub marked: bool,
    /// At a timeout: bytes that are still in flight and for which the window after it has room beside its one segment
    /// (draft-ietf-ccwg-bbr, OnEnterRTO; Linux). 0 where all is given up, or RFC 5681 §3.1 is followed to the letter.
    pub spared: u64,
}

/// How often a sender reacts to echoed marks.
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

/// Window and threshold at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// cwnd, bytes.
    pub window: u64,
    /// Slow start threshold, bytes.
    pub ssthresh: u64,
}

/// What becomes of the reduction with which a recovery began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovered {
    /// It was right.
    Kept,
    /// Nothing that was lost was congestion: it is taken back.
    Revised {
        /// As it is.
        from: Level,
        /// As it was before recovery was entered.
        to: Level,
    },
    /// It may have been right: two segments that were to find out may be out beside one that goes again (RFC 5682 §2.1
    /// step 3 a).
    Probed {
        /// cwnd, bytes.
        window: u64,
    },
}

/// Facts about a congestion control that hold for its whole life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nature {
    /// Wants [`CongestionControl::observe`].
    pub observes: bool,
    /// Is based on rates: wants [`AckEvent::rate`], the [`RateHooks`] and a pacer.
    pub samples: bool,
    /// Wants [`RateHooks::extra_at`] and [`RateHooks::on_extra`]; only a control that samples.
    pub sends_extra: bool,
    /// Sets the window itself while a loss is repaired, without a [reduction](crate::sender::reduction).
    pub conserves: bool,
    /// Draws from [`Start::random`], so that repetitions may differ.
    pub draws: bool,
    /// Answers each mark in proportion, as L4S asks (RFC 9331 §4.3). Where marks are reported in detail (RFC 9768) packets
    /// bear ECT(1), [`AckEvent::marked`] reports marks, and [`CongestionControl::on_mark`] is not called.
    pub is_scalable: bool,
    /// Pace of the reactions to marks.
    pub mark_pace: MarkPace,
    /// Takes a loss reported by an unmarked duplicate ACK for a random error; these judgements are accounted.
    pub judges_by_mark: bool,
}

impl Nature {
    /// A control that draws no random numbers and asks for nothing.
    pub const FIXED: Nature = Nature {
        observes: false,
        samples: false,
        sends_extra: false,
        conserves: false,
        draws: false,
        is_scalable: false,
        mark_pace: MarkPace::Window,
        judges_by_mark: false,
    };

    /// A control that draws random numbers and asks for nothing else.
    pub const DRAWS: Nature = Nature { draws: true, ..Nature::FIXED };
}

/// Hooks of controls that are based on rates (BBR, Prague); called only if the control [samples](Nature::samples). Others
/// leave all of them as they are.
pub trait RateHooks {
    /// The connection is open; the handshake has measured this round-trip time.
    fn on_open(&mut self, rtt: Option<Duration>) {
        let _ = rtt;
    }
    /// A segment goes out.
    fn on_sent(&mut self, sent: &SentEvent) {
        let _ = sent;
    }
    /// A segment is found lost, before the [`CongestionControl::on_ack`] of the ACK that reports the loss.
    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        let _ = (now, lost);
    }
    /// Whether the control keeps so little in flight on purpose that rate samples count as the application's.
    fn holds_back(&self) -> bool {
        false
    }
    /// Pacing rate of payload; `None`: as fast as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Time at which the last segment goes out once more, with low priority and beside the window, as a probe of the path
    /// that carries nothing new; [`Time::NEVER`]: not at all. Nothing goes while nothing is outstanding.
    fn extra_at(&self) -> Time {
        Time::NEVER
    }
    /// An extra segment goes out. The segment is not in flight, and no timer runs for it.
    fn on_extra(&mut self, now: Time) {
        let _ = now;
    }
    /// The receiver reports data that arrived twice (D-SACK, RFC 2883): an extra segment, or a retransmission for nothing.
    fn on_told_twice(&mut self) {}
}

/// The congestion window's rules.
pub trait CongestionControl: RateHooks + Send {
    /// cwnd in bytes.
    fn window(&self) -> u64;
    /// Slow start threshold in bytes.
    fn ssthresh(&self) -> u64;
    /// Facts that hold for the control's whole life.
    fn nature(&self) -> Nature;
    /// Every ACK that advances or is a duplicate, before the ACK has any effect: a bandwidth estimate knows an ACK when that
    /// ACK reduces the window. Only if the control [observes](Nature::observes).
    fn observe(&mut self, news: &AckNews) {
        let _ = news;
    }
    /// Every ACK that advances or is a duplicate, after recovery has had its say.
    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting);
    /// [`CongestionControl::on_ack`], and cwnd after it: one call instead of two, for each ACK. Do not override.
    fn window_after(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) -> u64 {
        self.on_ack(ack, counting);
        self.window()
    }
    /// A loss that fast recovery repairs, judged to be congestion.
    fn on_loss(&mut self, loss: &LossEvent);
    /// A loss after which the window starts again from one segment without a timeout (Tahoe).
    fn on_restart(&mut self, loss: &LossEvent);
    /// The retransmission timer expired; `first`: for the first time for this data.
    fn on_timeout(&mut self, loss: &LossEvent, first: bool);
    /// The receiver echoed a congestion mark (ECE), for the first time in this window of data.
    fn on_mark(&mut self, loss: &LossEvent);
    /// Slow start is over although nothing was lost ([`SlowStart`](crate::sender::slow_start::SlowStart)): ssthresh is cwnd.
    /// A control without slow start does nothing.
    fn leave_slow_start(&mut self) {}
    /// Nothing was sent for a timeout: cwnd is `window` at most, bytes (RFC 5681 §4.1).
    fn on_idle(&mut self, window: u64);
    /// A full segment has `mss` bytes of payload from now on: the path takes no more. cwnd stays, it counts bytes.
    fn on_segment(&mut self, mss: u64);
    /// A segment in doubt was late, not lost (RFC 4653): cwnd is `to.window` at most, and slow start takes cwnd back to
    /// `to.ssthresh`. A control that paces its packets may ignore it.
    fn on_reordered(&mut self, to: Level) {
        let _ = to;
    }
    /// Recovery is over; `flight` bytes are outstanding.
    fn on_recovered(&mut self, flight: u64, recovered: Recovered);
}

/// How a congestion control is built.
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
];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = reno::MECHANISM;
