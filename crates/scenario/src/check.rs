//! Checks a document and converts it to a scenario.

use crate::bdp;
use crate::catalogue::Catalogue;
use crate::flows;
use crate::key::{Key, Presence};
use crate::language;
use crate::links::{self, Network};
use crate::nodes;
use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::resolved::{Detail, Resolved};
use crate::routes;
use crate::scenario::{Flow, Headers, Scenario};
use crate::source::{SourceText, Span};
use crate::tree::{TomlEntry, TomlTable};
use lasthop_base::{Duration, Value, quantity};

/// Largest number of samples of one probe in a run.
const MAX_SAMPLES: u64 = 10_000_000;

/// Checks a document against the catalogue. `title` is used if the document has no title. `detail` selects how much of
/// the resolved document (every key with its value) is recorded for `show`.
pub(crate) fn check(
    catalogue: &Catalogue,
    sources: &[SourceText],
    document: &TomlTable,
    title: &str,
    detail: Detail,
) -> Result<(Scenario, Resolved), Problem> {
    let mut reader = TableReader { catalogue, sources, resolved: Resolved::new(detail) };
    let beginning = match document.entries.first() {
        Some(entry) => entry.place,
        None => Span { source: 0, start: 0, end: 0 },
    };
    let head = TableHead { path: "", place: beginning };
    let fields = reader.read(head, document, &[], &keys(&reader, head, document, title)?)?;
    let duration = fields.duration("duration").unwrap_or(Duration::MAX);
    let sample = fields.duration("sample").unwrap_or(Duration::MAX);
    if duration.as_nanos() / sample.as_nanos().max(1) > MAX_SAMPLES {
        let place = fields.place("sample").unwrap_or(beginning);
        return Err(reader
            .problem(place, format!("sample: one sample every {sample} is too many for a run of {duration}"))
            .help(format!("a run may have at most {MAX_SAMPLES} samples: choose a longer `sample`")));
    }
    let warmup = fields.duration("warmup").unwrap_or(Duration::ZERO);
    if warmup >= duration {
        let place = fields.place("warmup").unwrap_or(beginning);
        return Err(reader
            .problem(place, format!("warmup: nothing would be measured in a run of {duration}"))
            .help("make `warmup` shorter than `duration`, which includes `warmup`"));
    }
    let headers = match fields.find("headers") {
        Some(crate::fields::FieldValue::Value(Value::Bytes(bytes))) => Headers::Nominal(*bytes as u32),
        _ if fields.word("headers") == Some("none") => Headers::None,
        _ => Headers::Real,
    };
    let links = named_tables(&reader, document, "link", beginning)?;
    let mut net = links::read(&mut reader, links)?;
    let flows = named_tables(&reader, document, "flow", beginning)?;
    let flows = flows::read(&mut reader, flows, &net, duration)?;
    let overrides = routes::overrides(&mut reader, document, &net)?;
    let routes = routes::find(&reader, &net, &overrides, &flows)?;
    let middleboxes = nodes::read(&mut reader, document, &net, &flows, &routes)?;
    let flows: Vec<Flow> = flows.into_iter().map(|placed| placed.flow).collect();
    bdp::resolve_limits(&mut net, &flows, &routes, headers, &mut reader.resolved);
    let Network { nodes, links } = net;
    let scenario = Scenario {
        title: fields.text("title").unwrap_or_default().to_owned(),
        source: fields.text("source").map(str::to_owned),
        duration,
        warmup,
        seed: fields.count("seed").unwrap_or_default(),
        runs: fields.count("runs").unwrap_or(1) as u32,
        headers,
        sample,
        nodes,
        middleboxes,
        links,
        flows,
        routes,
    };
    Ok((scenario, reader.resolved))
}

/// Returns the keys of the document's top level. In a very long run, the default of `sample` is longer than usual, so
/// that a probe takes at most [`MAX_SAMPLES`] samples.
fn keys(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    document: &TomlTable,
    title: &str,
) -> Result<Vec<Key>, Problem> {
    let mut keys = language::document(title);
    let duration = reader.given(head, document, &keys)?.duration("duration").unwrap_or(Duration::ZERO);
    let shortest = Duration::from_nanos(duration.as_nanos().div_ceil(MAX_SAMPLES));
    for key in keys.iter_mut().filter(|key| key.name == "sample") {
        if let Presence::Default(usual) = &mut key.presence
            && quantity::duration(usual).is_ok_and(|usual| usual < shortest)
        {
            // The default is rounded up to whole milliseconds, so that its printed form is exact.
            *usual = format!("{} ms", shortest.as_nanos().div_ceil(1_000_000)).into();
        }
    }
    Ok(keys)
}

fn named_tables<'t>(
    reader: &TableReader<'_>,
    document: &'t TomlTable,
    what: &str,
    beginning: Span,
) -> Result<&'t [TomlEntry], Problem> {
    let head = TableHead { path: "", place: beginning };
    let (entries, place) = match document.find(what) {
        Some(entry) => (&reader.table(head, entry)?.entries[..], entry.place),
        None => (&[][..], beginning),
    };
    if entries.is_empty() {
        Err(reader
            .problem(place, format!("there is no {what}"))
            .label(format!("no [{what}.NAME]"))
            .help(format!("a scenario needs a table [{what}.NAME] with the keys `from` and `to`")))
    } else {
        Ok(entries)
    }
}
