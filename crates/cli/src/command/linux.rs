//! Commands that need Linux: TUN devices, namespaces, netfilter. `elsewhere.rs` replaces them on other systems.

use super::{agent, crosscheck, doctor, emulate, endpoint, tidy};
use crate::failure::Failure;
use clap::Subcommand;

/// Commands for real packets.
#[derive(Subcommand)]
pub(crate) enum LinuxOnly {
    #[command(subcommand)]
    Endpoint(endpoint::Endpoint),
    Agent(agent::Agent),
    Doctor(doctor::Doctor),
    Emulate(emulate::Actions),
    Crosscheck(crosscheck::Crosscheck),
    #[command(name = TIDY, hide = true)]
    Tidy(tidy::Tidy),
}

/// Hidden command that `emulate` starts to undo its changes after a kill.
pub(crate) const TIDY: &str = "tidy";

impl LinuxOnly {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            LinuxOnly::Endpoint(endpoint) => endpoint.execute(),
            LinuxOnly::Agent(agent) => agent.execute(),
            LinuxOnly::Doctor(doctor) => doctor.execute(),
            LinuxOnly::Emulate(emulate) => emulate.execute(),
            LinuxOnly::Crosscheck(crosscheck) => crosscheck.execute(),
            LinuxOnly::Tidy(tidy) => tidy.execute(),
        }
    }
}
