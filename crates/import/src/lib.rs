//! What a recording says of a path: rates over time, pings, packet captures and records of losses, as a scenario.
//!
//! [`read`] looks at a file, finds out what it is ([`Format`]) and gives what it [`Found`]; [`Found::scenario`] writes
//! it as a scenario in which everything that was measured, derived or only assumed is marked as such. Files are read
//! once from the beginning to the end (captures twice) with bounded memory.
//!
//! Where to look:
//! * `detect`: what a file is.
//! * `rates`: throughput over time (CSV, Mahimahi, iperf3) as opportunities to send.
//! * `cellreplay`: a folder of CellReplay's light and heavy traces.
//! * `ping`: round trips and losses.
//! * `capture`: one TCP connection of a pcap or pcapng file.
//! * `losses`: which packets were lost; Gilbert's and Gilbert and Elliott's models by maximum likelihood.
//! * `found`: what was found, and the scenario's text.
//!
//! What is absent: nothing here prints, exits, or names the files that are written.

mod cellreplay;
mod detect;
mod found;
mod limited;
mod opened;
mod ping;

pub mod capture;
pub mod losses;
pub mod rates;

pub use detect::Format;
pub use found::{Found, Light, Said, Service};

use opened::Opened;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the user says of a recording.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// What it is; found out if `None`.
    pub format: Option<Format>,
    /// The other direction's recording, if it has a file of its own.
    pub up: Option<PathBuf>,
    /// Of a table: the column of time, by its name or its number from 1.
    pub time: Option<String>,
    /// Of a table: the unit of time; `s`, `ms`, `us` or `ns`.
    pub time_unit: Option<String>,
    /// Of a table: the column of the rate.
    pub rate: Option<String>,
    /// Of a table: the unit of the rate.
    pub unit: Option<String>,
    /// Of a capture: the connection, by its number in the order of size, or by a part of its addresses and ports.
    pub flow: Option<String>,
    /// Of a capture: the course of what was delivered, instead of one rate.
    pub varying: bool,
    /// Of a list of lost packets: how many there were in all.
    pub packets: Option<u64>,
    /// Which model of losses is written; the best by BIC if `None`.
    pub model: Option<losses::Model>,
    /// What a recording may not tell: a link's rate, its rate up, the round-trip time, the queue, as in a scenario.
    pub assumed: Assumed,
}

/// Values for what a recording does not tell, as a scenario writes them. They are never put above what it tells.
#[derive(Clone, Debug, Default)]
pub struct Assumed {
    /// Rate down.
    pub rate: Option<String>,
    /// Rate up.
    pub up: Option<String>,
    /// Round-trip time without queueing.
    pub rtt: Option<lasthop_base::Duration>,
    /// Queue down.
    pub queue: Option<String>,
}

/// Why a recording cannot be used, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, and where.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), help: help.into() }
    }

    /// A file that could not be read or written.
    pub(crate) fn io(what: &str, error: &io::Error) -> Refusal {
        Refusal::new(format!("{what}: {error}"), "is it there, may it be read, and is the disk not full?")
    }
}

/// Reads a recording. Traces that it makes are written to `down` and `up`, in Mahimahi's format.
///
/// # Errors
/// What is wrong with the recording, or with what was asked.
pub fn read(path: &Path, ask: &Ask, down: &mut dyn Write, up: &mut dyn Write) -> Result<Found, Refusal> {
    if path.is_dir() && ask.format.is_none() {
        return cellreplay::read(path, ask, down, up);
    }
    let shown = found::plain(&path.display().to_string());
    let open = |path: &Path| {
        Opened::open(path).map_err(|error| Refusal::io(&found::plain(&path.display().to_string()), &error))
    };
    let format = match ask.format {
        Some(format) => format,
        None => detect::format(&mut open(path)?, ask)
            .map_err(|Refusal { message, help }| Refusal::new(format!("{shown}: {message}"), help))?,
    };
    let named = |Refusal { message, help }| Refusal::new(format!("{shown}: {message}"), help);
    let mut found = match format {
        Format::Csv => rates::csv::read(open(path)?, ask, down),
        Format::Mahimahi => rates::mahimahi::read(open(path)?, down),
        Format::Iperf3 => rates::iperf3::read(open(path)?, down, up),
        Format::Ping => ping::read(open(path)?, ask),
        Format::Pcap => capture::read(&mut || open(path), ask, down),
        Format::Losses => losses::read(open(path)?, ask),
    }
    .map_err(named)?;
    if let Some(other) = &ask.up {
        let shown = found::plain(&other.display().to_string());
        let named = |Refusal { message, help }| Refusal::new(format!("{shown}: {message}"), help);
        let there = match format {
            Format::Csv => rates::csv::read(open(other)?, ask, up),
            Format::Mahimahi => rates::mahimahi::read(open(other)?, up),
            _ => {
                return Err(Refusal::new(
                    format!("{} has no second file for the other direction", format.name()),
                    "leave --up out; it is for tables of rates and for Mahimahi's traces",
                ));
            }
        }
        .map_err(named)?;
        found.up = there.down;
        found.says.extend(there.says.into_iter().map(|line| format!("up: {line}")));
    }
    Ok(found)
}
