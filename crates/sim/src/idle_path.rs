//! Shortest time of a transfer on a flow's path: without queueing, losses, slow start and other flows.

use lasthop_net::Config;
use lasthop_scenario::{Flow, Hop, Scenario, Traffic};

/// Mean rate in bits/s and delay without queueing in s, of one link direction.
type Direction = (f64, f64);

/// Rates and delays of all link directions of a scenario.
pub(crate) struct IdlePaths<'s> {
    scenario: &'s Scenario,
    /// Directions of each link: first down, then up.
    links: Vec<[Direction; 2]>,
}

pub(crate) struct IdlePath {
    forward: OneWay,
    backward: OneWay,
}

struct OneWay {
    /// Sum of the propagation delays, s.
    delay_s: f64,
    /// Lowest of the links' mean rates, bits/s.
    bottleneck_bps: f64,
    /// Time to transmit one bit once at each link except the bottleneck, s.
    other_s_per_bit: f64,
    /// Payload of a full segment, bytes.
    segment: u64,
    /// Header bytes that the links count for each segment.
    headers: u64,
}

impl IdlePaths<'_> {
    pub(crate) fn new(scenario: &Scenario) -> IdlePaths<'_> {
        let direction =
            |config: &Config| (config.service.mean_rate().bps().max(1) as f64, config.base_delay().as_secs());
        let links = scenario.links.iter().map(|link| [direction(&link.down), direction(&link.up)]);
        IdlePaths { scenario, links: links.collect() }
    }

    /// Path of the flow with this index; `None` if the flow is no TCP flow.
    pub(crate) fn of(&self, index: usize) -> Option<IdlePath> {
        let (flow, route) = (&self.scenario.flows[index], &self.scenario.routes[index]);
        let Traffic::Tcp { source, destination, .. } = &flow.traffic else { return None };
        let headers = flow.header_bytes(self.scenario.headers);
        Some(IdlePath {
            forward: self.one_way(flow, &route.there, (source.segment, headers)),
            backward: self.one_way(flow, &route.back, (destination.segment, headers)),
        })
    }

    fn one_way(&self, flow: &Flow, hops: &[Hop], (segment, headers): (u32, u64)) -> OneWay {
        let directions = || hops.iter().map(|hop| self.links[hop.link][usize::from(!hop.is_down)]);
        let bottleneck_bps = directions().map(|(rate, _)| rate).fold(f64::INFINITY, f64::min);
        OneWay {
            delay_s: directions().map(|(_, delay)| delay).sum::<f64>() + flow.extra_delay.as_secs(),
            bottleneck_bps,
            other_s_per_bit: directions().map(|(rate, _)| 1.0 / rate).sum::<f64>() - 1.0 / bottleneck_bps,
            segment: u64::from(segment.max(1)),
            headers,
        }
    }
}

impl IdlePath {
    /// Time in s from the start of a connection until the destination has `bytes` bytes.
    pub(crate) fn transfer_s(&self, bytes: u64) -> f64 {
        self.round_trip_s() + self.forward.time_s(bytes)
    }

    /// Time in s from a request to the last byte of the response. The request waits `handshake_s` s for the handshake.
    pub(crate) fn exchange_s(&self, request: u64, response: u64, handshake_s: f64) -> f64 {
        handshake_s + self.backward.time_s(request) + self.forward.time_s(response)
    }

    /// Propagation in both directions, s, which is the time of the handshake.
    pub(crate) fn round_trip_s(&self) -> f64 {
        self.forward.delay_s + self.backward.delay_s
    }
}

impl OneWay {
    /// Returns the time from sending the first bit to the arrival of the last of `bytes` bytes, s. This time includes
    /// the transmission of all segments at the bottleneck. At each other link, only the last segment's transmission
    /// counts, because earlier segments are transmitted while the bottleneck is busy.
    fn time_s(&self, bytes: u64) -> f64 {
        let segments = bytes.div_ceil(self.segment).max(1);
        let last = bytes - (segments - 1) * self.segment + self.headers;
        let all = bytes + segments * self.headers;
        self.delay_s + 8.0 * (all as f64 / self.bottleneck_bps + last as f64 * self.other_s_per_bit)
    }
}
