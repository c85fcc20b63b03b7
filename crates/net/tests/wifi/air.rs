//! Test fixture: runs a Wi-Fi cell without an engine, and passes the messages between the directions and the medium.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::peer_message::{MediumMessage, PeerMessage};
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, LinkDirection, Output, channel, wifi};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority};

fn packet(number: u64, wire_bytes: u32) -> Packet {
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

/// A direction of 54 Mbit/s, on which a frame of 1540 bytes takes 228.1 us.
pub(crate) fn config(settings: &[(&'static str, Value)], loss: f64) -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(54_000_000)), Duration::ZERO);
    config.arq = Choice::named(wifi::ALL, "wifi");
    settings.iter().for_each(|(name, value)| config.arq.values.set(name, value.clone()));
    config.channel = Choice::named(channel::ALL, "iid");
    config.channel.values.set("loss", Value::Number(loss));
    config
}

pub(crate) struct AirStatistics {
    /// For each direction, the number and the arrival time of each packet that arrived.
    pub(crate) arrived: Vec<Vec<(u64, Time)>>,
    /// For each direction, the number of lost packets.
    pub(crate) lost: Vec<u64>,
    /// For each direction, the start times of its transmissions.
    pub(crate) begun: Vec<Vec<Time>>,
    until: Time,
}

/// A direction of a cell: its configuration, the number of its sender, and whether it is saturated.
pub(crate) type Direction<'a> = (&'a Config, usize, bool);

pub(crate) fn run(config: &Config, sends: [bool; 2], end: Time) -> AirStatistics {
    run_cell(&[(config, 0, sends[0]), (config, 1, sends[1])], end)
}

pub(crate) fn run_cell(directions: &[Direction<'_>], end: Time) -> AirStatistics {
    run_cell_of(1500, directions, end)
}

/// Runs a cell until `end`, as the engine does. The element with the earliest deadline is handled first; at equal
/// deadlines, the medium is handled last.
pub(crate) fn run_cell_of(bytes: u32, directions: &[Direction<'_>], end: Time) -> AirStatistics {
    let name = |number: usize| format!("direction {number}");
    let stream = |number: usize| Stream::named(3, &name(number));
    let made = directions.iter().enumerate().map(|(number, (config, ..))| {
        match LinkDirection::new(config, stream(number)) {
            LinkDirection::Element(element) => element,
            LinkDirection::Link(_) => panic!("a station is an element"),
        }
    });
    let mut all: Vec<Box<dyn Element>> = made.collect();
    let members: Vec<_> = directions
        .iter()
        .enumerate()
        .map(|(number, (config, sender, _))| config.member(*sender, stream(number)))
        .collect();
    let medium = directions[0].0.medium().expect("a medium");
    all.push((medium.arbiter)(&members, Stream::named(3, "others")));
    let count = directions.len();
    for (number, direction) in all[..count].iter_mut().enumerate() {
        direction.handle_peer_message(
            Time::ZERO,
            PeerMessage::Medium { member: number as u32, message: MediumMessage::Joined },
        );
    }
    let mut statistics = AirStatistics {
        arrived: vec![Vec::new(); count],
        lost: vec![0; count],
        begun: vec![Vec::new(); count],
        until: Time::ZERO,
    };
    let (mut out, mut numbers, mut now) = (Vec::new(), vec![0u64; count], Time::ZERO);
    loop {
        for number in 0..count {
            while directions[number].2 && all[number].backlog(now).waiting < 70 {
                all[number].handle_packet(now, packet(numbers[number], bytes), &mut out);
                numbers[number] += 1;
                dispatch(&mut all, number, now, &mut out, &mut statistics);
            }
        }
        let due = all.iter().map(|element| element.poll_timeout());
        let (at, number) = due.zip(0..).min().expect("elements");
        assert!(at >= now, "time must never decrease");
        now = at;
        if now > end {
            return statistics;
        }
        all[number].handle_timeout(now, &mut out);
        dispatch(&mut all, number, now, &mut out, &mut statistics);
    }
}

fn dispatch(
    all: &mut [Box<dyn Element>],
    number: usize,
    now: Time,
    out: &mut Vec<Output>,
    statistics: &mut AirStatistics,
) {
    let medium = all.len() - 1;
    for output in out.drain(..) {
        match output {
            Output::Arrives { packet, at } => {
                assert!(at >= now, "packets must not arrive in the past");
                statistics.arrived[number].push((packet.number, at));
            }
            Output::Lost { .. } => statistics.lost[number] += 1,
            Output::ToPeer(PeerMessage::Medium { member, message }) => {
                if let MediumMessage::Occupies(until) = message {
                    let others = || statistics.begun.iter().enumerate().filter(|(other, _)| *other != number);
                    let collides = others().any(|(_, begun)| begun.last() == Some(&now));
                    assert!(now >= statistics.until || collides, "{number} sends while the medium is busy");
                    statistics.until = statistics.until.max(until);
                    statistics.begun[number].push(now);
                }
                let other = if number == medium { member as usize } else { medium };
                all[other].handle_peer_message(now, PeerMessage::Medium { member, message });
            }
            _ => panic!("a station has no other outputs"),
        }
    }
}
