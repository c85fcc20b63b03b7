//! Commands that only Linux has, on other systems: they say so, and what there is instead.

use crate::failure::Failure;
use clap::{Args, Subcommand};
use std::ffi::OsString;

/// What Linux does with real packets.
#[derive(Subcommand)]
pub(crate) enum LinuxOnly {
    /// Our TCP on the wire (Linux only)
    Endpoint(Rest),
    /// The receiver's mechanisms on a live host (Linux only)
    Agent(Rest),
    /// What this machine lacks for emulate, endpoint and agent (Linux only)
    Doctor(Rest),
    /// Real programs on a path (Linux only)
    Emulate(Rest),
    /// A scenario simulated, and emulated with real TCP (Linux only)
    Crosscheck(Rest),
}

/// Whatever stands after the command's name.
#[derive(Args)]
pub(crate) struct Rest {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

impl LinuxOnly {
    /// Never does it.
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let (name, needed) = match self {
            LinuxOnly::Endpoint(_) => ("endpoint", "a TUN device that the kernel routes to"),
            LinuxOnly::Agent(_) => ("agent", "netfilter, through which the kernel's ACKs pass"),
            LinuxOnly::Doctor(_) => {
                ("doctor", "nothing itself, but looks for what emulate, endpoint and agent need")
            }
            LinuxOnly::Emulate(_) => ("emulate", "network namespaces and TUN devices"),
            LinuxOnly::Crosscheck(_) => {
                ("crosscheck", "network namespaces, TUN devices and the kernel's TCP")
            }
        };
        Err(Failure::bad_input(
            format!("`lasthop {name}` works on Linux only: it needs {needed}"),
            "what simulates works here: run, compare, reproduce, check, show, list, fading, bench",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Invocation {
        #[command(subcommand)]
        command: LinuxOnly,
    }

    /// As they are called where they work.
    const CALLS: [&str; 5] = [
        "endpoint serve 8080 --file README.md --loss 1%",
        "agent run --window dynamic",
        "doctor",
        "emulate umts --out run -- iperf3 -c {server} -R",
        "crosscheck umts --runs 3",
    ];

    #[test]
    fn every_call_that_works_on_linux_is_answered_with_one_sentence_that_names_it() {
        for call in CALLS {
            let line = Invocation::try_parse_from(std::iter::once("lasthop").chain(call.split(' ')));
            let line = line.unwrap_or_else(|error| panic!("{call}: {error}"));
            let failure = line.command.execute().expect_err(call);
            let name = call.split(' ').next().unwrap_or_default();
            let told = failure.told();
            assert!(told.contains(&format!("`lasthop {name}` works on Linux only")), "{told}");
            assert!(told.contains("run, compare, reproduce"), "{told}");
            assert_eq!(failure.status(), crate::failure::BAD_INPUT);
        }
    }
}
