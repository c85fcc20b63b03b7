//! Trace files: recorded link rates.

use crate::problem::Problem;
use crate::reader::Reader;
use crate::ready;
use crate::source::{Source, Span};
use lasthop_net::service::{Trace, TraceError};
use std::io::Read;
use std::path::Path;
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
    let bytes =
        contents(Path::new(name), LARGEST).map_err(|why| refuse(format!("cannot read `{name}`: {why}")))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(refuse(format!("`{name}` is not a text file")));
    };
    Trace::parse(&text).map(Arc::new).map_err(|error| match error.line {
        0 => refuse(format!("`{name}`: {error}")),
        _ => faulty(name, &text, &error, key),
    })
}

/// A whole regular file of at most `largest` bytes.
///
/// # Errors
/// One phrase.
pub(crate) fn contents(path: &Path, largest: u64) -> Result<Vec<u8>, String> {
    let words = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => error.to_string(),
    };
    let metadata = std::fs::metadata(path).map_err(words)?;
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(words)?;
    file.take(largest + 1).read_to_end(&mut bytes).map_err(words)?;
    match bytes.len() as u64 > largest {
        true => Err(format!("it is larger than {largest} bytes")),
        false => Ok(bytes),
    }
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
