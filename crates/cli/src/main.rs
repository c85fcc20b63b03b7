//! `lasthop`: the command line. Only this crate writes to standard output and exits the process.
//!
//! * [`command`]: one file per command (flags, calls, output).
//! * [`values`], [`scenario_args`]: flags shared by several commands, and their parsers.
//! * [`reference`](mod@reference): every key, column and field, as text and as Markdown.
//! * [`items`]: results of a reproduction as tables, JSON and CSV.
//! * [`provenance_chapter`]: the last chapter of a report: command line and scenario.
//! * [`failure`]: errors, their messages and exit statuses.
//! * [`troubleshooting`]: entries of the troubleshooting page, by error message.
//! * [`output`]: standard output, and notes on standard error.
//! * [`table`]: formats tables.
//! * [`target`]: output files, written atomically at the end or line by line during the run.
//! * [`finished`]: consumes results of concurrent runs in order.
//! * [`path`]: converts a scenario to a path for real traffic.
//! * [`real_sender`]: TCP implementation at the ends of a path for real traffic.
//! * [`bar`]: progress on standard error.
//! * [`cost`]: estimates of time and memory.
//! * [`rounded`]: rounded times and amounts of memory.
//!
//! Exit statuses: 0 (success), 1 (failed), 2 (bad input), 3 (invalid real-time run), 130 (interrupted).

mod bar;
mod command;
mod cost;
mod failure;
mod finished;
mod items;
mod output;
mod overview;
#[cfg(target_os = "linux")]
mod path;
mod picture;
mod provenance;
mod provenance_chapter;
mod qlog_folder;
#[cfg(target_os = "linux")]
mod real_sender;
mod reference;
mod rerun;
mod rounded;
mod scenario_args;
mod summary;
mod table;
mod target;
mod troubleshooting;
mod values;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use command::Command;
use failure::Failure;
use lasthop_scenario::{Catalogue, foreign};
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
    if let Some(status) = command::run_unprivileged() {
        return status;
    }
    target::discard_all_when_interrupted();
    let done = match CommandLine::try_parse() {
        Ok(line) => line.command.execute(),
        Err(error) => return print_clap_error(error),
    };
    drop(target::discard_all());
    match done {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.render();
            if !message.is_empty() {
                output::note(&message);
            }
            ExitCode::from(failure.status())
        }
    }
}

/// Returns a tip for an unknown flag. If the flag has the name of a scenario key, the tip is `--set`. If the flag has a
/// name from another tool (such as iperf3), the tip is Lasthop's flag or key with the same meaning.
fn scenario_key_tip(error: &clap::Error) -> Option<String> {
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let flag = flag.strip_prefix("--")?.split('=').next()?;
    let name = flag.replace('-', "_");
    let value = flag_value(flag).unwrap_or_else(|| "VALUE".to_owned());
    let command = given_command();
    let has = |long: &str| command.get_arguments().any(|argument| argument.get_long() == Some(long));
    let reference = Catalogue::default().reference();
    let is_key = |name: &str| reference.iter().flat_map(|section| &section.keys).any(|key| key.name == name);
    if is_key(&name) && has("set") {
        return Some(format!("`{name}` is a scenario key: use --set {name}={value}"));
    }
    let entry = foreign(&name)?;
    if let Some(long) = entry.here.iter().map(|name| name.replace('_', "-")).find(|long| has(long)) {
        return Some(format!("{}; use --{long} {value}", entry.sentence()));
    }
    let here = entry.here.iter().find(|name| is_key(name)).filter(|_| has("set"))?;
    Some(format!("{}; use --set {here}={value}", entry.sentence()))
}

/// Returns the subcommand that the arguments name, for example `agent run`.
fn given_command() -> clap::Command {
    let mut command = CommandLine::command();
    for word in std::env::args().skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        command = next.clone();
    }
    command
}

/// Returns the value that the user gave to a flag, as `--duration=10s` or `--duration 10s`.
fn flag_value(flag: &str) -> Option<String> {
    let mut given = std::env::args().skip_while(|part| {
        part.strip_prefix("--").and_then(|part| part.split('=').next()).is_none_or(|name| name != flag)
    });
    let first = given.next()?;
    match first.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => given.next().filter(|next| !next.starts_with("--")),
    }
}

fn print_clap_error(mut error: clap::Error) -> ExitCode {
    if let ErrorKind::DisplayHelp | ErrorKind::DisplayVersion = error.kind() {
        // Write errors are ignored, because a closed pipe is not a failure of the program.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if let Some(tip) = scenario_key_tip(&error) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let text = error.render();
    let text = if std::io::stderr().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    output::note(text.trim_end());
    ExitCode::from(failure::BAD_INPUT)
}
