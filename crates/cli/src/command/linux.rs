//! Commands that need Linux: TUN devices, namespaces, netfilter. On other systems, `elsewhere.rs` replaces this module.

use super::{agent, crosscheck, emulate, endpoint, tidy};
use crate::failure::Failure;
use clap::Subcommand;

/// Commands for real packets.
#[derive(Subcommand)]
pub(crate) enum LinuxOnly {
    #[command(subcommand)]
    Endpoint(endpoint::Endpoint),
    Agent(agent::Agent),
    Emulate(emulate::Actions),
    Crosscheck(crosscheck::Crosscheck),
    #[command(name = TIDY, hide = true)]
    Tidy(tidy::Tidy),
}

/// Name of the hidden command that `emulate` starts. This command undoes the changes of `emulate` after a kill.
pub(crate) const TIDY: &str = "tidy";

impl LinuxOnly {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            LinuxOnly::Endpoint(endpoint) => endpoint.execute(),
            LinuxOnly::Agent(agent) => agent.execute(),
            LinuxOnly::Emulate(emulate) => emulate.execute(),
            LinuxOnly::Crosscheck(crosscheck) => crosscheck.execute(),
            LinuxOnly::Tidy(tidy) => tidy.execute(),
        }
    }
}
