//! Scenarios in one line: `rate=10Mbit/s,rtt=20ms,queue=100packets,loss=1%`.
//!
//! One link called `path` from `server` to `client` and one flow called `bulk` over it:
//!
//! | key | meaning |
//! |---|---|
//! | `rate` | rate down, and up unless `up` says otherwise |
//! | `up` | rate up |
//! | `trace`, `down_trace` | recorded rate down (a file), instead of `rate` |
//! | `up_trace` | recorded rate up, instead of `up` |
//! | `rtt` | round-trip time of the link: half of it each way |
//! | `one_way_delay` | the same, each way |
//! | `queue` | queue down: `100packets`, `64KB`, `unlimited` (the default) |
//! | `up_queue` | queue up |
//! | `loss` | share of packets lost down: `1%` |
//! | `ber` | bit error rate down: `1e-5` |
//! | `channel`, `arq` | mechanisms down: `two_state`, `{kind="repeat",transmissions=3}` |
//!
//! Every other key is one of the document's or of the flow's, as for
//! [`Draft::set`]: `duration`, `seed`, `runs`, `headers`, `transfer`, `segment`,
//! `recovery`, `congestion`, `counting`, `initial_window`, `min_rto`, `timing`,
//! `shape`, `window`, `cause` …

use crate::draft::Draft;
use crate::problem::Problem;
use crate::set;
use crate::source::{Place, Source};
use crate::suggest::nearest;
use crate::tree::{Content, Node, Table, parse_typed};
use lasthop_base::quantity;
use std::ops::Range;

/// The keys that are an inline scenario's own.
const KEYS: &[&str] = &[
    "rate",
    "up",
    "trace",
    "down_trace",
    "up_trace",
    "rtt",
    "one_way_delay",
    "queue",
    "up_queue",
    "loss",
    "ber",
    "channel",
    "arq",
];

/// Reads an inline scenario.
pub(crate) fn draft(text: &str) -> Result<Draft, Problem> {
    let source = Source::typed(text);
    let items = items(&source)?;
    let document = document(&source, &items)?;
    let mut draft = Draft { sources: vec![source.clone()], document, title: text.to_owned() };
    for item in items.iter().filter(|item| !KEYS.contains(&item.key)) {
        set::apply(&mut draft, item.key, item.place, item.node.clone()).map_err(|problem| {
            match nearest(item.key, KEYS.iter().copied()) {
                Some(name) => {
                    problem.help(format!("did you mean `{name}`? keys of a link: {}", KEYS.join(", ")))
                }
                None => problem,
            }
        })?;
    }
    Ok(draft)
}

/// `key=value`.
struct Item<'a> {
    key: &'a str,
    value: &'a str,
    place: Place,
    node: Node,
}

fn items(source: &Source) -> Result<Vec<Item<'_>>, Problem> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for range in between_commas(&source.text) {
        let text = &source.text[range.clone()];
        let Some((key, value)) = text.split_once('=') else {
            return Err(Problem::new(source, range, format!("`{}` has no value", text.trim()))
                .help("an inline scenario is a list of key=value, like rate=10Mbit/s,rtt=20ms"));
        };
        let start = range.start + (key.len() - key.trim_start().len());
        let place = Place { source: 0, start, end: start + key.trim().len() };
        let value_start = range.start + key.len() + 1;
        if key.trim().is_empty() {
            return Err(Problem::new(source, range, "there is no key before `=`")
                .help("an inline scenario is a list of key=value, like rate=10Mbit/s,rtt=20ms"));
        }
        if items.iter().any(|item| item.key == key.trim()) {
            return Err(Problem::new(
                source,
                place.start..place.end,
                format!("`{}` is given twice", key.trim()),
            )
            .help("leave one of them out"));
        }
        let node = parse_typed(value, Place { source: 0, start: value_start, end: range.end });
        items.push(Item { key: key.trim(), value: value.trim(), place, node });
    }
    Ok(items)
}

/// The pieces between commas that are not inside brackets or quotes.
fn between_commas(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut depth, mut quoted) = (0, 0i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                pieces.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(start..text.len());
    pieces
}

/// The document without what concerns the flow's mechanisms.
fn document(source: &Source, items: &[Item<'_>]) -> Result<Table, Problem> {
    let whole = Place { source: 0, start: 0, end: source.text.len() };
    let find = |key: &str| items.iter().find(|item| item.key == key);
    let both = |one: &str, other: &str| match (find(one), find(other)) {
        (Some(_), Some(item)) => {
            let message = format!("`{one}` and `{other}` say the same thing twice");
            Err(Problem::new(source, item.place.start..item.place.end, message).help("leave one of them out"))
        }
        (item, other) => Ok(item.or(other)),
    };
    let mut down = Table::default();
    let mut up = Table::default();
    let ends = |table: &mut Table, key: &str, item: &Item<'_>| {
        table.set(key, item.place, item.node.clone());
    };
    let down_trace = both("trace", "down_trace")?;
    both("rate", down_trace.map_or("trace", |item| item.key))?;
    both("up", "up_trace")?;
    match (find("rate"), down_trace) {
        (Some(rate), _) => ends(&mut down, "rate", rate),
        (None, Some(trace)) => ends(&mut down, "trace", trace),
        (None, None) => return Err(needs(source, "rate", "rate=10Mbit/s, or trace=FILE")),
    }
    match (find("up"), find("up_trace"), find("rate")) {
        (Some(rate), ..) | (None, None, Some(rate)) => ends(&mut up, "rate", rate),
        (None, Some(trace), _) => ends(&mut up, "trace", trace),
        (None, None, None) => return Err(needs(source, "up", "up=1Mbit/s, or up_trace=FILE")),
    }
    for (key, table, name) in [("queue", &mut down, "queue"), ("up_queue", &mut up, "queue")] {
        if let Some(item) = find(key) {
            ends(table, name, item);
        }
    }
    both("loss", "ber")?;
    both("loss", "channel")?;
    both("ber", "channel")?;
    for (key, kind, parameter) in [("loss", "iid", "loss"), ("ber", "bit_error", "rate")] {
        if let Some(item) = find(key) {
            let mut channel = Table::default();
            channel.set("kind", item.place, Node::text(item.node.place, kind));
            channel.set(parameter, item.place, item.node.clone());
            down.set("channel", item.place, Node { place: item.place, content: Content::Table(channel) });
        }
    }
    for key in ["channel", "arq"] {
        if let Some(item) = find(key) {
            ends(&mut down, key, item);
        }
    }
    let mut link = named_ends(whole);
    both("rtt", "one_way_delay")?;
    if let Some(item) = find("one_way_delay") {
        ends(&mut link, "one_way_delay", item);
    }
    if let Some(item) = find("rtt") {
        let half = half(item.value).map_err(|why| {
            Problem::new(source, item.node.place.start..item.node.place.end, format!("rtt: {why}"))
                .help("expected: a time, such as 20ms")
        })?;
        link.set("one_way_delay", item.place, Node::text(item.node.place, &half));
    }
    let table = |inner| Node { place: whole, content: Content::Table(inner) };
    link.set("down", whole, table(down));
    link.set("up", whole, table(up));
    let mut document = Table::default();
    for (top, name, inner) in [("link", "path", link), ("flow", "bulk", named_ends(whole))] {
        let mut named = Table::default();
        named.set(name, whole, table(inner));
        document.set(top, whole, table(named));
    }
    Ok(document)
}

fn named_ends(place: Place) -> Table {
    let mut table = Table::default();
    table.set("from", place, Node::text(place, "server"));
    table.set("to", place, Node::text(place, "client"));
    table
}

fn half(rtt: &str) -> Result<String, String> {
    Ok(quantity::duration(rtt.trim_matches('"'))?.divided_by(2).to_string())
}

fn needs(source: &Source, key: &str, example: &str) -> Problem {
    Problem::new(source, 0..source.text.len(), format!("an inline scenario needs `{key}`"))
        .help(format!("add {example}"))
}
