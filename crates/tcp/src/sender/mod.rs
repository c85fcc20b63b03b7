//! The sending half: what is outstanding, what may go out, and when the timer runs.
//!
//! The rules of sending, in order:
//! 1. What recovery says must go out goes first, whatever the window.
//! 2. Then what is to be sent again, then new data, each if `cwnd - in_flight` has room
//!    for it; new data also needs room in the receiver's window, and Nagle's consent.
//! 3. Recovery never inflates the window: `in_flight` is its account of the network.
//! 4. One reduction per window of data, whichever signal comes first.
//!
//! A part owns its state, and nobody else reads or writes it:
//! * `window`: cwnd and its rules; `reductions`: when the window comes down; `usage`: whether the window is used, and may grow;
//! * `repair`: state of repairs, and of what is taken back of them; `tail`: the end of a flight is probed before the timer
//!   expires; `timer`: what it stands for; `user_timeout`: how long is borne that nothing moves;
//! * `application`: what there is to send; `peer`: what the receiver's window admits; `persist`: probes of a closed window;
//!   `limit`: what keeps data back; `idle`: what a pause does to the window; `rate`: samples and pacing.
//!
//! A chapter coordinates them (`impl Sender`):
//! * this file: how a sender begins, and whether all its parts are quiet; `half`: a sender, or none so far;
//! * `ack`: effects of an ACK; `steps`: their meaning for the window; `timeout`: effects of the timer;
//! * `poll`: the next segment to send; `sent`: effects of sending it;
//! * `calls`: what else a sender is told; `seen`: what can be seen of it.
//!
//! What was sent stands in `scoreboard`. Mechanisms stand in folders of their own: `congestion`, `counting`, `judge`, `rate`,
//! `recovery`, `reduction`, `slow_start`.

pub mod congestion;
pub mod counting;
pub mod judge;
pub mod rate;
pub mod recovery;
pub mod reduction;
pub mod scoreboard;
pub mod slow_start;

mod ack;
mod application;
mod calls;
mod half;
mod idle;
mod limit;
mod peer;
mod persist;
mod poll;
mod reductions;
mod repair;
mod seen;
mod sent;
mod steps;
mod tail;
mod timeout;
mod timer;
mod usage;
mod user_timeout;
mod window;

pub(crate) use half::{Beginning, SendingHalf};
pub use limit::{Limit, Limited};
pub(crate) use poll::Full;
pub(crate) use user_timeout::Expiry;

use crate::config::Config;
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use application::Application;
use congestion::Start;
use idle::Idle;
use judge::LossJudge;
use lasthop_base::{Choice, Stream};
use lasthop_wire::{LossHint, Priority, Timestamps};
use limit::Waiting;
use peer::Peer;
use persist::Persist;
use rate::Rates;
use reductions::Reductions;
use repair::Repair;
use scoreboard::Scoreboard;
use std::sync::Arc;
use tail::Tail;
use timer::Timer;
use usage::Usage;
use user_timeout::UserTimeout;
use window::Window;

/// The sending half of an endpoint. Offsets are absolute; the SYN is byte 0.
///
/// In lines of the cache of 64 bytes: one of what is lost, one of what is outstanding, two that every segment and every ACK
/// touches, three that new ACKs do, two of repairs, and what is rare; each part has its rules in a file of its name.
#[repr(C, align(64))]
pub struct Sender {
    mss: u64,
    board: Scoreboard,
    peer: Peer,
    /// Payload of a full segment beside the options that go out now.
    fits: u64,
    /// Nothing is lost, reported or repeated, so that all outstanding data is in flight: most of a connection's life.
    calm: bool,
    /// Whether the short way is taken then.
    has_shortcut: bool,
    /// Whether `congestion` or `judge` wants to see every ACK before its effect.
    observes: bool,
    /// `congestion` observes, or rates are sampled, or slow start is watched, or the use of cwnd is.
    watches: bool,
    /// What has kept it from sending more; `None` until data may be sent: the handshake is in no sum.
    waits_for: Option<Limit>,
    /// Whether the next new segment tells the receiver of a reduction (CWR, RFC 3168 §6.1.2).
    tells: bool,
    /// `None`: `congestion` wants neither rate samples nor pacing.
    rates: Option<Box<Rates>>,
    application: Application,
    timer: Timer,
    /// Senders that are alike share it.
    config: Arc<Config>,
    tail: Tail,
    persist: Persist,
    window: Window,
    /// `None`: every loss is congestion.
    judge: Option<Box<dyn LossJudge>>,
    rtt: RttEstimator,
    repair: Repair,
    reductions: Reductions,
    idle: Idle,
    user_timeout: UserTimeout,
    waiting: Waiting,
    /// `None`: cwnd grows whether it is used or not.
    usage: Option<Box<Usage>>,
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
    /// Its timestamps, if the option is in use.
    pub stamps: Option<Timestamps>,
    /// A tick of their clocks, ns.
    pub tick: u64,
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

impl Ack<'_> {
    /// It tells nothing but what is added.
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
        let tail = Tail::new(recovery.probes_tail());
        let mut board = Scoreboard::starting_at(1);
        let nature = congestion.nature();
        if nature.samples {
            board.keep_losses();
        } else if recovery.needs_times() {
            board.keep_times();
        }
        let slow_start = (config.slow_start.build)(&config.slow_start.values);
        let reduction =
            if nature.conserves { None } else { (config.reduction.build)(&config.reduction.values) };
        let counting = (config.counting.build)(&config.counting.values);
        let judge = (config.judge.build)(&config.judge.values);
        let observes = nature.observes || judge.as_ref().is_some_and(|judge| judge.measures());
        Sender {
            board,
            judge,
            mss,
            fits: mss,
            tail,
            waits_for: None,
            tells: false,
            config: Arc::clone(config),
            calm: config.has_shortcut,
            has_shortcut: config.has_shortcut,
            observes,
            watches: observes || config.validates_window || nature.samples || slow_start.is_some(),
            rates: nature.samples.then(|| Rates::boxed(nature.sends_extra)),
            window: Window::new(congestion, counting, slow_start),
            application: Application::new(config.nagle),
            peer: Peer::closed_at(1),
            rtt: RttEstimator::new(&config.rto),
            timer: Timer::OFF,
            waiting: Waiting::NOT_YET,
            usage: Usage::new(config),
            idle: Idle::new(config.restarts_after_idle.then_some(initial_window)),
            persist: Persist::new(config.freezes),
            repair: Repair::new(recovery, config, initial_window),
            reductions: Reductions::new(config.ecn_waits, reduction),
            user_timeout: UserTimeout::new(&config.patience),
        }
    }

    /// Whether nothing is lost, reported, repeated, asked or held back: an ACK may leave out what concerns repairs (`ack.rs`),
    /// and new data goes out by the windows alone (`poll.rs`).
    #[inline(always)]
    pub(crate) fn is_calm(&self) -> bool {
        debug_assert!(
            !self.calm || self.is_quiet(),
            "a part has something to do, and nobody has taken stock"
        );
        self.calm
    }

    /// Notes the window, and whether every part is quiet.
    fn take_stock(&mut self) {
        self.window.settle();
        if !self.repair.recovery().is_recovering() && !self.reductions.lasts_by_mark() {
            self.reductions.end();
        }
        if self.repair.needs_times() {
            self.timer.look(self.repair.recovery().deadline());
        }
        self.calm = self.is_quiet();
    }

    /// Every part answers for itself. A new part does not compile until this function says whether it is ever in the way.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        let Sender {
            // These may have something to do.
            board,
            tail,
            timer,
            persist,
            repair,
            reductions,
            has_shortcut,
            // These follow an ACK in the same way, or not at all.
            mss: _,
            peer: _,
            fits: _,
            calm: _,
            observes: _,
            watches: _,
            waits_for: _,
            tells: _,
            rates: _,
            application: _,
            window: _,
            judge: _,
            config: _,
            rtt: _,
            idle: _,
            user_timeout: _,
            waiting: _,
            usage: _,
        } = self;
        *has_shortcut
            && tail.is_quiet()
            && persist.is_quiet()
            && timer.is_quiet()
            && board.is_quiet()
            && reductions.is_quiet()
            && repair.is_quiet(board.una())
    }
}
