//! Sending half of an endpoint: outstanding data, the next segment, and the timer.
//!
//! Order of sending:
//! 1. Segments that recovery sends regardless of the window, such as the fast retransmission.
//! 2. Retransmissions, then new data, as `cwnd - in_flight` permits. New data must also fit the receiver's window.
//!
//! Duplicate ACKs do not inflate cwnd during recovery. Instead, `in_flight` is the recovery mechanism's estimate of the
//! data in the network (`pipe` of RFC 6675). The first signal of congestion (loss or ECN mark) in a window of data
//! reduces cwnd. Further signals for the same window of data do not.
//!
//! Components, each of which owns its state:
//! * `window`: cwnd; `reductions`: window reductions; `usage`: window validation; `idle`: restart after idle;
//! * `repair`: retransmissions, and the undo of spurious retransmissions; `tail`: tail loss probe;
//! * `timer`; `user_timeout`: R1 and R2; `persist`: zero-window probes;
//! * `application`: data to send; `peer`: the receiver's window; `limit`: time per sending limit;
//! * `rate`: rate samples and pacing; `scoreboard`: outstanding data.
//!
//! Files with further parts of `impl Sender`:
//! * this file: construction, and the condition for the fast path; `half`: lazy creation; `views`: read access;
//! * `ack`: effects of an ACK; `steps`: effects of recovery on the window; `timeout`: effects of the timer;
//! * `poll`: the next segment; `sent`: effects of sending; `inputs`: other inputs.

pub mod ack_counting;
pub mod congestion;
pub mod loss_discrimination;
pub mod pacing;
pub mod rate;
pub mod recovery;
pub mod reduction;
pub mod scoreboard;
pub mod slow_start;
pub mod window;

mod ack;
mod application;
mod half;
mod idle;
mod inputs;
mod limit;
mod peer;
mod persist;
mod poll;
mod reductions;
mod repair;
mod sent;
mod steps;
mod tail;
mod timeout;
mod timer;
mod usage;
mod user_timeout;
mod views;

pub(crate) use half::{PendingSender, SendingHalf};
pub use limit::{Limit, Limited};
pub(crate) use poll::FullSegment;
pub use usage::MaxOutstanding;
pub(crate) use user_timeout::Expiry;

use crate::config::Config;
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use application::Application;
use congestion::Start;
use idle::Idle;
use lasthop_base::{Choice, Stream};
use lasthop_wire::{LossHint, Priority, Timestamps};
use limit::LimitTimer;
use loss_discrimination::LossDiscriminator;
use peer::Peer;
use persist::Persist;
use rate::Rates;
use reductions::Reductions;
use repair::Repair;
use scoreboard::Scoreboard;
use std::sync::Arc;
use tail::TailLossProbe;
use timer::Timer;
use usage::Usage;
use user_timeout::UserTimeout;
use window::CongestionWindow;

/// The sending half of an endpoint. Positions in the byte stream are 64-bit offsets that never wrap; the SYN is byte 0.
///
/// Fields that the same code uses are adjacent, to save CPU cache lines. Fields for each segment and each ACK come
/// first; rarely used fields come last.
#[repr(C, align(64))]
pub struct Sender {
    mss: u64,
    scoreboard: Scoreboard,
    peer: Peer,
    /// Payload of a full segment, bytes: `mss` less the TCP options in use.
    full_payload: u64,
    /// Whether the fast path applies: no outstanding segment is marked lost, SACKed or retransmitted, so all
    /// outstanding data is in flight.
    is_on_fast_path: bool,
    has_fast_path: bool,
    /// Whether congestion control or loss discrimination sees every ACK before the ACK takes effect.
    observes: bool,
    /// Whether any component must see each ACK: true if `observes`, if rates are sampled, if slow start is monitored,
    /// or if cwnd is validated.
    has_observers: bool,
    /// Reason why the sender cannot send more now. `None` until data may be sent, because time in the handshake does
    /// not count.
    current_limit: Option<Limit>,
    /// Whether the next new segment carries CWR (RFC 3168 §6.1.2).
    needs_cwr: bool,
    /// Rate samples and pacing. `None` if congestion control needs no rate samples and nothing is paced.
    rates: Option<Box<Rates>>,
    application: Application,
    timer: Timer,
    config: Arc<Config>,
    tail: TailLossProbe,
    persist: Persist,
    window: CongestionWindow,
    /// Loss discrimination. `None`: every loss counts as congestion.
    discriminator: Option<Box<dyn LossDiscriminator>>,
    rtt: RttEstimator,
    repair: Repair,
    reductions: Reductions,
    idle: Idle,
    user_timeout: UserTimeout,
    limit_timer: LimitTimer,
    /// Window validation. `None`: cwnd grows even if the sender does not fill cwnd.
    usage: Option<Box<Usage>>,
}

/// The next segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Bytes to send. The FIN counts as one byte.
    pub range: Range,
    /// Whether this is a retransmission.
    pub is_retransmission: bool,
    /// Whether the segment carries the FIN.
    pub fin: bool,
    /// Priority of the packet.
    pub priority: Priority,
    /// Whether the segment carries CWR if ECN is in use: true for the first new data after a window reduction (RFC 3168
    /// §6.1.2).
    pub cwr: bool,
}

/// The fields of an ACK that the sending half needs.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// ACK number: offset of the next byte that the peer expects.
    pub ack: u64,
    /// Advertised window, bytes.
    pub window: u64,
    /// Whether the segment carried data, SYN or FIN; such a segment is not a duplicate ACK.
    pub carries_data: bool,
    /// SACK blocks, as offsets that never wrap.
    pub sack: &'a [Range],
    /// Timestamps, if the option is in use.
    pub stamps: Option<Timestamps>,
    /// Duration of one tick of the timestamp clock, ns.
    pub tick: u64,
    /// Whether the ACK has ECE, the echo of an ECN mark.
    pub ece: bool,
    /// Bytes that the AccECN option of this ACK newly reports as CE-marked.
    pub marked: u32,
    /// Whether SACK is in use on this connection.
    pub selective: bool,
    /// Hint of the receiver or of a node about the cause of the loss that this ACK reports.
    pub hint: LossHint,
    /// Sequence number of the ACK's segment (SEG.SEQ), as an offset in the peer's stream. Segments older than the last
    /// window update do not update the window.
    pub at: u64,
}

impl Ack<'_> {
    pub(crate) const BARE: Ack<'static> = Ack {
        ack: 0,
        window: 0,
        carries_data: false,
        sack: &[],
        stamps: None,
        tick: 1,
        ece: false,
        marked: 0,
        selective: false,
        hint: LossHint::None,
        at: 0,
    };
}

/// Whether the configured congestion control takes orders from outside.
pub(crate) fn takes_orders(config: &Config) -> bool {
    let start = start_of(config, u64::from(config.segment), config.sack, Stream::named(0, "sender"));
    (config.congestion.build)(&config.congestion.values, start).nature().takes_orders
}

/// Initial values of congestion control. `selective`: whether recovery uses SACK.
fn start_of(config: &Config, mss: u64, selective: bool, random: Stream) -> Start {
    Start {
        window: u64::from(config.initial_window) * mss,
        ssthresh: config.initial_ssthresh.unwrap_or(1 << 30),
        mss,
        selective,
        random,
    }
}

impl Sender {
    /// Returns a sender with segments of `mss` bytes; data begins at offset 1. `random` is for mechanisms that
    /// draw random numbers.
    pub fn new(config: &Arc<Config>, mss: u32, random: Stream) -> Sender {
        Sender::recovering_by(&config.recovery, config, mss, random)
    }

    pub(crate) fn recovering_by(
        recovery: &Choice<recovery::Build>,
        config: &Arc<Config>,
        mss: u32,
        random: Stream,
    ) -> Sender {
        let mss = u64::from(mss.max(1));
        let recovery = (recovery.build)(&recovery.values);
        let start = start_of(config, mss, recovery.uses_sack(), random);
        let initial_window = start.window;
        let pacing = (config.pacing.build)(&config.pacing.values);
        let window = CongestionWindow::new(config, start, pacing.is_some());
        let tail = TailLossProbe::new(recovery.probes_tail());
        let mut scoreboard = Scoreboard::starting_at(1);
        let nature = window.control().nature();
        let has_rates = nature.uses_rate_samples || pacing.is_some();
        if has_rates {
            scoreboard.keep_losses();
        } else if recovery.needs_times() {
            scoreboard.keep_times();
        }
        let reduction =
            if nature.conserves { None } else { (config.reduction.build)(&config.reduction.values) };
        let discriminator = (config.sender_discrimination.build)(&config.sender_discrimination.values);
        let observes = nature.observes
            || discriminator.as_ref().is_some_and(|discriminator| discriminator.needs_rtt_samples());
        let is_monitored = has_rates || window.watches_slow_start();
        Sender {
            scoreboard,
            discriminator,
            mss,
            full_payload: mss,
            tail,
            current_limit: None,
            needs_cwr: false,
            config: Arc::clone(config),
            is_on_fast_path: config.has_fast_path,
            has_fast_path: config.has_fast_path,
            observes,
            has_observers: observes || config.validates_window || is_monitored,
            rates: has_rates.then(|| Rates::boxed(nature.sends_extra, pacing)),
            window,
            application: Application::new(config.nagle),
            peer: Peer::closed_at(1),
            rtt: RttEstimator::new(&config.rto),
            timer: Timer::OFF,
            limit_timer: LimitTimer::NOT_YET,
            usage: Usage::new(config),
            idle: Idle::new(config.restarts_after_idle.then_some(initial_window)),
            persist: Persist::new(config.has_persist_state),
            repair: Repair::new(recovery, config, initial_window),
            reductions: Reductions::new(config.ecn_waits, reduction),
            user_timeout: UserTimeout::new(&config.user_timeouts),
        }
    }

    /// Whether the fast path applies: ACKs skip the code of loss recovery (`ack.rs`), and only cwnd and the receiver's
    /// window limit new data (`poll.rs`).
    #[inline(always)]
    pub(crate) fn is_on_fast_path(&self) -> bool {
        debug_assert!(
            !self.is_on_fast_path || self.permits_fast_path(),
            "a component needs the slow path, but `update_fast_path` was not called"
        );
        self.is_on_fast_path
    }

    fn update_fast_path(&mut self) {
        self.window.update_cwnd();
        if !self.repair.recovery().is_recovering() && !self.reductions.is_reducing_by_ecn() {
            self.reductions.end();
        }
        if self.repair.needs_times() {
            self.timer.set_detection(self.repair.recovery().deadline());
        }
        self.is_on_fast_path = self.permits_fast_path();
    }

    /// Whether every component permits the fast path. The pattern lists all fields, so that a new field causes a
    /// compile error here.
    #[inline(always)]
    fn permits_fast_path(&self) -> bool {
        let Sender {
            // These fields can block the fast path.
            scoreboard,
            tail,
            timer,
            persist,
            repair,
            reductions,
            has_fast_path,
            // These fields never block the fast path.
            mss: _,
            peer: _,
            full_payload: _,
            is_on_fast_path: _,
            observes: _,
            has_observers: _,
            current_limit: _,
            needs_cwr: _,
            rates: _,
            application: _,
            window: _,
            discriminator: _,
            config: _,
            rtt: _,
            idle: _,
            user_timeout: _,
            limit_timer: _,
            usage: _,
        } = self;
        *has_fast_path
            && tail.permits_fast_path()
            && persist.permits_fast_path()
            && timer.permits_fast_path()
            && scoreboard.permits_fast_path()
            && reductions.permits_fast_path()
            && repair.permits_fast_path(scoreboard.una())
    }
}
