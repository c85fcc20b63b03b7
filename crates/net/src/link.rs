//! One direction of a link: queue, then service, then the air, then the propagation delay.
//!
//! The queue is first in, first out, and nothing is removed from its middle, so a
//! packet's whole passage is known when it joins. A packet costs one call.
//!
//! * `set`: what of it may be changed while it runs; `impaired`: which packets join twice, and which are damaged;
//!   `light`: recorded trains.

mod impaired;
mod light;
mod set;

use crate::admission::{self, Admission, Room, State, Verdict};
use crate::arq::{self, Arq, Carried, LinkLayer, Medium, Member, Partner, Parts};
use crate::changing::{self, Changing};
use crate::channel::{self, Air, Channel, Planned, Reception};
use crate::counters::Counters;
use crate::discipline::{self, Discipline, Hosts, Place};
use crate::element::Element;
use crate::jitter;
use crate::propagation::{Delayed, Extra};
use crate::scheduled::Scheduled;
use crate::service::{Light, Served, Server, Service};
use crate::steps::{Share, Steps};
use crate::trouble::Trouble;
use impaired::Impaired;
use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_wire::{Backlog, LossReason, Packet};
use light::Lit;
use std::collections::VecDeque;

/// What one direction of a link is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its rate.
    pub service: Service,
    /// Recorded trains before its queue.
    pub light: Option<Light>,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// What comes to it by plan.
    pub delay_plan: Option<Steps<Duration>>,
    /// What comes to it at random.
    pub jitter: Choice<jitter::Build>,
    /// How packets wait.
    pub queue: Choice<discipline::Build>,
    /// Who talks to whom, for a queue that [wants to know](Config::wants_hosts).
    pub hosts: Option<Hosts>,
    /// What the air does.
    pub channel: Choice<channel::Build>,
    /// Transmissions that are lost by plan beside.
    pub loss_plan: Option<Steps<Share>>,
    /// What the link layer does about it.
    pub arq: Choice<arq::Build>,
    /// Share of packets that join twice, 0 to 1.
    pub duplicate: f64,
    /// Share of packets of which a bit turns over without the link layer's noticing, 0 to 1.
    pub corrupt: f64,
}

impl Config {
    /// A wire of this rate and one-way delay with an unlimited queue.
    pub fn wire(service: Service, delay: Duration) -> Config {
        Config {
            service,
            light: None,
            delay,
            delay_plan: None,
            jitter: Choice::of(&jitter::DEFAULT),
            queue: Choice::of(&admission::DEFAULT),
            hosts: None,
            channel: Choice::of(&channel::DEFAULT),
            loss_plan: None,
            arq: Choice::of(&arq::DEFAULT),
            duplicate: 0.0,
            corrupt: 0.0,
        }
    }

    /// Whether its queue ever marks a packet (ECN).
    pub fn marks(&self) -> bool {
        self.queue_with(Stream::named(0, "any")).marks()
    }

    /// Whether its queue wants to know who talks to whom.
    pub fn wants_hosts(&self) -> bool {
        self.queue_with(Stream::named(0, "any")).wants_hosts()
    }

    /// Why the other direction must have the same link layer, if it must.
    pub fn partner(&self) -> Option<Partner> {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Whole(layer) => layer.partner(),
            LinkLayer::Repeat(_) => None,
        }
    }

    /// Whether its link layer decides by itself what is sent when.
    pub fn decides(&self) -> bool {
        matches!((self.arq.build)(&self.arq.values), LinkLayer::Whole(_))
    }

    /// The delay without queueing: the propagation's, and the base delay of recorded trains in the mean.
    pub fn base_delay(&self) -> Duration {
        self.delay + self.light.as_ref().map_or(Duration::ZERO, |light| light.trace.mean_delay())
    }

    /// The medium that its link layer shares with others, if it does.
    pub fn medium(&self) -> Option<Medium> {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Whole(layer) => layer.medium(),
            LinkLayer::Repeat(_) => None,
        }
    }

    /// A direction of a link as one that shares a medium; `sender`: who sends on it; `random`: its channel's stream, from
    /// which its contention's is derived.
    pub fn member(&self, sender: usize, mut random: Stream) -> Member<'_> {
        Member { values: &self.arq.values, sender, random: Stream::named(random.draw(), "arq") }
    }

    /// Its queue, which draws from a stream of its own behind the next draw of this one.
    fn queue_with(&self, mut random: Stream) -> Discipline {
        let random = Stream::named(random.draw(), "queue");
        let place = Place { rate: self.service.first_rate(), random, hosts: self.hosts.clone() };
        (self.queue.build)(&self.queue.values, place)
    }

    /// The same; if it may change, one that can.
    fn channel_of(&self, random: Stream, seed: u64, may_change: bool) -> Box<dyn Channel> {
        let other = random.clone();
        let channel = self.channel_with(random, seed);
        if may_change && channel.is_perfect() { channel::settable(other) } else { channel }
    }

    /// Its channel, with losses by plan, of a seed, if there is a plan.
    fn channel_with(&self, random: Stream, seed: u64) -> Box<dyn Channel> {
        let beside = Stream::named(random.clone().draw(), "loss_plan");
        let channel = (self.channel.build)(&self.channel.values, random);
        match &self.loss_plan {
            None => channel,
            Some(plan) => Box::new(Planned::new(channel, plan.clone().seeded(seed), beside)),
        }
    }
}

/// One direction of a link, of either kind: which one stands first, beside what each packet touches of a link.
#[repr(u8)]
pub enum Line {
    /// A packet's passage is known when it joins.
    Link(Link),
    /// It is decided while time passes.
    Element(Box<dyn Element>),
}

impl Line {
    /// The direction that a configuration describes; `random` is its channel's stream.
    pub fn new(config: &Config, random: Stream) -> Line {
        let plans = Stream::named(random.clone().draw(), "plans");
        Line::in_link(config, random, plans)
    }

    /// The same, as a part of a link whose directions draw alike what their plans draw, from copies of `plans`.
    pub fn in_link(config: &Config, random: Stream, plans: Stream) -> Line {
        Line::made(config, random, plans, false)
    }

    /// The same, to be [changed](Line::change) while it runs.
    pub fn changing(config: &Config, random: Stream, plans: Stream) -> Line {
        Line::made(config, random, plans, true)
    }

    fn made(config: &Config, random: Stream, plans: Stream, may_change: bool) -> Line {
        let own = random.clone();
        let sound = Line::sound(config, random, plans, may_change);
        Impaired::line(config, Lit::line(config, sound), own)
    }

    /// A direction without duplicates, damage and trains.
    fn sound(config: &Config, mut random: Stream, mut plans: Stream, may_change: bool) -> Line {
        let [rates, delays, losses] = [plans.draw(), plans.draw(), plans.draw()];
        let service = config.service.seeded(rates);
        let jitter = Stream::named(random.clone().draw(), "jitter");
        let jitter = (config.jitter.build)(&config.jitter.values, jitter);
        let extra = Extra::new(config.delay_plan.clone().map(|plan| plan.seeded(delays)), jitter);
        // From a copy: the channel's stream is the same whatever the queue draws.
        let queue = config.queue_with(random.clone());
        match ((config.arq.build)(&config.arq.values), queue) {
            (LinkLayer::Whole(layer), queue) => {
                let own = Stream::named(random.clone().draw(), "arq");
                let channel = config.channel_with(random, losses);
                let parts = Parts { service, delay: config.delay, queue, channel, random: own };
                let inner = layer.element(parts);
                Line::Element(match extra {
                    None => inner,
                    Some(extra) => Box::new(Delayed::new(inner, extra)),
                })
            }
            (LinkLayer::Repeat(arq), Discipline::Scheduled(queue)) => {
                // Here its stream begins one draw later.
                random.draw();
                let channel = config.channel_of(random, losses, may_change);
                let direction = Scheduled::new(&service, config.delay, queue, channel, arq);
                Line::Element(Box::new(direction.with(extra)))
            }
            (LinkLayer::Repeat(arq), Discipline::Fifo(admission)) => {
                let channel = config.channel_of(random, losses, may_change);
                if let (Service::Rate(rate), true) = (&service, may_change) {
                    let parts = changing::Parts { delay: config.delay, extra, admission, channel, arq };
                    return Line::Element(Box::new(Changing::new(*rate, parts)));
                }
                Line::Link(Link::varying(&service, config.delay, extra, admission, channel, arq))
            }
        }
    }

    /// Whether packets arrive in the order in which they joined, each known when it joins.
    pub fn keeps_order(&self) -> bool {
        match self {
            Line::Link(link) => link.keeps_order(),
            Line::Element(_) => false,
        }
    }

    /// Has it count what waits even if nothing depends on it, so that [`Line::backlog`] is true.
    pub fn track_backlog(&mut self) {
        if let Line::Link(link) = self {
            link.track_backlog();
        }
    }

    /// What an RLC entity has counted.
    pub fn rlc(&self) -> Option<&Counters> {
        match self {
            Line::Link(_) => None,
            Line::Element(element) => element.rlc(),
        }
    }

    /// Whether anything here draws random numbers.
    pub fn draws(&self) -> bool {
        match self {
            Line::Link(link) => link.draws(),
            Line::Element(element) => element.draws(),
        }
    }

    /// The average queue by which its admission decides, if it does, packets.
    pub fn average(&self) -> Option<f64> {
        match self {
            Line::Link(link) => link.gate.average(),
            Line::Element(element) => element.average(),
        }
    }

    /// The link layer's trouble with the packet that joined last ([`Link::take_trouble`]). Link layers that are elements keep
    /// theirs to themselves.
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        match self {
            Line::Link(link) => link.take_trouble(),
            Line::Element(element) => element.take_trouble(),
        }
    }

    /// What waits at `now`.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match self {
            Line::Link(link) => link.backlog(now),
            Line::Element(element) => element.backlog(now),
        }
    }
}

/// One direction of a link whose queue is first in, first out.
///
/// First what each packet touches.
#[repr(C)]
pub struct Link {
    frees_at: Time,
    delay: Duration,
    /// Whether nothing is lost and what waits is not counted: a wire behind an unlimited queue.
    is_plain: bool,
    /// Whether what waits is counted.
    tracks: bool,
    keeps_order: bool,
    draws: bool,
    server: Server,
    /// Packets that wait: when each leaves the queue, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    gate: Gate,
    last_arrival: Time,
    /// `None` when nothing is ever lost or late.
    air: Option<(Box<dyn Channel>, Box<dyn Arq>)>,
    /// What comes to the delay.
    extra: Option<Box<Extra>>,
    /// Of the packet that met some last.
    trouble: Option<Trouble>,
}

/// Who decides what may join.
enum Gate {
    /// The room alone: nobody need be asked.
    Room(Room),
    Asked(Box<dyn Admission>),
}

impl Gate {
    fn average(&self) -> Option<f64> {
        match self {
            Gate::Room(_) => None,
            Gate::Asked(admission) => admission.average(),
        }
    }
}

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// It reaches the other side.
    Arrives {
        /// When.
        at: Time,
    },
    /// It is lost.
    Lost {
        /// When that is decided; for a loss on the air, when the receiving side gives it up.
        at: Time,
        /// Why.
        reason: LossReason,
        /// Whether its header arrived sound all the same.
        readable: bool,
    },
}

/// Bytes of a header that has to be sound for a damaged packet to be read: IPv4's and TCP's.
const HEADER: u32 = 40;

impl Link {
    /// A link of this rate and one-way delay in its initial state.
    pub fn new(
        service: &Service,
        delay: Duration,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        Link::varying(service, delay, None, admission, channel, arq)
    }

    /// The same, with what comes to its delay.
    fn varying(
        service: &Service,
        delay: Duration,
        extra: Option<Box<Extra>>,
        admission: Box<dyn Admission>,
        channel: Box<dyn Channel>,
        arq: Box<dyn Arq>,
    ) -> Link {
        let late = extra.as_ref();
        let room = admission.room();
        let tracks = !room.is_some_and(|room| room.is_unlimited());
        Link {
            server: Server::new(service),
            delay,
            tracks,
            is_plain: !tracks && channel.is_perfect() && late.is_none(),
            draws: admission.draws()
                || channel.draws()
                || service.draws()
                || late.is_some_and(|late| late.draws()),
            gate: room.map_or_else(|| Gate::Asked(admission), Gate::Room),
            keeps_order: arq.keeps_order() && !late.is_some_and(|late| late.reorders()),
            air: (extra.is_some() || !channel.is_perfect()).then_some((channel, arq)),
            extra,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            frees_at: Time::ZERO,
            last_arrival: Time::ZERO,
            trouble: None,
        }
    }

    /// The link layer's trouble with the packet that joined last, if it is asked before the next one joins and nothing was
    /// left from before.
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// Has the link count what waits even if its queue is unlimited, so that [`Link::backlog`] is true.
    pub fn track_backlog(&mut self) {
        (self.tracks, self.is_plain) = (true, false);
    }

    /// Whether packets arrive in the order in which they joined.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order || self.air.is_none()
    }

    /// Whether anything of it draws random numbers.
    pub fn draws(&self) -> bool {
        self.draws
    }

    /// Whether all packets pass: nothing is lost, and what waits is not counted.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Of a [plain](Link::is_plain) link: when a packet of so many bytes reaches the other side that joins at `now`.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        let served = self.server.serve(now.max(self.frees_at), bytes);
        self.frees_at = served.ends;
        served.ends + self.delay
    }

    /// A packet joins at `now`, which never decreases. It may come out marked.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn carry(&mut self, now: Time, packet: &mut Packet) -> Passage {
        if self.tracks {
            let backlog = self.backlog(now);
            let verdict = match &mut self.gate {
                Gate::Room(room) => room.admit(packet.wire_bytes, &backlog),
                Gate::Asked(admission) => {
                    admission.admit(now, packet, &State { backlog, idle: now.since(self.frees_at) })
                }
            };
            if let Verdict::Drop(reason) = verdict {
                return Passage::Lost { at: now, reason, readable: false };
            }
        }
        let served = self.server.serve(now.max(self.frees_at), packet.wire_bytes);
        if self.tracks && served.begins > now {
            self.waiting.push_back((served.begins, packet.wire_bytes));
            self.waiting_bytes += u64::from(packet.wire_bytes);
        }
        self.frees_at = served.ends;
        self.fly(served, packet)
    }

    /// The same, apart.
    #[inline(never)]
    fn carry_apart(&mut self, now: Time, packet: &mut Packet) -> Passage {
        self.carry(now, packet)
    }

    /// A packet joins that need not wait, and takes no time to be sent. Nobody waits.
    fn pass_by(&mut self, now: Time, packet: &Packet) -> Passage {
        self.fly(Served { begins: now, ends: now }, packet)
    }

    /// A packet's way through the air.
    #[inline(always)]
    fn fly(&mut self, served: Served, packet: &Packet) -> Passage {
        let Some((channel, arq)) = &mut self.air else {
            return Passage::Arrives { at: served.ends + self.delay };
        };
        let air = Air {
            start: served.begins,
            end: served.ends,
            bytes: packet.wire_bytes,
            priority: packet.priority,
            attempt: 0,
        };
        if channel.transmit(&air) == Reception::Lost {
            let carried = arq.repeat(&air, &mut **channel);
            return self.carry_again(&air, &carried);
        }
        let at = self.arrival(served.ends, served.ends);
        Passage::Arrives { at }
    }

    /// The first transmission was lost, and the ARQ has seen to it.
    #[cold]
    fn carry_again(&mut self, air: &Air, carried: &Carried) -> Passage {
        self.trouble = Some(trouble(air.end, carried));
        self.frees_at = air.end + carried.holds;
        let at = self.arrival(air.end, air.end + carried.late);
        if carried.delivered {
            return Passage::Arrives { at };
        }
        let last = Air { attempt: carried.attempts - 1, ..*air };
        let readable = self.air.as_ref().is_some_and(|(channel, _)| channel.spares_header(&last, HEADER));
        Passage::Lost { at, reason: LossReason::Channel, readable }
    }

    /// When a packet is there whose first transmission ends at `ends`, and its last one at `done`. What comes behind one that is
    /// being repeated, or that is late, waits until that is there, or given up.
    #[inline]
    fn arrival(&mut self, ends: Time, done: Time) -> Time {
        let mut at = done + self.delay;
        if let Some(extra) = &mut self.extra {
            at += extra.late(ends);
        }
        if !self.keeps_order {
            return at;
        }
        self.last_arrival = at.max(self.last_arrival);
        self.last_arrival
    }

    /// What waits at `now`, which never decreases; the packet in transmission is told apart.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        while let Some((begins, bytes)) = self.waiting.front() {
            if *begins > now {
                break;
            }
            self.waiting_bytes -= u64::from(*bytes);
            self.waiting.pop_front();
        }
        Backlog {
            waiting: self.waiting.len() as u32,
            in_service: self.frees_at > now,
            bytes: self.waiting_bytes,
        }
    }
}

/// The repeats that took `late` in all are spread evenly over it.
#[cold]
fn trouble(ends: Time, carried: &Carried) -> Trouble {
    let failed = carried.attempts - u32::from(carried.delivered);
    let apart = carried.late.divided_by(u64::from(carried.attempts.saturating_sub(1)).max(1));
    Trouble { failed, since: ends, apart }
}
