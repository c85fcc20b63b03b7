//! Command `lasthop man [COMMAND…]`: prints manual pages.

use crate::CommandLine;
use crate::failure::Failure;
use crate::output;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use std::path::PathBuf;
use std::{fs, io};

/// Print a manual page
///
/// To read the page: lasthop man run | man -l -
#[derive(Args)]
pub(crate) struct Man {
    /// Command; the whole program by default
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory: lasthop.1, lasthop-run.1 …
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let program = CommandLine::command();
        if let Some(dir) = &self.dir {
            let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(program, dir));
            return written.map_err(|error| {
                Failure::bad_input(
                    format!("cannot write manual pages to `{}`: {error}", dir.display()),
                    "name a directory that you may write to",
                )
            });
        }
        output::print(&page(&named(program, &self.command)?)?)
    }
}

fn named(program: Command, names: &[String]) -> Result<Command, Failure> {
    let mut command = program;
    // The manual page needs the commands' display names, which `build` sets.
    command.build();
    for name in names {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            Failure::bad_input(
                format!("unknown command `{name}`"),
                if known.is_empty() {
                    format!("`{}` has no subcommands", command.get_name())
                } else {
                    format!("commands: {}", known.join(", "))
                },
            )
        })?;
    }
    Ok(command)
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    Page::new(command.clone()).title(title).render(&mut text).map_err(impossible)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Converts an error of writing the page to memory. This error never occurs.
fn impossible(error: io::Error) -> Failure {
    Failure::failed(format!("cannot generate the manual page: {error}"), "")
}
