//! Command `lasthop completion SHELL`: prints a script for completion of commands, flags and names.

use crate::CommandLine;
use crate::failure::Failure;
use crate::output;
use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::aot;

const PLACES: &str = "\
To install the script:
  lasthop completion bash > ~/.local/share/bash-completion/completions/lasthop
  lasthop completion zsh > _lasthop        # in a directory of $fpath
  lasthop completion fish > ~/.config/fish/completions/lasthop.fish
  lasthop completion powershell >> $PROFILE";

/// Print a shell script that completes commands, flags and names
#[derive(Args)]
#[command(after_help = PLACES)]
pub(crate) struct Completion {
    /// Shell to complete in
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
#[expect(clippy::enum_variant_names, reason = "PowerShell is the shell's name")]
enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

impl Completion {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let shell = match self.shell {
            Shell::Bash => aot::Shell::Bash,
            Shell::Zsh => aot::Shell::Zsh,
            Shell::Fish => aot::Shell::Fish,
            Shell::PowerShell => aot::Shell::PowerShell,
        };
        let mut script = Vec::new();
        aot::generate(shell, &mut CommandLine::command(), "lasthop", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
