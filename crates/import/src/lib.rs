//! Import of recordings of a path as scenarios: rates over time, pings, packet captures, records of losses.
//!
//! [`read`] detects a file's [`Format`] and returns the results ([`Found`]). [`Found::scenario`] writes a scenario in which
//! each value is marked as measured, derived, given or assumed. Files are read sequentially, once (captures twice),
//! with bounded memory.
//!
//! * `detect`: format of a file.
//! * `rates`: throughput over time (CSV, Mahimahi, iperf3) as opportunities to send.
//! * `cellreplay`: CellReplay's light and heavy traces.
//! * `ping`: round trips and losses.
//! * `capture`: one TCP connection of a pcap or pcapng file.
//! * `losses`: records of losses; Gilbert's and Gilbert and Elliott's models by maximum likelihood.
//! * `found`: results, and the scenario's text.
//!
//! This crate prints nothing and does not choose file names.

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

/// The user's options for an import.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Format; `None`: detected.
    pub format: Option<Format>,
    /// File of the other direction.
    pub up: Option<PathBuf>,
    /// Table: column of time, by name or number from 1.
    pub time: Option<String>,
    /// Table: unit of time; `s`, `ms`, `us` or `ns`.
    pub time_unit: Option<String>,
    /// Table: column of the rate.
    pub rate: Option<String>,
    /// Table: unit of the rate.
    pub unit: Option<String>,
    /// Capture: the connection, by its number in the order of size, or by a part of its addresses and ports.
    pub flow: Option<String>,
    /// Capture: a trace of delivered bytes instead of one rate.
    pub varying: bool,
    /// List of lost packets: number of all packets.
    pub packets: Option<u64>,
    /// Loss model; `None`: the best by BIC.
    pub model: Option<losses::Model>,
    /// Values that the recording may lack.
    pub assumed: Assumed,
}

/// Values for quantities that a recording lacks, as in a scenario; the recording's own values take precedence.
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

/// An error, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error and its place.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), help: help.into() }
    }

    /// An error of reading or writing a file.
    pub(crate) fn io(what: &str, error: &io::Error) -> Refusal {
        Refusal::new(
            format!("{what}: {error}"),
            "check that the file exists and is readable, and that the disk is not full",
        )
    }
}

/// Reads a recording. Traces are written to `down` and `up`, in Mahimahi's format.
///
/// # Errors
/// If the recording is unusable or contradicts the options.
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
                    format!("{} does not take a second file for the other direction", format.name()),
                    "leave --up out; only tables of rates and Mahimahi's traces take it",
                ));
            }
        }
        .map_err(named)?;
        found.up = there.down;
        found.says.extend(there.says.into_iter().map(|line| format!("up: {line}")));
    }
    Ok(found)
}
