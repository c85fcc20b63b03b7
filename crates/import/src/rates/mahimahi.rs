//! Reads Mahimahi's traces (Winstein et al., NSDI 2013). Each line has the time, ms, at which one packet may leave the
//! queue.

use super::opportunities::MAX_OPPORTUNITIES;
use crate::ImportError;
use crate::import_result::{ImportResult, Service, Sourced, shown};
use crate::limited::BoundedLines;
use std::io::{Read, Write};

/// Largest time that a scenario's trace may have, ms.
const LATEST: u64 = 1_000_000_000_000;

/// Copies a trace and leaves out blank lines.
pub(crate) fn read(file: impl Read, out: &mut dyn Write) -> Result<ImportResult, ImportError> {
    let mut lines = BoundedLines::new(file);
    let (mut count, mut last, mut before, mut longest) = (0_u64, 0_u64, None, 0_u64);
    let mut is_full = false;
    while let Some(line) = lines.next().map_err(|error| ImportError::io("cannot be read", &error))? {
        let word = line.trim();
        if word.is_empty() {
            continue;
        }
        let help = "each line is a time in whole milliseconds, not less than the line above";
        let Some(this) = word.parse::<u64>().ok().filter(|this| *this <= LATEST) else {
            let word: String = word.chars().take(40).collect();
            return Err(ImportError::new(
                format!("line {}: `{word}` is not a whole number of milliseconds", lines.number),
                help,
            ));
        };
        if let Some(before) = before.filter(|before| this < *before) {
            return Err(ImportError::new(
                format!("line {}: {this} ms is less than the time before, {before} ms", lines.number),
                help,
            ));
        }
        if count >= MAX_OPPORTUNITIES {
            is_full = true;
            break;
        }
        longest = longest.max(this - before.unwrap_or(0));
        writeln!(out, "{this}").map_err(|error| ImportError::io("the trace cannot be written", &error))?;
        (count, last, before) = (count + 1, this, Some(this));
    }
    if count == 0 || last == 0 {
        return Err(ImportError::new(
            "the trace has no length",
            "the last time of the trace must be above 0 ms",
        ));
    }
    out.flush().map_err(|error| ImportError::io("the trace cannot be written", &error))?;
    let service = Service::Trace { opportunities: count, millis: last };
    let mut findings = vec![format!(
        "{count} delivery opportunities in {} s: mean {} Mbit/s; longest time without a delivery opportunity: \
         {longest} ms",
        shown(last as f64 / 1000.0),
        shown(service.mean() / 1e6),
    )];
    if is_full {
        findings.push(format!(
            "left out: everything after {last} ms, where the trace reaches its limit of {MAX_OPPORTUNITIES} \
             delivery opportunities"
        ));
    }
    Ok(ImportResult {
        kind: "a trace in Mahimahi's format".into(),
        down: Some(Sourced::new(service, "measured: the given trace")),
        seconds: last as f64 / 1000.0,
        findings,
        ..ImportResult::default()
    })
}
