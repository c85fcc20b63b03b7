//! Estimates of the time and memory that runs need, computed from the scenario before the runs start.
//!
//! # Estimate
//! Time follows from the number of data packets that would fill the slowest link of each flow's route. Losses, windows
//! and pauses reduce the real number of packets. Memory follows from the numbers of flows, runs and samples; packets in
//! flight need little memory.

use lasthop_base::{Duration, Time};
use lasthop_net::service::Service;
use lasthop_scenario::{Flow, Route, Scenario, Traffic, Transfer};
use lasthop_sim::{FlowOutcome, FlowSample, LinkOutcome, QueueSample};
use std::collections::BTreeMap;

/// Simulated data packets (each with its ACK) per second and core; `lasthop bench` reaches 4.9 million.
pub const PACKETS_PER_S: f64 = 4e6;

/// Memory of a running flow, bytes: its endpoints with scoreboards and timers (measured with 10,000 and 50,000 flows).
const FLOW_BYTES: f64 = 10.7e3;
/// IP and TCP headers of a data packet, bytes.
const HEADERS: f64 = 52.0;

/// Cost of all runs of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Largest possible number of data packets in all runs.
    pub packets: f64,
    /// Memory, bytes.
    pub memory_bytes: f64,
}

impl Cost {
    /// CPU time at [`PACKETS_PER_S`], s.
    pub fn cpu_s(&self) -> f64 {
        self.packets / PACKETS_PER_S
    }
}

/// Number of runs, and how they are executed.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// Number of repetitions of each scenario.
    pub runs: usize,
    /// Number of repetitions that run concurrently.
    pub threads: usize,
    /// Whether all outcomes are kept in memory until the end.
    pub keeps_outcomes: bool,
    /// Number of repetitions of each scenario that are sampled over time.
    pub sampled: usize,
}

/// Estimates the cost of these scenarios under `plan`.
pub fn estimate<'a>(scenarios: impl Iterator<Item = &'a Scenario>, plan: RunPlan) -> Cost {
    let (mut all_packets, mut running, mut kept) = (0.0, 0.0, 0.0);
    for scenario in scenarios {
        let flows = scenario.flows.len() as f64;
        all_packets += plan.runs as f64 * packets(scenario);
        running = flows.max(running);
        if plan.keeps_outcomes {
            kept += plan.runs as f64 * outcome_bytes(scenario);
        }
        kept += plan.sampled as f64 * sample_bytes(scenario);
    }
    Cost { packets: all_packets, memory_bytes: plan.threads as f64 * running * FLOW_BYTES + kept }
}

fn outcome_bytes(scenario: &Scenario) -> f64 {
    let (flow, link) = (size_of::<FlowOutcome>() + 32, size_of::<LinkOutcome>() + 32);
    (scenario.flows.len() * flow + scenario.links.len() * link) as f64
}

fn sample_bytes(scenario: &Scenario) -> f64 {
    let instants = scenario.duration.as_secs() / scenario.sample.as_secs().max(1e-9);
    let queues = 2 * scenario.links.len();
    instants * (scenario.flows.len() * size_of::<FlowSample>() + queues * size_of::<QueueSample>()) as f64
}

/// Largest possible number of data packets of one run: the demand of the flows, limited by the slowest link
/// of each route.
fn packets(scenario: &Scenario) -> f64 {
    let mut wanted: BTreeMap<(usize, bool), (f64, f64)> = BTreeMap::new();
    for (flow, route) in scenario.flows.iter().zip(&scenario.routes) {
        let Some((place, carried)) = slowest(scenario, route) else { continue };
        let (bits, packet) = demand(flow, scenario.duration);
        let (sum, _) = wanted.entry(place).or_insert((0.0, carried / packet));
        *sum += bits / packet;
    }
    wanted.values().map(|(wanted, carried)| wanted.min(*carried)).sum()
}

/// Link direction of the route that can carry the fewest bits during the run, and the number of these bits.
fn slowest(scenario: &Scenario, route: &Route) -> Option<((usize, bool), f64)> {
    let carried = route.there.iter().map(|hop| {
        let link = &scenario.links[hop.link];
        let config = if hop.is_down { &link.down } else { &link.up };
        ((hop.link, hop.is_down), bits_carried(&config.service, scenario.duration))
    });
    carried.min_by(|one, other| one.1.total_cmp(&other.1))
}

fn bits_carried(service: &Service, duration: Duration) -> f64 {
    let end = Time::ZERO + duration;
    let (mut at, mut bits) = (Time::ZERO, 0.0);
    while at < end {
        let next = service.change_after(at).min(end);
        bits += service.rate_at(at).bps() as f64 * next.since(at).as_secs();
        at = next;
    }
    bits
}

/// Number of bits that a flow wants to send, and size of one packet in bits.
fn demand(flow: &Flow, duration: Duration) -> (f64, f64) {
    match &flow.traffic {
        Traffic::Tcp { transfer, source, .. } => {
            let packet = f64::from(source.segment) + HEADERS;
            let bytes = match transfer {
                Transfer::Bulk => f64::INFINITY,
                Transfer::Bytes(bytes) | Transfer::Drawn { mean: bytes, .. } => {
                    *bytes as f64 * packet / f64::from(source.segment.max(1))
                }
                Transfer::Exchanges(it) => {
                    let (bytes, payload) = (it.response as f64, f64::from(source.segment.max(1)));
                    it.most.map_or(f64::INFINITY, |most| most as f64 * bytes) * packet / payload
                }
                // A source without a rate sends as much as the links carry.
                Transfer::Pauses(it) => match it.rate {
                    None => f64::INFINITY,
                    Some(rate) => rate.bps() as f64 / 8.0 * duration.as_secs(),
                },
            };
            (8.0 * bytes, 8.0 * packet)
        }
        Traffic::Datagrams { rate, packet, stop, .. } => {
            let end = stop.unwrap_or(Time::ZERO + duration);
            (rate.bps() as f64 * end.since(flow.start).as_secs(), 8.0 * f64::from(*packet))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, plan: RunPlan) -> Cost {
        estimate([&Scenario::load(path).unwrap()].into_iter(), plan)
    }

    const ONE: RunPlan = RunPlan { runs: 1, threads: 1, keeps_outcomes: false, sampled: 0 };

    #[test]
    fn packets_fill_the_slowest_link() {
        let path = "profile=plain,rate=10Mbit/s,rtt=20ms,duration=120s,segment=1448bytes";
        assert!((of(path, ONE).packets - 1e5).abs() < 1.0);
        assert!((of(path, RunPlan { runs: 4, ..ONE }).packets - 4e5).abs() < 1.0);
        // The path has two links in a row. The run sends a little less than the slower link (2 Mbit/s) could carry.
        let run = lasthop_sim::run(&Scenario::load("hasegawa").unwrap(), 1);
        let (sent, most) = (run.flows[0].source.data_sent as f64, of("hasegawa", ONE).packets);
        assert!(sent <= 1.05 * most && sent > 0.5 * most, "{sent} of {most}");
    }

    #[test]
    fn memory_is_what_is_kept() {
        let path = "profile=plain,rate=10Mbit/s,rtt=20ms,duration=10s,sample=10ms";
        let one = of(path, ONE).memory_bytes;
        assert_eq!(
            of(path, RunPlan { runs: 1_000_000, ..ONE }).memory_bytes,
            one,
            "outcomes are not kept, so that more runs need no more memory"
        );
        assert_eq!(of(path, RunPlan { threads: 3, ..ONE }).memory_bytes, 3.0 * one);
        let kept = of(path, RunPlan { runs: 1_000_000, keeps_outcomes: true, ..ONE }).memory_bytes - one;
        assert!(kept > 1e6 * size_of::<FlowOutcome>() as f64 && kept < 2e9, "{kept}");
        let sampled = of(path, RunPlan { sampled: 1, ..ONE }).memory_bytes - one;
        assert!(sampled >= 1000.0 * size_of::<FlowSample>() as f64, "{sampled}");
    }
}
