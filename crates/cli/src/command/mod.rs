//! The commands of the program, one file each.

mod advise;
#[cfg(target_os = "linux")]
mod agent;
mod arrivals;
mod bench;
mod check;
mod compare;
mod completion;
#[cfg(target_os = "linux")]
mod crosscheck;
mod doctor;
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(target_os = "linux")]
mod endpoint;
mod explain;
mod fading;
mod help;
mod import;
mod lab;
#[cfg(target_os = "linux")]
mod linux;
mod list;
mod man;
mod precision;
mod reproduce;
mod results;
mod run;
mod schema;
mod show;
mod sweep;
#[cfg(target_os = "linux")]
mod tidy;

#[cfg(target_os = "linux")]
pub(crate) use emulate::run_unprivileged;

use crate::failure::Failure;
use clap::Subcommand;
#[cfg(not(target_os = "linux"))]
use elsewhere::LinuxOnly;
#[cfg(target_os = "linux")]
use linux::LinuxOnly;

/// Command to execute.
#[derive(Subcommand)]
#[allow(clippy::large_enum_variant, reason = "the program creates only one")]
pub(crate) enum Command {
    Run(run::Run),
    Compare(compare::Compare),
    Advise(advise::Advise),
    Import(import::Import),
    Sweep(sweep::Sweep),
    Results(results::Results),
    Reproduce(reproduce::Reproduce),
    Check(check::Check),
    Show(show::Show),
    List(list::List),
    Schema(schema::Schema),
    Bench(bench::Bench),
    Fading(fading::Fading),
    Arrivals(arrivals::Arrivals),
    Explain(explain::Explain),
    Help(help::Help),
    Lab(lab::Lab),
    Doctor(doctor::Doctor),
    #[command(flatten)]
    LinuxOnly(LinuxOnly),
    Completion(completion::Completion),
    Man(man::Man),
}

impl Command {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            Command::Run(run) => run.execute(),
            Command::Compare(compare) => compare.execute(),
            Command::Advise(advise) => advise.execute(),
            Command::Import(import) => import.execute(),
            Command::Sweep(sweep) => sweep.execute(),
            Command::Results(results) => results.execute(),
            Command::Reproduce(reproduce) => reproduce.execute(),
            Command::Check(check) => check.execute(),
            Command::Show(show) => show.execute(),
            Command::List(list) => list.execute(),
            Command::Schema(schema) => schema.execute(),
            Command::Bench(bench) => bench.execute(),
            Command::Fading(fading) => fading.execute(),
            Command::Arrivals(arrivals) => arrivals.execute(),
            Command::Explain(explain) => explain.execute(),
            Command::Help(help) => help.execute(),
            Command::Lab(lab) => lab.execute(),
            Command::Doctor(doctor) => doctor.execute(),
            Command::LinuxOnly(command) => command.execute(),
            Command::Completion(completion) => completion.execute(),
            Command::Man(man) => man.execute(),
        }
    }
}
