//! `lasthop man [COMMAND…]`.

use crate::CommandLine;
use crate::failure::Failure;
use crate::output;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use std::path::PathBuf;
use std::{fs, io};

/// Print a manual page
///
/// To read it: lasthop man run | man -l -
#[derive(Args)]
pub(crate) struct Man {
    /// The command whose page it is; that of the whole program by default
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory instead: lasthop.1, lasthop-run.1 …
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
                    format!("cannot write manual pages into `{}`: {error}", dir.display()),
                    "name a directory of yours",
                )
            });
        }
        output::print(&page(&named(program, &self.command)?)?)
    }
}

/// The command of this name, called as it is on the command line.
fn named(program: Command, names: &[String]) -> Result<Command, Failure> {
    let mut command = program;
    // Only then do commands know how they are called.
    command.build();
    for name in names {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            Failure::bad_input(
                format!("there is no command `{name}`"),
                match known.is_empty() {
                    true => format!("`{}` has no commands of its own", command.get_name()),
                    false => format!("commands: {}", known.join(", ")),
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

/// Writing into memory does not fail.
fn impossible(error: io::Error) -> Failure {
    Failure::failed(format!("the manual page could not be made: {error}"), "")
}
