//! Test fixture: runs one direction without an engine, with changes at given times.
//!
//! A medium without other stations grants each request at once. The opposite direction returns each status report
//! within 1 ms.

use lasthop_base::{Choice, Duration, Rate, Stream, Time};
use lasthop_net::peer_message::{MediumMessage, PeerMessage};
use lasthop_net::service::Service;
use lasthop_net::{
    Config, LinkChange, LinkDirection, Output, Passage, admission, arq, channel, fec, harq, queue, rlc, wifi,
};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

/// Outcome of each packet: its number, the time of arrival or loss, the reason for a loss, and the ECN field.
pub type Fates = Vec<(u64, Time, Option<LossReason>, Ecn)>;

/// A change of a direction.
pub enum Change {
    Settings(LinkChange),
    /// Replaces the queue by the queue of this configuration.
    Queue(Box<Config>),
}

pub fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

pub fn secs(secs: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(secs)
}

pub fn rate(bps: u64) -> Change {
    Change::Settings(LinkChange { bps: Some(bps), ..LinkChange::default() })
}

pub fn delay(millis: u64) -> Change {
    Change::Settings(LinkChange { delay: Some(Duration::from_millis(millis)), ..LinkChange::default() })
}

pub fn loss(share: f64) -> Change {
    Change::Settings(LinkChange { loss: Some(share), ..LinkChange::default() })
}

pub fn queue(of: &Config) -> Change {
    Change::Queue(Box::new(of.clone()))
}

pub fn packet(number: u64, wire_bytes: u32) -> Packet {
    Packet {
        number,
        flow: FlowId((number % 3) as u32),
        route: 0,
        wire_bytes,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::Ect0,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

/// A wire of this rate with a delay of 10 ms.
pub fn wire(bps: u64) -> Config {
    Config::wire(Service::Rate(Rate::from_bps(bps)), Duration::from_millis(10))
}

pub fn with_queue(config: Config, name: &str) -> Config {
    let all = admission::ALL.iter().chain(queue::ALL);
    Config {
        queue: Choice::of(all.into_iter().find(|one| one.info.name == name).expect("a queue")),
        ..config
    }
}

pub fn with_layer(config: Config, name: &str) -> Config {
    let all = [arq::ALL, rlc::ALL, harq::ALL, wifi::ALL, fec::ALL].into_iter().flatten();
    Config {
        arq: Choice::of(all.into_iter().find(|one| one.info.name == name).expect("a link layer")),
        ..config
    }
}

pub fn with_channel(config: Config, name: &str) -> Config {
    Config { channel: Choice::named(channel::ALL, name), ..config }
}

pub fn plain(config: &Config) -> LinkDirection {
    LinkDirection::in_link(config, Stream::named(7, "channel"), Stream::named(7, "plans"))
}

pub fn adjustable(config: &Config) -> LinkDirection {
    LinkDirection::adjustable(config, Stream::named(7, "channel"), Stream::named(7, "plans"))
}

/// Returns the outcomes of packets on a direction with these changes, sorted by number. If a change and a packet have
/// the same time, the change applies first.
pub fn fates(line: LinkDirection, arrivals: &[(Time, u32)], changes: &[(Time, Change)]) -> Fates {
    let mut one = Driver { line, out: Vec::new(), fates: Vec::new() };
    let mut changes = changes.iter().peekable();
    for (number, (now, bytes)) in arrivals.iter().enumerate() {
        while let Some((at, change)) = changes.next_if(|(at, _)| at <= now) {
            one.change(*at, change);
        }
        one.run(*now);
        one.enter(*now, packet(number as u64, *bytes));
    }
    for (at, change) in changes {
        one.change(*at, change);
    }
    one.run(secs(100_000.0));
    one.fates.sort_by_key(|fate| fate.0);
    one.fates
}

struct Driver {
    line: LinkDirection,
    out: Vec<Output>,
    fates: Fates,
}

impl Driver {
    fn enter(&mut self, now: Time, mut packet: Packet) {
        match &mut self.line {
            LinkDirection::Link(link) => {
                let (at, reason) = match link.carry(now, &mut packet) {
                    Passage::Arrives { at } => (at, None),
                    Passage::Lost { at, reason, .. } => (at, Some(reason)),
                };
                self.fates.push((packet.number, at, reason, packet.ecn));
            }
            LinkDirection::Element(element) => element.handle_packet(now, packet, &mut self.out),
        }
        self.dispatch(now);
    }

    fn run(&mut self, until: Time) {
        while let LinkDirection::Element(element) = &mut self.line
            && element.poll_timeout() <= until
        {
            let now = element.poll_timeout();
            element.handle_timeout(now, &mut self.out);
            self.dispatch(now);
        }
    }

    fn change(&mut self, now: Time, change: &Change) {
        self.run(now);
        match change {
            Change::Settings(change) => {
                assert_eq!(self.line.refusal(change), None, "{change:?}");
                self.line.change(now, change, &mut self.out);
                let settings = self.line.settings().expect("settings");
                assert!(change.bps.is_none_or(|bps| settings.bps == Some(bps)), "{settings:?}");
                assert!(change.delay.is_none_or(|delay| settings.delay == delay), "{settings:?}");
                assert!(change.loss.is_none_or(|loss| settings.loss == Some(loss)), "{settings:?}");
            }
            Change::Queue(config) => {
                assert_eq!(self.line.queue_refusal(), None);
                self.line.set_queue(now, config.queue_with(Stream::named(7, "new")), &mut self.out);
            }
        }
        self.dispatch(now);
    }

    fn dispatch(&mut self, now: Time) {
        for output in std::mem::take(&mut self.out) {
            match output {
                Output::Arrives { packet, at } => {
                    assert!(at >= now, "packet {} must not arrive in the past", packet.number);
                    self.fates.push((packet.number, at, None, packet.ecn));
                }
                Output::Lost { packet, at, reason, .. } => {
                    self.fates.push((packet.number, at, Some(reason), packet.ecn));
                }
                Output::ToPeer(message) => self.answer(now, message),
                _ => {}
            }
        }
    }

    fn answer(&mut self, now: Time, message: PeerMessage) {
        let answer = match message {
            PeerMessage::SendStatus(status) => {
                PeerMessage::StatusArrives { status, at: now + Duration::from_millis(1) }
            }
            PeerMessage::Medium {
                member,
                message: MediumMessage::HasData | MediumMessage::Done { has_data: true, .. },
            } => PeerMessage::Medium { member, message: MediumMessage::Transmit },
            _ => return,
        };
        let LinkDirection::Element(element) = &mut self.line else { return };
        element.handle_peer_message(now, answer);
    }
}
