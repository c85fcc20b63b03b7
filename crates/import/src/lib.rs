//! Import of recordings of a path as scenarios: rates over time, pings, packet captures, records of losses.
//!
//! [`read`] detects a file's [`RecordingFormat`] and returns the results ([`ImportResult`]). [`ImportResult::scenario`] writes a scenario in which
//! each value is marked as measured, derived, given or assumed. Files are read sequentially, once (captures twice),
//! with bounded memory.
//!
//! * `detect`: format of a file.
//! * `rates`: throughput over time (CSV, Mahimahi, iperf3) as opportunities to send.
//! * `cellreplay`: CellReplay's light and heavy traces.
//! * `ping`: round trips and losses.
//! * `capture`: one TCP connection of a pcap or pcapng file.
//! * `losses`: records of losses; Gilbert's and Gilbert and Elliott's models by maximum likelihood.
//! * `import_result`: results, and the scenario's text.
//!
//! This crate prints nothing and does not choose file names.

mod cellreplay;
mod detect;
mod import_result;
mod limited;
mod opened;
mod ping;

pub mod capture;
pub mod losses;
pub mod rates;

pub use detect::RecordingFormat;
pub use import_result::{ImportResult, Light, Service, Sourced};

use opened::RecordingFile;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The user's options for an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Format; `None`: detected.
    pub format: Option<RecordingFormat>,
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
    pub model: Option<losses::LossModel>,
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
pub struct ImportError {
    /// The error and its place.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl ImportError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> ImportError {
        ImportError { message: message.into(), help: help.into() }
    }

    /// An error of reading or writing a file.
    pub(crate) fn io(what: &str, error: &io::Error) -> ImportError {
        ImportError::new(
            format!("{what}: {error}"),
            "check that the file exists and is readable, and that the disk is not full",
        )
    }
}

/// Reads a recording. Traces are written to `down` and `up`, in Mahimahi's format.
///
/// # Errors
/// If the recording is unusable or contradicts the options.
pub fn read(
    path: &Path,
    options: &ImportOptions,
    down: &mut dyn Write,
    up: &mut dyn Write,
) -> Result<ImportResult, ImportError> {
    if path.is_dir() && options.format.is_none() {
        return cellreplay::read(path, options, down, up);
    }
    let shown = import_result::plain(&path.display().to_string());
    let open = |path: &Path| {
        RecordingFile::open(path)
            .map_err(|error| ImportError::io(&import_result::plain(&path.display().to_string()), &error))
    };
    let format = match options.format {
        Some(format) => format,
        None => detect::format(&mut open(path)?, options)
            .map_err(|ImportError { message, help }| ImportError::new(format!("{shown}: {message}"), help))?,
    };
    let named = |ImportError { message, help }| ImportError::new(format!("{shown}: {message}"), help);
    let mut found = match format {
        RecordingFormat::Csv => rates::csv::read(open(path)?, options, down),
        RecordingFormat::Mahimahi => rates::mahimahi::read(open(path)?, down),
        RecordingFormat::Iperf3 => rates::iperf3::read(open(path)?, down, up),
        RecordingFormat::Ping => ping::read(open(path)?, options),
        RecordingFormat::Pcap => capture::read(&mut || open(path), options, down),
        RecordingFormat::Losses => losses::read(open(path)?, options),
    }
    .map_err(named)?;
    if let Some(other) = &options.up {
        let shown = import_result::plain(&other.display().to_string());
        let named = |ImportError { message, help }| ImportError::new(format!("{shown}: {message}"), help);
        let there = match format {
            RecordingFormat::Csv => rates::csv::read(open(other)?, options, up),
            RecordingFormat::Mahimahi => rates::mahimahi::read(open(other)?, up),
            _ => {
                return Err(ImportError::new(
                    format!("{} does not take a second file for the other direction", format.name()),
                    "leave --up out; only tables of rates and Mahimahi's traces take it",
                ));
            }
        }
        .map_err(named)?;
        found.up = there.down;
        found.findings.extend(there.findings.into_iter().map(|line| format!("up: {line}")));
    }
    Ok(found)
}
