//! Runs a drop pattern and returns its events as a list.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Draft;
use lasthop_sim::assemble::{assemble, pipe_of};
use lasthop_tcp::Event;
use lasthop_wire::{Body, Flags, FlowId, LossReason, Packet};
use std::any::Any;
use std::collections::BTreeMap;

/// Payload of a packet, bytes.
pub const SEGMENT: u64 = 960;
/// One-way delay of the bottleneck, s.
const DELAY: f64 = 0.1;

/// A run: its sender, and the numbers of the segments to drop.
#[derive(Clone, Copy)]
pub struct Case {
    pub sender: Sender,
    pub dropped: &'static [u64],
}

/// A sender: its name in texts and file names, and its loss recovery.
#[derive(Clone, Copy)]
pub struct Sender {
    pub name: &'static str,
    pub recovery: &'static str,
}

pub const TAHOE: Sender = Sender { name: "Tahoe", recovery: "tahoe" };
pub const RENO: Sender = Sender { name: "Reno", recovery: "{ kind = \"reno\", reenter = true }" };
pub const NEW_RENO: Sender = Sender { name: "NewReno", recovery: "new_reno" };
pub const SACK: Sender = Sender { name: "SACK", recovery: "sack" };
pub const SENDERS: [Sender; 4] = [TAHOE, RENO, NEW_RENO, SACK];

/// Segments to drop. The patterns of one to four drops are those of ns-2. The patterns of five and six drops continue
/// the series: they add segment 22, then segment 20.
pub const PATTERNS: [&[u64]; 6] =
    [&[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28], &[14, 22, 24, 26, 28], &[14, 20, 22, 24, 26, 28]];

#[derive(Clone, Copy, Debug)]
pub enum RunEvent {
    /// The source sends a segment.
    Sent { number: u64, retransmission: bool },
    /// A segment reaches the bottleneck's queue. The segment leaves the bottleneck at time `left`, s.
    Forwarded { number: u64, left: f64 },
    /// A segment is lost at the bottleneck.
    Dropped { number: u64, reason: LossReason },
    /// An ACK of all segments up to this number reaches the source.
    Acked { number: Option<u64> },
    /// The source's TCP endpoint reports an event, for example a timeout.
    Reported(Event),
}

/// All events in order of time. Each event has the sender's cwnd in bytes, as it is after all events of the same
/// instant.
pub struct EventList {
    pub events: Vec<(Time, RunEvent, u64)>,
}

impl Case {
    pub fn run(&self) -> EventList {
        let text = include_str!("../../../../scenarios/drop-patterns.toml");
        let mut draft = Draft::parse(text, "drop-patterns.toml").expect("the scenario parses");
        // The SYN is packet 0, so segment n is packet n + 1. The handshake's ACK has no packet of its own, because it
        // is part of the first segment.
        let packets: Vec<String> = self.dropped.iter().map(|number| (number + 1).to_string()).collect();
        draft.set("recovery", self.sender.recovery).expect("a recovery");
        draft
            .set("link.bottleneck.down.channel.packets", &format!("\"{}\"", packets.join(", ")))
            .expect("a list");
        let scenario = draft.check().expect("the scenario is valid");
        let end = Time::ZERO + scenario.duration;

        let mut engine = assemble(&scenario, 1);
        engine.observe(Box::new(EventRecorder::default()));
        engine.run_until(end);
        let recorder = engine.take_observer().map(|observer| observer as Box<dyn Any>);
        let recorder = recorder.and_then(|any| any.downcast::<EventRecorder>().ok()).expect("the observer");

        // Observers do not receive cwnd, so a second run reads cwnd at the time of each event.
        let mut events = recorder.events;
        // An event that an endpoint reports explains the packets sent at the same instant, so the reported event comes
        // first.
        events.sort_by_key(|(time, what)| (*time, !matches!(what, RunEvent::Reported(_))));
        let mut engine = assemble(&scenario, 1);
        let mut windows = BTreeMap::new();
        for (time, _) in &events {
            engine.run_until(*time);
            let (source, _) = engine.endpoints(FlowId(0)).expect("a TCP flow");
            windows.insert(*time, source.sender().window());
        }
        EventList { events: events.into_iter().map(|(time, what)| (time, what, windows[&time])).collect() }
    }
}

impl EventList {
    fn count(&self, is_one: impl Fn(&RunEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, what, _)| is_one(what)).count()
    }

    pub fn timeouts(&self) -> usize {
        self.count(|what| matches!(what, RunEvent::Reported(Event::TimedOut { .. })))
    }

    /// Number of fast recoveries or, for Tahoe, of slow starts after a fast retransmit.
    pub fn recoveries(&self) -> usize {
        self.count(|what| matches!(what, RunEvent::Reported(Event::RecoveryEntered { .. })))
    }

    /// Numbers of the retransmitted segments, with the times of retransmission, s.
    pub fn retransmissions(&self) -> Vec<(u64, f64)> {
        let retransmitted = |(time, what, _): &(Time, RunEvent, u64)| match what {
            RunEvent::Sent { number, retransmission: true } => Some((*number, time.as_secs())),
            _ => None,
        };
        self.events.iter().filter_map(retransmitted).collect()
    }

    /// Segments lost at the bottleneck, with the reason.
    pub fn dropped(&self) -> Vec<(u64, LossReason)> {
        let dropped = |(_, what, _): &(Time, RunEvent, u64)| match what {
            RunEvent::Dropped { number, reason } => Some((*number, *reason)),
            _ => None,
        };
        self.events.iter().filter_map(dropped).collect()
    }

    /// Time at which the source receives an ACK of all segments up to this segment, s.
    pub fn acked_at(&self, segment: u64) -> f64 {
        let found = self.events.iter().find(
            |(_, what, _)| matches!(what, RunEvent::Acked { number: Some(number) } if *number >= segment),
        );
        found.expect("the ACK arrives").0.as_secs()
    }

    /// cwnd after the first retransmission, segments.
    pub fn window_at_repair(&self) -> f64 {
        let found = self
            .events
            .iter()
            .find(|(_, what, _)| matches!(what, RunEvent::Sent { retransmission: true, .. }));
        found.expect("a segment was retransmitted").2 as f64 / SEGMENT as f64
    }

    /// Largest number of segments sent at one instant.
    pub fn largest_burst(&self) -> usize {
        let mut bursts = BTreeMap::<Time, usize>::new();
        for (time, what, _) in &self.events {
            if let RunEvent::Sent { .. } = what {
                *bursts.entry(*time).or_default() += 1;
            }
        }
        bursts.into_values().max().unwrap_or(0)
    }

    pub fn highest_acked(&self) -> u64 {
        let acked = |(_, what, _): &(Time, RunEvent, u64)| match what {
            RunEvent::Acked { number } => *number,
            _ => None,
        };
        self.events.iter().filter_map(acked).max().expect("a segment was acknowledged")
    }
}

#[derive(Default)]
struct EventRecorder {
    events: Vec<(Time, RunEvent)>,
    first: Option<u32>,
}

impl EventRecorder {
    fn number(&self, seq: u32) -> Option<u64> {
        Some(u64::from(seq.wrapping_sub(self.first?)) / SEGMENT)
    }
}

impl Observer for EventRecorder {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let Body::Tcp(segment) = &packet.body else { return };
        if packet.forward && segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq.0.wrapping_add(1));
        }
        if packet.forward && segment.len > 0 {
            let Some(number) = self.number(segment.seq.0) else { return };
            if pipe == pipe_of(0, true) {
                self.events.push((now, RunEvent::Sent { number, retransmission: packet.is_retransmission }));
            }
            if pipe == pipe_of(1, true) {
                self.events.push(match fate {
                    Fate::Arrives(at) => (now, RunEvent::Forwarded { number, left: at.as_secs() - DELAY }),
                    Fate::Lost(reason) => (now, RunEvent::Dropped { number, reason }),
                    Fate::Open => return,
                });
            }
        }
        if !packet.forward
            && pipe == pipe_of(0, false)
            && !segment.flags.has(Flags::SYN)
            && let Fate::Arrives(at) = fate
        {
            let number = self.number(segment.ack.0).and_then(|next| next.checked_sub(1));
            self.events.push((at, RunEvent::Acked { number }));
        }
    }

    fn on_event(&mut self, now: Time, _: FlowId, side: FlowSide, event: &Event) {
        if side == FlowSide::Source {
            self.events.push((now, RunEvent::Reported(*event)));
        }
    }
}
