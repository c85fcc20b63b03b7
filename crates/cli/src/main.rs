//! `lasthop`: the command line. Only this crate prints and exits.
//!
//! * [`command`]: one file per command (flags, calls, output).
//! * [`values`], [`source`]: flags shared by several commands, and their parsers.
//! * [`reference`](mod@reference): every key, column and field, as text and as Markdown.
//! * [`items`]: results of a reproduction as tables, JSON and CSV.
//! * [`made`]: the last chapter of a report: command line and scenario.
//! * [`failure`]: errors, their messages and exit statuses.
//! * [`output`]: standard output, and notes on standard error; [`table`] aligns columns.
//! * [`target`]: files written atomically, and files that grow.
//! * [`finished`]: consumes results of concurrent runs in order.
//! * [`path`]: a scenario as a path for real traffic; [`sender`]: the TCP implementation that carries the traffic.
//! * [`bar`]: progress on standard error; [`cost`]: estimates of time and memory; [`spoken`]: rounded times and sizes.
//!
//! Exit status: 0, 1 (failed), 2 (bad input), 3 (invalid real-time run), 130 (interrupted).

mod again;
mod bar;
mod command;
mod cost;
mod failure;
mod finished;
mod first;
mod items;
mod made;
mod output;
#[cfg(target_os = "linux")]
mod path;
mod provenance;
mod reference;
#[cfg(target_os = "linux")]
mod sender;
mod source;
mod spoken;
mod summary;
mod table;
mod target;
mod values;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use command::Command;
use failure::Failure;
use lasthop_scenario::Catalogue;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Simulate TCP over wireless last hops, deterministically.
///
/// PATH is a scenario file, the name of a ready path (`lasthop list`), or a
/// scenario in one line: rate=10Mbit/s,rtt=20ms,queue=100packets,loss=1%
#[derive(Parser)]
#[command(
    name = "lasthop",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    failure::install_style();
    #[cfg(target_os = "linux")]
    if let Some(status) = command::apart() {
        return status;
    }
    target::discard_all_when_interrupted();
    let done = match CommandLine::try_parse() {
        Ok(line) => line.command.execute(),
        Err(error) => return told_by_clap(error),
    };
    drop(target::discard_all());
    match done {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let told = failure.told();
            if !told.is_empty() {
                output::note(&told);
            }
            ExitCode::from(failure.status())
        }
    }
}

/// The `--set` that replaces an unknown flag, if the flag names a scenario key.
fn key_of_a_scenario(error: &clap::Error) -> Option<String> {
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let name = flag.strip_prefix("--")?.split('=').next()?.replace('-', "_");
    let reference = Catalogue::default().reference();
    let is_key = reference.iter().flat_map(|section| &section.keys).any(|key| key.name == name);
    is_key.then(|| format!("`{name}` is a scenario key: use --set {name}=VALUE"))
}

fn told_by_clap(mut error: clap::Error) -> ExitCode {
    if let ErrorKind::DisplayHelp | ErrorKind::DisplayVersion = error.kind() {
        // A closed pipe is not an error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if let Some(tip) = key_of_a_scenario(&error) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let text = error.render();
    let text = if std::io::stderr().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    output::note(text.trim_end());
    ExitCode::from(failure::BAD_INPUT)
}
