//! Arrival times of transfers: from a file of start times and sizes, or from a Poisson process that each run draws
//! anew.

use crate::language::MAX_FLOWS;
use crate::problem::Problem;
use crate::reader::TableReader;
use crate::source::{SourceText, Span};
use lasthop_base::{Duration, Unit};

const LARGEST: u64 = 64 << 20;
const MAX_BYTES: u64 = 1_000_000_000_000_000;
/// Latest time of an arrival, s.
const LATEST: f64 = 1e9;

/// First word of a value that describes a Poisson process instead of naming a file.
const POISSON: &str = "poisson ";
/// Mean interval between two arrivals.
pub(crate) const INTERVAL: Unit = Unit::Duration(Duration::from_micros(1), Duration::from_secs(86_400));

/// Returns the mean interval of `arrivals = "poisson 80 ms"`, as written; `None` for a file.
pub(crate) fn process_of(text: &str) -> Option<&str> {
    text.strip_prefix(POISSON)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransferArrival {
    /// Time from the flow's `start` to the start of this transfer.
    pub(crate) after: Duration,
    pub(crate) bytes: u64,
}

/// Reads the file that the key `key` names. Each line is `SECONDS BYTES`, separated by a blank, a tab or a comma.
pub(crate) fn read(
    reader: &TableReader<'_>,
    key: &str,
    name: &str,
    place: Span,
) -> Result<Vec<TransferArrival>, Problem> {
    let refuse = |why: String| {
        reader.problem(place, format!("{key}: {why}")).help(
            "write one line per transfer, start in seconds and size in bytes, such as 0.25 48000; `lasthop arrivals` \
             makes such files",
        )
    };
    let bytes = reader
        .catalogue
        .files
        .read(name, LARGEST)
        .map_err(|why| refuse(format!("cannot read `{name}`: {why}")))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(refuse(format!("`{name}` is not a text file")));
    };
    let (mut arrivals, mut start): (Vec<TransferArrival>, usize) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let written = line.split('#').next().unwrap_or_default().trim();
        if written.is_empty() {
            continue;
        }
        let faulty = |why: &str| {
            Problem::new(&SourceText::new(name, &text), span.clone(), format!("{key}: {why}")).help(
                "write start in seconds and size in bytes per line: 0.25 48000; the start must not decrease",
            )
        };
        let mut words = written.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let (Some(at), Some(bytes), None) = (words.next(), words.next(), words.next()) else {
            return Err(faulty("this line does not have exactly two numbers"));
        };
        let after = match at.parse::<f64>() {
            Ok(at) if (0.0..=LATEST).contains(&at) => Duration::from_secs_f64(at),
            _ => return Err(faulty(&format!("`{at}` is not a time in seconds"))),
        };
        let bytes = match bytes.parse::<u64>() {
            Ok(bytes) if (1..=MAX_BYTES).contains(&bytes) => bytes,
            _ => return Err(faulty(&format!("`{bytes}` is not a number of bytes, at least 1"))),
        };
        if arrivals.last().is_some_and(|last| after < last.after) {
            return Err(faulty("this transfer begins before the transfer above"));
        }
        if arrivals.len() as u64 >= MAX_FLOWS {
            return Err(faulty(&format!("more than {MAX_FLOWS} transfers")));
        }
        arrivals.push(TransferArrival { after, bytes });
    }
    if arrivals.is_empty() { Err(refuse(format!("`{name}` has no transfers"))) } else { Ok(arrivals) }
}
