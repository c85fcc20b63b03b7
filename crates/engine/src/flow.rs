//! TCP connections and datagram sources, and their totals.

use crate::application::Application;
use crate::engine::ReleasedConnection;
use crate::pipe::PipeId;
use crate::stack_flow::StackFlow;
use lasthop_base::{Duration, Rate, Stream, Time};
use lasthop_tcp::event::Cause;
use lasthop_tcp::sender::Limited;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::{LossReason, PerReason, Priority};

/// Side of a flow: its source or its destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FlowSide {
    /// Sender of the data.
    Source,
    /// Receiver of the data.
    Destination,
}

/// Description of a flow, from which the engine creates the flow.
pub struct FlowSpec {
    /// Traffic that the flow carries.
    pub traffic: Traffic,
    /// Start time.
    pub start: Time,
    /// Pipes from source to destination, at least one.
    pub forward: Vec<PipeId>,
    /// Pipes from destination to source.
    pub backward: Vec<PipeId>,
    /// Header bytes that links charge for each packet.
    pub overhead: Overhead,
    /// Priority of the packets in both directions. A segment that the sender tags with another priority keeps that
    /// priority. External packets also keep their own priority.
    pub priority: Priority,
    /// Whether the packets' headers are unreadable because of encryption. Middleboxes that read headers then forward
    /// the packets unread.
    pub opaque: bool,
}

/// Number of bytes that links charge for a packet in addition to its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overhead {
    /// IPv4 and TCP headers with options; 28 bytes of IPv4 and UDP headers for a datagram.
    Real,
    /// A fixed number of bytes.
    Fixed(u32),
}

/// Traffic of a flow.
pub enum Traffic {
    /// A TCP connection.
    Tcp(Box<TcpConnection>),
    /// Traffic without endpoints of this workspace's TCP. [`NoEndpoint`] has the kinds of such traffic. The engine thus
    /// distinguishes only two cases for each packet.
    NoEndpoint(NoEndpoint),
}

/// Traffic without endpoints of this workspace's TCP.
pub enum NoEndpoint {
    /// Datagrams of an unresponsive source.
    Datagrams(Box<Datagrams>),
    /// External packets: real traffic. An external packet enters at the first node of the flow's forward or backward
    /// route ([`crate::Engine::inject`]).
    External,
    /// A connection that is created only at its start time, with the same results as a connection that exists from the
    /// start of the run. The connection must have no applications. The endpoints must request neither notices nor
    /// planned rates.
    ///
    /// The closure is boxed twice, because a single box would take two words and make this enum larger.
    Deferred(Box<Box<dyn FnOnce() -> TcpConnection + Send>>),
    /// Results of a released connection.
    Released(Box<ReleasedConnection>),
    /// Transport implementations of other projects at both ends.
    Stack(Box<StackFlow>),
}

impl Traffic {
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Traffic::NoEndpoint(NoEndpoint::External))
    }

    /// Whether the traffic draws random numbers, other than initial sequence numbers.
    pub fn draws(&self) -> bool {
        match self {
            Traffic::Tcp(connection) => {
                [&connection.source, &connection.destination]
                    .iter()
                    .any(|end| end.receiver().draws() || end.sender().draws())
                    || connection.application.as_ref().is_some_and(|application| application.draws())
            }
            Traffic::NoEndpoint(NoEndpoint::Datagrams(source)) => source.draws(),
            Traffic::NoEndpoint(NoEndpoint::External | NoEndpoint::Deferred(_) | NoEndpoint::Released(_)) => {
                false
            }
            // A stack may draw from the seed that it has received, for example for connection identifiers.
            Traffic::NoEndpoint(NoEndpoint::Stack(_)) => true,
        }
    }
}

/// The endpoints of a connection, with its applications.
pub struct TcpConnection {
    /// Endpoint that sends the data. The source opens the connection, unless the client of an application opens it.
    pub source: Endpoint,
    /// Endpoint that receives the data.
    pub destination: Endpoint,
    /// Whether to store the ranges of lost packets until an endpoint classifies the losses. The stored ranges serve to
    /// measure the accuracy of loss discrimination.
    pub has_loss_discrimination: bool,
    pub(crate) unclassified: Vec<(Range, LossReason)>,
    /// Applications; `None` if all data is written at the start.
    pub(crate) application: Option<Box<Application>>,
}

impl TcpConnection {
    /// A connection between two closed endpoints.
    pub fn new(source: Endpoint, destination: Endpoint, has_loss_discrimination: bool) -> TcpConnection {
        TcpConnection {
            source,
            destination,
            has_loss_discrimination,
            unclassified: Vec::new(),
            application: None,
        }
    }

    /// Returns the connection with applications.
    pub fn with_application(self, application: Application) -> TcpConnection {
        TcpConnection { application: Some(Box::new(application)), ..self }
    }

    pub(crate) fn opener(&self) -> FlowSide {
        self.application.as_ref().map_or(FlowSide::Source, |application| application.opener())
    }
}

/// A source of datagrams with a constant bit rate, or with alternating on and off periods.
pub struct Datagrams {
    /// Payload rate during on periods.
    pub rate: Rate,
    /// Payload of a datagram, bytes, at least 1.
    pub packet: u32,
    /// End time.
    pub stop: Time,
    /// Lengths of the on and off periods; `None`: always on.
    pub pattern: Option<OnOff>,
    /// Spacing of the datagrams within a period.
    pub spacing: Spacing,
    /// Random stream for periods and jitter.
    pub random: Stream,
    /// Time of the next datagram, without its jitter.
    nominal: Time,
    /// Time of the next datagram.
    pub(crate) next: Time,
    pub(crate) on_until: Time,
    pub(crate) number: u64,
}

/// Lengths of on and off periods.
#[derive(Clone, Copy, Debug)]
pub struct OnOff {
    /// Mean (or fixed) length of an on period.
    pub on: Duration,
    /// Mean (or fixed) length of an off period.
    pub off: Duration,
    /// Whether the lengths are exponentially distributed. If false, the lengths are fixed.
    pub exponential: bool,
}

/// Spacing of the datagrams of a constant rate (koga §3.3.5, Fig. 3.14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spacing {
    /// Upper bound of the random delay of each datagram. The delay is uniform on 0 to this bound.
    pub jitter: Duration,
    /// Number of datagrams sent back to back, at least 1. The pause after each burst keeps the mean rate.
    pub burst: u32,
}

impl Spacing {
    /// Even spacing, as at the output of a shaper without bursts.
    pub const EVEN: Spacing = Spacing { jitter: Duration::ZERO, burst: 1 };
}

impl Datagrams {
    /// A source that sends `packet`-byte datagrams at `rate` from `start` until `stop`.
    pub fn new(
        rate: Rate,
        packet: u32,
        (start, stop): (Time, Time),
        pattern: Option<OnOff>,
        random: Stream,
    ) -> Datagrams {
        let mut datagrams = Datagrams {
            rate,
            packet: packet.max(1),
            stop,
            pattern,
            spacing: Spacing::EVEN,
            random,
            nominal: start,
            next: start,
            on_until: Time::NEVER,
            number: 0,
        };
        if let Some(pattern) = pattern {
            datagrams.on_until = start + datagrams.length(pattern.on, pattern.exponential);
        }
        datagrams
    }

    /// Returns the source with another spacing of datagrams.
    pub fn with_spacing(mut self, spacing: Spacing) -> Datagrams {
        self.spacing = Spacing { burst: spacing.burst.max(1), ..spacing };
        self
    }

    pub(crate) fn draws(&self) -> bool {
        self.pattern.is_some_and(|pattern| pattern.exponential) || self.spacing.jitter > Duration::ZERO
    }

    /// Returns the number of the datagram that is due now, and schedules the next datagram.
    pub(crate) fn emit(&mut self) -> u64 {
        let burst = u64::from(self.spacing.burst);
        self.number += 1;
        if self.number.is_multiple_of(burst) {
            self.nominal += self.rate.time_for(u64::from(self.packet)) * burst;
        }
        if let Some(pattern) = self.pattern {
            while self.nominal >= self.on_until && self.nominal < self.stop {
                let off = self.length(pattern.off, pattern.exponential);
                let on = self.length(pattern.on, pattern.exponential);
                self.nominal = self.nominal.max(self.on_until + off);
                self.on_until = self.on_until + off + on + Duration::from_nanos(1);
            }
        }
        // Jitter must not reorder datagrams.
        self.next = match self.spacing.jitter {
            Duration::ZERO => self.nominal,
            jitter => {
                let late = Duration::from_secs_f64(self.random.uniform() * jitter.as_secs());
                self.next.max(self.nominal + late)
            }
        };
        self.number - 1
    }

    fn length(&mut self, mean: Duration, exponential: bool) -> Duration {
        if exponential { Duration::from_secs_f64(self.random.exponential(mean.as_secs())) } else { mean }
    }
}

/// Totals of a flow, in addition to its endpoints' counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowAccount {
    /// Lost packets that the source sent, by reason.
    pub lost: PerReason<u64>,
    /// Lost packets that the destination sent (ACKs), by reason.
    pub lost_backward: PerReason<u64>,
    /// Tagged (low-priority) packets among `lost`, by reason.
    pub tagged_lost: PerReason<u64>,
    /// Packets of the source that were lost in queues and that the source had sent before it detected its first loss.
    /// These losses are caused by slow start's overshoot.
    pub lost_to_overshoot: u64,
    /// Packets that middleboxes created or repeated: first in the forward direction, then in the backward direction.
    pub created: [u64; 2],
    /// Packets that middleboxes received in place of the addressed host: first in the forward direction, then in the
    /// backward direction.
    pub received: [u64; 2],
    /// Copies of packets that links made: first in the forward direction, then in the backward direction.
    pub duplicated: [u64; 2],
    /// Distinct datagrams that arrived.
    pub datagrams: u64,
    /// Accuracy of loss discrimination.
    pub accuracy: DiscriminationAccuracy,
    /// Completion time of a finite transfer at the destination.
    pub completed: Option<Time>,
    /// Time during which each factor (cwnd, receive window, application) limited the source, until completion.
    pub limited: Limited,
}

impl FlowAccount {
    /// Returns the counts since `before`, which are the counts at an earlier time. `completed` and `limited` are copied
    /// unchanged.
    pub fn since(&self, before: &FlowAccount) -> FlowAccount {
        let both = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        FlowAccount {
            lost: self.lost.since(&before.lost),
            lost_backward: self.lost_backward.since(&before.lost_backward),
            tagged_lost: self.tagged_lost.since(&before.tagged_lost),
            lost_to_overshoot: self.lost_to_overshoot - before.lost_to_overshoot,
            created: both(self.created, before.created),
            received: both(self.received, before.received),
            duplicated: both(self.duplicated, before.duplicated),
            datagrams: self.datagrams - before.datagrams,
            accuracy: DiscriminationAccuracy {
                wireless: self.accuracy.wireless - before.accuracy.wireless,
                wireless_correct: self.accuracy.wireless_correct - before.accuracy.wireless_correct,
                congestion: self.accuracy.congestion - before.accuracy.congestion,
                congestion_correct: self.accuracy.congestion_correct - before.accuracy.congestion_correct,
            },
            completed: self.completed,
            limited: self.limited,
        }
    }
}

/// Accuracy of loss discrimination, for packets lost at their first transmission (hasegawa §4.2, Eq. 6 and 7). The
/// fields count lost packets.
///
/// If a gap in the received sequence numbers contains wireless and congestion losses, all losses in the gap count as
/// congestion losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiscriminationAccuracy {
    /// Wireless losses.
    pub wireless: u64,
    /// Wireless losses classified as wireless.
    pub wireless_correct: u64,
    /// Congestion losses.
    pub congestion: u64,
    /// Congestion losses classified as congestion.
    pub congestion_correct: u64,
}

impl DiscriminationAccuracy {
    /// Compares a sender's verdict on one lost segment with the true reason, and counts the result. Earlier losses
    /// without verdict are removed without being counted, because a timeout recovered them.
    pub(crate) fn classify_segment(
        &mut self,
        unclassified: &mut Vec<(Range, LossReason)>,
        lost: Range,
        verdict: Cause,
    ) {
        unclassified.retain(|(range, _)| range.start >= lost.start);
        if unclassified.iter().any(|(range, _)| range.start < lost.end) {
            self.classify_gap(unclassified, lost, verdict);
        }
    }

    /// Compares an endpoint's verdict on a gap with the true reasons for the losses in the gap, and counts the results.
    /// Earlier losses without verdict count as misclassified.
    pub(crate) fn classify_gap(
        &mut self,
        unclassified: &mut Vec<(Range, LossReason)>,
        gap: Range,
        verdict: Cause,
    ) {
        let inside = |range: &Range| gap.start <= range.start && range.start < gap.end;
        let congested = unclassified.iter().any(|(range, reason)| inside(range) && reason.is_congestion());
        unclassified.retain(|(range, reason)| {
            if range.start >= gap.end {
                return true;
            }
            let is_congestion = if inside(range) { congested } else { reason.is_congestion() };
            let right = inside(range) && (verdict == Cause::Congestion) == is_congestion;
            if is_congestion {
                self.congestion += 1;
                self.congestion_correct += u64::from(right);
            } else {
                self.wireless += 1;
                self.wireless_correct += u64::from(right);
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the departure times in us of the first `count` datagrams of 500 bytes at 6 Mbit/s. The mean time between
    /// two datagrams is 667 us.
    fn times(spacing: Spacing, count: usize) -> Vec<u64> {
        let span = (Time::ZERO, Time::NEVER);
        let mut source = Datagrams::new(Rate::from_bps(6_000_000), 500, span, None, Stream::named(1, "test"))
            .with_spacing(spacing);
        let times = (0..count).map(|_| {
            let at = source.next;
            source.emit();
            at.as_nanos() / 1000
        });
        times.collect()
    }

    #[test]
    fn a_burst_takes_the_time_of_its_datagrams() {
        // A burst of 15 datagrams must leave every 10 ms (koga §3.3.5).
        let times = times(Spacing { burst: 15, ..Spacing::EVEN }, 45);
        for (number, at) in times.iter().enumerate() {
            assert!(at.abs_diff(number as u64 / 15 * 10_000) <= 1, "{number}: {at}");
        }
    }

    #[test]
    fn jitter_delays_each_by_less_than_its_bound_and_keeps_the_order() {
        let spacing = Spacing { jitter: Duration::from_micros(670), ..Spacing::EVEN };
        let (late, even) = (times(spacing, 3000), times(Spacing::EVEN, 3000));
        assert!(late.windows(2).all(|pair| pair[0] <= pair[1]));
        let delays: Vec<u64> = late.iter().zip(&even).skip(1).map(|(late, even)| late - even).collect();
        assert!(delays.iter().all(|delay| *delay <= 671));
        // The uniform delay has a mean of 335 us, and the mean of 3000 delays has a standard error of 670 / sqrt(12 *
        // 3000) = 3.5 us. To keep the order, some datagrams are delayed a little longer.
        let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        assert!((mean - 335.0).abs() < 4.0 * 3.5, "{mean}");
    }
}
