//! Configuration of one direction of a link, the list of its mechanisms, and properties derived from the configuration.

use crate::admission;
use crate::arq::{self, LinkLayer, Medium, Member, Partner};
use crate::channel::{self, Channel, PlannedLosses};
use crate::discipline::{self, Discipline, Hosts, QueueContext};
use crate::jitter;
use crate::service::{Light, Service};
use crate::steps::{PacketShare, Steps};
use crate::{fec, harq, queue, rlc, wifi};
use lasthop_base::{Choice, Duration, Stream, Value, seams};

seams! {
    /// Configuration of one direction of a link.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// The rate.
        pub service: Service = service,
        /// Recorded packet trains (light trace) before the queue.
        pub light: Option<Light> = None,
        /// One-way propagation delay.
        pub delay: Duration = delay,
        /// Planned delay, added to `delay`.
        pub delay_plan: Option<Steps<Duration>> = None,
        /// Source and destination of each flow, if the queue [needs the hosts](Config::needs_hosts).
        pub hosts: Option<Hosts> = None,
        /// Planned loss probability, in addition to the channel's losses.
        pub loss_plan: Option<Steps<PacketShare>> = None,
        /// Probability that a packet is duplicated, 0 to 1.
        pub duplicate: f64 = 0.0 => f64::to_bits,
        /// Probability that a packet is damaged and that the link layer does not notice the damage, 0 to 1.
        pub corrupt: f64 = 0.0 => f64::to_bits,
        /// Probability that a packet is lost after its delivery by the link layer, 0 to 1.
        pub residual_loss: f64 = 0.0 => f64::to_bits,
        /// Mean length in packets of a burst of residual losses; `None` if these losses are independent.
        pub residual_burst: Option<f64> = None => bits,
    }
    /// A wire of this rate and one-way delay with an unlimited queue.
    pub fn wire(service: Service, delay: Duration);
    /// The kinds of mechanism of a link, in the order in which packets meet these mechanisms. [`Catalogue::default`]
    /// lists this crate's mechanisms.
    pub struct Catalogue {
        /// Queue discipline before the link.
        "link" queue: discipline::Build = admission + queue, "queue discipline";
        /// Losses over the air.
        "link" channel: channel::Build = channel, "channel error model";
        /// Reaction of the link layer to losses.
        "link" arq: arq::Build = arq + rlc + harq + wifi + fec, "link-layer error control";
        /// Random delay that is added to `delay`.
        "link" jitter: jitter::Build = jitter, "delay variation";
    }
}

fn bits(length: Option<f64>) -> Option<u64> {
    length.map(f64::to_bits)
}

impl Config {
    /// Whether the queue may mark packets (ECN).
    pub fn marks(&self) -> bool {
        self.queue_with(Stream::named(0, "any")).marks()
    }

    /// Whether the queue needs the hosts of each flow.
    pub fn needs_hosts(&self) -> bool {
        self.queue_with(Stream::named(0, "any")).needs_hosts()
    }

    /// Returns the reason why the opposite direction must have the same link layer; `None` if the opposite direction
    /// may have any link layer.
    pub fn partner(&self) -> Option<Partner> {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Full(layer) => layer.partner(),
            LinkLayer::PerPacket(_) => None,
        }
    }

    /// Whether the link layer retransmits lost transmissions.
    pub fn retransmits(&self) -> bool {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Full(_) => true,
            LinkLayer::PerPacket(arq) => arq.retransmits(),
        }
    }

    /// Whether the direction loses every packet, retransmissions included.
    pub fn loses_all(&self) -> bool {
        let channel = (self.channel.build)(&self.channel.values, Stream::named(0, "any"));
        self.residual_loss >= 1.0 || channel.loss_probability().is_some_and(|share| share >= 1.0)
    }

    /// Whether the link layer schedules transmissions itself.
    pub fn schedules_itself(&self) -> bool {
        matches!((self.arq.build)(&self.arq.values), LinkLayer::Full(_))
    }

    /// Whether failed transmissions are reported ([`crate::Element::report_failures`]).
    pub fn reports_failures(&self) -> bool {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Full(layer) => layer.reports_failures(),
            LinkLayer::PerPacket(_) => true,
        }
    }

    /// Returns the delay without queueing: the propagation delay, plus the light trace's mean base delay if there is
    /// such a trace.
    pub fn base_delay(&self) -> Duration {
        self.delay + self.light.as_ref().map_or(Duration::ZERO, |light| light.trace.mean_delay())
    }

    /// Returns the medium that the link layer shares with other link directions; `None` if the link layer has no shared
    /// medium.
    pub fn medium(&self) -> Option<Medium> {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Full(layer) => layer.medium(),
            LinkLayer::PerPacket(_) => None,
        }
    }

    /// Returns this direction as a member of a medium. `sender` is the number of the transmitting node. `random` is the
    /// channel's random stream, from which the random stream of the contention is derived.
    pub fn member(&self, sender: usize, mut random: Stream) -> Member<'_> {
        Member { values: &self.arq.values, sender, random: Stream::named(random.draw(), "arq") }
    }

    /// Builds the configured queue discipline. The queue's random stream is derived from the next draw of `random`. A
    /// queue that [needs the hosts](Config::needs_hosts) gets [`Config::hosts`].
    pub fn queue_with(&self, mut random: Stream) -> Discipline {
        let random = Stream::named(random.draw(), "queue");
        let context = QueueContext { rate: self.service.first_rate(), random, hosts: self.hosts.clone() };
        (self.queue.build)(&self.queue.values, context)
    }

    /// Builds the channel of residual losses, which happen after the link layer. Returns `None` if the link has no
    /// residual losses.
    pub(super) fn residual_with(&self, random: Stream) -> Option<Box<dyn Channel>> {
        let (kind, values) = match self.residual_burst {
            _ if self.residual_loss <= 0.0 => return None,
            None => ("iid", vec![("loss", self.residual_loss)]),
            Some(burst) => ("two_state", vec![("mean_loss", self.residual_loss), ("mean_burst", burst)]),
        };
        let mut choice = Choice::named(channel::ALL, kind);
        for (name, value) in values {
            choice.values.set(name, Value::Number(value));
        }
        Some((choice.build)(&choice.values, random))
    }

    /// Builds the channel, with planned losses if configured. `seed` is the seed of the planned losses. If `may_change`
    /// is true, the loss probability can be set at run time.
    pub(super) fn channel_with(&self, random: Stream, seed: u64, may_change: bool) -> Box<dyn Channel> {
        let beside = Stream::named(random.clone().draw(), "loss_plan");
        let copy = random.clone();
        let mut channel = (self.channel.build)(&self.channel.values, random);
        if may_change {
            channel = channel::with_settable_loss(channel, copy);
        }
        match &self.loss_plan {
            None => channel,
            Some(plan) => Box::new(PlannedLosses::new(channel, plan.clone().seeded(seed), beside)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Rate, Selection};

    #[test]
    fn every_answer_has_a_place_in_a_configuration() {
        let catalogue = Catalogue::default();
        for seam in catalogue.seams() {
            assert!(seam.find(seam.default.name).is_some(), "{}", seam.name);
            for info in &seam.mechanisms {
                let mut config = Config::wire(Service::Rate(Rate::from_bps(1)), Duration::ZERO);
                let values = info.defaults();
                assert!(catalogue.select(&mut config, seam, &Selection { info, values }));
                let named = format!("name: {:?}", info.name);
                assert!(format!("{config:?}").contains(&named), "{} {named}", seam.name);
            }
        }
    }
}
