//! One direction of a link, built as a [`Link`] or as an [`Element`].

use super::impaired::ImpairedLink;
use super::light::TrainGate;
use super::{Config, Link};
use crate::adjustable::{AdjustableLink, AdjustableParts, OrderedLayer};
use crate::arq::{DirectionParts, LinkLayer};
use crate::counters::RlcCounters;
use crate::discipline::Discipline;
use crate::element::{Element, Output};
use crate::failures::TransmissionFailures;
use crate::peer_message::PeerMessage;
use crate::propagation::{Delayed, VariableDelay};
use crate::scheduled::ScheduledLink;
use lasthop_base::{Stream, Time};
use lasthop_wire::{Backlog, Packet};

/// One direction of a link. With `repr(u8)`, the discriminant is next to the link's most used fields.
#[repr(u8)]
pub enum LinkDirection {
    /// A link that determines a packet's arrival or loss when the packet enters.
    Link(Link),
    /// An element that decides on arrival or loss later.
    Element(Box<dyn Element>),
}

impl LinkDirection {
    /// Builds the configured direction. `random` is the channel's stream.
    pub fn new(config: &Config, random: Stream) -> LinkDirection {
        let plans = Stream::named(random.clone().draw(), "plans");
        LinkDirection::in_link(config, random, plans)
    }

    /// Builds a direction of a link. Each of the two directions gets a copy of the stream `plans`, so that the plans of
    /// the two directions draw the same values.
    pub fn in_link(config: &Config, random: Stream, plans: Stream) -> LinkDirection {
        LinkDirection::build(config, random, plans, false)
    }

    /// Builds a direction that can [change](LinkDirection::change) at run time.
    pub fn adjustable(config: &Config, random: Stream, plans: Stream) -> LinkDirection {
        LinkDirection::build(config, random, plans, true)
    }

    fn build(config: &Config, random: Stream, plans: Stream, may_change: bool) -> LinkDirection {
        let own = random.clone();
        let unimpaired = LinkDirection::unimpaired(config, random, plans, may_change);
        ImpairedLink::wrap(config, TrainGate::wrap(config, unimpaired), own)
    }

    /// Builds the direction without duplicates, damage, residual losses and recorded trains.
    fn unimpaired(config: &Config, mut random: Stream, mut plans: Stream, may_change: bool) -> LinkDirection {
        let [rates, delays, losses] = [plans.draw(), plans.draw(), plans.draw()];
        let service = config.service.seeded(rates);
        let jitter = Stream::named(random.clone().draw(), "jitter");
        let jitter = (config.jitter.build)(&config.jitter.values, jitter);
        let variable_delay =
            VariableDelay::new(config.delay_plan.clone().map(|plan| plan.seeded(delays)), jitter);
        // The queue draws from a copy of the stream, so that the queue's draws do not change the channel's draws.
        let queue = config.queue_with(random.clone());
        match ((config.arq.build)(&config.arq.values), queue) {
            (LinkLayer::Full(layer), queue) => {
                let own = Stream::named(random.clone().draw(), "arq");
                let channel = config.channel_with(random, losses, may_change);
                let parts = DirectionParts { service, delay: config.delay, queue, channel, random: own };
                let inner = layer.build_direction(parts);
                let inner: Box<dyn Element> = match variable_delay {
                    None => inner,
                    Some(variable_delay) => Box::new(Delayed::new(inner, variable_delay)),
                };
                LinkDirection::Element(if may_change { Box::new(OrderedLayer::new(inner)) } else { inner })
            }
            (LinkLayer::PerPacket(arq), queue) if may_change => {
                if let Discipline::Scheduled(_) = queue {
                    skip_draw(&mut random);
                }
                let channel = config.channel_with(random, losses, may_change);
                let delay = config.delay;
                let parts = AdjustableParts { service, delay, variable_delay, queue, channel, arq };
                LinkDirection::Element(Box::new(AdjustableLink::new(parts)))
            }
            (LinkLayer::PerPacket(arq), Discipline::Scheduled(queue)) => {
                skip_draw(&mut random);
                let channel = config.channel_with(random, losses, may_change);
                let direction = ScheduledLink::new(&service, config.delay, queue, channel, arq);
                LinkDirection::Element(Box::new(direction.with_variable_delay(variable_delay)))
            }
            (LinkLayer::PerPacket(arq), Discipline::Fifo(admission)) => {
                let channel = config.channel_with(random, losses, may_change);
                LinkDirection::Link(Link::with_variable_delay(
                    &service,
                    config.delay,
                    variable_delay,
                    admission,
                    channel,
                    arq,
                ))
            }
        }
    }

    /// Whether packets arrive in order, and each packet's arrival or loss is determined when the packet enters.
    pub fn keeps_order(&self) -> bool {
        match self {
            LinkDirection::Link(link) => link.keeps_order(),
            LinkDirection::Element(_) => false,
        }
    }

    /// Starts to count the backlog even if the queue is unlimited. Without this call, [`LinkDirection::backlog`] is
    /// wrong for an unlimited queue.
    pub fn track_backlog(&mut self) {
        if let LinkDirection::Link(link) = self {
            link.track_backlog();
        }
    }

    /// Counters of a link layer with PDUs (RLC), else `None`.
    pub fn rlc(&self) -> Option<&RlcCounters> {
        match self {
            LinkDirection::Link(_) => None,
            LinkDirection::Element(element) => element.rlc(),
        }
    }

    /// Whether the direction draws random numbers.
    pub fn draws(&self) -> bool {
        match self {
            LinkDirection::Link(link) => link.draws(),
            LinkDirection::Element(element) => element.draws(),
        }
    }

    /// Average queue length in packets, as RED computes it; `None` if the direction computes no average.
    pub fn average(&self) -> Option<f64> {
        match self {
            LinkDirection::Link(link) => link.admission_gate.average(),
            LinkDirection::Element(element) => element.average(),
        }
    }

    /// Returns the failed transmissions of a link's last packet ([`Link::take_failures`]). For an element, returns
    /// `None`, because an element outputs [`Output::TransmissionFailed`].
    pub fn take_failures(&mut self) -> Option<TransmissionFailures> {
        match self {
            LinkDirection::Link(link) => link.take_failures(),
            LinkDirection::Element(_) => None,
        }
    }

    /// Requests that an element reports failed transmissions. A link records failures for
    /// [`LinkDirection::take_failures`] without this request. Returns false if the link layer cannot report failures.
    pub fn report_failures(&mut self) -> bool {
        match self {
            LinkDirection::Link(link) => {
                link.reports_failures = true;
                true
            }
            LinkDirection::Element(element) => element.report_failures(),
        }
    }

    /// Packets and bytes that wait at `now`.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match self {
            LinkDirection::Link(link) => link.backlog(now),
            LinkDirection::Element(element) => element.backlog(now),
        }
    }
}

/// Skips one draw. With a scheduled queue, the channel's draws begin with the second number of the stream.
fn skip_draw(random: &mut Stream) {
    random.draw();
}

/// Methods for elements that wrap a link direction.
impl LinkDirection {
    pub(super) fn carry(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            LinkDirection::Link(link) => link.decide(now, packet, false, out),
            LinkDirection::Element(element) => element.handle_packet(now, packet, out),
        }
    }

    /// Carries a packet that bypasses queue and service. Call this only while the queue is empty.
    pub(super) fn carry_bypass(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        match self {
            LinkDirection::Link(link) => link.decide(now, packet, true, out),
            LinkDirection::Element(element) => element.handle_bypass(now, packet, out),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if let LinkDirection::Element(element) = self {
            element.handle_timeout(now, out);
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match self {
            LinkDirection::Link(_) => Time::NEVER,
            LinkDirection::Element(element) => element.poll_timeout(),
        }
    }

    pub(super) fn handle_peer_message(&mut self, now: Time, message: PeerMessage) {
        if let LinkDirection::Element(element) = self {
            element.handle_peer_message(now, message);
        }
    }
}
