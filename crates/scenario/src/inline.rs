//! One-line scenarios: `rate=10Mbit/s,rtt=20ms,queue=100packets,loss=1%`.
//!
//! Such a scenario describes one link called `path` from `server` to `client`, and one flow called `bulk` over the
//! link, between two Linux hosts (`profile=linux`). If the line begins with the name of a ready path (a built-in
//! scenario) or of a file, the same keys change that scenario (`lte,loss=1%`). The keys of the link then apply to the
//! last hop of the first TCP flow's route, and delays apply to the whole route. "Down" is the direction in which this
//! flow crosses the link. [`KEYS`] gives the meaning of each key.
//!
//! [`Draft::set`] also accepts these keys if the draft was read from a one-line scenario. In every draft,
//! [`Draft::set`] accepts the keys for losses (module `line_keys`).
//!
//! Every other key is a key of the document or of the flow, as in [`Draft::set`]: `duration`, `seed`, `recovery`,
//! `ack_splitting` …

mod adapt;
mod line_keys;

pub(crate) use adapt::adapted;
pub(crate) use line_keys::{InlineScenario, is_loss_key, set};

use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::language;
use crate::problem::Problem;
use crate::ready;
use crate::set;
use crate::source::{SourceText, Span};
use crate::suggest::{hint, nearest};
use crate::tree::{Content, TomlNode, TomlTable, parse_typed};
use lasthop_base::quantity;
use std::ops::Range;
use std::sync::Arc;

/// Keys of a one-line scenario, each with an example and its meaning.
pub const KEYS: &[(&str, &str, &str)] = &[
    ("rate", "10Mbit/s", "rate down; also rate up unless `up` is set (after a ready path: down only)"),
    ("up", "2Mbit/s", "rate up"),
    ("trace", "FILE", "recorded rate down, instead of `rate`; `down_trace` is a synonym"),
    ("down_trace", "FILE", "synonym of `trace`"),
    ("up_trace", "FILE", "recorded rate up, instead of `up`"),
    ("light", "FILE", "with `trace`: CellReplay's light trace down, with base delays and packet trains"),
    ("up_light", "FILE", "with `up_trace`: CellReplay's light trace up"),
    ("rtt", "20ms", "round-trip time of the whole path without queueing, half of it each way"),
    ("one_way_delay", "10ms", "delay of the whole path each way, instead of `rtt`"),
    (
        "queue",
        "1bdp",
        "queue down; also queue up unless `up_queue` is set (after a ready path: down only): 100packets, 64KB, 1bdp \
         (default), unlimited, or a mechanism",
    ),
    ("up_queue", "1bdp", "queue up"),
    (
        "loss",
        "1%",
        "share of packets lost down; after a ready path or file with ARQ: share lost after the ARQ \
         (`residual_loss`); otherwise share lost on the channel, before the `arq` of this line",
    ),
    ("burst", "5", "with `loss`: mean length of a loss burst, packets"),
    ("up_loss", "1%", "share of packets lost up; same rules as for `loss`"),
    ("up_burst", "5", "with `up_loss`: mean length of a loss burst up, packets"),
    ("ber", "1e-5", "bit error rate of the channel down, before any ARQ, instead of `loss`"),
    ("channel", "{kind=\"iid\",loss=0.01}", "channel error model down, instead of `loss`"),
    ("arq", "{kind=\"repeat\",transmissions=3}", "link-layer error control down"),
    (
        "jitter",
        "5ms",
        "largest random delay of each downlink packet, without reordering; or a jitter mechanism",
    ),
    ("duplicate", "0.1%", "share of packets duplicated down"),
    ("corrupt", "0.1%", "share of packets down with an undetected bit error: their checksums fail"),
    ("up_duplicate", "0.1%", "share of packets duplicated up"),
    ("up_corrupt", "0.1%", "share of packets up with an undetected bit error"),
];

/// Keys whose values are copied unchanged to one direction of a link. Each entry has three names of one setting:
/// * the key of the line for the direction down;
/// * the key of the line for the direction up;
/// * the key in the direction's table.
const IMPAIRMENTS: [[&str; 3]; 3] = [
    ["duplicate", "up_duplicate", "duplicate"],
    ["corrupt", "up_corrupt", "corrupt"],
    ["light", "up_light", "light"],
];

const DEFAULT_PROFILE: &str = "linux";

fn names() -> Vec<&'static str> {
    KEYS.iter().map(|(name, ..)| *name).collect()
}

pub(crate) fn is_own(key: &str) -> bool {
    KEYS.iter().any(|(name, ..)| *name == key)
}

pub(crate) fn draft(catalogue: &Arc<Catalogue>, text: &str) -> Result<Draft, Problem> {
    let source = SourceText::typed(text);
    let items = items(&source, 0, 0)?;
    let sources = vec![source];
    let document = document(catalogue, &sources, &items)?;
    let mut draft =
        Draft { catalogue: Arc::clone(catalogue), sources, document, title: text.to_owned(), inline: None };
    apply_other_keys(&mut draft, &items)?;
    draft.inline = Some(InlineScenario::standalone(items));
    Ok(draft)
}

/// Applies those keys of the line that scenario files also have: keys of the document or of the flow.
fn apply_other_keys(draft: &mut Draft, items: &[Item]) -> Result<(), Problem> {
    for item in items.iter().filter(|item| !is_own(&item.key)) {
        set::apply(draft, &item.key, item.place, item.node.clone()).map_err(|problem| {
            match hint(&item.key, names()) {
                Some(hint) => problem.help(format!("{hint} keys of a link: {}", names().join(", "))),
                None => problem,
            }
        })?;
    }
    Ok(())
}

#[derive(Clone, Debug)]
struct Item {
    key: String,
    value: String,
    place: Span,
    node: TomlNode,
}

/// Splits the source text at commas, beginning at byte `from`, and parses each item. `number` is the index of the
/// source in the draft.
fn items(source: &SourceText, number: usize, from: usize) -> Result<Vec<Item>, Problem> {
    let mut items: Vec<Item> = Vec::new();
    for range in split_at_commas(&source.text[from..]) {
        let range = range.start + from..range.end + from;
        let text = &source.text[range.clone()];
        let Some((key, value)) = text.split_once('=') else {
            if ready::find(text).is_some() {
                return Err(Problem::new(
                    source,
                    range,
                    format!("the ready path `{}` is not at the start", text.trim()),
                )
                .help(format!(
                    "put the ready path before the keys that change it: {},loss=1%",
                    text.trim()
                )));
            }
            return Err(Problem::new(source, range, format!("`{}` has no value", text.trim()))
                .help("an inline scenario is a list of key=value pairs, like rate=10Mbit/s,rtt=20ms"));
        };
        let start = range.start + (key.len() - key.trim_start().len());
        let place = Span { source: number, start, end: start + key.trim().len() };
        let value_start = range.start + key.len() + 1;
        if key.trim().is_empty() {
            return Err(Problem::new(source, range, "there is no key before `=`")
                .help("an inline scenario is a list of key=value pairs, like rate=10Mbit/s,rtt=20ms"));
        }
        if items.iter().any(|item| item.key == key.trim()) {
            return Err(Problem::new(
                source,
                place.start..place.end,
                format!("`{}` is given twice", key.trim()),
            )
            .help("leave one of them out"));
        }
        let node = parse_typed(value, Span { source: number, start: value_start, end: range.end });
        items.push(Item { key: key.trim().to_owned(), value: value.trim().to_owned(), place, node });
    }
    Ok(items)
}

/// Splits a text at commas, and returns the byte range of each piece. Commas inside brackets and quotes do not count.
fn split_at_commas(text: &str) -> Vec<Range<usize>> {
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

fn find<'i>(items: &'i [Item], key: &str) -> Option<&'i Item> {
    items.iter().find(|item| item.key == key)
}

fn at_most_one<'i>(
    sources: &[SourceText],
    items: &'i [Item],
    one: &str,
    other: &str,
) -> Result<Option<&'i Item>, Problem> {
    match (find(items, one), find(items, other)) {
        (Some(_), Some(item)) => {
            let message = format!("`{one}` and `{other}` both set the same value");
            Err(problem(sources, item.place, message).help("leave one of them out"))
        }
        (item, other) => Ok(item.or(other)),
    }
}

fn problem(sources: &[SourceText], place: Span, message: impl Into<String>) -> Problem {
    Problem::new(&sources[place.source], place.start..place.end, message)
}

/// Creates the document, without the mechanisms of the flow.
fn document(catalogue: &Catalogue, sources: &[SourceText], items: &[Item]) -> Result<TomlTable, Problem> {
    let source = &sources[0];
    let whole = Span { source: 0, start: 0, end: source.text.len() };
    let find = |key: &str| find(items, key);
    let mut down = TomlTable::default();
    let mut up = TomlTable::default();
    let ends = |table: &mut TomlTable, key: &str, item: &Item| {
        table.set(key, item.place, item.node.clone());
    };
    let down_trace = at_most_one(sources, items, "trace", "down_trace")?;
    at_most_one(sources, items, "rate", down_trace.map_or("trace", |item| &item.key))?;
    at_most_one(sources, items, "up", "up_trace")?;
    match (find("rate"), down_trace) {
        (Some(rate), _) => ends(&mut down, "rate", rate),
        (None, Some(trace)) => ends(&mut down, "trace", trace),
        (None, None) => {
            return Err(missing_key(catalogue, source, items, "rate", "rate=10Mbit/s, or trace=FILE"));
        }
    }
    match (find("up"), find("up_trace"), find("rate")) {
        (Some(rate), ..) | (None, None, Some(rate)) => ends(&mut up, "rate", rate),
        (None, Some(trace), _) => ends(&mut up, "trace", trace),
        (None, None, None) => {
            return Err(missing_key(catalogue, source, items, "up", "up=1Mbit/s, or up_trace=FILE"));
        }
    }
    for (item, table) in [(find("queue"), &mut down), (find("up_queue").or(find("queue")), &mut up)] {
        if let Some(item) = item {
            ends(table, "queue", item);
        }
    }
    for (losses, table) in [(channel(sources, items)?, &mut down), (up_channel(sources, items)?, &mut up)] {
        if let Some((place, channel)) = losses {
            table.set("channel", place, channel);
        }
    }
    if let Some(item) = find("arq") {
        ends(&mut down, "arq", item);
    }
    if let Some(item) = find("jitter") {
        down.set("jitter", item.place, jitter(item));
    }
    for [here, there, key] in IMPAIRMENTS {
        for (table, name) in [(&mut down, here), (&mut up, there)] {
            if let Some(item) = find(name) {
                ends(table, key, item);
            }
        }
    }
    let mut link = named_ends(whole);
    if let Some((item, delay)) = delay(sources, items)? {
        link.set("one_way_delay", item.place, TomlNode::text(item.node.place, &delay));
    }
    let table = |inner: TomlTable| TomlNode { place: whole, content: Content::Table(inner.into()) };
    link.set("down", whole, table(down));
    link.set("up", whole, table(up));
    let mut document = TomlTable::default();
    let mut flow = named_ends(whole);
    flow.set("profile", whole, TomlNode::text(whole, DEFAULT_PROFILE));
    for (top, name, inner) in [("link", "path", link), ("flow", "bulk", flow)] {
        let mut named = TomlTable::default();
        named.set(name, whole, table(inner));
        document.set(top, whole, table(named));
    }
    Ok(document)
}

/// Returns the channel that `loss` (with or without `burst`), `ber` or `channel` describes, and the position of that
/// key in the source text.
fn channel(sources: &[SourceText], items: &[Item]) -> Result<Option<(Span, TomlNode)>, Problem> {
    at_most_one(sources, items, "loss", "ber")?;
    at_most_one(sources, items, "loss", "channel")?;
    at_most_one(sources, items, "ber", "channel")?;
    let losses = losses(sources, items, "loss", "burst")?;
    Ok(match (losses, find(items, "ber"), find(items, "channel")) {
        (Some(losses), ..) => Some(losses),
        (_, Some(ber), _) => Some(channel_of_kind("bit_error", &[("rate", ber)])),
        (_, _, Some(channel)) => Some((channel.place, channel.node.clone())),
        _ => None,
    })
}

fn up_channel(sources: &[SourceText], items: &[Item]) -> Result<Option<(Span, TomlNode)>, Problem> {
    losses(sources, items, "up_loss", "up_burst")
}

fn losses(
    sources: &[SourceText],
    items: &[Item],
    loss: &str,
    burst: &str,
) -> Result<Option<(Span, TomlNode)>, Problem> {
    match (find(items, loss), find(items, burst)) {
        (Some(loss), Some(burst)) => {
            Ok(Some(channel_of_kind("two_state", &[("mean_loss", loss), ("mean_burst", burst)])))
        }
        (Some(loss), None) => Ok(Some(channel_of_kind("iid", &[("loss", loss)]))),
        (None, Some(item)) => {
            let message = format!("`{burst}` needs `{loss}`, the share of packets lost");
            Err(problem(sources, item.place, message).help(format!("write both: {loss}=1%,{burst}=5")))
        }
        (None, None) => Ok(None),
    }
}

/// Returns a channel of this kind with these parameters, and the position of the first parameter in the source text.
fn channel_of_kind(kind: &str, parameters: &[(&str, &Item)]) -> (Span, TomlNode) {
    let first = parameters[0].1;
    let mut channel = TomlTable::default();
    channel.set("kind", first.place, TomlNode::text(first.node.place, kind));
    for (parameter, item) in parameters {
        channel.set(parameter, item.place, item.node.clone());
    }
    (first.place, TomlNode { place: first.place, content: Content::Table(channel.into()) })
}

/// Returns the jitter mechanism. A value that is a time is the upper bound of a random delay. Any other value is a
/// mechanism.
fn jitter(item: &Item) -> TomlNode {
    if quantity::duration(item.value.trim_matches('"')).is_err() {
        return item.node.clone();
    }
    let mut table = TomlTable::default();
    table.set("kind", item.place, TomlNode::text(item.node.place, "random"));
    table.set("most", item.place, TomlNode::text(item.node.place, item.value.trim_matches('"')));
    TomlNode { place: item.node.place, content: Content::Table(table.into()) }
}

/// Returns the propagation delay of each direction, from `one_way_delay` or half of `rtt`.
fn delay<'i>(sources: &[SourceText], items: &'i [Item]) -> Result<Option<(&'i Item, String)>, Problem> {
    let Some(item) = at_most_one(sources, items, "rtt", "one_way_delay")? else { return Ok(None) };
    if item.key == "one_way_delay" {
        return Ok(Some((item, item.value.trim_matches('"').to_owned())));
    }
    let half = half(&item.value).map_err(|why| {
        problem(sources, item.node.place, format!("rtt: {why}")).help("expected: a time, such as 20ms")
    })?;
    Ok(Some((item, half)))
}

fn named_ends(place: Span) -> TomlTable {
    let mut table = TomlTable::default();
    table.set("from", place, TomlNode::text(place, "server"));
    table.set("to", place, TomlNode::text(place, "client"));
    table
}

fn half(rtt: &str) -> Result<String, String> {
    Ok(quantity::duration(rtt.trim_matches('"'))?.divided_by(2).to_string())
}

/// Creates the error for a missing key. If the line has a misspelt form of the key, the error suggests the correct
/// spelling.
fn missing_key(
    catalogue: &Catalogue,
    source: &SourceText,
    items: &[Item],
    key: &str,
    example: &str,
) -> Problem {
    let is_known = |key: &str| is_own(key) || !language::tables_with_key(catalogue, key).is_empty();
    let misspelt = items.iter().find(|item| !is_known(&item.key) && nearest(&item.key, names()) == Some(key));
    match misspelt {
        Some(item) => {
            let message = format!("an inline scenario has no key `{}`", item.key);
            Problem::new(source, item.place.start..item.place.end, message)
                .label("unknown key")
                .help(format!("did you mean `{key}`? keys of a link: {}", names().join(", ")))
        }
        None => Problem::new(source, 0..source.text.len(), format!("an inline scenario needs `{key}`"))
            .help(format!("add {example}")),
    }
}
