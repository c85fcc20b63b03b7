//! The sending half: what is outstanding, what may go out, and when the timer runs.
//!
//! The rules of sending, in order:
//! 1. What recovery says must go out goes first, whatever the window.
//! 2. Then what is to be sent again, then new data, each if `cwnd - in_flight` has room
//!    for it; new data also needs room in the receiver's window, and Nagle's consent.
//! 3. Recovery never inflates the window: `in_flight` is its account of the network.
//! 4. One reduction per window of data, whichever signal comes first.

pub mod congestion;
pub mod counting;
pub mod recovery;
pub mod scoreboard;

mod forward;
mod fresh;
mod limit;
mod stall;
mod trouble;

pub use limit::{Limit, Limited};
pub(crate) use stall::Expiry;

use crate::cause::judge::{self, LossJudge};
use crate::config::Config;
use crate::event::{Log, Reason};
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use congestion::{AckEvent, CongestionControl, Delivery, Level, Phase, Start};
use counting::AckCounting;
use forward::Forward;
use lasthop_base::{Duration, Time};
use lasthop_wire::Priority;
use limit::Waiting;
use recovery::LossRecovery;
use scoreboard::Scoreboard;
use stall::Stall;

/// The sending half of an endpoint. Offsets are absolute; the SYN is byte 0.
pub struct Sender {
    board: Scoreboard,
    rtt: RttEstimator,
    counting: Box<dyn AckCounting>,
    recovery: Box<dyn LossRecovery>,
    congestion: Box<dyn CongestionControl>,
    /// `None`: every loss is congestion.
    judge: Option<Box<dyn LossJudge>>,
    /// For the judge: what the window was when the last recovery was entered, and what was outstanding.
    entered: (Level, Range),
    mss: u64,
    /// Payload of a full segment beside the options that go out now.
    fits: u64,
    nagle: bool,
    /// The byte behind the last one that the application has written.
    written: u64,
    /// Whether a FIN follows the last byte.
    finishing: bool,
    /// The byte behind the last one that the receiver's window admits.
    right_edge: u64,
    /// The last window advertised, bytes.
    peer_window: u64,
    /// The largest window ever advertised, bytes.
    largest_window: u64,
    /// When the retransmission (or persist) timer expires.
    timer: Time,
    /// Probes of the closed window (or ends of the wait for more of it) so far; each doubles the wait for the next.
    probes: u32,
    /// When the last of them was sent, and the first that was not answered.
    probed_at: Time,
    unanswered_since: Option<Time>,
    /// Whether one is to go out.
    probe_due: bool,
    /// Offset of the peer's segment that told the window (SND.WL1, RFC 9293 §3.10.7.4).
    window_told_at: u64,
    /// What the next go-back-N ends at; 0 when none is under way.
    restart_until: u64,
    /// Signals about data below this offset have already reduced the window.
    reduced_until: u64,
    /// When the window was last reduced because of a loss or a mark.
    reduced_at: Option<Time>,
    /// Whether the next new segment tells the receiver that the window was reduced.
    tells_reduced: bool,
    /// What has not moved although the timer has expired.
    stall: Option<Stall>,
    /// R1 and R2 of RFC 9293 §3.8.3.
    troubled_after: u32,
    gives_up_after: Option<Duration>,
    /// Whether timeouts are asked if they were spurious, and which one is.
    f_rto: bool,
    forward: Option<Forward>,
    why: Reason,
    /// What it waits for.
    waiting: Waiting,
    /// What `congestion` said last, bytes.
    cwnd: u64,
    /// When the newest of the data that was acknowledged last was sent, if all is acknowledged.
    idle_since: Time,
    /// What cwnd falls back to after idle time, bytes; `None`: it stays.
    restart_window: Option<u64>,
    /// Whether new data waits for the timer when an echo comes at a window of one segment (RFC 3168 §6.1.2).
    may_hold: bool,
    /// It does now.
    holds: bool,
    /// Whether `congestion` wants to see every ACK before its effect.
    observes: bool,
    /// Whether a window that is not used may not grow.
    validates: bool,
    /// Either of the two.
    watches: bool,
    /// Nothing is lost, reported or repeated, so that all outstanding data is in flight: most of a connection's life.
    calm: bool,
}

/// What goes out next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Bytes, the FIN counted as one.
    pub range: Range,
    /// Sent before.
    pub again: bool,
    /// Ends with the FIN.
    pub fin: bool,
    /// The priority that the packet is to have.
    pub priority: Priority,
    /// The first new data after a reduction of the window: carries CWR if ECN is in use (RFC 3168 §6.1.2).
    pub cwr: bool,
}

/// An acknowledgement as the sending half sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Offset of the next byte expected.
    pub ack: u64,
    /// Advertised window, bytes.
    pub window: u64,
    /// The segment carried data, SYN or FIN, so that it cannot be a duplicate ACK.
    pub carries_data: bool,
    /// SACK blocks in absolute offsets.
    pub sack: &'a [Range],
    /// Round-trip time by the timestamp echo, if the option is in use.
    pub echoed_rtt: Option<Duration>,
    /// ECN echo.
    pub ece: bool,
    /// SACK is in use on this connection.
    pub selective: bool,
    /// Offset of the segment in the peer's stream: an older one tells no window.
    pub at: u64,
}

impl Sender {
    /// A sender whose first byte of data is at offset 1, with this effective segment size.
    pub fn new(config: &Config, mss: u32) -> Sender {
        let mss = u64::from(mss.max(1));
        let start = Start {
            window: u64::from(config.initial_window) * mss,
            ssthresh: config.initial_ssthresh.unwrap_or(1 << 30),
            mss,
        };
        let built = config.congestion.mechanism(congestion::ALL);
        let congestion = (built.build)(&config.congestion.values, start);
        Sender {
            cwnd: congestion.window(),
            idle_since: Time::NEVER,
            restart_window: config.restarts_after_idle.then_some(start.window),
            may_hold: config.ecn_waits,
            holds: false,
            observes: congestion.observes(),
            validates: config.validates_window,
            watches: congestion.observes() || config.validates_window,
            calm: true,
            board: Scoreboard::starting_at(1),
            rtt: RttEstimator::new(config.rto),
            counting: (config.counting.mechanism(counting::ALL).build)(&config.counting.values),
            recovery: (config.recovery.mechanism(recovery::ALL).build)(&config.recovery.values),
            congestion,
            judge: (config.judge.mechanism(judge::ALL).build)(&config.judge.values),
            entered: (Level::default(), Range { start: 1, end: 1 }),
            mss,
            fits: mss,
            nagle: config.nagle,
            written: 1,
            finishing: false,
            right_edge: 1,
            peer_window: 0,
            largest_window: 0,
            timer: Time::NEVER,
            probes: 0,
            probed_at: Time::ZERO,
            unanswered_since: None,
            probe_due: false,
            window_told_at: 0,
            restart_until: 0,
            reduced_until: 0,
            reduced_at: None,
            tells_reduced: false,
            f_rto: config.f_rto,
            forward: None,
            stall: None,
            troubled_after: config.patience.troubled_after,
            gives_up_after: config.patience.data,
            why: Reason::Hole,
            waiting: Waiting::NOT_YET,
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        if !self.finishing {
            self.written = self.written.saturating_add(bytes);
        }
    }

    /// Nothing more will be written: a FIN follows.
    pub fn finish(&mut self) {
        self.finishing = true;
    }

    /// The byte behind the last one written, so far.
    pub(crate) fn end_of_data(&self) -> u64 {
        self.written
    }

    /// Takes over what another sender was to send, before anything was sent (the handshake changed the segment size).
    pub(crate) fn with_written_of(mut self, other: &Sender) -> Sender {
        self.written = other.written;
        self.finishing = other.finishing;
        self
    }

    /// Whether the FIN was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        self.finishing && self.board.una() > self.written
    }

    /// The window that the peer advertised in the handshake, and the handshake's round-trip time.
    pub fn open(&mut self, window: u64, rtt: Option<Duration>) {
        self.admit(window);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
    }

    /// The handshake's timer expired: data begins with this timeout at least (RFC 6298 §5.7).
    pub(crate) fn begin_carefully(&mut self, timeout: Duration) {
        self.rtt.start_from(timeout);
    }

    /// Payload of a full segment, bytes.
    pub fn segment(&self) -> u64 {
        self.mss
    }

    /// Whether its recovery needs SACK.
    pub(crate) fn uses_sack(&self) -> bool {
        self.recovery.uses_sack()
    }

    /// cwnd, bytes.
    pub fn window(&self) -> u64 {
        self.cwnd
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Bytes in the network by the recovery's account.
    pub fn in_flight(&self) -> u64 {
        self.recovery.in_flight(&self.board)
    }

    /// cwnd as the papers draw it, inflated by what has left: window + outstanding - in flight.
    pub fn inflated_window(&self) -> u64 {
        (self.window() + self.board.outstanding()).saturating_sub(self.in_flight())
    }

    /// What is outstanding.
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Round-trip time and timeout.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// When the timer expires.
    pub fn timer(&self) -> Time {
        self.timer
    }

    /// Whether segments with new data leave some of a full segment to options.
    pub(crate) fn leaves_room(&self) -> bool {
        self.fits != self.mss
    }

    /// From now on segments with new data leave so many bytes of a full segment to options.
    pub(crate) fn leave_room(&mut self, bytes: u64) {
        self.fits = self.mss.saturating_sub(bytes).max(1);
    }

    /// The path takes segments of `mss` bytes and no longer ones: what is outstanding goes out again in such. That says
    /// nothing of congestion: cwnd stays (RFC 1191 §6.4).
    pub(crate) fn shorten(&mut self, now: Time, mss: u64) {
        self.mss = mss;
        self.fits = mss;
        self.congestion.on_segment(mss);
        if self.board.outstanding() > 0 {
            self.board.cut(mss);
            self.start_over(Reason::TooLong);
            self.timer = now + self.rtt.rto();
            self.take_stock();
        }
    }

    /// Whether short segments wait while data is outstanding, from now on (RFC 9293 §3.7.4).
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    /// Whether it tells random errors from congestion by the marks of duplicate ACKs.
    pub fn judges_by_mark(&self) -> bool {
        self.congestion.judges_by_mark()
    }

    /// Whether fast recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.recovery.is_recovering()
    }

    /// The byte behind the highest one that may be acknowledged: a probe's byte counts as sent only once it is.
    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.board.nxt() + u64::from(self.probes > 0 && self.has_new_data())
    }

    /// The oldest acknowledgement that is still believable (RFC 5961 §5).
    pub(crate) fn oldest_ack(&self) -> u64 {
        self.board.una().saturating_sub(self.largest_window)
    }

    /// The connection is over: no timer runs.
    pub(crate) fn stop(&mut self) {
        self.timer = Time::NEVER;
    }

    /// Takes an acceptable acknowledgement (`una <= ack <= may_acknowledge()`).
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        let advanced = ack.ack > self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        let same_window = ack.window == self.peer_window;
        if ack.at >= self.window_told_at {
            self.window_told_at = ack.at;
            self.admit_from(ack.ack, ack.window);
        }
        if ack.ack > self.board.nxt() {
            self.probe_was_taken(now);
        }
        if self.calm && ack.sack.is_empty() && !ack.ece {
            if advanced {
                return self.advance_calmly(now, ack);
            }
            if !was_outstanding {
                // The ACK that every segment of a peer carries who only sends.
                return;
            }
        }
        self.handle_ack_in_trouble(now, ack, same_window, log);
    }

    /// A new acknowledgement while nothing is lost: what [`Sender::handle_ack`] comes down to then.
    fn advance_calmly(&mut self, now: Time, ack: &Ack<'_>) {
        let acked = self.board.acknowledge(ack.ack);
        let rtt = match acked.sent_at {
            Some(sent_at) => Some(now.since(sent_at)),
            None => ack.echoed_rtt,
        };
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
        let outstanding = self.board.outstanding();
        let mut held = false;
        if self.watches {
            if self.observes {
                self.congestion.observe(&Delivery { now, acked: acked.bytes, duplicate: false, rtt });
            }
            held = self.leaves_window_unused(outstanding + acked.bytes);
        }
        let event = AckEvent {
            now,
            phase: if self.board.una() < self.restart_until { Phase::Restart } else { Phase::Open },
            acked: acked.bytes,
            segments: acked.segments,
            delivered: acked.delivered,
            rtt,
            srtt: self.rtt.srtt(),
            in_flight: outstanding,
            held,
        };
        self.congestion.on_ack(&event, &mut *self.counting);
        self.cwnd = self.congestion.window();
        self.stall = None;
        self.timer = now + self.rtt.rto();
        if outstanding == 0 {
            self.idle_since = acked.sent_at.unwrap_or(now);
            self.timer = Time::NEVER;
        }
    }

    /// What goes out now, if anything may.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.calm {
            let outstanding = self.board.outstanding();
            if !self.has_new_data() {
                self.wait_for(now, Limit::Application);
                return None;
            }
            return match self.next_new(self.cwnd.saturating_sub(outstanding)) {
                Ok(range) => Some(self.fresh(now, range)),
                Err(limit) => {
                    self.wait_for(now, limit);
                    if outstanding == 0 { self.poll_persist(now, log) } else { None }
                }
            };
        }
        self.poll_in_trouble(now, log)
    }

    fn end(&self) -> u64 {
        self.written.saturating_add(u64::from(self.finishing))
    }

    fn has_new_data(&self) -> bool {
        self.board.nxt() < self.end()
    }

    fn admit(&mut self, window: u64) {
        self.admit_from(self.board.una(), window);
    }

    /// What was sent stays sent, even if the window's right edge moves left (RFC 9293 §3.8.6).
    fn admit_from(&mut self, ack: u64, window: u64) {
        self.peer_window = window;
        self.largest_window = self.largest_window.max(window);
        self.right_edge = ack.saturating_add(window);
    }
}
