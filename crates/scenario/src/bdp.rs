//! What one bandwidth-delay product is, for queues whose room is given in it (`"1 bdp"`).
//!
//! The rate of the link's direction (its mean if it changes) times the round-trip time of the flows that cross it: the
//! longest one, propagation delays only, there and back over all links. From 1 bdp on a queue has room for ten of the
//! largest packets that cross it, however short the path: an initial window (RFC 6928). Below 1 bdp it is that share of
//! ten.

use crate::links::Net;
use crate::resolved::Resolved;
use crate::scenario::{Flow, Headers, Hop, Route, Traffic};
use lasthop_base::{Duration, Rate, Value};
use lasthop_net::link::Config;

/// Packets for which 1 bdp has room at least.
const FEWEST_PACKETS: f64 = 10.0;
/// A packet where no flow says how large one is, bytes.
const USUAL_PACKET: u64 = 1500;
/// IP and TCP headers, and the timestamps option with its padding, bytes.
const TCP_HEADERS: u64 = 40;
const TIMESTAMPS: u64 = 12;
/// IP and UDP headers, bytes.
const UDP_HEADERS: u64 = 28;

/// Gives every queue whose room is in bandwidth-delay products its room in bytes, and notes how many of them a room is.
pub(crate) fn settle(
    net: &mut Net,
    flows: &[Flow],
    routes: &[Route],
    headers: Headers,
    resolved: &mut Resolved,
) {
    for link in 0..net.links.len() {
        for is_down in [true, false] {
            let queue = &direction(net, link, is_down).queue;
            let Some((_, given)) = queue.values.iter().find(|(name, _)| *name == ROOM) else { continue };
            let crossing = Crossing::of(net, flows, routes, Hop { link, is_down }, headers);
            let room = match given {
                Value::Bdp(products) => crossing.room(*products),
                Value::Bytes(bytes) if *bytes > 0 => *bytes,
                _ => continue,
            };
            direction_mut(net, link, is_down).queue.values.set(ROOM, Value::Bytes(room));
            let path = format!("link.{}.{}.queue", net.links[link].name, if is_down { "down" } else { "up" });
            resolved.settle(&path, ROOM, Value::Bytes(room), &crossing.told(room));
        }
    }
}

/// The parameter of a queue that may be given in bandwidth-delay products.
const ROOM: &str = "bytes";

/// What crosses one direction of a link.
struct Crossing {
    rate: Rate,
    /// The longest round trip of a flow that crosses it, without queueing.
    rtt: Duration,
    /// The largest packet, bytes.
    packet: u64,
}

impl Crossing {
    fn of(net: &Net, flows: &[Flow], routes: &[Route], at: Hop, headers: Headers) -> Crossing {
        let crosses = |route: &Route| route.there.contains(&at) || route.back.contains(&at);
        let crossing = || flows.iter().zip(routes).filter(|(_, route)| crosses(route));
        Crossing {
            rate: direction(net, at.link, at.is_down).service.mean_rate(),
            rtt: crossing().map(|(_, route)| round_trip(net, route)).max().unwrap_or(Duration::ZERO),
            packet: crossing().map(|(flow, _)| packet(flow, headers)).max().unwrap_or(USUAL_PACKET),
        }
    }

    /// The bandwidth-delay product, bytes.
    fn product(&self) -> f64 {
        self.rate.bps() as f64 * self.rtt.as_secs() / 8.0
    }

    /// So many of them, bytes.
    fn room(&self, products: f64) -> u64 {
        let fewest = products.min(1.0) * FEWEST_PACKETS * self.packet as f64;
        ((products * self.product()).max(fewest) + 0.5) as u64
    }

    /// How many of them a room is: `2.5 bdp of 10 Mbit/s and 20 ms`.
    fn told(&self, room: u64) -> String {
        let product = self.product();
        let rounded = ((room as f64 / product) * 100.0 + 0.5).floor() / 100.0;
        match product > 0.0 && rounded > 0.0 {
            true => format!("{rounded} bdp of {} and {}", self.rate, self.rtt),
            false => "without a delay there is no bandwidth-delay product".to_owned(),
        }
    }
}

/// Propagation delays there and back.
fn round_trip(net: &Net, route: &Route) -> Duration {
    let hops = route.there.iter().chain(&route.back);
    hops.map(|hop| direction(net, hop.link, hop.is_down).base_delay())
        .fold(Duration::ZERO, |sum, delay| sum + delay)
}

/// A full packet of a flow as links count it, bytes.
fn packet(flow: &Flow, headers: Headers) -> u64 {
    let (payload, real) = match &flow.traffic {
        Traffic::Tcp { source, destination, .. } => {
            let stamps = if source.timestamps && destination.timestamps { TIMESTAMPS } else { 0 };
            (source.segment, TCP_HEADERS + stamps)
        }
        Traffic::Datagrams { packet, .. } => (*packet, UDP_HEADERS),
    };
    u64::from(payload)
        + match headers {
            Headers::Real => real,
            Headers::None => 0,
            Headers::Nominal(bytes) => u64::from(bytes),
        }
}

fn direction(net: &Net, link: usize, is_down: bool) -> &Config {
    if is_down { &net.links[link].down } else { &net.links[link].up }
}

fn direction_mut(net: &mut Net, link: usize, is_down: bool) -> &mut Config {
    if is_down { &mut net.links[link].down } else { &mut net.links[link].up }
}
