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
pub mod judge;
pub mod rate;
pub mod recovery;
pub mod reduction;
pub mod scoreboard;
pub mod slow_start;

mod application;
mod eifel;
mod f_rto;
mod half;
mod idle;
mod limit;
mod new_data;
mod peer;
mod persist;
mod reductions;
mod repair;
mod tail;
mod timeout;
mod timer;
mod told;
mod undo;
mod user_timeout;

pub(crate) use half::{Beginning, SendingHalf};
pub use limit::{Limit, Limited};
pub(crate) use new_data::Full;
pub(crate) use user_timeout::Expiry;

use crate::config::Config;
use crate::event::{Log, Reason};
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use application::Application;
use congestion::{AckEvent, CongestionControl, Phase, Start};
use counting::AckCounting;
use idle::{CWND_STAYS, Idle};
use judge::LossJudge;
use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_wire::{LossHint, Priority};
use limit::Waiting;
use peer::Peer;
use persist::Persist;
use rate::Rates;
use recovery::AckNews;
use reductions::Reductions;
use repair::Repair;
use scoreboard::Scoreboard;
use slow_start::SlowStart;
use std::sync::Arc;
use tail::Tail;
use timer::{Kind, Timer};
use user_timeout::UserTimeout;

/// The sending half of an endpoint. Offsets are absolute; the SYN is byte 0.
///
/// In lines of the cache of 64 bytes: one of what is lost, one of what is outstanding, two that every segment and every ACK
/// touches, three that new ACKs do, two of repairs, and what is rare; each part has its rules in a file of its name.
#[repr(C, align(64))]
pub struct Sender {
    mss: u64,
    board: Scoreboard,
    peer: Peer,
    /// What `congestion` said last, bytes.
    cwnd: u64,
    /// Payload of a full segment beside the options that go out now.
    fits: u64,
    /// Nothing is lost, reported or repeated, so that all outstanding data is in flight: most of a connection's life.
    calm: bool,
    /// Whether the short way is taken then.
    has_shortcut: bool,
    /// Whether `congestion` wants to see every ACK before its effect.
    observes: bool,
    /// Whether the ACK that ends a recovery may let the window grow.
    counts_end: bool,
    /// Whether a window that is not used may not grow.
    validates: bool,
    /// Either of the two, or rates are sampled, or slow start is watched.
    watches: bool,
    /// What has kept it from sending more; `None` until data may be sent: the handshake is in no sum.
    waits_for: Option<Limit>,
    /// Whether the next new segment tells the receiver of a reduction (CWR, RFC 3168 §6.1.2).
    tells: bool,
    /// `None`: `congestion` wants neither rate samples nor pacing.
    rates: Option<Box<Rates>>,
    application: Application,
    timer: Timer,
    /// What the next go-back-N ends at; 0 when none is under way.
    restart_until: u64,
    tail: Tail,
    persist: Persist,
    congestion: Box<dyn CongestionControl>,
    counting: Box<dyn AckCounting>,
    /// `None`: every loss is congestion.
    judge: Option<Box<dyn LossJudge>>,
    /// Senders that are alike share it.
    config: Arc<Config>,
    rtt: RttEstimator,
    repair: Repair,
    reductions: Reductions,
    idle: Idle,
    user_timeout: UserTimeout,
    waiting: Waiting,
    /// `None`: a loss alone ends slow start.
    slow_start: Option<Box<dyn SlowStart>>,
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
    /// The peer's clock by its timestamp, if the option is in use and the congestion control observes.
    pub clock: Option<Time>,
    /// ECN echo.
    pub ece: bool,
    /// Bytes that it says arrived with a mark and were not known to, by AccECN.
    pub marked: u32,
    /// SACK is in use on this connection.
    pub selective: bool,
    /// What it says about the loss that it tells of.
    pub hint: LossHint,
    /// Offset of the segment in the peer's stream: an older one tells no window.
    pub at: u64,
}

impl Sender {
    /// A sender whose first byte of data is at offset 1, with this effective segment size; `random` for mechanisms that draw.
    pub fn new(config: &Arc<Config>, mss: u32, random: Stream) -> Sender {
        Sender::recovering_by(&config.recovery, config, mss, random)
    }

    /// The same with another recovery than the configuration says.
    pub(crate) fn recovering_by(
        recovery: &Choice<recovery::Build>,
        config: &Arc<Config>,
        mss: u32,
        random: Stream,
    ) -> Sender {
        let mss = u64::from(mss.max(1));
        let recovery = (recovery.build)(&recovery.values);
        let start = Start {
            window: u64::from(config.initial_window) * mss,
            ssthresh: config.initial_ssthresh.unwrap_or(1 << 30),
            mss,
            selective: recovery.uses_sack(),
            random,
        };
        let initial_window = start.window;
        let congestion = (config.congestion.build)(&config.congestion.values, start);
        let tail = if recovery.probes_tail() { Tail::Quiet { expires: Time::NEVER } } else { Tail::Off };
        let mut board = Scoreboard::starting_at(1);
        if congestion.samples() {
            board.keep_losses();
        } else if recovery.needs_times() {
            board.keep_times();
        }
        let slow_start = (config.slow_start.build)(&config.slow_start.values);
        let reduction = match congestion.conserves() {
            true => None,
            false => (config.reduction.build)(&config.reduction.values),
        };
        let counting = (config.counting.build)(&config.counting.values);
        Sender {
            board,
            cwnd: congestion.window(),
            counts_end: counting.counts_end(),
            counting,
            judge: (config.judge.build)(&config.judge.values),
            mss,
            fits: mss,
            restart_until: 0,
            tail,
            waits_for: None,
            tells: false,
            config: Arc::clone(config),
            calm: config.has_shortcut,
            has_shortcut: config.has_shortcut,
            observes: congestion.observes(),
            validates: config.validates_window,
            watches: congestion.observes()
                || config.validates_window
                || congestion.samples()
                || slow_start.is_some(),
            rates: congestion.samples().then(Box::default),
            slow_start,
            congestion,
            application: Application::new(config.nagle),
            peer: Peer::closed_at(1),
            rtt: RttEstimator::new(&config.rto),
            timer: Timer::OFF,
            waiting: Waiting::NOT_YET,
            idle: Idle {
                since: Time::NEVER,
                window: if config.restarts_after_idle { initial_window } else { CWND_STAYS },
            },
            persist: Persist::new(config.freezes),
            repair: Repair::new(recovery, config, initial_window),
            reductions: Reductions::new(config.ecn_waits, reduction),
            user_timeout: UserTimeout::new(&config.patience),
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.application.write(bytes);
    }

    /// Nothing more will be written: a FIN follows.
    pub fn finish(&mut self) {
        self.application.finish();
    }

    /// The byte behind the last one written, so far.
    pub(crate) fn end_of_data(&self) -> u64 {
        self.application.written()
    }

    /// What is written and was not sent yet, bytes.
    pub fn unsent(&self) -> u64 {
        self.application.written().saturating_sub(self.board.nxt())
    }

    /// Whether the FIN was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        self.application.is_finishing() && self.board.una() > self.application.written()
    }

    /// The handshake is over; its round-trip time, if it can be told.
    fn measure_handshake(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtt.sample(&self.config.rto, rtt);
        }
        if self.rates.is_some() {
            self.congestion.on_open(rtt);
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
        self.repair.recovery.uses_sack()
    }

    /// cwnd, bytes: in a recovery what the reduction leaves of it so far.
    pub fn window(&self) -> u64 {
        self.reductions.allowance().unwrap_or(self.cwnd)
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Bytes in the network by the recovery's account.
    pub fn in_flight(&self) -> u64 {
        self.repair.recovery.in_flight(&self.board)
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
        self.timer.next()
    }

    /// Whether [`Sender::timer`] may be earlier than at the last [`Sender::note_timer`].
    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.timer.is_sooner()
    }

    /// Somebody has looked at [`Sender::timer`] and remembers it.
    pub(crate) fn note_timer(&mut self) {
        self.timer.note_asked();
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
            self.board.mark_all_lost();
            self.ignore_losses();
            self.start_over(Reason::TooLong);
            self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
            self.take_stock();
        }
    }

    /// Whether short segments wait while data is outstanding, from now on (RFC 9293 §3.7.4).
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.application.nagle = nagle;
    }

    /// Whether it judges losses at all, once they are repaired or by marks: its judgements are accounted.
    pub fn judges(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.judges()) || self.judges_one_by_one()
    }

    /// Whether it tells random errors from congestion by the marks of duplicate ACKs.
    pub fn judges_by_mark(&self) -> bool {
        self.congestion.judges_by_mark()
    }

    /// Whether it judges the loss of each segment by itself, when it is found.
    pub fn judges_one_by_one(&self) -> bool {
        self.judges_by_mark() || self.judge.as_ref().is_some_and(|judge| judge.judges_losses())
    }

    /// Whether its congestion control sees every ACK before its effect.
    #[inline]
    pub(crate) fn observes(&self) -> bool {
        self.observes
    }

    /// Whether its congestion control draws random numbers, so that repetitions may differ.
    pub fn draws(&self) -> bool {
        self.congestion.draws()
    }

    /// Whether its congestion control answers marks in proportion (RFC 9331).
    pub fn is_scalable(&self) -> bool {
        self.congestion.is_scalable()
    }

    /// Whether fast recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.repair.recovery.is_recovering()
    }

    /// The byte behind the highest one that may be acknowledged: a probe's byte counts as sent only once it is.
    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.board.nxt() + u64::from(self.persist.has_probed() && self.has_new_data())
    }

    /// The oldest acknowledgement that is still believable (RFC 5961 §5).
    pub(crate) fn oldest_ack(&self) -> u64 {
        self.board.una().saturating_sub(self.peer.largest_window())
    }

    /// The connection is over: no timer runs.
    pub(crate) fn stop(&mut self) {
        self.timer = Timer::OFF;
    }

    /// Takes an acceptable acknowledgement (`una <= ack <= may_acknowledge()`).
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        let advanced = ack.ack > self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        let same_window = ack.window == self.peer.window();
        self.hear_window(ack.at, ack.ack, ack.window);
        if ack.ack > self.board.nxt() {
            self.probe_was_taken(now);
        }
        let thaws = self.persist.is_frozen() && self.peer.window() > 0;
        if self.calm && ack.sack.is_empty() && !ack.ece {
            if advanced {
                return self.advance_by(now, ack);
            }
            if !was_outstanding {
                // The ACK that every segment of a peer carries who only sends.
                return;
            }
        }
        self.handle_ack_in_repair(now, ack, same_window, log);
        if thaws {
            self.thaw(now);
        }
    }

    #[inline(never)]
    fn advance_by(&mut self, now: Time, ack: &Ack<'_>) {
        self.advance_calmly(now, ack.ack, ack.marked, || ack.echoed_rtt, || ack.clock);
    }

    /// Whether short ways may be taken ([`Config::has_shortcut`](crate::Config::has_shortcut)).
    #[inline]
    pub(crate) fn has_shortcut(&self) -> bool {
        self.has_shortcut
    }

    /// Whether nothing is lost, reported or repeated.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }

    /// A segment of the peer at offset `at` that acknowledges `ack` tells the window, bytes.
    #[inline]
    pub(crate) fn hear_window(&mut self, at: u64, ack: u64, window: u64) {
        self.peer.admit_from(at, ack, window);
    }

    /// A new acknowledgement while nothing is lost: what [`Sender::handle_ack`] comes down to then. The round trip that the
    /// timestamp's echo measures is asked for if the scoreboard knows none, the peer's clock if somebody observes.
    #[inline(always)]
    pub(crate) fn advance_calmly(
        &mut self,
        now: Time,
        ack: u64,
        marked: u32,
        echoed_rtt: impl FnOnce() -> Option<Duration>,
        clock: impl FnOnce() -> Option<Time>,
    ) {
        let bytes = ack - self.board.una();
        // Nearly always it covers exactly the first segment, and nobody watches.
        if self.watches {
            return self.advance_any(now, ack, marked, echoed_rtt, clock);
        }
        let Some(sent_at) = self.board.acknowledge_first(ack) else {
            return self.advance_any(now, ack, marked, echoed_rtt, clock);
        };
        let rtt = now.since(sent_at);
        self.rtt.sample(&self.config.rto, rtt);
        let event = AckEvent {
            now,
            phase: self.calm_phase(),
            acked: bytes,
            segments: 1,
            delivered: bytes,
            marked: u64::from(marked),
            rtt: Some(rtt),
            srtt: self.rtt.srtt(),
            in_flight: self.board.outstanding(),
            ..AckEvent::default()
        };
        self.cwnd = self.congestion.window_after(&event, &mut *self.counting);
        self.wait_anew(now, Some(sent_at));
    }

    /// The same if it covers several segments or a part of one, or if what is sent is watched.
    #[inline(never)]
    fn advance_any(
        &mut self,
        now: Time,
        ack: u64,
        marked: u32,
        echoed_rtt: impl FnOnce() -> Option<Duration>,
        clock: impl FnOnce() -> Option<Time>,
    ) {
        self.board.begin_ack();
        let acked = self.board.acknowledge(ack);
        let rtt = match acked.sent_at {
            Some(sent_at) => Some(now.since(sent_at)),
            None => echoed_rtt(),
        };
        if let Some(rtt) = rtt {
            self.rtt.sample(&self.config.rto, rtt);
        }
        let outstanding = self.board.outstanding();
        let (mut held, mut rate) = (false, None);
        if self.watches {
            if self.rates.is_some() {
                rate = self.sample(now, acked.delivered);
            }
            if self.observes {
                let acked = acked.bytes;
                let clock = clock();
                let news = AckNews { now, acked, rtt, clock, mss: self.mss, ..AckNews::default() };
                self.congestion.observe(&news);
            }
            held = self.leaves_window_unused(outstanding + acked.bytes);
        }
        let event = AckEvent {
            now,
            phase: self.calm_phase(),
            acked: acked.bytes,
            segments: acked.segments,
            delivered: acked.delivered,
            marked: u64::from(marked),
            rtt,
            srtt: self.rtt.srtt(),
            in_flight: outstanding,
            rate: rate.as_ref(),
            held,
            ..AckEvent::default()
        };
        self.cwnd = match self.watches {
            true => self.grow_watchfully(&event),
            false => self.congestion.window_after(&event, &mut *self.counting),
        };
        self.wait_anew(now, acked.sent_at);
    }

    /// Where a sender stands that repairs nothing.
    #[inline]
    fn calm_phase(&self) -> Phase {
        if self.board.una() < self.restart_until { Phase::Restart } else { Phase::Open }
    }

    /// New data is acknowledged, its newest segment sent at `sent_at` if that is known: the timer starts anew.
    #[inline]
    fn wait_anew(&mut self, now: Time, sent_at: Option<Time>) {
        self.arm(now);
        if self.board.outstanding() == 0 {
            self.idle.since = sent_at.unwrap_or(now);
            self.timer.stop();
        }
    }

    /// The window after an ACK if anything watches what is sent.
    fn grow_watchfully(&mut self, event: &AckEvent) -> u64 {
        match self.is_watched_slow_start() {
            true => self.grow_watched(event),
            false => self.congestion.on_ack(event, &mut *self.counting),
        }
        self.note_restraint(event.in_flight);
        self.congestion.window()
    }

    /// What goes out now, if anything may.
    #[inline(never)]
    pub(crate) fn poll(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if self.watches && self.is_paced(now) {
            return None;
        }
        if self.calm {
            let outstanding = self.board.outstanding();
            if !self.has_new_data() {
                self.wait_for(now, Limit::Application);
                return None;
            }
            return match self.next_new(self.cwnd.saturating_sub(outstanding)) {
                Ok(range) => Some(self.send_new(now, range)),
                Err(limit) => {
                    self.wait_for(now, limit);
                    if outstanding == 0 { self.poll_persist(now, log) } else { None }
                }
            };
        }
        self.poll_in_repair(now, log)
    }

    pub(super) fn has_new_data(&self) -> bool {
        self.board.nxt() < self.application.end()
    }
}
