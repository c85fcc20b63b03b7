//! The receiving half: what arrived, and how it is acknowledged.
//!
//! * `arrivals`: who is told of data that came; `next_data`: the usual case of it, in few steps; `reassembly`: where it goes;
//! * `due`: when an ACK leaves, and what it acknowledges; `burst`: in how many pieces; `report`: what its SACK option says;
//! * `edge`: how far the peer may send;
//! * `studied`: estimates and judgements.
//!
//! Mechanisms stand in folders of their own: `timing`, `shape`, `window`, `cause`, `echo`.

pub mod cause;
pub mod echo;
pub mod estimate;
pub mod reassembly;
pub mod shape;
pub mod timing;
pub mod window;

mod arrivals;
mod burst;
mod due;
mod edge;
mod next_data;
mod report;
mod studied;

use crate::config::Config;
use crate::notice::Wants;
use crate::ranges::Range;
use cause::LossCause;
use due::Pending;
use edge::{NO_BUFFER, Told};
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::Backlog;
use reassembly::Reassembly;
use shape::AckShape;
use studied::Studied;
use timing::AckTiming;
use window::AdvertisedWindow;

/// The receiving half of an endpoint. Offsets are absolute; the peer's SYN is byte 0.
///
/// In lines of the cache: one that every segment touches, whoever receives data; one of what waits behind holes; one of what
/// is told and when; then what hardly any segment asks for.
#[repr(C)]
pub struct Receiver {
    due: Pending,
    /// Where the peer's FIN is, once seen; until then [`NO_FIN`].
    fin: u64,
    acknowledged: u64,
    /// The right edge advertised so far: it never moves left.
    edge: u64,
    /// Whether data in order concerns the timing alone: no judge, estimate, window or shape wants to hear of it.
    is_plain: bool,
    /// Whether every segment with data is acknowledged at once.
    is_immediate: bool,
    /// Whether every acknowledgement is a single one.
    always_once: bool,
    /// Whether there is anything to report: a hole or a duplicate.
    reports: bool,
    /// Whether [`Receiver::timer`] may be earlier than at the last [`Receiver::note_timer`].
    sooner: bool,
    estimates: bool,
    /// Whether the timing keeps duplicates back.
    holds: bool,
    judges: bool,
    /// Whether what arrived twice is reported, and what of that was not yet.
    tells_duplicates: bool,
    /// Whether the window's right edge may move left.
    shrinks: bool,
    /// Whether nothing has happened since a segment with data told the peer all.
    all_told: bool,
    /// Whether what was told may be told again without a second look.
    remembers: bool,
    /// Whether the window is told each arrival.
    window_measures: bool,
    /// Whether the shape is told each arrival.
    tells_arrivals: bool,
    /// The window that was told last, as a header has it.
    units: u16,
    reassembly: Reassembly,
    told: Told,
    /// Empty: nothing.
    duplicate: Range,
    /// What is free in the buffer, if the window is that, bytes; else [`NO_BUFFER`].
    free: u64,
    segment: u64,
    /// Bytes in order that the application has not read.
    unread: u64,
    /// The size of the buffer, if the window is what is free in one, bytes; else [`NO_BUFFER`].
    buffer: u64,
    /// The smallest step by which the window's right edge moves: a segment, or half of the largest window.
    smallest_opening: u64,
    timing: Box<dyn AckTiming>,
    window: Box<dyn AdvertisedWindow>,
    /// ACKs that tell the sender of a segment that arrived damaged; 0: none.
    damage_copies: u32,
    wants: Wants,
    shape: Box<dyn AckShape>,
    cause: Box<dyn LossCause>,
    /// `None`: nobody judges or estimates, and every acknowledgement is a single one.
    studied: Option<Box<Studied>>,
}

/// No peer sends so much before its FIN.
const NO_FIN: u64 = u64::MAX;

/// Ranges behind holes that are held in any case.
const FEWEST_RANGES: u64 = 256;

/// A data segment, as the receiving half sees it.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Its bytes.
    pub range: Range,
    /// When the peer sent it, by its own clock without wraps; only differences mean something.
    pub sent: Option<Time>,
    /// The round trip that its timestamp echo measures.
    pub rtt: Option<Duration>,
    /// Congestion experienced.
    pub marked: bool,
}

impl Receiver {
    /// A receiver that expects the peer's byte 1; `random` is for judges that draw.
    pub fn new(config: &Config, random: Stream) -> Receiver {
        let timing = (config.timing.build)(&config.timing.values);
        let shape = (config.shape.build)(&config.shape.values);
        let window = (config.window.build)(&config.window.values);
        let cause = (config.cause.build)(&config.cause.values);
        let estimator = || (config.estimate.build)(&config.estimate.values);
        let needs = shape.needs();
        let estimates = needs.estimate || cause.needs_estimate();
        let smallest_opening = u64::from(config.segment).min(window.largest() / 2);
        // More ranges than full segments can leave behind in the largest window serve attacks alone.
        let most_ranges = (window.largest() / u64::from(config.segment.max(1))).max(FEWEST_RANGES) as usize;
        let buffer = window.buffer().unwrap_or(NO_BUFFER);
        let always_once = shape.is_once() && !timing.holds() && !window.foresees();
        let studies = !always_once || cause.judges() || estimates || needs.uplink;
        let studied = studies.then(|| {
            let uplink = Backlog::default();
            let window_turns = Time::NEVER;
            Box::new(Studied {
                window_turns,
                estimator: estimator(),
                random,
                burst: None,
                uplink,
                shaped: None,
            })
        });
        Receiver {
            is_plain: !(cause.judges() || estimates || window.needs_arrivals() || needs.arrivals),
            judges: cause.judges(),
            damage_copies: cause.tells_damage(),
            estimates,
            wants: Wants {
                backlog: needs.uplink,
                counts: needs.counts,
                true_window: estimates && estimator().is_oracle(),
            },
            buffer,
            free: buffer,
            shrinks: window.shrinks(),
            sooner: false,
            all_told: false,
            remembers: config.has_shortcut && always_once && buffer != NO_BUFFER,
            window_measures: window.needs_arrivals(),
            tells_arrivals: needs.arrivals,
            is_immediate: timing.is_immediate(),
            always_once,
            holds: timing.holds(),
            reassembly: Reassembly::starting_at(1).with_limit(most_ranges),
            tells_duplicates: config.dsack,
            duplicate: Range::default(),
            studied,
            reports: false,
            timing,
            shape,
            window,
            cause,
            segment: u64::from(config.segment),
            smallest_opening,
            fin: NO_FIN,
            told: Told::default(),
            units: 0,
            unread: 0,
            acknowledged: 1,
            edge: 1,
            due: Pending::Nothing,
        }
    }

    /// The next byte expected; the FIN counts as one.
    pub fn next(&self) -> u64 {
        let next = self.reassembly.next();
        next + u64::from(self.fin == next)
    }

    /// Whether all up to the peer's FIN has arrived.
    pub fn has_finished(&self) -> bool {
        self.fin == self.reassembly.next()
    }

    /// What arrived.
    pub fn reassembly(&self) -> &Reassembly {
        &self.reassembly
    }

    /// Whether this byte has arrived.
    pub(crate) fn has(&self, offset: u64) -> bool {
        offset < self.reassembly.next() || self.reassembly.beyond().containing(offset).is_some()
    }

    /// What the driver should tell with each segment.
    #[inline]
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// Whether it judges losses when they are found: its judgements are accounted.
    pub fn judges(&self) -> bool {
        self.judges
    }

    /// Whether the sender is told of segments that arrive damaged, and by how many ACKs each.
    pub(crate) fn tells_damage(&self) -> bool {
        self.damage_copies > 0
    }

    pub(crate) fn damage_copies(&self) -> u32 {
        self.damage_copies
    }

    /// Whether its judge draws random numbers.
    pub fn draws(&self) -> bool {
        self.cause.draws()
    }

    /// Whether the times that a segment's timestamps tell are of any use to it.
    pub(crate) fn wants_times(&self) -> bool {
        self.judges || self.estimates || self.window_measures
    }
}
