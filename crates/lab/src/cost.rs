//! Estimates of the time and memory that runs need, computed from the scenario before the runs start.
//!
//! # Estimate
//! The time follows from the number of data packets that would fill the slowest link of each flow's route. The real
//! number of packets is smaller if losses, windows or pauses of the application slow a flow down. With more than about
//! a hundred flows, the state of the flows exceeds the processor's caches, and a packet takes longer. The memory
//! follows from the numbers of flows, runs and samples. Packets in flight need little memory.

use lasthop_base::{Duration, Time};
use lasthop_net::service::Service;
use lasthop_scenario::{Flow, Link, Route, Scenario, Traffic, Transfer};
use lasthop_sim::{FlowOutcome, FlowSample, LinkOutcome, QueueSample};
use std::collections::BTreeMap;

/// Number of simulated data packets per second and core in a run with few flows. The processing of the packet's ACK is
/// included. `lasthop bench` measures 4.9 million; the estimate uses a lower, cautious value.
const PACKETS_PER_S: f64 = 4e6;
/// Number of flows up to which the state of all flows fits in the processor's caches (measured).
const CACHED_FLOWS: f64 = 100.0;

/// Memory of a TCP flow, bytes: the flow's record, its endpoints with scoreboards and timers, and its results. Measured
/// as peak memory of a run divided by its number of flows (10,000 to 100,000): 5.5 KB with Reno, 5.7 KB with CUBIC, 6.2
/// KB at 10 Gbit/s, 7.4 KB with BBR.
const FLOW_BYTES: f64 = 6e3;
/// Memory of a finite transfer that has ended, bytes. Measured: 2.2 KB with 30,000 and with 100,000 transfers.
const ENDED_BYTES: f64 = 2.2e3;
/// Memory of a flow with requests and responses, bytes. Such a flow has a sender at each end. Measured: 12.0 KB with
/// 10,000 flows.
const EXCHANGE_FLOW_BYTES: f64 = 12e3;
/// Memory of a flow of datagrams, bytes. Measured: 1.5 KB with 10,000 and with 100,000 flows.
const DATAGRAM_FLOW_BYTES: f64 = 1.5e3;
/// Smallest number of flows at which the connection of a finite transfer exists only from the transfer's start to its
/// end.
const DEFERRED_FROM: usize = lasthop_sim::DEFER_FROM_FLOWS;

/// Estimates the number of data packets per second and core in a run with this number of flows. The formula is fitted
/// to measured speeds. Relative to a run with few flows, the speed is 0.55 with 1,000 flows, and 0.3 to 0.4 with 10,000
/// to 100,000 flows.
fn packets_per_s(flows: usize) -> f64 {
    PACKETS_PER_S / (1.0 + (flows as f64 / CACHED_FLOWS).max(1.0).log10())
}

/// Headers of a data packet, bytes: 20 for IPv4, 20 for TCP, 12 for timestamps.
const HEADERS: f64 = 52.0;

/// Cost of all runs of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Upper bound of the number of data packets in all runs.
    pub packets: f64,
    /// CPU time of these packets, s.
    pub cpu_s: f64,
    /// Peak memory, bytes.
    pub memory_bytes: f64,
}

/// Number of runs, and conditions of their execution.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// Number of repetitions of each scenario.
    pub runs: usize,
    /// Number of repetitions that run at the same time.
    pub threads: usize,
    /// Whether all outcomes stay in memory until the end of the command.
    pub keeps_outcomes: bool,
    /// Number of repetitions of each scenario in which flows and queues are sampled over time.
    pub sampled: usize,
}

/// Estimates the cost of these scenarios under `plan`.
pub fn estimate<'a>(scenarios: impl Iterator<Item = &'a Scenario>, plan: RunPlan) -> Cost {
    let (mut all_packets, mut cpu_s, mut running, mut kept) = (0.0, 0.0, 0.0_f64, 0.0);
    for scenario in scenarios {
        let packets = plan.runs as f64 * packets(scenario);
        all_packets += packets;
        cpu_s += packets / packets_per_s(scenario.flows.len());
        running = running.max(running_bytes(scenario));
        if plan.keeps_outcomes {
            kept += plan.runs as f64 * outcome_bytes(scenario);
        }
        kept += plan.sampled as f64 * sample_bytes(scenario);
    }
    Cost { packets: all_packets, cpu_s, memory_bytes: plan.threads as f64 * running + kept }
}

fn running_bytes(scenario: &Scenario) -> f64 {
    let alive = if scenario.flows.len() >= DEFERRED_FROM { share_alive(scenario) } else { 1.0 };
    let bytes = |flow: &Flow| match &flow.traffic {
        Traffic::Datagrams { .. } => DATAGRAM_FLOW_BYTES,
        Traffic::Tcp { transfer: Transfer::Exchanges(_) | Transfer::OnDemand { .. }, .. } => {
            EXCHANGE_FLOW_BYTES
        }
        Traffic::Tcp { transfer: Transfer::Bytes(_) | Transfer::Drawn { .. }, .. } => {
            ENDED_BYTES + alive * (FLOW_BYTES - ENDED_BYTES)
        }
        Traffic::Tcp { transfer: Transfer::Bulk | Transfer::Fed | Transfer::Pauses(_), .. } => FLOW_BYTES,
    };
    scenario.flows.iter().map(bytes).sum()
}

/// Estimates the share of finite transfers that are unfinished at the end of the period in which transfers begin. The
/// share is the part of the transfers' data that the slowest link cannot carry in this period.
fn share_alive(scenario: &Scenario) -> f64 {
    let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
    let mut wanted: BTreeMap<(usize, bool), (f64, f64)> = BTreeMap::new();
    let capacities = capacities(scenario);
    for (flow, route) in scenario.flows.iter().zip(&scenario.routes) {
        let Some((place, carried)) = slowest(&capacities, route) else { continue };
        let (bits, _) = demand(flow, scenario.duration);
        if !bits.is_finite() {
            continue;
        }
        let start = flow.start.since(Time::ZERO).as_secs();
        first = first.min(start);
        last = last.max(start + flow.start_spread.as_secs());
        wanted.entry(place).or_insert((0.0, carried)).0 += bits;
    }
    let period = (last - first).max(0.0) / scenario.duration.as_secs().max(1e-9);
    let alive = wanted.values().map(|(bits, carried)| 1.0 - (carried * period / bits).min(1.0));
    alive.fold(0.0, f64::max)
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

/// Returns an upper bound of the number of data packets of one run: the demand of the flows, limited by the slowest
/// link of each route.
fn packets(scenario: &Scenario) -> f64 {
    let mut wanted: BTreeMap<(usize, bool), (f64, f64)> = BTreeMap::new();
    let capacities = capacities(scenario);
    for (flow, route) in scenario.flows.iter().zip(&scenario.routes) {
        let Some((place, carried)) = slowest(&capacities, route) else { continue };
        let (bits, packet) = demand(flow, scenario.duration);
        let (sum, _) = wanted.entry(place).or_insert((0.0, carried / packet));
        *sum += bits / packet;
    }
    wanted.values().map(|(wanted, carried)| wanted.min(*carried)).sum()
}

/// Returns the number of bits that each direction of each link can carry during the run. The up direction is the first
/// of each pair.
fn capacities(scenario: &Scenario) -> Vec<[f64; 2]> {
    let of = |link: &Link| [&link.up, &link.down].map(|it| bits_carried(&it.service, scenario.duration));
    scenario.links.iter().map(of).collect()
}

/// Returns the link direction of the forward route that can carry the fewest bits during the run, and the number of
/// these bits.
fn slowest(capacities: &[[f64; 2]], route: &Route) -> Option<((usize, bool), f64)> {
    let carried = route
        .there
        .iter()
        .map(|hop| ((hop.link, hop.is_down), capacities[hop.link][usize::from(hop.is_down)]));
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

/// Returns the number of bits that a flow wants to send, and the size of one packet in bits.
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
                // An ordinary run has no requests on demand, and no data of fed transfers.
                Transfer::OnDemand { .. } | Transfer::Fed => 0.0,
                // A source without a rate sends as many bytes as the links can carry.
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
        // The path has two links in a row. The run sends slightly fewer packets than the slower link (2 Mbit/s) could
        // carry.
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
        assert_eq!(one, FLOW_BYTES);
        let kept = of(path, RunPlan { runs: 1_000_000, keeps_outcomes: true, ..ONE }).memory_bytes - one;
        assert!(kept > 1e6 * size_of::<FlowOutcome>() as f64 && kept < 2e9, "{kept}");
        let sampled = of(path, RunPlan { sampled: 1, ..ONE }).memory_bytes - one;
        assert!(sampled >= 1000.0 * size_of::<FlowSample>() as f64, "{sampled}");
    }

    /// Ten thousand transfers of 10 KB (0.8 Gbit in total) begin within 4 s. A link of 1 Gbit/s carries the transfers
    /// as fast as they begin. A link of 0.1 Gbit/s carries half of the data in the 4 s, if headers are neglected.
    #[test]
    fn transfers_that_have_ended_need_less_memory() {
        let of = |rate: &str| {
            let path = format!("rate={rate},rtt=20ms,duration=10s,count=10000,transfer=10KB,start_spread=4s");
            of(&path, ONE).memory_bytes / 1e4
        };
        assert_eq!(of("1Gbit/s"), ENDED_BYTES);
        let half = (FLOW_BYTES + ENDED_BYTES) / 2.0;
        assert!((of("100Mbit/s") / half - 1.0).abs() < 0.05, "{}", of("100Mbit/s"));
    }

    /// A packet takes twice as long with 1,000 flows as with 100 flows, and three times as long with 10,000 flows.
    #[test]
    fn many_flows_take_longer() {
        let of = |count: u64| {
            let cost = of(&format!("rate=10Gbit/s,rtt=20ms,duration=1s,count={count}"), ONE);
            cost.packets / cost.cpu_s
        };
        assert_eq!(of(1), PACKETS_PER_S);
        assert_eq!(of(100), PACKETS_PER_S);
        assert_eq!(of(1000), PACKETS_PER_S / 2.0);
        assert_eq!(of(10_000), PACKETS_PER_S / 3.0);
    }
}
