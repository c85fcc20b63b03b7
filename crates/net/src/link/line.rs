//! Builds a direction as a link or an element.

use super::impaired::Impaired;
use super::light::Lit;
use super::{Config, Link};
use crate::across::Across;
use crate::arq::{LinkLayer, Parts};
use crate::changing::{self, Changing};
use crate::counters::Counters;
use crate::discipline::Discipline;
use crate::element::{Element, Output};
use crate::propagation::{Delayed, Extra};
use crate::scheduled::Scheduled;
use crate::service::Service;
use crate::trouble::Trouble;
use lasthop_base::{Stream, Time};
use lasthop_wire::{Backlog, Packet};

/// One direction of a link. The discriminant comes first, next to the link's most used fields.
#[repr(u8)]
pub enum Line {
    /// A packet's fate is known when it joins.
    Link(Link),
    /// Fates are decided later.
    Element(Box<dyn Element>),
}

impl Line {
    /// Builds the configured direction; `random`: the channel's stream.
    pub fn new(config: &Config, random: Stream) -> Line {
        let plans = Stream::named(random.clone().draw(), "plans");
        Line::in_link(config, random, plans)
    }

    /// Builds a direction of a link whose directions draw their plans alike, from copies of `plans`.
    pub fn in_link(config: &Config, random: Stream, plans: Stream) -> Line {
        Line::made(config, random, plans, false)
    }

    /// Builds a direction that can [change](Line::change) at run time.
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
        // From a copy: the channel's draws are independent of the queue's.
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
                // With such a queue, the channel's stream begins one draw later.
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

    /// Whether packets arrive in order, with fates known at joining.
    pub fn keeps_order(&self) -> bool {
        match self {
            Line::Link(link) => link.keeps_order(),
            Line::Element(_) => false,
        }
    }

    /// Counts the backlog even behind an unlimited queue, for [`Line::backlog`].
    pub fn track_backlog(&mut self) {
        if let Line::Link(link) = self {
            link.track_backlog();
        }
    }

    /// Counters of a link layer with PDUs.
    pub fn rlc(&self) -> Option<&Counters> {
        match self {
            Line::Link(_) => None,
            Line::Element(element) => element.rlc(),
        }
    }

    /// Whether the direction draws random numbers.
    pub fn draws(&self) -> bool {
        match self {
            Line::Link(link) => link.draws(),
            Line::Element(element) => element.draws(),
        }
    }

    /// Average queue of the admission, packets; `None` without average.
    pub fn average(&self) -> Option<f64> {
        match self {
            Line::Link(link) => link.gate.average(),
            Line::Element(element) => element.average(),
        }
    }

    /// The link layer's trouble with the last packet of a link ([`Link::take_trouble`]). Elements output
    /// [`Output::Troubled`].
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        match self {
            Line::Link(link) => link.take_trouble(),
            Line::Element(_) => None,
        }
    }

    /// Requests reports of failed transmissions from an element; a link always records them ([`Line::take_trouble`]).
    /// False if the link layer reports none.
    pub fn tell_trouble(&mut self) -> bool {
        match self {
            Line::Link(link) => {
                link.tells_trouble = true;
                true
            }
            Line::Element(element) => element.tell_trouble(),
        }
    }

    /// Packets and bytes that wait at `now`.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match self {
            Line::Link(link) => link.backlog(now),
            Line::Element(element) => element.backlog(now),
        }
    }
}

/// Methods for an element around a line.
impl Line {
    pub(super) fn carry(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.decide(now, packet, false, out),
            Line::Element(element) => element.handle_packet(now, packet, out),
        }
    }

    /// Carries a packet that bypasses queue and service. The queue is empty.
    pub(super) fn carry_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.decide(now, packet, true, out),
            Line::Element(element) => element.handle_passing(now, packet, out),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Line::Element(element) = self {
            element.handle_timeout(now, out);
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match self {
            Line::Link(_) => Time::NEVER,
            Line::Element(element) => element.poll_timeout(),
        }
    }

    pub(super) fn handle_across(&mut self, now: Time, across: Across) {
        if let Line::Element(element) = self {
            element.handle_across(now, across);
        }
    }
}
