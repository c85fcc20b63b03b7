//! A TCP connection or a datagram source, and its accounts.

use crate::application::Application;
use crate::engine::Over;
use crate::pipe::PipeId;
use lasthop_base::{Duration, Rate, Stream, Time};
use lasthop_tcp::event::Cause;
use lasthop_tcp::sender::Limited;
use lasthop_tcp::{Endpoint, Range};
use lasthop_wire::{LossReason, PerReason};

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
    /// What it carries.
    pub traffic: Traffic,
    /// When it starts.
    pub start: Time,
    /// The pipes from source to destination, at least one.
    pub forward: Vec<PipeId>,
    /// The pipes back.
    pub backward: Vec<PipeId>,
    /// Packet sizes that links charge.
    pub overhead: Overhead,
    /// Middleboxes cannot read its packets, and let them pass.
    pub opaque: bool,
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
pub enum Traffic {
    /// A TCP connection.
    Tcp(Box<Connection>),
    /// Packets that no endpoint of ours answers. Packet by packet, two kinds are told apart faster than three.
    Unanswered(Unanswered),
}

/// Packets that no endpoint of ours answers.
pub enum Unanswered {
    /// Datagrams of a source that does not react.
    Datagrams(Box<Datagrams>),
    /// External packets, which come from real traffic and go back there: they enter at the node where the flow's way
    /// there, or back, begins ([`crate::Engine::inject`]).
    External,
    /// A connection that is made when it begins, with the same bytes: nothing of it may want to be told anything before
    /// then, nor ask what is to come, nor have applications.
    ///
    /// Boxed twice, so that what a flow carries takes two words.
    Later(Box<Box<dyn FnOnce() -> Connection + Send>>),
    /// What is kept of one that is over.
    Over(Box<Over>),
}

impl Traffic {
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Traffic::Unanswered(Unanswered::External))
    }

    /// Whether anything in it draws random numbers, but for initial sequence numbers.
    pub fn draws(&self) -> bool {
        match self {
            Traffic::Tcp(connection) => {
                [&connection.source, &connection.destination]
                    .iter()
                    .any(|end| end.receiver().draws() || end.sender().draws())
                    || connection.application.as_ref().is_some_and(|application| application.draws())
            }
            Traffic::Unanswered(Unanswered::Datagrams(source)) => source.draws(),
            Traffic::Unanswered(Unanswered::External | Unanswered::Later(_) | Unanswered::Over(_)) => false,
        }
    }
}

/// Both ends of a connection.
pub struct Connection {
    /// Sends, and opens unless its application says that the other end does.
    pub source: Endpoint,
    /// Receives.
    pub destination: Endpoint,
    /// Whether losses are remembered until the destination has judged them.
    pub judged: bool,
    pub(crate) unjudged: Vec<(Range, LossReason)>,
    /// What its applications do, if that is more than to send what is written before it begins.
    pub(crate) application: Option<Box<Application>>,
}

impl Connection {
    /// A connection between two closed endpoints.
    pub fn new(source: Endpoint, destination: Endpoint, judged: bool) -> Connection {
        Connection { source, destination, judged, unjudged: Vec::new(), application: None }
    }

    /// The same with applications at its ends.
    pub fn with(self, application: Application) -> Connection {
        Connection { application: Some(Box::new(application)), ..self }
    }

    /// The end that opens it when the flow starts; the other one listens from the beginning.
    pub(crate) fn opener(&self) -> Side {
        self.application.as_ref().map_or(Side::Source, |application| application.opener())
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
    /// How a period's datagrams are spaced.
    pub spacing: Spacing,
    /// Draws periods and delays.
    pub random: Stream,
    /// When the next one is due by the rate.
    nominal: Time,
    /// When it leaves.
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

/// How datagrams of a constant rate follow each other (koga §3.3.5, Fig. 3.14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spacing {
    /// Each is late by a random time, evenly distributed up to this.
    pub jitter: Duration,
    /// So many leave at once, then none until their time is over; at least 1.
    pub burst: u32,
}

impl Spacing {
    /// Evenly spaced, as behind a hard shaper.
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

    /// The same with datagrams spaced in this way.
    pub fn spaced(mut self, spacing: Spacing) -> Datagrams {
        self.spacing = Spacing { burst: spacing.burst.max(1), ..spacing };
        self
    }

    /// Whether its periods or its spacing are random.
    pub(crate) fn draws(&self) -> bool {
        self.pattern.is_some_and(|pattern| pattern.exponential) || self.spacing.jitter > Duration::ZERO
    }

    /// The number of the datagram due now; sets the time of the next.
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
        // In the order of their numbers, however long the delay.
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

/// Totals of a flow, beside its endpoints' counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowAccount {
    /// Packets from the source lost, by reason.
    pub lost: PerReason<u64>,
    /// Packets from the destination (ACKs) lost, likewise.
    pub lost_back: PerReason<u64>,
    /// Of those lost, the tagged ones (low priority), likewise.
    pub tags_lost: PerReason<u64>,
    /// Of the losses in queues, those of packets sent before the source noticed its first loss: slow start's overshoot.
    pub lost_to_overshoot: u64,
    /// Packets that middleboxes made or repeated: on the way there, and on the way back.
    pub born: [u64; 2],
    /// Packets that middleboxes received in the place of the hosts that they were sent to, likewise.
    pub received: [u64; 2],
    /// Copies that links made of packets: on the way there, and on the way back.
    pub copied: [u64; 2],
    /// Datagrams that arrived, each once however many copies of it did.
    pub datagrams: u64,
    /// Judgements of losses against the truth.
    pub accuracy: Accuracy,
    /// When the destination had everything, if the transfer is finite and done.
    pub completed: Option<Time>,
    /// What limited the source until then; after it nothing does.
    pub limited: Limited,
}

impl FlowAccount {
    /// What was counted after `before`; when it was complete and what limited it until then stay.
    pub fn since(&self, before: &FlowAccount) -> FlowAccount {
        let both = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        FlowAccount {
            lost: self.lost.since(&before.lost),
            lost_back: self.lost_back.since(&before.lost_back),
            tags_lost: self.tags_lost.since(&before.tags_lost),
            lost_to_overshoot: self.lost_to_overshoot - before.lost_to_overshoot,
            born: both(self.born, before.born),
            received: both(self.received, before.received),
            copied: both(self.copied, before.copied),
            datagrams: self.datagrams - before.datagrams,
            accuracy: Accuracy {
                wireless: self.accuracy.wireless - before.accuracy.wireless,
                wireless_right: self.accuracy.wireless_right - before.accuracy.wireless_right,
                congestion: self.accuracy.congestion - before.accuracy.congestion,
                congestion_right: self.accuracy.congestion_right - before.accuracy.congestion_right,
            },
            completed: self.completed,
            limited: self.limited,
        }
    }
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
    /// A sender has judged the loss of one segment: losses before it that it never judged (a timeout repaired them) are
    /// not counted.
    pub(crate) fn settle_one(
        &mut self,
        unjudged: &mut Vec<(Range, LossReason)>,
        lost: Range,
        verdict: Cause,
    ) {
        unjudged.retain(|(range, _)| range.start >= lost.start);
        if unjudged.iter().any(|(range, _)| range.start < lost.end) {
            self.settle(unjudged, lost, verdict);
        }
    }

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
            if is_congestion {
                self.congestion += 1;
                self.congestion_right += u64::from(right);
            } else {
                self.wireless += 1;
                self.wireless_right += u64::from(right);
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the first datagrams of 500 bytes at 6 Mbit/s (667 us apart), microseconds.
    fn times(spacing: Spacing, count: usize) -> Vec<u64> {
        let span = (Time::ZERO, Time::NEVER);
        let mut source = Datagrams::new(Rate::from_bps(6_000_000), 500, span, None, Stream::named(1, "test"))
            .spaced(spacing);
        let times = (0..count).map(|_| {
            let at = source.next;
            source.emit();
            at.as_nanos() / 1000
        });
        times.collect()
    }

    #[test]
    fn a_burst_takes_the_time_of_its_datagrams() {
        // 15 at once, every 10 ms (koga §3.3.5).
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
        // Evenly distributed: mean 335 us, standard error 670 / sqrt(12 * 3000) = 3.5 us; the order adds a little.
        let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        assert!((mean - 335.0).abs() < 4.0 * 3.5, "{mean}");
    }
}
