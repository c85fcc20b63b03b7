//! The commands, one file each.

#[cfg(target_os = "linux")]
mod agent;
mod bench;
mod check;
mod compare;
#[cfg(target_os = "linux")]
mod crosscheck;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(target_os = "linux")]
mod endpoint;
mod fading;
mod list;
mod reproduce;
mod run;
mod schema;
mod show;

use crate::failure::Failure;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Compare(compare::Compare),
    Reproduce(reproduce::Reproduce),
    Check(check::Check),
    Show(show::Show),
    List(list::List),
    Schema(schema::Schema),
    Bench(bench::Bench),
    Fading(fading::Fading),
    #[cfg(target_os = "linux")]
    #[command(subcommand)]
    Endpoint(endpoint::Endpoint),
    #[cfg(target_os = "linux")]
    Agent(agent::Agent),
    #[cfg(target_os = "linux")]
    Doctor(doctor::Doctor),
    #[cfg(target_os = "linux")]
    Emulate(emulate::Emulate),
    #[cfg(target_os = "linux")]
    Crosscheck(crosscheck::Crosscheck),
}

impl Command {
    /// Does it.
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            Command::Run(run) => run.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::Reproduce(reproduce) => reproduce.execute(),
            Command::Check(check) => check.execute(),
            Command::Show(show) => show.execute(),
            Command::List(list) => list.execute(),
            Command::Schema(schema) => schema.execute(),
            Command::Bench(bench) => bench.execute(),
            Command::Fading(fading) => fading.execute(),
            #[cfg(target_os = "linux")]
            Command::Endpoint(endpoint) => endpoint.execute(),
            #[cfg(target_os = "linux")]
            Command::Agent(agent) => agent.execute(),
            #[cfg(target_os = "linux")]
            Command::Doctor(doctor) => doctor.execute(),
            #[cfg(target_os = "linux")]
            Command::Emulate(emulate) => emulate.execute(),
            #[cfg(target_os = "linux")]
            Command::Crosscheck(crosscheck) => crosscheck.execute(),
        }
    }
}
