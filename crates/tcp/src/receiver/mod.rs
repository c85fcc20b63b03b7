//! Receiving half of an endpoint: reassembly, ACKs and the advertised window.
//!
//! * `arrivals`: arriving data; `next_data`: fast path for the next data in order;
//! * `reassembly`: received sequence space;
//! * `due`: time and content of ACKs; `burst`: ACK splitting and copies of ACKs; `report`: SACK blocks; `right_edge`:
//!   the advertised window;
//! * `analysis`: path estimates and loss discrimination.
//!
//! The mechanisms are in folders: `ack_policy`, `ack_splitting`, `window`, `loss_discrimination`, `ecn_echo`.

pub mod ack_policy;
pub mod ack_splitting;
pub mod ecn_echo;
pub mod loss_discrimination;
pub mod reassembly;
pub mod window;
pub mod window_estimate;

mod analysis;
mod arrivals;
mod burst;
mod due;
mod next_data;
mod report;
mod right_edge;

use crate::config::Config;
use crate::notice::WantedNotices;
use crate::ranges::Range;
use ack_policy::AckPolicy;
use ack_splitting::AckSplitting;
use analysis::Analysis;
use due::Pending;
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::Backlog;
use loss_discrimination::LossDiscriminator;
use reassembly::Reassembly;
use right_edge::{Advertised, NO_BUFFER};
use window::AdvertisedWindow;

/// Receiving half of an endpoint. Offsets are absolute; the peer's SYN is byte 0.
///
/// The fields are ordered by cache lines: fields used for every segment, fields for data after holes, fields for ACKs
/// and windows, then rarely used fields.
#[repr(C)]
pub struct Receiver {
    due: Pending,
    fin: u64,
    acknowledged: u64,
    /// Right edge of the advertised window, absolute offset.
    edge: u64,
    /// Whether the fast path may handle data in order, because no mechanism except the ACK policy processes such data.
    is_plain: bool,
    /// Whether every data segment is acknowledged at once.
    is_immediate: bool,
    /// Whether each ACK that is due is a single ACK, without splitting or copies.
    always_single: bool,
    /// Whether the next ACK needs SACK blocks, because of a hole or a duplicate.
    has_report: bool,
    /// Whether the deadline [`Receiver::timer`] may have become earlier since the last [`Receiver::note_timer`].
    sooner: bool,
    needs_estimate: bool,
    holds_acks: bool,
    discriminates: bool,
    dsack: bool,
    window_shrinks: bool,
    /// Whether the last data segment sent carried the current ACK number and window.
    ack_is_current: bool,
    /// Whether further data segments may reuse the ACK number and the window while `ack_is_current` is true.
    caches_advertisement: bool,
    window_needs_arrivals: bool,
    splitting_needs_arrivals: bool,
    window_units: u16,
    reassembly: Reassembly,
    advertised: Advertised,
    /// Duplicate data that D-SACK has not reported yet; an empty range if all duplicates are reported.
    duplicate: Range,
    /// Free part of the receive buffer, bytes; [`NO_BUFFER`] if [`AdvertisedWindow::buffer`] returns `None`.
    free: u64,
    segment: u64,
    /// In-order bytes that the application has not read.
    unread: u64,
    /// Size of the receive buffer, bytes; [`NO_BUFFER`] if [`AdvertisedWindow::buffer`] returns `None`.
    buffer: u64,
    /// Smallest step by which the right edge moves, bytes: a segment or half of the largest window, whichever is
    /// smaller (RFC 9293 §3.8.6.2.2).
    smallest_opening: u64,
    ack_policy: Box<dyn AckPolicy>,
    window: Box<dyn AdvertisedWindow>,
    /// Number of ACKs that report each damaged segment; 0 means no reports.
    damage_copies: u32,
    wanted_notices: WantedNotices,
    ack_splitting: Box<dyn AckSplitting>,
    discriminator: Box<dyn LossDiscriminator>,
    /// `None` if no mechanism uses loss discrimination, path estimates or the uplink queue, and all ACKs are single.
    analysis: Option<Box<Analysis>>,
}

/// Value of `fin` until a FIN arrives. No stream reaches this offset.
const NO_FIN: u64 = u64::MAX;

/// Lower bound of the limit on the number of stored ranges after holes.
const FEWEST_RANGES: u64 = 256;

/// A data segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct DataSegment {
    /// Bytes of the segment.
    pub range: Range,
    /// Time at which the peer sent the segment, from the unwrapped timestamp. Only differences between such times are
    /// meaningful, because the ends' clocks differ.
    pub sent: Option<Time>,
    /// Round-trip time measured by the segment's timestamp echo.
    pub rtt: Option<Duration>,
    /// Whether the packet carried a congestion mark (CE).
    pub marked: bool,
}

impl Receiver {
    /// Returns a receiver that expects byte 1. `random`: random numbers for loss discrimination.
    pub fn new(config: &Config, random: Stream) -> Receiver {
        let ack_policy = (config.ack_policy.build)(&config.ack_policy.values);
        let ack_splitting = (config.ack_splitting.build)(&config.ack_splitting.values);
        let window = (config.window.build)(&config.window.values);
        let cause = (config.receiver_discrimination.build)(&config.receiver_discrimination.values);
        let estimator = || (config.window_estimate.build)(&config.window_estimate.values);
        let needs = ack_splitting.needs();
        let estimates = needs.estimate || cause.needs_estimate();
        let smallest_opening = u64::from(config.segment).min(window.largest() / 2);
        // Full segments within the largest window cannot form more ranges than this limit. More ranges indicate an
        // attack.
        let most_ranges = (window.largest() / u64::from(config.segment.max(1))).max(FEWEST_RANGES) as usize;
        let buffer = window.buffer().unwrap_or(NO_BUFFER);
        let always_single = ack_splitting.is_single() && !ack_policy.holds() && !window.uses_link_plan();
        let analyses = !always_single || cause.discriminates() || estimates || needs.uplink;
        let analysis = analyses.then(|| {
            let uplink = Backlog::default();
            let next_window_decision = Time::NEVER;
            Box::new(Analysis {
                next_window_decision,
                estimator: estimator(),
                random,
                burst: None,
                uplink,
                split_ack: None,
            })
        });
        Receiver {
            is_plain: !(cause.discriminates() || estimates || window.needs_arrivals() || needs.arrivals),
            discriminates: cause.discriminates(),
            damage_copies: cause.damage_report_copies(),
            needs_estimate: estimates,
            wanted_notices: WantedNotices {
                backlog: needs.uplink,
                counts: needs.counts,
                true_window: estimates && estimator().is_oracle(),
            },
            buffer,
            free: buffer,
            window_shrinks: window.shrinks(),
            sooner: false,
            ack_is_current: false,
            caches_advertisement: config.has_fast_path && always_single && buffer != NO_BUFFER,
            window_needs_arrivals: window.needs_arrivals(),
            splitting_needs_arrivals: needs.arrivals,
            is_immediate: ack_policy.is_immediate(),
            always_single,
            holds_acks: ack_policy.holds(),
            reassembly: Reassembly::starting_at(1).with_limit(most_ranges),
            dsack: config.dsack,
            duplicate: Range::default(),
            analysis,
            has_report: false,
            ack_policy,
            ack_splitting,
            window,
            discriminator: cause,
            segment: u64::from(config.segment),
            smallest_opening,
            fin: NO_FIN,
            advertised: Advertised::default(),
            window_units: 0,
            unread: 0,
            acknowledged: 1,
            edge: 1,
            due: Pending::Nothing,
        }
    }

    /// Offset of the next byte expected. The FIN counts as one byte.
    pub fn next(&self) -> u64 {
        let next = self.reassembly.next();
        next + u64::from(self.fin == next)
    }

    /// Whether all data up to the peer's FIN has arrived.
    pub fn has_finished(&self) -> bool {
        self.fin == self.reassembly.next()
    }

    /// Received sequence space.
    pub fn reassembly(&self) -> &Reassembly {
        &self.reassembly
    }

    pub(crate) fn has(&self, offset: u64) -> bool {
        offset < self.reassembly.next() || self.reassembly.beyond().containing(offset).is_some()
    }

    /// Notices that the receiver wants for each arriving segment.
    #[inline]
    pub fn wanted_notices(&self) -> WantedNotices {
        self.wanted_notices
    }

    /// Whether the receiver attributes each new gap to congestion or to the wireless link, and counts the results.
    pub fn discriminates(&self) -> bool {
        self.discriminates
    }

    pub(crate) fn reports_damage(&self) -> bool {
        self.damage_copies > 0
    }

    pub(crate) fn damage_copies(&self) -> u32 {
        self.damage_copies
    }

    /// Whether loss discrimination uses random numbers.
    pub fn draws(&self) -> bool {
        self.discriminator.draws()
    }

    pub(crate) fn wants_times(&self) -> bool {
        self.discriminates || self.needs_estimate || self.window_needs_arrivals
    }
}
