//! Candidates: changes (cures) that may improve TCP, grouped by the site that deploys them. Each candidate is a list of
//! scenario keys to change.

use super::ranking::ScoredCandidate;
use super::scenarios::belongs_to;
use super::{LinkDirection, PathParameters};
use lasthop_base::{Duration, Value};
use lasthop_net::link::Config;
use lasthop_scenario::{Flow, Hop, Scenario, Traffic};
use lasthop_tcp::profile;
use lasthop_tcp::sender::pacing;

/// Site at which a cure is deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeploymentSite {
    /// The TCP sender.
    Sender,
    /// The TCP receiver.
    Receiver,
    /// The router with the bottleneck queue.
    Router,
    /// The node that sends over the wireless hop.
    BaseStation,
    /// The link layer of the wireless hop.
    Link,
}

impl DeploymentSite {
    /// Name in `--format json`.
    pub const fn name(self) -> &'static str {
        match self {
            DeploymentSite::Sender => "sender",
            DeploymentSite::Receiver => "receiver",
            DeploymentSite::Router => "router",
            DeploymentSite::BaseStation => "base station",
            DeploymentSite::Link => "link",
        }
    }

    /// Party that deploys a cure at this site.
    pub const fn operator(self) -> &'static str {
        match self {
            DeploymentSite::Sender => "the server",
            DeploymentSite::Receiver => "the client's system",
            DeploymentSite::Router => "the operator of the bottleneck queue",
            DeploymentSite::BaseStation => "the access network",
            DeploymentSite::Link => "the vendor of both link ends",
        }
    }
}

/// A candidate: one change that may improve TCP (a cure), or a pair of cures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Display name.
    pub name: String,
    /// Sites at which the cure is deployed. The list is empty for the unchanged path.
    pub sites: Vec<DeploymentSite>,
    /// Keys and values to change, in the form that `--set` takes.
    pub set: Vec<(String, String)>,
    /// Names of the two cures of a pair. The list is empty for a single cure.
    pub parts: Vec<String>,
    /// Options with which `lasthop agent run` applies the cure to live traffic. `None` if the agent cannot apply the
    /// cure.
    pub agent: Option<&'static str>,
}

/// The candidate without changes, which is the baseline of the comparison.
pub fn unchanged() -> Candidate {
    Candidate {
        name: "unchanged path".into(),
        sites: Vec::new(),
        set: Vec::new(),
        parts: Vec::new(),
        agent: None,
    }
}

/// Share of time, %. If the receive window limits the flow for at least this share, a larger receive buffer becomes a
/// candidate.
const TOO_SMALL_PCT: f64 = 10.0;
/// Length of a queue in bandwidth-delay products. For a queue longer than this, a shorter queue becomes a candidate.
const DEEP: f64 = 1.5;
/// Length of a queue in bandwidth-delay products. For a queue shorter than this, a longer queue becomes a candidate.
const SHORT: f64 = 0.75;

/// Middleboxes to try at the base station. A candidate replaces the middlebox that the base station has in the user's
/// scenario.
const BOXES: [&str; 3] = ["snoop", "snoop_sack", "split"];

/// Congestion controls to try: value of the scenario key, and display name.
const CONTROLS: [(&str, &str); 6] = [
    ("cubic", "CUBIC"),
    ("bbr", "BBRv1"),
    ("bbr3", "BBRv3"),
    ("westwood_plus", "Westwood+"),
    ("veno", "Veno"),
    ("reno", "Reno"),
];

/// Further congestion controls, tried only if the user asks for cures at the sender: value of the scenario key, and
/// display name. The first seven (Vegas to Hybla) are modules of Linux.
const FURTHER_CONTROLS: [(&str, &str); 11] = [
    ("vegas", "Vegas"),
    ("htcp", "H-TCP"),
    ("illinois", "Illinois"),
    ("bic", "BIC"),
    ("yeah", "YeAH"),
    ("scalable", "Scalable TCP"),
    ("hybla", "Hybla"),
    ("westwood", "Westwood"),
    ("compound", "Compound TCP"),
    ("ledbat_plus_plus", "LEDBAT++"),
    ("copa", "Copa"),
];

/// Queue disciplines to try at the router: value of the scenario key, and display name.
const ROUTERS: [(&str, &str); 4] = [
    ("codel", "active queue management (CoDel)"),
    ("pie", "active queue management (PIE)"),
    ("fq_codel", "per-flow active queue management (FQ-CoDel)"),
    ("cake", "per-flow active queue management (CAKE)"),
];

/// Returns the cures for this path that are deployed only at `sites`. Pairs of cures are not included. An empty `sites`
/// means all sites. If `sites` includes the sender, `FURTHER_CONTROLS` are tried in addition to `CONTROLS`.
/// `rwnd_limited_pct` is the share of time in which the receive window limits the user's first flow, %.
pub fn single(
    scenario: &Scenario,
    path: &PathParameters,
    rwnd_limited_pct: f64,
    sites: &[DeploymentSite],
) -> Vec<Candidate> {
    let mut list = CandidateList { path, candidates: Vec::new() };
    let air: Vec<LossyDirection<'_>> = lossy_directions(scenario);
    list.senders(scenario, sites.contains(&DeploymentSite::Sender));
    list.receivers(rwnd_limited_pct, !air.is_empty());
    list.router(scenario);
    for air in &air {
        list.link(air);
        list.base_station(scenario, air);
    }
    list.candidates.retain(|one| sites.is_empty() || one.sites.iter().all(|site| sites.contains(site)));
    list.candidates
}

/// Returns pairs of cures. First selects the best cure of each site, among the cures whose gain over the unchanged path
/// is statistically certain. Then returns every pair of selected cures.
pub fn pairs(scored: &[ScoredCandidate<'_>]) -> Vec<Candidate> {
    let mut best: Vec<&Candidate> = Vec::new();
    for standing in scored.iter().filter(|standing| standing.surely_helps) {
        let is_free = |site: &DeploymentSite| best.iter().all(|one| !one.sites.contains(site));
        if standing.candidate.sites.iter().all(is_free) {
            best.push(standing.candidate);
        }
    }
    let mut pairs = Vec::new();
    for (at, one) in best.iter().enumerate() {
        for other in &best[at + 1..] {
            let mut sites = [one.sites.clone(), other.sites.clone()].concat();
            sites.sort_unstable();
            pairs.push(Candidate {
                name: format!("{} + {}", one.name, other.name),
                sites,
                set: [one.set.clone(), other.set.clone()].concat(),
                parts: vec![one.name.clone(), other.name.clone()],
                // Only cures at the receiver have agent options. At most one of the two cures is deployed at the
                // receiver.
                agent: one.agent.or(other.agent),
            });
        }
    }
    pairs
}

/// A link direction on the forward route whose channel loses packets.
struct LossyDirection<'a> {
    at: LinkDirection,
    config: &'a Config,
    /// Index of the node that sends in this direction.
    before: usize,
    /// Propagation delay of the link in both directions, plus the transmission time of a packet of 1500 bytes.
    round_trip: Duration,
}

fn lossy_directions(scenario: &Scenario) -> Vec<LossyDirection<'_>> {
    let first = scenario.flows.iter().position(Flow::is_tcp);
    let there = first.map(|at| &scenario.routes[at].there).into_iter().flatten();
    let has_channel = |config: &Config| config.channel.info.name != lasthop_net::channel::DEFAULT.info.name;
    let loses = |config: &Config| has_channel(config) || config.loss_plan.is_some();
    let air = |hop: &Hop| {
        let link = &scenario.links[hop.link];
        let (config, back, before) =
            if hop.is_down { (&link.down, &link.up, link.from) } else { (&link.up, &link.down, link.to) };
        let rate = config.service.mean_rate().bps().max(1) as f64;
        let transmission = Duration::from_secs_f64(1500.0 * 8.0 / rate);
        let direction = if hop.is_down { "down" } else { "up" };
        let at = LinkDirection { link: link.name.clone(), direction };
        loses(config).then(|| LossyDirection {
            at,
            config,
            before,
            round_trip: config.delay + back.delay + transmission,
        })
    };
    there.filter_map(air).collect()
}

struct CandidateList<'a> {
    path: &'a PathParameters,
    candidates: Vec<Candidate>,
}

impl CandidateList<'_> {
    fn add(&mut self, site: DeploymentSite, name: impl Into<String>, set: Vec<(String, String)>) {
        self.candidates.push(Candidate {
            name: name.into(),
            sites: vec![site],
            set,
            parts: Vec::new(),
            agent: None,
        });
    }

    fn add_with_agent(&mut self, name: &str, set: Vec<(String, String)>, agent: &'static str) {
        self.candidates.push(Candidate {
            name: name.into(),
            sites: vec![DeploymentSite::Receiver],
            set,
            parts: Vec::new(),
            agent: Some(agent),
        });
    }

    fn of_flows(&self, key: &str, value: &str) -> Vec<(String, String)> {
        self.path.flows.iter().map(|flow| (format!("flow.{flow}.{key}"), value.to_owned())).collect()
    }

    fn senders(&mut self, scenario: &Scenario, tries_all: bool) {
        let own = scenario
            .flows
            .iter()
            .filter(|flow| self.path.flows.iter().any(|own| belongs_to(&flow.name, own)));
        let source = own.into_iter().find_map(|flow| match &flow.traffic {
            Traffic::Tcp { source, .. } => Some(source),
            Traffic::Datagrams { .. } => None,
        });
        let Some(source) = source else { return };
        let present = source.congestion.info.name;
        let further = if tries_all { &FURTHER_CONTROLS[..] } else { &[] };
        for (control, name) in CONTROLS.iter().chain(further).filter(|(control, _)| *control != present) {
            let set = self.of_flows("sender.congestion", control);
            self.add(DeploymentSite::Sender, (*name).to_owned(), set);
        }
        let linux = &profile::LINUX;
        if !linux.sender.contains(&("recovery", source.recovery.info.name)) {
            let set = self.of_flows("profile", linux.name);
            self.add(DeploymentSite::Sender, "Linux sender (CUBIC, RACK-TLP, PRR)", set);
        }
        if tries_all && source.pacing.info.name == pacing::DEFAULT.info.name {
            let set = self.of_flows("sender.pacing", "linux");
            self.add(DeploymentSite::Sender, "pacing (fq of Linux)", set);
        }
    }

    fn receivers(&mut self, rwnd_limited_pct: f64, has_air: bool) {
        let set = self.of_flows("receiver.window", "dynamic");
        self.add_with_agent("dynamic receive window", set, "--window dynamic");
        if rwnd_limited_pct >= TOO_SMALL_PCT {
            let product = self.path.rate_bps as f64 / 8.0 * self.path.rtt.as_secs();
            let bytes = (4.0 * product).max(65536.0);
            let mut set = self.of_flows("receiver.window", "buffer");
            set.extend(self.of_flows("receiver.window.size", &format!("{bytes:.0} bytes")));
            self.add(
                DeploymentSite::Receiver,
                format!("receive buffer of 4 BDP ({:.0} KB)", bytes / 1e3),
                set,
            );
        }
        if has_air {
            let mut set = self.of_flows("receiver.ack_splitting", "split");
            set.extend(self.of_flows("receiver.loss_discrimination", "rtt"));
            self.add_with_agent(
                "ACK splitting (loss discrimination by RTT)",
                set,
                "--acks split --loss-discrimination rtt",
            );
            let set = self.of_flows("receiver.ack_splitting", "copies");
            self.add_with_agent("two copies of each ACK", set, "--acks copies");
        }
    }

    fn router(&mut self, scenario: &Scenario) {
        let LinkDirection { link, direction } = &self.path.bottleneck;
        let Some(link) = scenario.links.iter().find(|one| one.name == *link) else { return };
        let queue = if *direction == "down" { &link.down.queue } else { &link.up.queue };
        let key = self.path.bottleneck.key("queue");
        let value = |name: &str| {
            queue.values.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| amount(value))
        };
        let product = self.path.rate_bps as f64 / 8.0 * self.path.rtt.as_secs();
        let (packets, bytes) = (value("packets") * 1500.0, value("bytes"));
        // A queue without a limit counts as infinitely deep.
        let limits = [packets, bytes].into_iter().filter(|limit| *limit > 0.0);
        let depth = limits.fold(f64::INFINITY, f64::min) / product.max(1.0);
        let is_managed = queue.info.limit.is_none();
        if !is_managed && depth > DEEP {
            self.add(DeploymentSite::Router, "shorter queue (1 BDP)", vec![(key.clone(), "1 bdp".into())]);
        }
        if !is_managed && depth < SHORT {
            self.add(DeploymentSite::Router, "longer queue (1 BDP)", vec![(key.clone(), "1 bdp".into())]);
        }
        for (name, label) in ROUTERS.iter().filter(|(name, _)| queue.info.name != *name) {
            self.add(DeploymentSite::Router, *label, vec![(key.clone(), (*name).to_owned())]);
        }
    }

    fn link(&mut self, air: &LossyDirection<'_>) {
        let key = air.at.key("arq");
        let arq = &air.config.arq;
        let number =
            |name: &str| arq.values.iter().find(|(known, _)| *known == name).map(|(_, value)| amount(value));
        if arq.info.name == lasthop_net::arq::DEFAULT.info.name {
            let set = vec![
                (key.clone(), "repeat".into()),
                (format!("{key}.transmissions"), "4".into()),
                (format!("{key}.delay"), format!("{:.6} s", air.round_trip.as_secs())),
            ];
            self.add(DeploymentSite::Link, "link-layer ARQ (up to 4 transmissions)", set);
            return;
        }
        let is_unacknowledged = |value: &Value| matches!(value, Value::Word("um"));
        if arq.values.iter().any(|(name, value)| name == "mode" && is_unacknowledged(value)) {
            let set = vec![(format!("{key}.mode"), "am".into())];
            self.add(DeploymentSite::Link, "RLC acknowledged mode", set);
        }
        if let Some(transmissions) = number("transmissions") {
            let more = transmissions * 2.0;
            let set = vec![(format!("{key}.transmissions"), format!("{more:.0}"))];
            self.add(
                DeploymentSite::Link,
                format!("{more:.0} link transmissions instead of {transmissions:.0}"),
                set,
            );
        } else if let Some(retransmissions) = number("retransmissions") {
            let more = (retransmissions * 2.0).max(5.0);
            let set = vec![(format!("{key}.retransmissions"), format!("{more:.0}"))];
            let name = format!("{more:.0} RLC retransmissions instead of {retransmissions:.0}");
            self.add(DeploymentSite::Link, name, set);
        }
    }

    fn base_station(&mut self, scenario: &Scenario, air: &LossyDirection<'_>) {
        let ends = |node: usize| scenario.flows.iter().any(|flow| flow.from == node || flow.to == node);
        if ends(air.before) {
            return;
        }
        let node = &scenario.nodes[air.before];
        let present = scenario.middleboxes[air.before].info.name;
        for name in BOXES.iter().filter(|name| **name != present) {
            let set = vec![(format!("node.{node}.middlebox"), (*name).to_owned())];
            self.add(DeploymentSite::BaseStation, format!("{name} at `{node}`"), set);
        }
    }
}

/// Returns the value of a mechanism's parameter as a number; 0 if the value is not a number.
fn amount(value: &Value) -> f64 {
    match value {
        Value::Count(count) | Value::Bytes(count) => *count as f64,
        Value::Number(number) | Value::Bdp(number) => *number,
        _ => 0.0,
    }
}
