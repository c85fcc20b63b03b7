//! Paths of an environment, and draws of their values from ranges.
//!
//! A draw changes the numbers of a checked scenario. A new path therefore costs no reading of a scenario's text.

use crate::run::Observation;
use crate::session::Session;
use lasthop_base::{Choice, Duration, Rate, Stream, Value};
use lasthop_net::service::Service;
use lasthop_net::{Config, channel};
use lasthop_scenario::{Flow, Hop, Scenario, Traffic};
use std::fmt;
use std::sync::Arc;

/// Smallest queue limit for one bandwidth-delay product or more, full packets: as in scenarios, an initial window
/// (RFC 6928).
const LEAST_QUEUE: f64 = 10.0;
/// Share of the path's rate that is the default lower bound of the pacing rate.
const LOWEST_SHARE: f64 = 0.05;
/// Multiple of the path's rate that is the default upper bound of the pacing rate.
const HIGHEST_SHARE: f64 = 2.0;
/// Shortest RTT of a range, s. The step of an idle path has at least this length.
const SHORTEST_RTT: f64 = 1e-6;

/// Range of values, from which each episode draws one value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// Smallest value.
    pub low: f64,
    /// Largest value, at least `low`.
    pub high: f64,
    /// Whether the logarithm of the value is uniformly distributed; otherwise the value itself is. `low` is above 0 then.
    pub is_log: bool,
}

impl Range {
    /// Draws a value. Takes one draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let share = stream.uniform();
        let value = if self.is_log {
            self.low * libm::exp(share * libm::log(self.high / self.low))
        } else {
            self.low + share * (self.high - self.low)
        };
        value.clamp(self.low, self.high)
    }
}

/// Range of queue limits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueRange {
    /// Packets, without the packet in transmission.
    Packets(Range),
    /// Bandwidth-delay products of the drawn rate and the drawn RTT.
    Bdp(Range),
}

/// Values of a path that each episode draws. `None` leaves the scenario's value.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ranges {
    /// Rate of the slowest link from the source to the destination, bit/s. If the scenario has the same rate in the
    /// opposite direction, that rate changes, too.
    pub rate_bps: Option<Range>,
    /// Round-trip propagation delay of the whole path, s. The slowest link's delays change.
    pub rtt_s: Option<Range>,
    /// Limit of the slowest link's queue.
    pub queue: Option<QueueRange>,
    /// Probability of independent losses on the slowest link, which replace the scenario's channel, 0 to 1.
    pub loss: Option<Range>,
}

impl Ranges {
    fn is_empty(&self) -> bool {
        *self == Ranges::default()
    }
}

/// Constant numbers of an agent's path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathFacts {
    /// Mean rate of the slowest link from the source to the destination, bit/s.
    pub capacity_bps: f64,
    /// RTT of a full segment and its ACK on the idle path: propagation and transmission, s. Delays of link layers, such
    /// as HARQ, are not included.
    pub base_rtt_s: f64,
    /// Payload of a full segment, bytes.
    pub segment_bytes: f64,
}

/// Reason why a scenario or its ranges cannot be a path.
#[derive(Clone, PartialEq, Debug)]
pub enum PathRefused {
    /// Fewer flows than agents have `congestion = "external"`: their number.
    Agents(usize),
    /// The rate of the slowest link, which has this name, is planned or recorded, and cannot be drawn.
    Rate(String),
    /// The queue discipline of the slowest link, which has this name, has no limit.
    Queue(String),
    /// The other links' delays, s, exceed the smallest RTT of the range.
    Rtt(f64),
}

impl fmt::Display for PathRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathRefused::Agents(0) => f.write_str("no flow of the path has congestion = \"external\""),
            PathRefused::Agents(count) => {
                write!(f, "flows of the path with congestion = \"external\": {count}, fewer than agents")
            }
            PathRefused::Rate(link) => {
                write!(f, "the rate of link `{link}` is planned or recorded: a range cannot replace it")
            }
            PathRefused::Queue(link) => write!(f, "the queue discipline of link `{link}` has no limit"),
            PathRefused::Rtt(others) => write!(
                f,
                "the range of rtt begins below the propagation delays of the other links, {} ms",
                1e3 * others
            ),
        }
    }
}

/// A path on which episodes run.
#[derive(Clone, Debug)]
pub struct Path {
    scenario: Arc<Scenario>,
    agents: Vec<usize>,
    facts: Vec<PathFacts>,
    ranges: Ranges,
    /// Slowest hop from the first agent's source to its destination.
    bottleneck: Hop,
}

impl Path {
    /// Returns a path with `agents` flows that take actions, on which episodes last for `limit`.
    ///
    /// The agents are the scenario's flows with `congestion = "external"`. If the scenario has one such flow, copies of
    /// this flow are added for further agents. `beside` are further flows on the route of the first agent.
    ///
    /// # Errors
    /// Refuses scenarios without enough flows that take orders, and ranges that do not fit the scenario.
    pub fn new(
        scenario: &Scenario,
        agents: usize,
        beside: Vec<Flow>,
        limit: Duration,
        ranges: Ranges,
    ) -> Result<Path, PathRefused> {
        let mut scenario = Scenario { duration: limit, warmup: Duration::ZERO, runs: 1, ..scenario.clone() };
        let flows = external_flows(&scenario);
        let Some(&first) = flows.first() else { return Err(PathRefused::Agents(0)) };
        let agents = match flows.len() {
            1 => {
                let copies = (1..agents).map(|_| add(&mut scenario, first, first_flow(first), "agent"));
                let copies: Vec<usize> = copies.collect();
                std::iter::once(first).chain(copies).collect()
            }
            count if count < agents => return Err(PathRefused::Agents(count)),
            _ => flows[..agents.max(1)].to_vec(),
        };
        for flow in beside {
            add(&mut scenario, first, |_| flow, "beside");
        }
        let bottleneck = slowest(&scenario, first);
        let facts = facts_of(&scenario, &agents);
        let path = Path { scenario: Arc::new(scenario), agents, facts, ranges, bottleneck };
        path.check()?;
        Ok(path)
    }

    fn check(&self) -> Result<(), PathRefused> {
        let link = &self.scenario.links[self.bottleneck.link];
        let config = direction(&self.scenario, self.bottleneck);
        if self.ranges.rate_bps.is_some() && !matches!(config.service, Service::Rate(_)) {
            return Err(PathRefused::Rate(link.name.clone()));
        }
        if self.ranges.queue.is_some() && config.queue.info.limit.is_none() {
            return Err(PathRefused::Queue(link.name.clone()));
        }
        if let Some(range) = self.ranges.rtt_s {
            let others = self.other_delays_s();
            if range.low < others {
                return Err(PathRefused::Rtt(others));
            }
        }
        Ok(())
    }

    /// Indices of the agents' flows in the scenario.
    pub fn agents(&self) -> &[usize] {
        &self.agents
    }

    /// Scenario of the path, before any draw.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Default bounds of the pacing rate, bit/s: a twentieth of the smallest rate of the slowest link, and twice its
    /// largest rate.
    pub fn rate_bounds(&self) -> (f64, f64) {
        let capacity = self.facts[0].capacity_bps;
        let range = self.ranges.rate_bps.map_or((capacity, capacity), |range| (range.low, range.high));
        (LOWEST_SHARE * range.0, HIGHEST_SHARE * range.1)
    }

    /// Draws a scenario, and returns the scenario and the numbers of each agent. Takes the same number of draws for each
    /// path.
    pub(super) fn draw(&self, stream: &mut Stream) -> (Arc<Scenario>, Vec<PathFacts>) {
        let Ranges { rate_bps, rtt_s, queue, loss } = self.ranges;
        if self.ranges.is_empty() {
            (0..4).for_each(|_| {
                stream.draw();
            });
            return (Arc::clone(&self.scenario), self.facts.clone());
        }
        let none = Range { low: 0.0, high: 0.0, is_log: false };
        let [rate, rtt] = [rate_bps, rtt_s].map(|range| range.unwrap_or(none).draw(stream));
        let limit = match queue {
            Some(QueueRange::Packets(range) | QueueRange::Bdp(range)) => range,
            None => none,
        }
        .draw(stream);
        let lost = loss.unwrap_or(none).draw(stream);
        let mut scenario = Scenario::clone(&self.scenario);
        let link = self.bottleneck.link;
        if rate_bps.is_some() {
            let rate = Service::Rate(Rate::from_bps((rate as u64).max(1)));
            let is_symmetric = {
                let link = &scenario.links[link];
                link.down.service == link.up.service
            };
            direction_mut(&mut scenario, self.bottleneck).service = rate.clone();
            if is_symmetric {
                let opposite = Hop { is_down: !self.bottleneck.is_down, ..self.bottleneck };
                direction_mut(&mut scenario, opposite).service = rate;
            }
        }
        if rtt_s.is_some() {
            let each = Duration::from_secs_f64((rtt - self.other_delays_s()).max(SHORTEST_RTT) / 2.0);
            scenario.links[link].down.delay = each;
            scenario.links[link].up.delay = each;
        }
        if loss.is_some() {
            let config = direction_mut(&mut scenario, self.bottleneck);
            config.channel = if lost > 0.0 {
                let mut iid = Choice::named(channel::ALL, "iid");
                iid.values.set("loss", Value::Number(lost));
                iid
            } else {
                Choice::named(channel::ALL, "none")
            };
        }
        let facts = facts_of(&scenario, &self.agents);
        if let Some(queue) = queue {
            let (packets, bytes) = match queue {
                QueueRange::Packets(_) => (limit as u64, 0),
                QueueRange::Bdp(_) => (0, bdp_bytes(&scenario, self.agents[0], &facts[0], limit)),
            };
            let config = direction_mut(&mut scenario, self.bottleneck);
            if let Some(keys) = config.queue.info.limit {
                config.queue.values.set(keys.packets, Value::Count(packets));
                config.queue.values.set(keys.bytes, Value::Bytes(bytes));
            }
        }
        (Arc::new(scenario), facts)
    }

    /// Propagation delays of the first agent's path without the slowest link, s.
    fn other_delays_s(&self) -> f64 {
        let route = &self.scenario.routes[self.agents[0]];
        let hops = route.there.iter().chain(&route.back);
        let others = hops.filter(|hop| hop.link != self.bottleneck.link);
        others.map(|hop| direction(&self.scenario, *hop).base_delay().as_secs()).sum()
    }
}

/// Returns the indices of the flows with `congestion = "external"`.
pub fn external_flows(scenario: &Scenario) -> Vec<usize> {
    let session = Session::new(Arc::new(scenario.clone()), scenario.seed, &[], Observation::default());
    (0..scenario.flows.len()).filter(|flow| session.takes_orders(*flow)).collect()
}

/// Adds a flow on the route of the flow `first`, with a name that no other flow has. Returns its index.
fn add(scenario: &mut Scenario, first: usize, flow: impl FnOnce(&Scenario) -> Flow, name: &str) -> usize {
    let mut flow = flow(scenario);
    let index = scenario.flows.len();
    flow.name = format!("{name}.{index}");
    scenario.flows.push(flow);
    scenario.routes.push(scenario.routes[first].clone());
    index
}

fn first_flow(first: usize) -> impl FnOnce(&Scenario) -> Flow {
    move |scenario| scenario.flows[first].clone()
}

/// Slowest hop from the flow's source to its destination.
fn slowest(scenario: &Scenario, flow: usize) -> Hop {
    let rate = |hop: &Hop| direction(scenario, *hop).service.mean_rate().bps();
    let hops = scenario.routes[flow].there.iter();
    hops.min_by_key(|hop| rate(hop)).copied().unwrap_or(Hop { link: 0, is_down: true })
}

fn facts_of(scenario: &Scenario, agents: &[usize]) -> Vec<PathFacts> {
    agents.iter().map(|agent| facts(scenario, *agent)).collect()
}

fn facts(scenario: &Scenario, agent: usize) -> PathFacts {
    let (flow, route) = (&scenario.flows[agent], &scenario.routes[agent]);
    let segment = match &flow.traffic {
        Traffic::Tcp { source, .. } => f64::from(source.segment.max(1)),
        Traffic::Datagrams { packet, .. } => f64::from(*packet),
    };
    let headers = flow.header_bytes(scenario.headers) as f64;
    let bps = |hop: &Hop| direction(scenario, *hop).service.mean_rate().bps().max(1) as f64;
    let one_way = |hops: &[Hop], bytes: f64| -> f64 {
        let times =
            hops.iter().map(|hop| direction(scenario, *hop).base_delay().as_secs() + 8.0 * bytes / bps(hop));
        times.sum::<f64>() + flow.extra_delay.as_secs()
    };
    PathFacts {
        capacity_bps: route.there.iter().map(bps).fold(f64::INFINITY, f64::min),
        base_rtt_s: one_way(&route.there, segment + headers) + one_way(&route.back, headers),
        segment_bytes: segment,
    }
}

/// Queue limit of this many bandwidth-delay products, bytes. The rule is the rule of scenarios (`queue = "1 bdp"`): the
/// product of the rate and the propagation delay; for one product or more, at least ten packets; for less, a share of
/// ten packets.
fn bdp_bytes(scenario: &Scenario, agent: usize, facts: &PathFacts, products: f64) -> u64 {
    let route = &scenario.routes[agent];
    let hops = route.there.iter().chain(&route.back);
    let rtt: f64 = hops.map(|hop| direction(scenario, *hop).base_delay().as_secs()).sum();
    let headers = scenario.flows[agent].header_bytes(scenario.headers) as f64;
    let least = products.min(1.0) * LEAST_QUEUE * (facts.segment_bytes + headers);
    ((products * facts.capacity_bps * rtt / 8.0).max(least) + 0.5) as u64
}

fn direction(scenario: &Scenario, hop: Hop) -> &Config {
    let link = &scenario.links[hop.link];
    if hop.is_down { &link.down } else { &link.up }
}

fn direction_mut(scenario: &mut Scenario, hop: Hop) -> &mut Config {
    let link = &mut scenario.links[hop.link];
    if hop.is_down { &mut link.down } else { &mut link.up }
}
