//! Converts a scenario to a path for real traffic, and the scenario's TCP flows to byte streams.

use crate::failure::Failure;
use crate::output;
use lasthop_base::Duration;
use lasthop_emu::emulation::{Charge, EmulationPlan, End};
use lasthop_emu::trial::{StreamResult, TrialOutcome, TrialStream};
use lasthop_lab::trials;
use lasthop_os::{control_group, namespace, nat};
use lasthop_scenario::{Flow, Headers, Scenario, Traffic, Transfer};
use lasthop_sim::assemble::{EXTERNAL_FLOWS, assemble_external, replaced_flows};
use lasthop_tcp::Config;

/// Returns the index of the flow that real traffic replaces: the first TCP flow.
pub(crate) fn replaced(scenario: &Scenario) -> Result<usize, Failure> {
    if let Some((node, choice)) = scenario.middlebox_nodes().next() {
        let (node, name) = (&scenario.nodes[node], choice.info.name);
        return Err(Failure::bad_input(
            format!(
                "real traffic cannot pass the middlebox `{name}` at node `{node}`, which handles simulated TCP only"
            ),
            format!("remove the middlebox: --set node.{node}.middlebox=none"),
        ));
    }
    scenario.flows.iter().position(Flow::is_tcp).ok_or_else(|| {
        Failure::bad_input(
            "the scenario has no TCP flow that real traffic could replace",
            "add a flow: [flow.bulk] with from = the server's node and to = the client's node",
        )
    })
}

/// Returns the plan of an emulation that carries real traffic over the scenario's links. Flows that real traffic does
/// not replace are simulated. No time series are recorded.
pub(crate) fn plan(scenario: &Scenario, replaced: usize, seed: u64) -> EmulationPlan {
    let pipes = scenario.links.iter();
    EmulationPlan {
        engine: assemble_external(scenario, replaced, seed),
        external_flows: EXTERNAL_FLOWS as u32,
        charge: match scenario.headers {
            Headers::Real => Charge::Real,
            Headers::None => Charge::Payload(0),
            Headers::Nominal(bytes) => Charge::Payload(bytes),
        },
        spin: Duration::ZERO,
        sample: None,
        pipes: pipes.flat_map(|link| ["down", "up"].map(|side| format!("{} {side}", link.name))).collect(),
    }
}

pub(crate) struct CarriedFlows {
    /// Index of the flow whose route the real traffic takes.
    pub(crate) replaced: usize,
    /// Indices, in the scenario's list of flows, of the flows that real traffic replaces.
    pub(crate) flows: Vec<usize>,
    /// Byte streams that real TCP transfers for the flows, in the order of `flows`.
    pub(crate) streams: Vec<TrialStream>,
    pub(crate) configs: Vec<[Config; 2]>,
    /// MTU at which the kernel's segments have the scenario's payload size, bytes.
    pub(crate) mtu: u16,
}

/// Returns all TCP flows between the two nodes of the first TCP flow.
pub(crate) fn carried_flows(scenario: &Scenario) -> Result<CarriedFlows, Failure> {
    let replaced = replaced(scenario)?;
    let flows = replaced_flows(scenario, replaced);
    let server = scenario.flows[replaced].from;
    let (mut streams, mut configs) = (Vec::new(), Vec::new());
    for flow in flows.iter().map(|flow| &scenario.flows[*flow]) {
        let Traffic::Tcp { transfer, source, destination } = &flow.traffic else { continue };
        streams.push(TrialStream {
            sender: if flow.from == server { End::Server } else { End::Client },
            start: flow.start,
            bytes: match transfer {
                Transfer::Bulk => None,
                Transfer::Bytes(bytes) => Some(*bytes),
                Transfer::Fed => {
                    return Err(Failure::bad_input(
                        format!("flow.{}: real traffic cannot have a transfer that is external", flow.name),
                        "set `transfer` to \"bulk\" or to a size, such as \"1 MB\"",
                    ));
                }
                Transfer::Exchanges(_)
                | Transfer::OnDemand { .. }
                | Transfer::Pauses(_)
                | Transfer::Drawn { .. } => {
                    return Err(Failure::bad_input(
                        format!(
                            "flow.{}: real traffic cannot have requests, pauses, a write rate or random sizes",
                            flow.name
                        ),
                        "remove `response`, `on`, `write_rate` and `sizes`, or simulate the flow with `lasthop run`",
                    ));
                }
            },
        });
        configs.push([Config::clone(source), Config::clone(destination)]);
    }
    let mtu = mtu(&configs)?;
    Ok(CarriedFlows { replaced, flows, streams, configs, mtu })
}

/// Length of the IPv4 and TCP headers without options, bytes.
const HEADERS: u32 = 40;
/// Length of the padded TCP timestamps option, bytes.
const TIMESTAMPS: u32 = 12;

fn mtu(configs: &[[Config; 2]]) -> Result<u16, Failure> {
    let packet = |[source, destination]: &[Config; 2]| {
        let stamps = if source.timestamps && destination.timestamps { TIMESTAMPS } else { 0 };
        source.segment + HEADERS + stamps
    };
    let packets: Vec<u32> = configs.iter().map(packet).collect();
    match packets.first().and_then(|first| u16::try_from(*first).ok()) {
        Some(mtu) if mtu >= 128 && packets.iter().all(|other| *other == packets[0]) => Ok(mtu),
        _ => Err(Failure::bad_input(
            format!("real traffic cannot have packets of these sizes: {packets:?} bytes"),
            "give all flows the same segment size, from 88 to 65000 bytes: --set segment=1448bytes",
        )),
    }
}

pub(crate) fn streams(outcome: TrialOutcome) -> Vec<trials::StreamOutcome> {
    let stream = |one: StreamResult| trials::StreamOutcome {
        received_bytes: one.received,
        active: one.active,
        is_complete: one.is_complete,
        retransmissions: one.retransmissions,
        timeouts: one.timeouts,
        srtts_ms: one.srtts_ms,
    };
    outcome.streams.into_iter().map(stream).collect()
}

pub(crate) fn remove_leftovers() {
    for name in namespace::remove_stale() {
        output::note(&format!("removed the namespace `{name}`, left by a killed run"));
    }
    control_group::remove_stale();
    // `remove_stale` keeps the netfilter rules of a run that is still in progress, and no message is printed about
    // these rules.
    if let Ok(true) = nat::remove_stale() {
        output::note("removed the netfilter rules `lasthop`, left by a killed run");
    }
}

/// Creates the error for a sender whose packets were late in `runs` runs. `last` is the outcome of the last of these
/// runs.
pub(crate) fn late_packets(sender: &impl std::fmt::Display, last: &TrialOutcome, runs: u32) -> Failure {
    let load = last.load.map_or(String::new(), |load| format!(", {:.0} % idle", load.idle * 100.0));
    Failure::invalid(
        format!(
            "{sender}: packets were late in {runs} runs; in the last run: {}{load}",
            last.complaints.join("; ")
        ),
        "repeat on an idle machine, as root, or at a lower rate",
    )
}
