//! What one direction of a link is made of, and what that says of it before it runs.

use crate::admission;
use crate::arq::{self, LinkLayer, Medium, Member, Partner};
use crate::channel::{self, Channel, Planned};
use crate::discipline::{self, Discipline, Hosts, Place};
use crate::jitter;
use crate::service::{Light, Service};
use crate::steps::{Share, Steps};
use lasthop_base::{Choice, Duration, Stream, Value};
use std::hash::{Hash, Hasher};

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
    /// Share of the packets delivered by the link layer that are lost all the same, 0 to 1.
    pub residual_loss: f64,
    /// Mean length of a burst of such losses, packets; `None`: each packet is lost independently.
    pub residual_burst: Option<f64>,
}

impl Hash for Config {
    /// Shares by their bits.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Config {
            service,
            light,
            delay,
            delay_plan,
            jitter,
            queue,
            hosts,
            channel,
            loss_plan,
            arq,
            duplicate,
            corrupt,
            residual_loss,
            residual_burst,
        } = self;
        (service, light, delay, delay_plan, jitter, queue).hash(state);
        (hosts, channel, loss_plan, arq, duplicate.to_bits(), corrupt.to_bits()).hash(state);
        (residual_loss.to_bits(), residual_burst.map(f64::to_bits)).hash(state);
    }
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
            residual_loss: 0.0,
            residual_burst: None,
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

    /// Whether its link layer retransmits what the channel destroys.
    pub fn retransmits(&self) -> bool {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Whole(_) => true,
            LinkLayer::Repeat(arq) => arq.retransmits(),
        }
    }

    /// Whether every packet is lost, whatever is retransmitted.
    pub fn loses_all(&self) -> bool {
        let channel = (self.channel.build)(&self.channel.values, Stream::named(0, "any"));
        self.residual_loss >= 1.0 || channel.share().is_some_and(|share| share >= 1.0)
    }

    /// Whether its link layer decides by itself what is sent when.
    pub fn decides(&self) -> bool {
        matches!((self.arq.build)(&self.arq.values), LinkLayer::Whole(_))
    }

    /// Whether failed transmissions of packets are reported ([`crate::Element::tell_trouble`]).
    pub fn reports_trouble(&self) -> bool {
        match (self.arq.build)(&self.arq.values) {
            LinkLayer::Whole(layer) => layer.reports_trouble(),
            LinkLayer::Repeat(_) => true,
        }
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
    pub(super) fn queue_with(&self, mut random: Stream) -> Discipline {
        let random = Stream::named(random.draw(), "queue");
        let place = Place { rate: self.service.first_rate(), random, hosts: self.hosts.clone() };
        (self.queue.build)(&self.queue.values, place)
    }

    /// The same; if it may change, one that can.
    pub(super) fn channel_of(&self, random: Stream, seed: u64, may_change: bool) -> Box<dyn Channel> {
        let other = random.clone();
        let channel = self.channel_with(random, seed);
        if may_change && channel.is_perfect() { channel::settable(other) } else { channel }
    }

    /// Losses behind its link layer, if there are any; `random` is their stream.
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

    /// Its channel, with losses by plan, of a seed, if there is a plan.
    pub(super) fn channel_with(&self, random: Stream, seed: u64) -> Box<dyn Channel> {
        let beside = Stream::named(random.clone().draw(), "loss_plan");
        let channel = (self.channel.build)(&self.channel.values, random);
        match &self.loss_plan {
            None => channel,
            Some(plan) => Box::new(Planned::new(channel, plan.clone().seeded(seed), beside)),
        }
    }
}
