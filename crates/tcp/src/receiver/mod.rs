//! The receiving half: what arrived, and how it is acknowledged.

pub mod cause;
pub mod echo;
pub mod estimate;
pub mod reassembly;
pub mod shape;
pub mod timing;
pub mod window;

mod next_data;

use crate::config::Config;
use crate::event::{Event, Log};
use crate::notice::Wants;
use crate::ranges::Range;
use cause::{Gap, LossCause, Observation};
use estimate::WindowEstimator;
use lasthop_base::{Duration, Rate, Stream, Time};
use lasthop_wire::{Backlog, SenderCounts, UplinkCounts};
use reassembly::Reassembly;
use shape::{AckShape, Arrived, Due, Shape};
use timing::{AckTiming, When};
use window::{AdvertisedWindow, Foreseen, Turn, WindowInput};

/// The receiving half of an endpoint. Offsets are absolute; the peer's SYN is byte 0.
///
/// In lines of the cache: one that every segment touches, whoever receives data; one of what waits behind holes; two of what
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
    segment: u64,
    /// Empty: nothing.
    duplicate: Range,
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

/// What a receiver keeps that judges losses, estimates the sender's window, foresees its own, or acknowledges in several
/// pieces.
struct Studied {
    /// When a window that foresees wants to be asked again.
    window_turns: Time,
    estimator: WindowEstimator,
    random: Stream,
    burst: Option<Burst>,
    uplink: Backlog,
    /// Uplink before the shape that was applied last, until the ACKs are known to be queued.
    shaped: Option<(Backlog, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// For data: the shape says in how many pieces.
    Now,
    /// For anything else, a window or a challenge: one ACK.
    Bare,
    At(Time),
}

/// ACKs under way for one shape.
#[derive(Clone, Copy, Debug)]
struct Burst {
    of: Range,
    count: u32,
    sent: u32,
    copies: bool,
}

/// The window that was told last.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// What it was told for: where the right edge was to be, and where it was, bytes from the ACK on; and the shift.
    wanted: u64,
    edge: u64,
    shift: u8,
    /// Whether it is zero whatever room there is: a window that foresees has closed.
    is_closed: bool,
    /// What the peer makes of it, bytes.
    bytes: u64,
}

/// No window is as large.
const NO_BUFFER: u64 = u64::MAX;

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

    /// What is known of the path; `None`: nobody asks.
    pub fn estimator(&self) -> Option<&WindowEstimator> {
        self.studied.as_ref().map(|studied| &studied.estimator)
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

    /// Whether this byte has arrived.
    pub(crate) fn has(&self, offset: u64) -> bool {
        offset < self.reassembly.next() || self.reassembly.beyond().containing(offset).is_some()
    }

    /// Whether its judge draws random numbers.
    pub fn draws(&self) -> bool {
        self.cause.draws()
    }

    /// Whether the times that a segment's timestamps tell are of any use to it.
    pub(crate) fn wants_times(&self) -> bool {
        self.judges || self.estimates || self.window_measures
    }

    /// The largest window it will ever advertise, bytes.
    pub fn largest_window(&self) -> u64 {
        self.window.largest()
    }

    /// The application holds `bytes` unread. A window that has opened widely is told at once, if 16 bits in units of
    /// `1 << shift` can tell it.
    ///
    /// It is compared with the window told last, not with what arrivals have left of that: they are acknowledged in
    /// their own time, and a read hurries no delayed ACK (RFC 5681 §4.2: nor may it make a duplicate). Unless so little
    /// is left that the peer may be waiting (RFC 9293 §3.8.6.2.2).
    pub(crate) fn hold_unread(&mut self, bytes: u64, shift: u8) {
        self.unread = bytes;
        self.all_told = false;
        let expressed = |window: u64| (window >> shift).min(u64::from(u16::MAX)) << shift;
        let wide = (2 * self.smallest_opening).min(expressed(self.window.largest())).max(1);
        let next = self.next();
        let left = self.edge.saturating_sub(next);
        let known = if left < wide { left } else { self.edge.saturating_sub(self.acknowledged) };
        let window = self.wanted_edge() - next;
        if expressed(window) >= known + wide {
            self.acknowledge_now();
        }
    }

    /// The window to advertise in a segment that acknowledges `ack`, in units of `1 << shift`.
    ///
    /// What the peer makes of it, `ack` plus the window, never moves left (RFC 9293 §3.8.6), neither by rounding nor
    /// when `ack` is only part of what has arrived, unless the window is one that shrinks. It moves right only by as much as is worth a segment: silly
    /// window avoidance (RFC 9293 §3.8.6.2.2).
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn advertise(&mut self, ack: u64, shift: u8) -> u16 {
        let wanted = self.wanted_edge();
        let (room, edge) = (wanted.wrapping_sub(ack), self.edge.wrapping_sub(ack));
        if (room, edge, shift) != (self.told.wanted, self.told.edge, self.told.shift) {
            // While data comes in order in full segments, nothing of it changes from one ACK to the next.
            self.units = self.advertise_anew(ack, shift, wanted);
            let bytes = self.edge.saturating_sub(ack);
            self.told = Told { wanted: room, edge, shift, bytes, ..self.told };
        }
        self.edge = ack + self.told.bytes;
        self.units
    }

    #[cold]
    fn advertise_anew(&mut self, ack: u64, shift: u8, wanted: u64) -> u16 {
        if self.told.is_closed {
            return 0;
        }
        let rounding = (1u64 << shift) - 1;
        if wanted + rounding >= self.edge + self.smallest_opening {
            self.edge = self.edge.max(wanted);
        }
        if self.shrinks {
            self.edge = wanted;
        }
        let window = self.edge.saturating_sub(ack);
        let units = u16::try_from((window + rounding) >> shift).unwrap_or(u16::MAX);
        self.edge = ack + (u64::from(units) << shift);
        units
    }

    #[inline(always)]
    fn wanted_edge(&mut self) -> u64 {
        if self.buffer != NO_BUFFER {
            return self.next() + self.buffer.saturating_sub(self.unread);
        }
        let input = WindowInput { unread: self.unread, segment: self.segment };
        self.next() + self.window.bytes(&input)
    }

    /// The byte behind the last one that the peer may send.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// The connection is over: nothing is acknowledged any more.
    pub(crate) fn stop(&mut self) {
        self.due = Pending::Nothing;
        self.end_burst();
    }

    /// A segment with data (or a FIN) arrived.
    pub(crate) fn handle_data(&mut self, now: Time, data: &Data, fin: bool, log: &mut Log) {
        self.all_told = false;
        if fin && self.fin == NO_FIN {
            self.fin = data.range.end;
        }
        if data.range.is_empty() {
            self.due = Pending::Now;
            return;
        }
        log.counters.data_received += 1;
        let highest = self.reassembly.highest();
        let repeated = data.range.end <= self.reassembly.next();
        let change = self.reassembly.insert(data.range);
        if self.judges || self.estimates {
            self.consider(now, data, highest, change.opened, log);
        }
        if self.window_measures {
            self.measure(now, data.range.len(), data.rtt);
        }
        if self.tells_arrivals {
            let missing = change.opened.map_or(0, |gap| gap.len().div_ceil(self.segment));
            self.shape.on_arrival(&Arrived { now, missing, repeated });
        }
        if let Some(duplicate) = change.duplicate {
            self.note_duplicate(duplicate);
        }
        self.reports = self.reassembly.has_holes() || !self.duplicate.is_empty();
        let urgent = change.had_holes || change.advanced == 0 || fin || data.marked;
        let unacknowledged = self.reassembly.next().saturating_sub(self.acknowledged);
        let grows = self.window_measures && self.window.is_growing();
        let (segment, marked) = (self.segment, data.marked);
        let arrival = timing::Arrival { now, unacknowledged, segment, urgent, repeated, marked, grows };
        self.ask_timing(&arrival);
    }

    #[inline]
    fn ask_timing(&mut self, arrival: &timing::Arrival) {
        if self.is_immediate {
            self.due = Pending::Now;
            return;
        }
        let when = self.timing.on_data(arrival);
        if when == When::Now && self.holds {
            self.release();
        }
        self.due = match (when, self.due) {
            (When::Now, _) => Pending::Now,
            (When::After(_), due @ (Pending::At(_) | Pending::Now | Pending::Bare)) => due,
            (When::After(span), Pending::Nothing) => {
                self.sooner = true;
                Pending::At(arrival.now + span)
            }
        };
    }

    /// The window is told what arrived.
    fn measure(&mut self, now: Time, bytes: u64, rtt: Option<Duration>) {
        let read = self.reassembly.next().saturating_sub(self.unread);
        self.window.on_arrival(&window::PathSample { now, bytes, rtt, read, segment: self.segment });
    }

    /// Data arrived that had arrived before: the next SACK option begins with it (RFC 2883 §4).
    pub(crate) fn note_duplicate(&mut self, duplicate: Range) {
        if self.tells_duplicates {
            self.duplicate = duplicate;
            self.reports = true;
        }
    }

    /// Whether there is anything for a SACK option.
    pub(crate) fn reports(&self) -> bool {
        self.reports
    }

    /// What the SACK option says, `most` blocks at most: a duplicate once, then ranges behind holes (RFC 2018 §4).
    pub(crate) fn report(&mut self, most: usize, mut tell: impl FnMut(Range)) {
        let mut left = most;
        if left > 0 && !self.duplicate.is_empty() {
            tell(std::mem::take(&mut self.duplicate));
            left -= 1;
            self.reports = self.reassembly.has_holes();
        }
        self.reassembly.sack_ranges(left).for_each(tell);
    }

    /// The handshake took so long.
    pub(crate) fn handle_handshake(&mut self, now: Time, rtt: Duration) {
        if self.window_measures {
            self.measure(now, 0, Some(rtt));
        }
    }

    /// An acknowledgement must go out although no data asks for it.
    pub(crate) fn acknowledge_now(&mut self) {
        self.all_told = false;
        if self.due != Pending::Now {
            self.due = Pending::Bare;
        }
    }

    /// The link layer of this host tells its rate.
    pub(crate) fn handle_link_rate(&mut self, rate: Rate) {
        self.window.on_link_rate(rate);
    }

    /// Whether it wants to be told how this host's link goes on by plan.
    pub(crate) fn foresees(&self) -> bool {
        self.window.foresees()
    }

    /// The link layer of this host tells how it goes on by plan.
    #[cold]
    pub(crate) fn handle_plan(&mut self, plan: &Foreseen) {
        let turn = self.window.on_plan(plan);
        self.turn_window(turn);
    }

    #[cold]
    fn turn_window(&mut self, turn: Turn) {
        if let Some(studied) = &mut self.studied {
            studied.window_turns = turn.again;
        }
        self.all_told = false;
        self.sooner = true;
        // What was told holds no longer.
        self.told = Told { shift: u8::MAX, is_closed: turn.closed, ..Told::default() };
        self.units = 0;
        // Before anything has arrived there is nothing to acknowledge.
        if turn.acks > 0 && self.next() > 1 {
            self.acknowledge_now();
            self.copy_acks(turn.acks);
        }
    }

    /// The link layer of this host discarded a packet with these bytes.
    pub(crate) fn handle_discarded(&mut self, range: Range) {
        self.cause.on_report(range);
    }

    /// When a delayed ACK leaves at the latest.
    pub(crate) fn timer(&self) -> Time {
        let due = match self.due {
            Pending::At(time) => time,
            _ => Time::NEVER,
        };
        if self.always_once { due } else { due.min(self.window_turns()) }
    }

    #[cold]
    fn window_turns(&self) -> Time {
        self.studied.as_ref().map_or(Time::NEVER, |studied| studied.window_turns)
    }

    /// Whether [`Receiver::timer`] may be earlier than at the last [`Receiver::note_timer`].
    #[inline]
    pub(crate) fn is_sooner(&self) -> bool {
        self.sooner
    }

    /// Somebody has looked at [`Receiver::timer`] and remembers it.
    pub(crate) fn note_timer(&mut self) {
        self.sooner = false;
    }

    /// The delayed ACK's time has come (if `now` has reached it).
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if !self.always_once && self.window_turns() <= now {
            let turn = self.window.on_turn(now);
            self.turn_window(turn);
        }
        if matches!(self.due, Pending::At(time) if time <= now) {
            self.due = Pending::Now;
            if self.holds {
                self.release();
            }
        }
    }

    /// Duplicates that were kept back leave together, each with what is to be reported now.
    #[cold]
    fn release(&mut self) {
        let count = self.timing.release();
        self.copy_acks(count);
    }

    /// So many ACKs leave together, all the same.
    fn copy_acks(&mut self, count: u32) {
        let next = self.next();
        if let Some(studied) = self.studied.as_mut().filter(|_| count > 1) {
            let of = Range { start: next, end: next };
            studied.burst = Some(Burst { of, count, sent: 0, copies: true });
        }
    }

    /// The next pure ACK that belongs to a burst of several: the byte that it acknowledges.
    #[inline]
    pub(crate) fn poll_burst(&mut self) -> Option<u64> {
        if self.always_once { None } else { self.next_of_burst() }
    }

    #[cold]
    fn next_of_burst(&mut self) -> Option<u64> {
        if self.due == Pending::Now && self.studied.as_ref().is_some_and(|studied| studied.burst.is_none()) {
            self.begin();
        }
        let studied = self.studied.as_mut()?;
        let burst = studied.burst.as_mut().filter(|burst| burst.count > 1)?;
        burst.sent += 1;
        let Burst { of, count, sent, copies } = *burst;
        if sent == count {
            studied.burst = None;
            return Some(self.finish_ack());
        }
        if copies {
            return Some(self.next());
        }
        let ack = of.start + of.len() * u64::from(sent) / u64::from(count);
        self.acknowledged = ack;
        if self.estimates {
            studied.estimator.on_ack_sent();
        }
        Some(ack)
    }

    /// The ACK that is due, if one is and no data carried it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn poll_ack(&mut self) -> Option<u64> {
        if !matches!(self.due, Pending::Now | Pending::Bare) {
            return None;
        }
        self.end_burst();
        Some(self.finish_ack())
    }

    /// A data segment is leaving: what it acknowledges, everything, and the window that it advertises. While the peer sends
    /// nothing, both are what they were.
    #[inline(always)]
    pub(crate) fn tell(&mut self, shift: u8) -> (u64, u16) {
        match self.all_told {
            true => (self.acknowledged, self.units),
            false => self.tell_anew(shift),
        }
    }

    #[inline(never)]
    fn tell_anew(&mut self, shift: u8) -> (u64, u16) {
        let ack = self.piggyback();
        let units = self.advertise(ack, shift);
        self.all_told = self.remembers;
        (ack, units)
    }

    /// A data segment is leaving: it acknowledges everything.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn piggyback(&mut self) -> u64 {
        self.end_burst();
        self.finish_ack()
    }

    /// What the sender and the uplink have counted by now.
    pub(crate) fn handle_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        self.shape.on_counts(sender, uplink);
    }

    /// The sender's true window, segments.
    pub(crate) fn handle_true_window(&mut self, segments: f64) {
        if let Some(studied) = &mut self.studied {
            studied.estimator.tell(segments);
        }
    }

    /// The uplink queue before the segment that arrives now.
    pub(crate) fn handle_backlog(&mut self, before: Backlog) {
        if let Some(studied) = &mut self.studied {
            studied.uplink = before;
        }
    }

    /// The pure ACKs of the last arrival are in the uplink queue.
    pub(crate) fn handle_acks_queued(&mut self, now: Time, after: Backlog, log: &mut Log) {
        if let Some((before, acks)) = self.studied.as_mut().and_then(|studied| studied.shaped.take()) {
            let queue_after = self.shape.on_sent(before, after);
            log.trace(now, Event::Shaped { acks, queue_before: before.waiting, queue_after });
        }
    }

    fn begin(&mut self) {
        let advance =
            Range { start: self.acknowledged.min(self.reassembly.next()), end: self.reassembly.next() };
        let Some(studied) = &mut self.studied else { return };
        let due = Due { advance, segment: self.segment, uplink: studied.uplink };
        let (of, count, copies) = match self.shape.shape(&due, studied.estimator.path()) {
            Shape::Once => (advance, 1, false),
            Shape::Copies(count) => (advance, count.max(1), true),
            Shape::Slices { count, of } => (of, count.max(1), false),
        };
        studied.burst = Some(Burst { of, count, sent: 0, copies });
        if self.wants.backlog {
            studied.shaped = Some((studied.uplink, count));
        }
    }

    #[inline(always)]
    fn end_burst(&mut self) {
        if !self.always_once
            && let Some(studied) = &mut self.studied
        {
            studied.burst = None;
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn finish_ack(&mut self) -> u64 {
        let next = self.next();
        if self.estimates
            && self.acknowledged < next
            && let Some(studied) = &mut self.studied
        {
            studied.estimator.on_ack_sent();
        }
        self.acknowledged = next;
        self.due = Pending::Nothing;
        next
    }

    /// Estimates, and the judgement of a gap: the shape hears of a loss before cwnd_r is halved for it.
    fn consider(&mut self, now: Time, data: &Data, highest: u64, opened: Option<Range>, log: &mut Log) {
        if data.range.end > highest {
            self.cause.observe(&Observation { now, range: data.range, sent: data.sent });
        }
        let Some(studied) = self.studied.as_deref_mut() else { return };
        let Studied { estimator, random, .. } = studied;
        if self.estimates {
            estimator.on_arrival(now, data.range.len(), self.segment, data.rtt);
        }
        if let Some(range) = opened {
            if self.judges {
                let gap = Gap { range, segment: self.segment };
                let cause = self.cause.judge(&gap, estimator.path(), random);
                log.judged(now, range, cause);
                self.shape.on_loss(cause, estimator.path());
            }
            estimator.on_gap(self.reassembly.highest());
        } else {
            estimator.on_advance(now, self.reassembly.next());
        }
    }
}
