//! Builds an engine from a checked scenario.

use crate::cells;
use crate::connections::{self, ConnectionFactory};
use crate::transport;
use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_engine::flow::{Datagrams, OnOff, Overhead, Spacing};
use lasthop_engine::{Engine, FlowSpec, NoEndpoint, NodeId, PipeId, Traffic};
use lasthop_middlebox::{Build, Exit, Middlebox, Site};
use lasthop_net::queue::Hosts;
use lasthop_net::service::Service;
use lasthop_net::{Config, LinkDirection, Processing};
use lasthop_scenario::{Headers, Hop, Link, Pattern, Route, Scenario};
use lasthop_wire::{FlowId, Priority};

/// Returns the engine's pipe for one direction of a link: from the link's `from` to its `to` if `down` is true,
/// otherwise the opposite direction.
pub fn pipe_of(link: usize, down: bool) -> PipeId {
    PipeId(2 * link as u32 + u32::from(!down))
}

/// Builds an engine at time zero. The name of each random stream consists of the stream's owner and purpose. The
/// numbers of a stream depend only on the seed and on the stream's name.
pub fn assemble(scenario: &Scenario, seed: u64) -> Engine {
    let mut factory = ConnectionFactory::of(scenario);
    let flows = (0..scenario.flows.len()).map(|flow| factory.flow(scenario, flow, seed));
    let hosts = hosts(scenario, seed, (0..scenario.flows.len()).zip(0..));
    let ends = || hosts_of(scenario);
    engine_with_links(scenario, seed, flows, hosts, &fixed, &ends)
}

/// Builds an engine like [`assemble`], but with other traffic for some flows. `other` returns the traffic of the flow
/// with this index, or `None` for the scenario's own traffic. Packets of other traffic are opaque to middleboxes.
pub fn assemble_with(scenario: &Scenario, seed: u64, other: &dyn Fn(usize) -> Option<Traffic>) -> Engine {
    let flows = (0..scenario.flows.len()).map(|flow| match other(flow) {
        Some(traffic) => FlowSpec { opaque: true, ..with_traffic(scenario, flow, seed, traffic) },
        None => assemble_flow(scenario, flow, seed),
    });
    let hosts = hosts(scenario, seed, (0..scenario.flows.len()).zip(0..));
    let ends = || hosts_of(scenario);
    engine_with_links(scenario, seed, flows, hosts, &fixed, &ends)
}

/// Source and destination node of each flow, for queues that need the hosts.
pub(crate) fn hosts_of(scenario: &Scenario) -> Hosts {
    scenario.flows.iter().map(ends).collect()
}

fn ends(flow: &lasthop_scenario::Flow) -> [u32; 2] {
    [flow.from as u32, flow.to as u32]
}

/// Returns whether a scenario draws no random numbers, so that all repetitions are equal.
pub fn is_deterministic(scenario: &Scenario) -> bool {
    // The flows are built one at a time, to save memory.
    let flow_draws = |index: usize| {
        let flow = &scenario.flows[index];
        let draws_size = matches!(
            flow.traffic,
            lasthop_scenario::Traffic::Tcp { transfer: lasthop_scenario::Transfer::Drawn { .. }, .. }
        );
        draws_size
            || flow.start_spread.max(flow.processing) > Duration::ZERO
            || assemble_flow(scenario, index, scenario.seed).traffic.draws()
    };
    let mut directions = scenario.links.iter().flat_map(|link| [&link.down, &link.up]);
    let node_draws = |(node, choice): (usize, &Choice<Build>)| {
        middlebox(scenario, node, choice, scenario.seed).is_some_and(|middlebox| middlebox.draws())
    };
    !scenario.middlebox_nodes().any(node_draws)
        && !directions.any(|config| LinkDirection::new(config, Stream::named(scenario.seed, "any")).draws())
        && !(0..scenario.flows.len()).any(flow_draws)
}

/// Start time of a flow with this seed: the scenario's `start`, plus a random time of at most `start_spread`.
pub fn start_of(flow: &lasthop_scenario::Flow, seed: u64) -> Time {
    match flow.start_spread {
        Duration::ZERO => flow.start,
        spread => {
            let late = Stream::named(seed, &format!("flow.{}.start", flow.name)).uniform() * spread.as_secs();
            flow.start + Duration::from_secs_f64(late)
        }
    }
}

/// Largest number of flows of real traffic (emulation) that an engine distinguishes.
pub const EXTERNAL_FLOWS: usize = 64;

/// Returns the indices of the TCP flows that real traffic replaces in an emulation: all TCP flows between the end nodes
/// of flow number `replaced`, including that flow.
pub fn replaced_flows(scenario: &Scenario, replaced: usize) -> Vec<usize> {
    let ends = |flow: &lasthop_scenario::Flow| [flow.from.min(flow.to), flow.from.max(flow.to)];
    let between = ends(&scenario.flows[replaced]);
    let is_replaced = |index: &usize| {
        let flow = &scenario.flows[*index];
        flow.is_tcp() && ends(flow) == between
    };
    (0..scenario.flows.len()).filter(is_replaced).collect()
}

/// Builds an engine for an emulation, in which real traffic replaces the [`replaced_flows`] of flow number `replaced`.
/// Engine flows 0 to [`EXTERNAL_FLOWS`] - 1 carry real traffic on the route of flow `replaced`. The scenario's
/// remaining flows are simulated.
pub fn assemble_external(scenario: &Scenario, replaced: usize, seed: u64) -> Engine {
    assemble_with_links(scenario, replaced, seed, &fixed)
}

/// Builds an engine like [`assemble_external`], with links that [`Engine::change`] can modify during the run.
pub fn assemble_changeable(scenario: &Scenario, replaced: usize, seed: u64) -> Engine {
    assemble_with_links(scenario, replaced, seed, &|_, config, own, plans| {
        LinkDirection::adjustable(config, own, plans)
    })
}

/// Builds an engine like [`assemble`], in which the directions `changing` can change during the run. Each connection
/// exists from the start of the run.
pub(crate) fn assemble_for_session(scenario: &Scenario, seed: u64, changing: &[Hop]) -> Engine {
    let flows = (0..scenario.flows.len()).map(|flow| assemble_flow(scenario, flow, seed));
    let hosts = hosts(scenario, seed, (0..scenario.flows.len()).zip(0..));
    let ends = || hosts_of(scenario);
    let build: &BuildLine = &|hop, config, own, plans| {
        if changing.contains(&hop) {
            LinkDirection::adjustable(config, own, plans)
        } else {
            LinkDirection::in_link(config, own, plans)
        }
    };
    let mut engine = engine_with_links(scenario, seed, flows, hosts, build, &ends);
    engine.keep_flows();
    engine
}

/// Function that builds the direction of a link from a configuration and two random streams: the direction's own
/// stream, and the stream of the link's plans of rate and loss.
type BuildLine<'f> = dyn Fn(Hop, &Config, Stream, Stream) -> LinkDirection + 'f;

fn fixed(_: Hop, config: &Config, own: Stream, plans: Stream) -> LinkDirection {
    LinkDirection::in_link(config, own, plans)
}

fn assemble_with_links(scenario: &Scenario, replaced: usize, seed: u64, build: &BuildLine<'_>) -> Engine {
    let removed = replaced_flows(scenario, replaced);
    let others: Vec<usize> = (0..scenario.flows.len()).filter(|flow| !removed.contains(flow)).collect();
    let route = &scenario.routes[replaced];
    let external = (0..EXTERNAL_FLOWS).map(|_| FlowSpec {
        start: Time::NEVER,
        forward: path(&route.there),
        backward: path(&route.back),
        overhead: Overhead::Real,
        priority: Priority::NORMAL,
        opaque: true,
        traffic: Traffic::NoEndpoint(NoEndpoint::External),
    });
    let flows = external.chain(others.iter().map(|flow| assemble_flow(scenario, *flow, seed)));
    let numbered = others.iter().copied().zip(EXTERNAL_FLOWS as u32..);
    let ends = || {
        let real = std::iter::repeat_n(replaced, EXTERNAL_FLOWS);
        real.chain(others.iter().copied()).map(|flow| ends(&scenario.flows[flow])).collect()
    };
    engine_with_links(scenario, seed, flows, hosts(scenario, seed, numbered), build, &ends)
}

/// Returns the pipes that model delays within the hosts, for those flows that have a processing time or an extra delay.
/// `flows` has a pair for each flow: the index in the scenario, and the number in the engine.
fn hosts(
    scenario: &Scenario,
    seed: u64,
    flows: impl Iterator<Item = (usize, u32)>,
) -> Vec<(FlowId, [LinkDirection; 2])> {
    let flows = flows.map(|(index, number)| (&scenario.flows[index], FlowId(number)));
    let busy = flows.filter(|(flow, _)| flow.processing.max(flow.extra_delay) > Duration::ZERO);
    busy.map(|(flow, id)| {
        let line = |end| {
            let random = Stream::named(seed, &format!("flow.{}.{end}.processing", flow.name));
            let processing = Processing::new(flow.processing, random).with_fixed(flow.extra_delay);
            LinkDirection::Element(Box::new(processing))
        };
        (id, [line("source"), line("destination")])
    })
    .collect()
}

/// Builds an engine with the scenario's links and these flows. `ends` returns the source and destination node of each
/// flow.
fn engine_with_links(
    scenario: &Scenario,
    seed: u64,
    flows: impl Iterator<Item = FlowSpec>,
    hosts: Vec<(FlowId, [LinkDirection; 2])>,
    build: &BuildLine<'_>,
    ends: &dyn Fn() -> Hosts,
) -> Engine {
    // Calls `ends` only if a queue needs the end nodes of flows.
    let mut known: Option<Hosts> = None;
    let mut build = |hop: Hop, config: &Config, own: Stream, plans: Stream| {
        if config.needs_hosts() {
            let hosts = Some(Hosts::clone(known.get_or_insert_with(ends)));
            build(hop, &Config { hosts, ..config.clone() }, own, plans)
        } else {
            build(hop, config, own, plans)
        }
    };
    let links = scenario
        .links
        .iter()
        .enumerate()
        .flat_map(|(index, link)| {
            [("down", &link.down), ("up", &link.up)].map(|(side, config)| {
                let hop = Hop { link: index, is_down: side == "down" };
                build(hop, config, channel_stream(link, side, seed), plan_stream(link, seed))
            })
        })
        .collect();
    let mut engine = Engine::new(links, flows);
    for link in 0..scenario.links.len() {
        engine.couple(pipe_of(link, true), pipe_of(link, false));
    }
    cells::share(&mut engine, scenario, seed);
    for (node, choice) in scenario.middlebox_nodes() {
        if let Some(middlebox) = middlebox(scenario, node, choice, seed) {
            engine.attach_middlebox(NodeId(node as u32), middlebox, &ending_at(scenario, node));
        }
    }
    for (index, link) in scenario.links.iter().enumerate() {
        for (config, down) in [(&link.down, true), (&link.up, false)] {
            if let Service::Plan(_) = config.service {
                let service = seeded_service(&config.service, link, seed);
                engine.declare_plan(pipe_of(index, down), &service);
            }
        }
    }
    if !hosts.is_empty() {
        engine.add_host_pipes(hosts);
    }
    engine
}

/// Random stream of a link's direction.
pub(crate) fn channel_stream(link: &Link, side: &str, seed: u64) -> Stream {
    Stream::named(seed, &format!("link.{}.{side}.channel", link.name))
}

/// Random stream from which the rate and loss plans of both directions of a link are drawn.
fn plan_stream(link: &Link, seed: u64) -> Stream {
    Stream::named(seed, &format!("link.{}.plans", link.name))
}

/// Draws the random rate plan of a link's service for this seed, and returns the service with that plan.
pub(crate) fn seeded_service(service: &Service, link: &Link, seed: u64) -> Service {
    service.seeded(plan_stream(link, seed).draw())
}

fn middlebox(
    scenario: &Scenario,
    node: usize,
    choice: &Choice<Build>,
    seed: u64,
) -> Option<Box<dyn Middlebox>> {
    let exits = |route: &Route| [&route.there, &route.back].map(|hops| exit(scenario, node, hops));
    let random = Stream::named(seed, &format!("node.{}.middlebox", scenario.nodes[node]));
    let place = Site { flows: scenario.routes.iter().map(exits).collect(), random };
    (choice.build)(&choice.values, &place)
}

/// Returns the exit by which packets on this route leave a node; `None` if the route does not pass the node.
fn exit(scenario: &Scenario, node: usize, hops: &[Hop]) -> Option<Exit> {
    let leaves = |hop: &&Hop| {
        let link = &scenario.links[hop.link];
        node == if hop.is_down { link.from } else { link.to }
    };
    let hop = hops.iter().skip(1).find(leaves)?;
    let link = &scenario.links[hop.link];
    let (there, back) = if hop.is_down { (&link.down, &link.up) } else { (&link.up, &link.down) };
    let transmission = there.service.rate_at(Time::ZERO).time_for(1500);
    Some(Exit { down: hop.is_down, round_trip: there.delay + back.delay + transmission })
}

fn ending_at(scenario: &Scenario, node: usize) -> Vec<PipeId> {
    let ends = |(index, link): (usize, &Link)| {
        let down = (link.to == node).then(|| pipe_of(index, true));
        [down, (link.from == node).then(|| pipe_of(index, false))]
    };
    scenario.links.iter().enumerate().flat_map(ends).flatten().collect()
}

fn path(hops: &[Hop]) -> Vec<PipeId> {
    hops.iter().map(|hop| pipe_of(hop.link, hop.is_down)).collect()
}

pub(crate) fn assemble_flow(scenario: &Scenario, index: usize, seed: u64) -> FlowSpec {
    let flow = &scenario.flows[index];
    let traffic = match &flow.traffic {
        _ if flow.stack.is_some() => transport::traffic(flow, start_of(flow, seed), seed),
        lasthop_scenario::Traffic::Tcp { transfer, source, destination } => {
            let (start, ends) = (start_of(flow, seed), [source.clone(), destination.clone()]);
            Traffic::Tcp(Box::new(connections::connection(&flow.name, seed, transfer, start, ends)))
        }
        lasthop_scenario::Traffic::Datagrams { rate, packet, stop, pattern, jitter, burst } => {
            let pattern = match pattern {
                Pattern::Constant => None,
                Pattern::OnOff { on, off, exponential } => {
                    Some(OnOff { on: *on, off: *off, exponential: *exponential })
                }
            };
            let times = (start_of(flow, seed), stop.unwrap_or(Time::NEVER));
            let spacing = Spacing { jitter: *jitter, burst: *burst };
            let random = Stream::named(seed, &format!("flow.{}.pattern", flow.name));
            let source = Datagrams::new(*rate, *packet, times, pattern, random);
            Traffic::NoEndpoint(NoEndpoint::Datagrams(Box::new(source.with_spacing(spacing))))
        }
    };
    with_traffic(scenario, index, seed, traffic)
}

pub(crate) fn with_traffic(scenario: &Scenario, index: usize, seed: u64, traffic: Traffic) -> FlowSpec {
    let (flow, route) = (&scenario.flows[index], &scenario.routes[index]);
    FlowSpec {
        start: start_of(flow, seed),
        forward: path(&route.there),
        backward: path(&route.back),
        overhead: match scenario.headers {
            Headers::Real => Overhead::Real,
            Headers::None => Overhead::Fixed(0),
            Headers::Nominal(bytes) => Overhead::Fixed(bytes),
        },
        priority: Priority::of_dscp(flow.dscp),
        opaque: flow.opaque,
        traffic,
    }
}
