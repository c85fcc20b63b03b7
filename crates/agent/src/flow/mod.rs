//! State of a connection, and the decision on each ACK of this host's kernel.
//!
//! Offsets are absolute in the peer's stream, in which the SYN is byte 0. The advertised right edge of the window never
//! moves left and never exceeds the kernel's own right edge.

mod stamps;

use crate::settings::AckSettings;
use lasthop_base::{Duration, Stream, Time};
use lasthop_tcp::ranges::Range;
use lasthop_tcp::receiver::ack_splitting::{AckForm, AckSplitting, Arrived, DueAck, FixedSplit};
use lasthop_tcp::receiver::loss_discrimination::{Cause, Gap, LossDiscriminator, Observation};
use lasthop_tcp::receiver::reassembly::Reassembly;
use lasthop_tcp::receiver::window::{self, AdvertisedWindow, WindowInput};
use lasthop_tcp::receiver::window_estimate::WindowEstimator;
use lasthop_wire::{Backlog, Flags, Segment, Seq};
use stamps::Stamps;

/// Minimum window that the agent advertises, segments.
const FLOOR: u64 = 2;
/// Payload of a segment without an MSS option, bytes (RFC 9293 §3.7.1).
const DEFAULT_MSS: u64 = 536;
/// Time after which all ACKs that the kernel held during a lapse have left, from the end of the lapse. A lapse is a
/// time in which the agent makes no decisions.
const STALE: Duration = Duration::from_millis(100);
/// Option bytes of a data segment that has time stamps.
const TIMESTAMP_BYTES: u64 = 12;

/// A connection of this host.
pub struct ObservedFlow {
    own: Option<Syn>,
    peer: Option<Syn>,
    window: Option<Box<dyn AdvertisedWindow>>,
    ack_splitting: Option<Box<dyn AckSplitting>>,
    discriminator: Option<Discriminator>,
    /// Path estimates for loss discrimination.
    estimator: WindowEstimator,
    stamps: Stamps,
    /// Advertised right edge: offset of the first byte that the peer may not send.
    edge: u64,
    acknowledged: u64,
    /// Whether the agent's window, and not the larger window of the kernel, limits the peer. If true, RTT samples do
    /// not contain queueing delay that the kernel's larger window causes.
    is_limiting: bool,
    /// End of the last lapse (a time without decisions of the agent); `None` if all ACKs held during the lapse have
    /// left.
    lapsed: Option<Time>,
    windows: FlowWindows,
    last_request: Option<AckRequest>,
    pieces: FixedSplit,
    /// Number of bytes that arrived. The agent also uses this number as the number of bytes that the application has
    /// read, which the kernel does not report.
    arrived: u64,
    fins: u8,
    last_packet: Time,
}

#[derive(Clone, Copy)]
struct Syn {
    seq: Seq,
    /// Unscaled window field (RFC 7323 §2.2).
    window: u16,
    scale: Option<u8>,
    mss: Option<u16>,
    timestamps: bool,
    at: Time,
}

struct Discriminator {
    mechanism: Box<dyn LossDiscriminator>,
    reassembly: Reassembly,
    random: Stream,
}

/// An outgoing ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutgoingAck {
    /// Acknowledgement number.
    pub ack: Seq,
    /// Window field of the header.
    pub window: u16,
}

/// Instruction to the agent's BPF program in the kernel: changes to make to the future ACKs of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckRequest {
    /// Maximum window to advertise, bytes.
    pub window: u64,
    /// Number of ACKs to send for each ACK of the kernel.
    pub count: u32,
    /// Whether the ACKs are copies of the kernel's ACK. If false, each ACK acknowledges a part of the range that the
    /// kernel's ACK acknowledges.
    pub is_copies: bool,
}

/// Windows of a connection, for the output of `lasthop agent status`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowWindows {
    /// Last window that the kernel offered, bytes.
    pub kernel: u64,
    /// Window that the agent advertises instead of the kernel's window, bytes.
    pub window: u64,
    /// Minimum RTT.
    pub min_rtt: Option<Duration>,
    /// Number of ACKs sent so far, including the kernel's own ACKs.
    pub acks: u64,
}

impl ObservedFlow {
    /// Creates a connection without any observed packet.
    pub fn new(settings: &AckSettings, seed: u64) -> ObservedFlow {
        let discriminator = settings.loss_discrimination.as_ref().map(|choice| Discriminator {
            mechanism: (choice.build)(&choice.values),
            reassembly: Reassembly::starting_at(1),
            random: Stream::named(seed, "agent.cause"),
        });
        ObservedFlow {
            own: None,
            peer: None,
            window: settings.window.as_ref().map(|choice| (choice.build)(&choice.values)),
            ack_splitting: settings.ack_splitting.as_ref().map(|choice| (choice.build)(&choice.values)),
            discriminator,
            estimator: (settings.window_estimate.build)(&settings.window_estimate.values),
            stamps: Stamps::default(),
            edge: 1,
            acknowledged: 1,
            is_limiting: true,
            lapsed: None,
            windows: FlowWindows::default(),
            last_request: None,
            pieces: settings.pieces().unwrap_or(FixedSplit { count: 1, are_copies: false }),
            arrived: 0,
            fins: 0,
            last_packet: Time::ZERO,
        }
    }

    /// Whether both SYNs were seen.
    pub fn is_known(&self) -> bool {
        self.own.is_some() && self.peer.is_some()
    }

    /// Whether both sides have sent a FIN, or either side a RST.
    pub fn is_over(&self) -> bool {
        self.fins >= 3
    }

    /// Time of the last packet.
    pub fn last_packet(&self) -> Time {
        self.last_packet
    }

    /// Windows of the connection.
    pub fn windows(&self) -> FlowWindows {
        self.windows
    }

    /// Handles an arriving packet. If the packet reveals a loss, returns the cause that loss discrimination assigns to
    /// the loss.
    pub fn handle_incoming(&mut self, now: Time, segment: &Segment) -> Option<Cause> {
        self.handle_several(now, segment, now)
    }

    /// Handles several packets. `segment` has the header of the last packet and the total payload length of all
    /// packets. `echoed` is the time of the first packet that echoed the same time stamp as the last packet.
    pub fn handle_several(&mut self, now: Time, segment: &Segment, echoed: Time) -> Option<Cause> {
        self.last_packet = now;
        self.record_end(segment, 1);
        if segment.flags.has(Flags::SYN) {
            self.peer = Some(Syn::of(segment, now));
            self.set_first_edge();
            if let (Some(own), true) = (self.own, segment.flags.has(Flags::ACK)) {
                self.measure(now, 0, Some(now.since(own.at)));
            }
            return None;
        }
        let peer = self.peer?;
        if segment.len == 0 {
            return None;
        }
        let rtt = segment.timestamps.and_then(|stamps| self.stamps.round_trip(echoed, stamps.echo));
        // While the kernel's larger window limits the peer, RTT samples may include queueing delay. A sample is then
        // used only if it is below the minimum so far.
        let believed =
            rtt.filter(|rtt| self.is_limiting || self.windows.min_rtt.is_none_or(|least| *rtt < least));
        self.measure(now, u64::from(segment.len), believed);
        let start = peer.seq.offset_of(segment.seq, self.acknowledged)?;
        let range = Range { start, end: start + u64::from(segment.len) };
        let sent =
            segment.timestamps.map(|stamps| Time::ZERO + Duration::from_millis(u64::from(stamps.value)));
        self.handle_data(now, range, sent, rtt)
    }

    /// Handles an outgoing packet. Returns true if the packet is a pure ACK whose right edge is beyond the edge that
    /// the agent has chosen.
    pub fn handle_outgoing(&mut self, now: Time, segment: &Segment) -> bool {
        self.last_packet = now;
        self.record_end(segment, 2);
        if segment.flags.has(Flags::SYN) {
            // If a SYN is retransmitted, the time of its first transmission is kept. The RTT sample may then be too
            // long, which does not change the minimum.
            let first = self.own.filter(|syn| syn.seq == segment.seq).map_or(now, |syn| syn.at);
            self.own = Some(Syn::of(segment, first));
            self.set_first_edge();
            return false;
        }
        self.remember_stamp(now, segment);
        let Some((ack, window)) = self.offered(segment) else { return false };
        let advertised_more = ack + window > self.edge;
        self.edge = self.edge.max(ack + window);
        self.acknowledged = self.acknowledged.max(ack);
        advertised_more && segment.is_pure_ack() && !segment.flags.has(Flags::PSH)
    }

    /// Sets the right edge from the window of this host's SYN as soon as both SYNs are known.
    fn set_first_edge(&mut self) {
        if let (Some(own), Some(_)) = (self.own, self.peer) {
            self.edge = self.edge.max(1 + u64::from(own.window));
        }
    }

    /// Records the end of a lapse, a time in which the agent made no decisions. The agent may have missed windows that
    /// the kernel advertised during the lapse. The right edge therefore follows the kernel's windows for the next 100
    /// ms. After this time, all ACKs that the kernel held during the lapse have left.
    pub fn lapse(&mut self, now: Time) {
        self.lapsed = Some(now);
    }

    /// Decides on a pure ACK of the kernel. If the result is true, `acks` replace the kernel's ACK, in this order: the
    /// last of `acks` is sent in the kernel's packet, the others in new packets. If the result is false, the kernel's
    /// ACK leaves unchanged.
    pub fn handle_ack(&mut self, now: Time, segment: &Segment, acks: &mut Vec<OutgoingAck>) -> bool {
        acks.clear();
        self.last_packet = now;
        self.remember_stamp(now, segment);
        let Some((ack, kernel)) = self.offered(segment) else { return false };
        let advance = Range { start: self.acknowledged.min(ack), end: ack };
        if let Some(discriminator) = &mut self.discriminator {
            // The kernel may acknowledge bytes that the agent has not observed.
            let next = discriminator.reassembly.next();
            if next < ack {
                discriminator.reassembly.insert(Range { start: next, end: ack });
            }
            if !advance.is_empty() {
                self.estimator.on_ack_sent();
            }
        }
        let shift = self.shift();
        if let Some(since) = self.lapsed {
            self.edge = self.edge.max(ack + kernel);
            self.lapsed = (now.since(since) < STALE).then_some(since);
        }
        self.edge = self.edge_for(ack, kernel);
        self.windows =
            FlowWindows { kernel, window: self.edge - ack, acks: self.windows.acks, ..self.windows };
        let (slices, count, copies) = match self.split(advance) {
            AckForm::Single => (advance, 1, false),
            AckForm::Copies(count) => (advance, count.max(1), true),
            AckForm::Slices { count, of } => (of, count.max(1), false),
        };
        self.acknowledged = self.acknowledged.max(ack);
        let edge = self.edge;
        for n in 1..=count {
            let part = if copies || n == count {
                ack
            } else {
                slices.start + slices.len() * u64::from(n) / u64::from(count)
            };
            let units = (edge.saturating_sub(part) + (1 << shift) - 1) >> shift;
            let Some(number) = self.peer.map(|peer| peer.seq.at(part)) else { return false };
            // The window of a partial ACK may exceed the range of the header field. The window is then capped, which
            // moves the right edge of this ACK to the left.
            if part == ack {
                // `units` is rounded up, so the advertised right edge may be to the right of the chosen edge.
                self.edge = ack + (units << shift);
            }
            acks.push(OutgoingAck { ack: number, window: u16::try_from(units).unwrap_or(u16::MAX) });
        }
        self.windows.acks += u64::from(count);
        true
    }

    /// Returns the request for the BPF program if the request differs from the last request.
    pub fn changed_request(&mut self) -> Option<AckRequest> {
        let (segment, FixedSplit { count, are_copies: is_copies }) = (self.segment(), self.pieces);
        let window = self.window.as_mut().map_or(u64::MAX, |window| {
            let wanted = window.bytes(&WindowInput { unread: 0, segment }).max(FLOOR * segment);
            self.is_limiting = self.edge <= self.acknowledged + wanted + segment;
            wanted
        });
        let request = Some(AckRequest { window, count, is_copies });
        let has_changed = self.last_request != request;
        self.last_request = request;
        request.filter(|_| has_changed)
    }

    /// Returns the acknowledged offset of a kernel ACK, and the window in bytes that the ACK offers.
    fn offered(&self, segment: &Segment) -> Option<(u64, u64)> {
        let (_, peer) = (self.own?, self.peer?);
        if !segment.flags.has(Flags::ACK) {
            return None;
        }
        let ack = peer.seq.offset_of(segment.ack, self.acknowledged)?;
        Some((ack, u64::from(segment.window) << self.shift()))
    }

    /// Window shift; 0 unless both ends have the window scale option (RFC 7323 §2.2).
    fn shift(&self) -> u8 {
        match (self.own.and_then(|syn| syn.scale), self.peer.and_then(|syn| syn.scale)) {
            (Some(own), Some(_)) => own,
            _ => 0,
        }
    }

    /// Returns the new right edge. The mechanism chooses the window, but the window is at least two segments and at
    /// most the kernel's offer. The right edge moves left only if the kernel's own right edge moves left.
    fn edge_for(&mut self, ack: u64, kernel: u64) -> u64 {
        let segment = self.segment();
        let Some(window) = &mut self.window else { return ack + kernel };
        let wanted = window.bytes(&WindowInput { unread: 0, segment }).max(FLOOR * segment);
        // A tolerance of one segment covers rounding and small changes of the estimate.
        self.is_limiting = self.edge <= ack + wanted + segment;
        self.edge.max(ack + wanted).min(ack + kernel)
    }

    /// Payload of a full segment, bytes.
    fn segment(&self) -> u64 {
        let mss = self.own.and_then(|syn| syn.mss).map_or(DEFAULT_MSS, u64::from);
        let has_stamps = [self.own, self.peer].iter().all(|syn| syn.is_some_and(|syn| syn.timestamps));
        mss.saturating_sub(if has_stamps { TIMESTAMP_BYTES } else { 0 }).max(1)
    }

    fn split(&mut self, advance: Range) -> AckForm {
        let due = DueAck { advance, segment: self.segment(), uplink: Backlog::default() };
        let Some(ack_splitting) = &mut self.ack_splitting else { return AckForm::Single };
        ack_splitting.split(&due, self.estimator.path())
    }

    fn measure(&mut self, now: Time, bytes: u64, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.windows.min_rtt = Some(self.windows.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.arrived += bytes;
        let (read, segment) = (self.arrived, self.segment());
        if let Some(window) = &mut self.window {
            window.on_arrival(&window::PathSample { now, bytes, rtt, read, segment });
        }
    }

    fn handle_data(
        &mut self,
        now: Time,
        range: Range,
        sent: Option<Time>,
        rtt: Option<Duration>,
    ) -> Option<Cause> {
        let segment = self.segment();
        let discriminator = self.discriminator.as_mut()?;
        let Discriminator { mechanism, reassembly, random } = discriminator;
        let estimator = &mut self.estimator;
        let highest = reassembly.highest();
        let repeated = range.end <= reassembly.next();
        let change = reassembly.insert(range);
        if range.end > highest {
            mechanism.observe(&Observation { now, range, sent });
        }
        estimator.on_arrival(now, range.len(), segment, rtt);
        let missing = change.opened.map_or(0, |gap| gap.len().div_ceil(segment));
        if let Some(ack_splitting) = &mut self.ack_splitting {
            ack_splitting.on_arrival(&Arrived { now, missing, repeated });
        }
        let Some(range) = change.opened else {
            estimator.on_advance(now, reassembly.next());
            return None;
        };
        let cause = mechanism.discriminate(&Gap { range, segment }, estimator.path(), random);
        if let Some(ack_splitting) = &mut self.ack_splitting {
            ack_splitting.on_loss(cause, estimator.path());
        }
        estimator.on_gap(reassembly.highest());
        Some(cause)
    }

    fn remember_stamp(&mut self, now: Time, segment: &Segment) {
        if let Some(stamps) = segment.timestamps {
            self.stamps.remember(now, stamps.value);
        }
    }

    fn record_end(&mut self, segment: &Segment, side: u8) {
        if segment.flags.has(Flags::RST) {
            self.fins = 3;
        }
        if segment.flags.has(Flags::FIN) {
            self.fins |= side;
        }
    }
}

impl Syn {
    fn of(segment: &Segment, at: Time) -> Syn {
        Syn {
            seq: segment.seq,
            window: segment.window,
            scale: segment.window_scale,
            mss: segment.mss,
            timestamps: segment.timestamps.is_some(),
            at,
        }
    }
}

#[cfg(test)]
mod tests;
