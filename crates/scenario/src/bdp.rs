//! Bandwidth-delay products (bdp), for queues whose limit is given as a multiple of this product (`"1 bdp"`).
//!
//! The product is the rate of the link's direction (the mean if the rate changes) times a round-trip time. This time is
//! the longest round trip without queueing among the flows that cross the direction. A queue limit of 1 bdp or more is
//! at least ten of the largest packets that cross the direction, as many as an initial window (RFC 6928). For a limit
//! below 1 bdp, this minimum shrinks in proportion to the limit.

use crate::links::Network;
use crate::resolved::Resolved;
use crate::scenario::{Flow, Headers, Hop, Route, Traffic};
use lasthop_base::{Duration, Rate, Value};
use lasthop_net::link::Config;

/// Smallest queue limit for 1 bdp or more, packets: the initial window of RFC 6928.
const MIN_PACKETS: f64 = 10.0;
/// Assumed packet size if no flow crosses the link, bytes.
const DEFAULT_PACKET: u64 = 1500;
/// Converts queue limits from bandwidth-delay products to bytes. Records each limit in the resolved scenario, in bytes
/// and as a multiple of the bandwidth-delay product.
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

/// Properties of one direction of a link and of the flows that cross it.
struct CrossingFlows {
    rate: Rate,
    /// Longest round-trip time of the flows that cross the direction, without queueing.
    rtt: Duration,
    /// Size of the largest packet that crosses the direction, bytes.
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

    /// Converts a number of bandwidth-delay products to a queue limit in bytes. The limit is at least ten of the
    /// largest packets. For less than 1 bdp, this minimum shrinks in proportion.
    fn queue_limit(&self, products: f64) -> u64 {
        let fewest = products.min(1.0) * MIN_PACKETS * self.packet as f64;
        ((products * self.product()).max(fewest) + 0.5) as u64
    }

    /// Describes a limit as a multiple of the bandwidth-delay product: `2.5 bdp of 10 Mbit/s and 20 ms`.
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

/// Sum of the propagation delays of a route in both directions.
fn round_trip(net: &Network, route: &Route) -> Duration {
    let hops = route.there.iter().chain(&route.back);
    hops.map(|hop| direction(net, hop.link, hop.is_down).base_delay())
        .fold(Duration::ZERO, |sum, delay| sum + delay)
}

/// Size of a full packet of the flow, bytes. The size includes the header bytes that links count (`headers`).
fn packet(flow: &Flow, headers: Headers) -> u64 {
    let payload = match &flow.traffic {
        Traffic::Tcp { source, .. } => source.segment,
        Traffic::Datagrams { packet, .. } => *packet,
    };
    u64::from(payload) + flow.header_bytes(headers)
}

fn direction(net: &Network, link: usize, is_down: bool) -> &Config {
    if is_down { &net.links[link].down } else { &net.links[link].up }
}

fn direction_mut(net: &mut Network, link: usize, is_down: bool) -> &mut Config {
    if is_down { &mut net.links[link].down } else { &mut net.links[link].up }
}
