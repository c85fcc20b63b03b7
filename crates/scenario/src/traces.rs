//! Reads trace files, which record link rates.

use crate::fields::Fields;
use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::ready;
use crate::source::{SourceText, Span};
use lasthop_base::Duration;
use lasthop_net::service::{Light, LightTrace, SizeDelays, Trace, TraceError};
use std::sync::Arc;

const LARGEST: u64 = 256 << 20;

/// Keys for recorded packet trains, which are accepted only together with the key `trace`.
pub(crate) const LIGHT_TRACE_KEYS: [&str; 3] = ["light", "light_timer", "light_sizes"];

pub(crate) fn read(
    reader: &TableReader<'_>,
    key: &str,
    name: &str,
    place: Span,
) -> Result<Arc<Trace>, Problem> {
    let refuse = |why: String| {
        reader.problem(place, format!("{key}: {why}")).help(
            "a trace is a file in Mahimahi's format: one time in whole milliseconds per line, not decreasing",
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
    let text = text(reader, name).map_err(refuse)?;
    Trace::parse(&text).map(Arc::new).map_err(|error| match error.line {
        0 => refuse(format!("`{name}`: {error}")),
        _ => faulty(name, &text, &error, key, LINES),
    })
}

const LINES: &str =
    "each line is a time in whole milliseconds, not less than the line above; the last time is above 0";
const TRAINS: &str = "a light trace has CellReplay's format. Each line has a packet train: its start, its base delay and \
its delivery opportunities, whole milliseconds. `0 21 0 2 4` is a train at 0 with a delay of 21 and three delivery \
opportunities. The last train starts above 0";
const SIZES: &str = "delays by size have CellReplay's latency-offset format: bytes and ms per line, such as \
`200 0.5`, in steps of 100 bytes";

fn text(reader: &TableReader<'_>, name: &str) -> Result<String, String> {
    let bytes =
        reader.catalogue.files.read(name, LARGEST).map_err(|why| format!("cannot read `{name}`: {why}"))?;
    String::from_utf8(bytes).map_err(|_| format!("`{name}` is not a text file"))
}

pub(crate) fn light(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
) -> Result<Option<Light>, Problem> {
    let Some((name, place)) = fields.text("light").zip(fields.place("light")) else {
        let beside = LIGHT_TRACE_KEYS.into_iter().find_map(|key| Some((key, fields.place(key)?)));
        return match beside {
            None => Ok(None),
            Some((key, place)) => Err(reader
                .problem(place, format!("{} needs `light`", head.key(key)))
                .help("add a light trace: light = \"down-delay-light-pdo\"")),
        };
    };
    if fields.text("trace").is_none() {
        return Err(reader.problem(place, format!("{} needs `trace`", head.key("light"))).help(
            "add the heavy trace, which applies after each train of the light trace: trace = \"down-heavy-pdo\"",
        ));
    }
    let trace = table(reader, &head.key("light"), (name, place), TRAINS, LightTrace::parse)?;
    let sizes = match fields.text("light_sizes").zip(fields.place("light_sizes")) {
        Some(file) => Some(table(reader, &head.key("light_sizes"), file, SIZES, SizeDelays::parse)?),
        None => None,
    };
    let timer = fields.duration("light_timer").unwrap_or(Duration::ZERO);
    Ok(Some(Light { trace, timer_millis: timer.as_nanos() / 1_000_000, sizes }))
}

fn table<T>(
    reader: &TableReader<'_>,
    key: &str,
    (name, place): (&str, Span),
    help: &str,
    parse: fn(&str) -> Result<T, TraceError>,
) -> Result<Arc<T>, Problem> {
    let refuse = |why: String| reader.problem(place, format!("{key}: {why}")).help(help);
    let text = text(reader, name).map_err(refuse)?;
    parse(&text).map(Arc::new).map_err(|error| match error.line {
        0 => refuse(format!("`{name}`: {error}")),
        _ => faulty(name, &text, &error, key, help),
    })
}

fn faulty(name: &str, text: &str, error: &TraceError, key: &str, help: &str) -> Problem {
    let mut start = 0;
    let mut span = 0..0;
    for line in text.split_inclusive('\n').take(error.line) {
        span = start..start + line.trim_end().len();
        start += line.len();
    }
    let source = SourceText::new(name, text);
    Problem::new(&source, span, format!("{key}: {error}")).help(help)
}
