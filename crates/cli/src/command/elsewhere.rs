//! Commands that need Linux, for other systems. Each command fails with a message that names the commands that work.

use crate::failure::Failure;
use clap::{Args, Subcommand};
use std::ffi::OsString;

/// Commands for real packets.
#[derive(Subcommand)]
pub(crate) enum LinuxOnly {
    /// Run Lasthop's TCP on the wire (Linux only)
    Endpoint(Rest),
    /// Run the receiver's mechanisms on a live host (Linux only)
    Agent(Rest),
    /// Run real programs on an emulated path (Linux only)
    Emulate(Rest),
    /// Simulate a scenario and emulate it with real TCP (Linux only)
    Crosscheck(Rest),
}

/// All further arguments, which are ignored.
#[derive(Args)]
pub(crate) struct Rest {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

impl LinuxOnly {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let (name, needed) = match self {
            LinuxOnly::Endpoint(_) => ("endpoint", "a TUN device with a kernel route"),
            LinuxOnly::Agent(_) => ("agent", "netfilter, to rewrite the kernel's ACKs"),
            LinuxOnly::Emulate(_) => ("emulate", "network namespaces and TUN devices"),
            LinuxOnly::Crosscheck(_) => {
                ("crosscheck", "network namespaces, TUN devices and the kernel's TCP")
            }
        };
        Err(Failure::bad_input(
            format!("`lasthop {name}` works on Linux only: it needs {needed}"),
            "simulations work on this system: run, compare, reproduce, check, show, list, fading, bench",
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

    const CALLS: [&str; 4] = [
        "endpoint serve 8080 --file README.md --loss 1%",
        "agent run --window dynamic",
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
            let message = failure.render();
            assert!(message.contains(&format!("`lasthop {name}` works on Linux only")), "{message}");
            assert!(message.contains("run, compare, reproduce"), "{message}");
            assert_eq!(failure.status(), crate::failure::BAD_INPUT);
        }
    }
}
