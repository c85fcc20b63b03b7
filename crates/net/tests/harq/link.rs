//! Test fixture: both directions of a link with hybrid ARQ, and the arrivals and losses of packets.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::arq::{DirectionParts, LinkLayer};
use lasthop_net::channel::Channel;
use lasthop_net::counters::RlcCounters;
use lasthop_net::discipline::QueueContext;
use lasthop_net::peer_message::PeerMessage;
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, Output, channel, harq};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

pub const MS: Duration = Duration::from_millis(1);

pub fn at(millis: u64) -> Time {
    Time::ZERO + MS * millis
}

/// Size in bytes of a packet that, with 8 bytes of headers, fills a block of 1 ms at 12 Mbit/s.
pub const WHOLE: u32 = 1492;

pub fn packet(number: u64, wire_bytes: u32) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

pub type Settings<'a> = &'a [(&'static str, Value)];

/// Configures a link of 12 Mbit/s without propagation delay and without misread NACKs. All other settings are defaults.
pub fn config(settings: Settings<'_>, loss: f64) -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(12_000_000)), Duration::ZERO);
    config.arq = Choice::named(harq::ALL, "harq");
    config.arq.values.set("misread", Value::Number(0.0));
    settings.iter().for_each(|(name, value)| config.arq.values.set(name, value.clone()));
    config.channel = Choice::named(channel::ALL, "iid");
    config.channel.values.set("loss", Value::Number(loss));
    config
}

pub fn element(config: &Config, channel: Box<dyn Channel>, seed: u64) -> Box<dyn Element> {
    let place = QueueContext {
        rate: config.service.rate_at(Time::ZERO),
        random: Stream::named(seed, "queue"),
        hosts: None,
    };
    let queue = (config.queue.build)(&config.queue.values, place);
    let (service, delay) = (config.service.clone(), config.delay);
    let parts = DirectionParts { service, delay, queue, channel, random: Stream::named(seed, "arq") };
    match (config.arq.build)(&config.arq.values) {
        LinkLayer::Full(layer) => layer.build_direction(parts),
        LinkLayer::PerPacket(_) => panic!("HARQ is a full link layer"),
    }
}

/// Both directions of a link, and the arrivals and losses of packets sent in the first direction.
pub struct Link {
    pub sides: [Box<dyn Element>; 2],
    pub now: Time,
    pub arrived: Vec<(u64, Time)>,
    pub lost: Vec<(u64, Time, LossReason)>,
    pub given_up: Vec<(u64, Time)>,
    /// Times at which the receiver made status reports.
    pub statuses: Vec<Time>,
}

impl Link {
    /// Builds a link whose reverse direction is lossless.
    pub fn new(config: &Config, seed: u64) -> Link {
        let channel = (config.channel.build)(&config.channel.values, Stream::named(seed, "channel"));
        Link::with(config, channel, seed)
    }

    pub fn with(config: &Config, channel: Box<dyn Channel>, seed: u64) -> Link {
        let perfect = Choice::of(&channel::DEFAULT);
        let back = (perfect.build)(&perfect.values, Stream::named(seed, "back"));
        Link {
            sides: [element(config, channel, seed), element(config, back, seed + 1)],
            now: Time::ZERO,
            arrived: Vec::new(),
            lost: Vec::new(),
            given_up: Vec::new(),
            statuses: Vec::new(),
        }
    }

    pub fn offer(&mut self, now: Time, number: u64, bytes: u32) {
        if let Some(before) = now.as_nanos().checked_sub(1) {
            self.run(Time::from_nanos(before));
        }
        let mut out = Vec::new();
        self.now = now;
        self.sides[0].handle_packet(now, packet(number, bytes), &mut out);
        self.dispatch(0, out);
    }

    /// Runs both directions until `until`. As in the engine, the earlier deadline is handled first. At equal deadlines,
    /// the first direction is handled first.
    pub fn run(&mut self, until: Time) {
        let mut out = Vec::new();
        loop {
            let side = usize::from(self.sides[1].poll_timeout() < self.sides[0].poll_timeout());
            let due = self.sides[side].poll_timeout();
            if due > until {
                return;
            }
            assert!(due >= self.now, "deadlines must not be in the past");
            self.now = due;
            self.sides[side].handle_timeout(due, &mut out);
            self.dispatch(side, std::mem::take(&mut out));
        }
    }

    pub fn dispatch(&mut self, side: usize, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Arrives { packet, at } => self.arrived.push((packet.number, at)),
                Output::Lost { packet, at, reason, .. } => self.lost.push((packet.number, at, reason)),
                Output::LossNoticed { packet, at } => self.given_up.push((packet.number, at)),
                Output::ToPeer(message) => {
                    if let PeerMessage::SendStatus(status) = message {
                        self.statuses.push(status.made);
                    }
                    self.sides[1 - side].handle_peer_message(self.now, message);
                }
                Output::Duplicate { .. } | Output::TransmissionFailed { .. } | Output::Report(_) => {
                    panic!("HARQ has no other outputs")
                }
            }
        }
    }

    pub fn counters(&self) -> RlcCounters {
        *self.sides[0].rlc().expect("counters")
    }

    pub fn numbers(&self) -> Vec<u64> {
        self.arrived.iter().map(|(number, _)| *number).collect()
    }
}

pub fn word(name: &'static str, value: &'static str) -> (&'static str, Value) {
    (name, Value::Word(value))
}

pub fn time(name: &'static str, value: Duration) -> (&'static str, Value) {
    (name, Value::Duration(value))
}

pub fn count(name: &'static str, value: u64) -> (&'static str, Value) {
    (name, Value::Count(value))
}

pub fn number(name: &'static str, value: f64) -> (&'static str, Value) {
    (name, Value::Number(value))
}

pub fn number_of_bytes(name: &'static str, value: u64) -> (&'static str, Value) {
    (name, Value::Bytes(value))
}
