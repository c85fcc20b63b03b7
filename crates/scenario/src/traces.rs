//! Trace files: recorded link rates.

use crate::problem::Problem;
use crate::reader::Reader;
use crate::ready;
use crate::source::{Source, Span};
use lasthop_net::service::{Trace, TraceError};
use std::sync::Arc;

/// Largest trace read, bytes.
const LARGEST: u64 = 256 << 20;

/// Reads the trace that `key` names at `place`.
pub(crate) fn read(reader: &Reader<'_>, key: &str, name: &str, place: Span) -> Result<Arc<Trace>, Problem> {
    let refuse = |why: String| {
        reader.problem(place, format!("{key}: {why}")).help(
            "a trace is a file in Mahimahi's format: one time in whole milliseconds a line, not decreasing",
        )
    };
    if let Some(ready) = name.strip_prefix(ready::TRACE_PREFIX) {
        let Some(text) = ready::trace(ready) else {
            let known = ready::trace_names();
            return Err(reader
                .problem(place, format!("{key}: no ready trace is called `{name}`"))
                .help(format!("the ready traces are {}", known.join(", "))));
        };
        return Trace::parse(text).map(Arc::new).map_err(|error| refuse(format!("`{name}`: {error}")));
    }
    let bytes = reader
        .catalogue
        .files
        .read(name, LARGEST)
        .map_err(|why| refuse(format!("cannot read `{name}`: {why}")))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(refuse(format!("`{name}` is not a text file")));
    };
    Trace::parse(&text).map(Arc::new).map_err(|error| match error.line {
        0 => refuse(format!("`{name}`: {error}")),
        _ => faulty(name, &text, &error, key),
    })
}

/// The problem with one line of a trace.
fn faulty(name: &str, text: &str, error: &TraceError, key: &str) -> Problem {
    let mut start = 0;
    let mut span = 0..0;
    for line in text.split_inclusive('\n').take(error.line) {
        span = start..start + line.trim_end().len();
        start += line.len();
    }
    let source = Source::new(name, text);
    Problem::new(&source, span, format!("{key}: {error}"))
        .help("each line is a time in whole milliseconds, not before the line above; the last one is above 0")
}
