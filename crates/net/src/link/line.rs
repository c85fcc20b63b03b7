//! Which kind of link a direction is, and how it is built.

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

    /// Counts of an RLC entity.
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

    /// The average queue by which the admission decides, packets; `None` if the admission has no average.
    pub fn average(&self) -> Option<f64> {
        match self {
            Line::Link(link) => link.gate.average(),
            Line::Element(element) => element.average(),
        }
    }

    /// The link layer's trouble with the packet that joined a link last ([`Link::take_trouble`]). An element reports its
    /// own as [`Output::Troubled`].
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        match self {
            Line::Link(link) => link.take_trouble(),
            Line::Element(_) => None,
        }
    }

    /// Has an element report failed transmissions ([`Output::Troubled`]); a link always knows them
    /// ([`Line::take_trouble`]). False if the link layer keeps them to itself.
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

/// A line inside an element: what the element around it asks beside the above.
impl Line {
    /// A packet joins; what becomes of it goes to `out`.
    pub(super) fn carry(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.decide(now, packet, false, out),
            Line::Element(element) => element.handle_packet(now, packet, out),
        }
    }

    /// A packet joins that neither waits nor takes time to be sent. Nobody waits.
    pub(super) fn carry_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.decide(now, packet, true, out),
            Line::Element(element) => element.handle_passing(now, packet, out),
        }
    }

    /// The deadline has come.
    pub(super) fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Line::Element(element) = self {
            element.handle_timeout(now, out);
        }
    }

    /// When `handle_timeout` wants to be called, [`Time::NEVER`] if at no time.
    pub(super) fn poll_timeout(&self) -> Time {
        match self {
            Line::Link(_) => Time::NEVER,
            Line::Element(element) => element.poll_timeout(),
        }
    }

    /// The other direction of the same link, or the medium, tells something.
    pub(super) fn handle_across(&mut self, now: Time, across: Across) {
        if let Line::Element(element) = self {
            element.handle_across(now, across);
        }
    }
}
