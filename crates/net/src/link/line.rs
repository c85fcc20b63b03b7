//! Which kind of link a direction is, and how it is built.

use super::impaired::Impaired;
use super::light::Lit;
use super::{Config, Link};
use crate::arq::{LinkLayer, Parts};
use crate::changing::{self, Changing};
use crate::counters::Counters;
use crate::discipline::Discipline;
use crate::element::Element;
use crate::propagation::{Delayed, Extra};
use crate::scheduled::Scheduled;
use crate::service::Service;
use crate::trouble::Trouble;
use lasthop_base::{Stream, Time};
use lasthop_wire::Backlog;

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

    /// Has it tell of trouble that it learns of after a packet has joined ([`crate::Output::Troubled`]).
    pub fn tell_trouble(&mut self) {
        if let Line::Element(element) = self {
            element.tell_trouble();
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
