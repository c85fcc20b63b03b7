//! A TCP connection or a datagram source, and its accounts.

use crate::pipe::PipeId;
use lasthop_base::{Duration, Rate, Stream, Time};
use lasthop_tcp::event::Cause;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::LossReason;

/// Which end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Where the data comes from.
    Source,
    /// Where it goes.
    Destination,
}

/// A flow to be carried.
pub struct Flow {
    /// When it starts.
    pub start: Time,
    /// The pipes from source to destination, at least one.
    pub forward: Vec<PipeId>,
    /// The pipes back.
    pub backward: Vec<PipeId>,
    /// Packet sizes that links charge.
    pub overhead: Overhead,
    /// What it carries.
    pub traffic: Traffic,
}

/// What links charge a packet beside its payload, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overhead {
    /// The IPv4 and TCP headers with their options (28 for a datagram).
    Real,
    /// A fixed number.
    Fixed(u32),
}

/// What a flow carries.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every flow is TCP, and a pointer less is a cache miss less"
)]
pub enum Traffic {
    /// A TCP connection.
    Tcp(Connection),
    /// Datagrams of a source that does not react.
    Datagrams(Datagrams),
}

/// Both ends of a connection.
pub struct Connection {
    /// Opens and sends.
    pub source: Endpoint,
    /// Listens and receives.
    pub destination: Endpoint,
    /// Whether losses are remembered until the destination has judged them.
    pub judged: bool,
    pub(crate) unjudged: Vec<(Range, LossReason)>,
}

impl Connection {
    /// A connection between two closed endpoints.
    pub fn new(source: Endpoint, destination: Endpoint, judged: bool) -> Connection {
        Connection { source, destination, judged, unjudged: Vec::new() }
    }
}

/// A source of datagrams: constant bit rate, or on and off.
pub struct Datagrams {
    /// Rate while on, payload only.
    pub rate: Rate,
    /// Payload of a datagram, bytes, at least 1.
    pub packet: u32,
    /// When it ends.
    pub stop: Time,
    /// Means of the on and off periods; `None`: always on.
    pub pattern: Option<OnOff>,
    /// Draws periods.
    pub random: Stream,
    pub(crate) next: Time,
    pub(crate) on_until: Time,
    pub(crate) number: u64,
}

/// An on-off pattern.
#[derive(Clone, Copy, Debug)]
pub struct OnOff {
    /// Mean (or fixed) length of an on period.
    pub on: Duration,
    /// Mean (or fixed) length of an off period.
    pub off: Duration,
    /// Exponential rather than fixed lengths.
    pub exponential: bool,
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
            random,
            next: start,
            on_until: Time::NEVER,
            number: 0,
        };
        if let Some(pattern) = pattern {
            datagrams.on_until = start + datagrams.length(pattern.on, pattern.exponential);
        }
        datagrams
    }

    /// The number of the datagram due now; sets the time of the next.
    pub(crate) fn emit(&mut self) -> u64 {
        self.next += self.rate.time_for(u64::from(self.packet));
        if let Some(pattern) = self.pattern {
            while self.next >= self.on_until && self.next < self.stop {
                let off = self.length(pattern.off, pattern.exponential);
                let on = self.length(pattern.on, pattern.exponential);
                self.next = self.next.max(self.on_until + off);
                self.on_until = self.on_until + off + on + Duration::from_nanos(1);
            }
        }
        self.number += 1;
        self.number - 1
    }

    fn length(&mut self, mean: Duration, exponential: bool) -> Duration {
        match exponential {
            true => Duration::from_secs_f64(self.random.exponential(mean.as_secs())),
            false => mean,
        }
    }
}

/// Totals of a flow, beside its endpoints' counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowAccount {
    /// Packets from the source lost, by reason, in the order of [`LossReason::ALL`].
    pub lost: [u64; LossReason::ALL.len()],
    /// Packets from the destination (ACKs) lost, likewise.
    pub lost_back: [u64; LossReason::ALL.len()],
    /// Of those lost, the tagged ones (low priority), likewise.
    pub tags_lost: [u64; LossReason::ALL.len()],
    /// Of the losses in queues, those of packets sent before the source noticed its first loss: slow start's overshoot.
    pub lost_to_overshoot: u64,
    /// Datagrams that arrived.
    pub datagrams: u64,
    /// Judgements of losses against the truth.
    pub accuracy: Accuracy,
    /// When the destination had everything, if the transfer is finite and done.
    pub completed: Option<Time>,
}

/// How well losses were judged: packets lost at their first transmission (hasegawa §4.2, Eq. 6 and 7).
///
/// A gap that holds both causes counts as congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accuracy {
    /// Wireless losses.
    pub wireless: u64,
    /// Of these, judged wireless.
    pub wireless_right: u64,
    /// Congestion losses.
    pub congestion: u64,
    /// Of these, judged congestion.
    pub congestion_right: u64,
}

impl Accuracy {
    /// Settles the losses inside a judged gap, and those before it that never opened one.
    pub(crate) fn settle(&mut self, unjudged: &mut Vec<(Range, LossReason)>, gap: Range, verdict: Cause) {
        let inside = |range: &Range| gap.start <= range.start && range.start < gap.end;
        let congested = unjudged.iter().any(|(range, reason)| inside(range) && reason.is_congestion());
        unjudged.retain(|(range, reason)| {
            if range.start >= gap.end {
                return true;
            }
            let is_congestion = if inside(range) { congested } else { reason.is_congestion() };
            let right = inside(range) && (verdict == Cause::Congestion) == is_congestion;
            match is_congestion {
                true => {
                    self.congestion += 1;
                    self.congestion_right += u64::from(right);
                }
                false => {
                    self.wireless += 1;
                    self.wireless_right += u64::from(right);
                }
            }
            false
        });
    }
}
