//! A scenario as a path for real traffic.

use crate::failure::Failure;
use lasthop_base::Duration;
use lasthop_emu::emulation::{Charge, Plan};
use lasthop_scenario::{Headers, Scenario, Traffic};
use lasthop_sim::assemble::{OUTSIDE_FLOWS, assemble_around};

/// The flow whose place the real traffic takes: the first one of TCP.
pub(crate) fn replaced(scenario: &Scenario) -> Result<usize, Failure> {
    scenario.flows.iter().position(|flow| matches!(flow.traffic, Traffic::Tcp { .. })).ok_or_else(|| {
        Failure::bad_input(
            "the scenario has no TCP flow whose place real traffic could take",
            "add one: [flow.bulk] with from = the server's node and to = the client's",
        )
    })
}

/// The scenario's links, and its other flows, around real traffic; without samples.
pub(crate) fn plan(scenario: &Scenario, replaced: usize, seed: u64) -> Plan {
    let pipes = scenario.links.iter();
    Plan {
        engine: assemble_around(scenario, replaced, seed),
        lanes: OUTSIDE_FLOWS as u32,
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
