//! Imports recordings of a network path as scenarios: rates over time, pings, packet captures, records of losses.
//!
//! [`read`] detects the [`RecordingFormat`] of a file and returns the results ([`ImportResult`]).
//! [`ImportResult::scenario`] writes a scenario in which each value is marked as measured, derived, given or assumed.
//! Files are read sequentially and only once (captures twice), with a bounded amount of memory.
//!
//! * `detect`: detection of a file's format.
//! * `rates`: converts throughput over time (CSV, Mahimahi, iperf3) to Mahimahi traces.
//! * `cellreplay`: light and heavy traces of CellReplay.
//! * `ping`: round-trip times and losses.
//! * `capture`: measures one TCP connection in a pcap or pcapng file.
//! * `losses`: reads records of losses, and fits the Gilbert model and the Gilbert-Elliott model by maximum likelihood.
//! * `import_result`: holds the results and writes the text of the scenario.
//!
//! This crate prints nothing and creates no files. The caller passes the writers for the traces.

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

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Format of the recording. If `None`, the format is detected.
    pub format: Option<RecordingFormat>,
    /// Recording of the uplink, if it is in a separate file.
    pub up: Option<PathBuf>,
    /// For tables: column of the time, by name or by number from 1.
    pub time: Option<String>,
    /// For tables: unit of the time, `s`, `ms`, `us` or `ns`.
    pub time_unit: Option<String>,
    /// For tables: column of the rate, by name or by number from 1.
    pub rate: Option<String>,
    /// For tables: unit of the rate.
    pub unit: Option<String>,
    /// For captures: the connection to measure. Either a number (1 is the largest connection), or a part of the text of
    /// its addresses and ports.
    pub flow: Option<String>,
    /// For captures: whether to write a trace of delivered bytes instead of one rate.
    pub varying: bool,
    /// For a list of lost packets: the number of all packets.
    pub packets: Option<u64>,
    /// Loss model to fit. If `None`, the model with the best BIC is used.
    pub model: Option<losses::LossModel>,
    /// Values to use if the recording lacks them.
    pub assumed: Assumed,
}

/// Values for quantities that a recording lacks, in the syntax of a scenario. Values of the recording take precedence.
#[derive(Clone, Debug, Default)]
pub struct Assumed {
    /// Rate of the downlink.
    pub rate: Option<String>,
    /// Rate of the uplink.
    pub up: Option<String>,
    /// Round-trip time without queueing.
    pub rtt: Option<lasthop_base::Duration>,
    /// Queue of the downlink.
    pub queue: Option<String>,
}

/// An error of an import and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Description of the error, with its place in the recording.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl ImportError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> ImportError {
        ImportError { message: message.into(), help: help.into() }
    }

    /// Creates the error for a failed read or write of a file.
    pub(crate) fn io(what: &str, error: &io::Error) -> ImportError {
        ImportError::new(
            format!("{what}: {error}"),
            "check that the file exists and is readable, and that the disk is not full",
        )
    }
}

/// Reads a recording. Writes traces of the downlink's and the uplink's rates to `down` and `up`, in Mahimahi's format.
///
/// # Errors
/// Fails if the recording cannot be used or contradicts the options.
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
