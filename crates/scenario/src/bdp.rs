//! Bandwidth-delay products, for queues whose limit is given in them (`"1 bdp"`).
//!
//! One product is the rate of the link's direction (mean rate if it changes) times the longest round-trip time of the
//! flows that cross it, without queueing. A queue of at least 1 bdp holds at least ten of the largest packets that
//! cross it: an initial window (RFC 6928). Below 1 bdp the minimum scales with the limit.

use crate::links::Network;
use crate::resolved::Resolved;
use crate::scenario::{Flow, Headers, Hop, Route, Traffic};
use lasthop_base::{Duration, Rate, Value};
use lasthop_net::link::Config;

/// Smallest limit of a queue of 1 bdp, packets.
const MIN_PACKETS: f64 = 10.0;
/// Packet size if no flow crosses the link, bytes.
const DEFAULT_PACKET: u64 = 1500;
/// IP and TCP headers, with the padded timestamps option, bytes.
const TCP_HEADERS: u64 = 40;
const TIMESTAMPS: u64 = 12;
/// IP and UDP headers, bytes.
const UDP_HEADERS: u64 = 28;

/// Converts each queue limit from bandwidth-delay products to bytes, and notes each limit's number of products.
pub(crate) fn resolve_limits(
    net: &mut Network,
    flows: &[Flow],
    routes: &[Route],
    headers: Headers,
    resolved: &mut Resolved,
) {
    for link in 0..net.links.len() {
        for is_down in [true, false] {
            let queue = &direction(net, link, is_down).queue;
            let Some((_, given)) = queue.values.iter().find(|(name, _)| *name == LIMIT_KEY) else { continue };
            let crossing = CrossingFlows::of(net, flows, routes, Hop { link, is_down }, headers);
            let queue_limit = match given {
                Value::Bdp(products) => crossing.queue_limit(*products),
                Value::Bytes(bytes) if *bytes > 0 => *bytes,
                _ => continue,
            };
            direction_mut(net, link, is_down).queue.values.set(LIMIT_KEY, Value::Bytes(queue_limit));
            let path = format!("link.{}.{}.queue", net.links[link].name, if is_down { "down" } else { "up" });
            resolved.replace(&path, LIMIT_KEY, Value::Bytes(queue_limit), &crossing.describe(queue_limit));
        }
    }
}

const LIMIT_KEY: &str = "bytes";

/// Flows that cross one direction of a link.
struct CrossingFlows {
    rate: Rate,
    /// Longest round trip of a crossing flow, without queueing.
    rtt: Duration,
    packet: u64,
}

impl CrossingFlows {
    fn of(net: &Network, flows: &[Flow], routes: &[Route], at: Hop, headers: Headers) -> CrossingFlows {
        let crosses = |route: &Route| route.there.contains(&at) || route.back.contains(&at);
        let crossing = || flows.iter().zip(routes).filter(|(_, route)| crosses(route));
        CrossingFlows {
            rate: direction(net, at.link, at.is_down).service.mean_rate(),
            rtt: crossing().map(|(_, route)| round_trip(net, route)).max().unwrap_or(Duration::ZERO),
            packet: crossing().map(|(flow, _)| packet(flow, headers)).max().unwrap_or(DEFAULT_PACKET),
        }
    }

    fn product(&self) -> f64 {
        self.rate.bps() as f64 * self.rtt.as_secs() / 8.0
    }

    /// Queue limit of so many products, bytes.
    fn queue_limit(&self, products: f64) -> u64 {
        let fewest = products.min(1.0) * MIN_PACKETS * self.packet as f64;
        ((products * self.product()).max(fewest) + 0.5) as u64
    }

    /// A limit in products: `2.5 bdp of 10 Mbit/s and 20 ms`.
    fn describe(&self, queue_limit: u64) -> String {
        let product = self.product();
        let rounded = ((queue_limit as f64 / product) * 100.0 + 0.5).floor() / 100.0;
        if product > 0.0 && rounded > 0.0 {
            format!("{rounded} bdp of {} and {}", self.rate, self.rtt)
        } else {
            "without a delay there is no bandwidth-delay product".to_owned()
        }
    }
}

/// Propagation delays in both directions.
fn round_trip(net: &Network, route: &Route) -> Duration {
    let hops = route.there.iter().chain(&route.back);
    hops.map(|hop| direction(net, hop.link, hop.is_down).base_delay())
        .fold(Duration::ZERO, |sum, delay| sum + delay)
}

/// Size of a flow's full packet as links count it, bytes.
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

fn direction(net: &Network, link: usize, is_down: bool) -> &Config {
    if is_down { &net.links[link].down } else { &net.links[link].up }
}

fn direction_mut(net: &mut Network, link: usize, is_down: bool) -> &mut Config {
    if is_down { &mut net.links[link].down } else { &mut net.links[link].up }
}
