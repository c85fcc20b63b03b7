//! Mechanisms: a bare word, or a table with `kind` and parameters; for queues also `50 packets`, `64 KB`, `1 bdp`,
//! `unlimited`.

use crate::key::{Form, Key, Presence, parameters};
use crate::problem::Problem;
use crate::quantities::expected;
use crate::reader::{Head, Reader};
use crate::suggest::among;
use crate::tree::{Content, Entry, Node, Table};
use lasthop_base::Seam;
use lasthop_base::{Choice, Info, Value, Values, quantity};
use lasthop_net::channel;

/// The queue that short forms mean.
const DROP_TAIL: &str = "drop_tail";
/// How the limit of such a queue is written.
pub(crate) const LIMITS: &str = "\"50 packets\", \"64 KB\", \"1 bdp\" or \"unlimited\"";
/// The limit of such a queue if nobody says one.
pub(crate) const USUAL_LIMIT: &str = "1 bdp";

/// Reads the answer to a seam's question.
pub(crate) fn read(
    reader: &Reader<'_>,
    head: Head<'_>,
    key: &Key,
    seam: &Seam,
    node: &Node,
) -> Result<Choice, Problem> {
    match &node.content {
        Content::Text(word) => {
            if seam.name == "queue"
                && let Some(choice) = drop_tail(reader, head, seam, node, word)?
            {
                return Ok(choice);
            }
            let info = named(reader, head, key, seam, node, word)?;
            with_parameters(reader, head, key, seam, info, node, &Table::default())
        }
        Content::Table(table) => {
            let info = match table.find("kind") {
                Some(kind) => match &kind.node.content {
                    Content::Text(word) => named(reader, head, key, seam, &kind.node, word)?,
                    _ => {
                        let message =
                            format!("{}.kind: {} is not expected here", head.key(key.name), kind.node.kind());
                        return Err(reader.problem(kind.node.place, message).help(expected(&key.form)));
                    }
                },
                None => match &key.presence {
                    _ if seam.name == "queue" => named(reader, head, key, seam, node, DROP_TAIL)?,
                    Presence::Default(word) => named(reader, head, key, seam, node, word)?,
                    _ => named(reader, head, key, seam, node, "")?,
                },
            };
            with_parameters(reader, head, key, seam, info, node, table)
        }
        Content::Number(number) if seam.name == "queue" => Err(reader
            .problem(node.place, format!("{}: {number} has no unit", head.key(key.name)))
            .help(format!("write it like \"{number} packets\", \"64 KB\", \"1 bdp\" or \"unlimited\""))),
        _ => {
            let message = format!("{}: {} is not expected here", head.key(key.name), node.kind());
            Err(reader.problem(node.place, message).help(expected(&key.form)))
        }
    }
}

fn named(
    reader: &Reader<'_>,
    head: Head<'_>,
    key: &Key,
    seam: &Seam,
    node: &Node,
    word: &str,
) -> Result<&'static Info, Problem> {
    seam.find(word).ok_or_else(|| {
        let mut help = among(word, "there are", &seam.names());
        if seam.name == "queue" {
            help.push_str(&format!("; or {LIMITS}"));
        }
        reader
            .problem(node.place, format!("{}: no {} is called `{word}`", head.key(key.name), seam.name))
            .label(seam.question)
            .help(help)
    })
}

/// Reads a mechanism's parameters from its table.
fn with_parameters(
    reader: &Reader<'_>,
    head: Head<'_>,
    key: &Key,
    seam: &Seam,
    info: &'static Info,
    node: &Node,
    table: &Table,
) -> Result<Choice, Problem> {
    let path = head.key(key.name);
    let inner = Head { path: &path, place: node.place };
    let keys = parameters(info);
    for entry in &table.entries {
        if entry.key != "kind" && !keys.iter().any(|key| key.name == entry.key) {
            return Err(unknown_parameter(reader, inner, seam, info, entry));
        }
    }
    let mut values = Values::new();
    for key in &keys {
        let value = match (table.find(key.name), &key.presence, &key.form) {
            (Some(entry), _, Form::Unit(unit)) => {
                crate::quantities::unit(reader, inner, key, unit, &entry.node)?
            }
            (None, Presence::Default(text), Form::Unit(unit)) => {
                crate::quantities::unit(reader, inner, key, unit, &Node::text(node.place, text))?
            }
            _ => {
                let message = format!("{path}: `{}` needs the parameter `{}`", info.name, key.name);
                return Err(reader.problem(node.place, message).help(format!(
                    "{}: {}; {}",
                    key.name,
                    key.doc,
                    expected(&key.form)
                )));
            }
        };
        values.set(key.name, value);
    }
    let has_limit = ["packets", "bytes"].iter().any(|limit| table.find(limit).is_some());
    if info.name == DROP_TAIL && !has_limit {
        values.set("bytes", Value::Bdp(1.0));
    }
    let choice = Choice { info, values };
    match channel::needs(&choice) {
        Some(needs) if needs.one_of.iter().all(|rate| table.find(rate).is_none()) => {
            let rates = needs.one_of.join(", ");
            let message = format!("{path}: `{}` loses nothing unless it is told how much", info.name);
            Err(reader
                .problem(node.place, message)
                .label("no rate")
                .help(format!("give one of {rates}: {} = {}", key.name, needs.example)))
        }
        _ => Ok(choice),
    }
}

fn unknown_parameter(
    reader: &Reader<'_>,
    head: Head<'_>,
    seam: &Seam,
    info: &'static Info,
    entry: &Entry,
) -> Problem {
    let has_it = |other: &&&'static Info| other.parameters.iter().any(|p| p.name == entry.key);
    let owners: Vec<&str> = seam.mechanisms.iter().filter(has_it).map(|info| info.name).collect();
    let names: Vec<&str> = info.parameters.iter().map(|parameter| parameter.name).collect();
    let help = match owners.first() {
        Some(owner) => {
            format!("`{}` is a parameter of {}: set kind = \"{owner}\" too", entry.key, owners.join(", "))
        }
        None => among(&entry.key, &format!("parameters of `{}`", info.name), &names),
    };
    let message = format!("{}: `{}` has no parameter `{}`", head.path, info.name, entry.key);
    reader.problem(entry.place, message).label("unknown parameter").help(help)
}

/// What packets are called in such a limit.
const PACKETS: [&str; 5] = ["packets", "packet", "pkts", "pkt", "p"];

/// The short forms of a drop-tail queue; `None` if the word is not one of them.
fn drop_tail(
    reader: &Reader<'_>,
    head: Head<'_>,
    seam: &Seam,
    node: &Node,
    word: &str,
) -> Result<Option<Choice>, Problem> {
    let Some(info) = seam.find(DROP_TAIL) else { return Ok(None) };
    let with = |name: &'static str, value| {
        let mut values = info.defaults();
        values.set("packets", Value::Count(0));
        values.set("bytes", Value::Bytes(0));
        values.set(name, value);
        Ok(Some(Choice { info, values }))
    };
    let refuse = |why: String| {
        Err(reader
            .problem(node.place, format!("{}.queue: {why}", head.path))
            .help(format!("write it like {LIMITS}")))
    };
    let word = word.trim();
    if word == "unlimited" {
        return with("packets", Value::Count(0));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return Ok(None);
    }
    let parsed = match quantity::split(word) {
        Ok((number, unit)) if PACKETS.contains(&unit) => limit(info, "packets", &format!("{number}")),
        Ok((_, "")) => return refuse(format!("`{word}` has no unit")),
        Ok(_) => limit(info, "bytes", word),
        Err(why) => Err(why),
    };
    match parsed {
        Ok((_, value)) if [Value::Count(0), Value::Bytes(0), Value::Bdp(0.0)].contains(&value) => {
            refuse(format!("a queue of {word} would lose what cannot be sent at once"))
        }
        Ok((name, value)) => with(name, value),
        Err(why) => refuse(why),
    }
}

/// Checks a short form against the parameter that it stands for.
fn limit(info: &Info, name: &str, text: &str) -> Result<(&'static str, Value), String> {
    match info.parameters.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => parameter.unit.parse(text).map(|value| (parameter.name, value)),
        None => Err(format!("`{}` has no parameter `{name}`", info.name)),
    }
}

/// A mechanism written as a word, as the table that says the same, so that a parameter can be added.
pub(crate) fn as_table(node: &Node) -> Option<Table> {
    let Content::Text(word) = &node.content else { return None };
    let entry = |key: &str, text: &str| Entry {
        key: key.to_owned(),
        place: node.place,
        node: Node::text(node.place, text),
    };
    let limit = match quantity::split(word) {
        Ok((number, unit)) if PACKETS.contains(&unit) => Some(entry("packets", &number.to_string())),
        Ok(_) => Some(entry("bytes", word)),
        Err(_) => None,
    };
    let entries = match limit {
        Some(limit) => vec![entry("kind", DROP_TAIL), limit],
        None if word == "unlimited" => vec![entry("kind", DROP_TAIL), entry("packets", "0")],
        None => vec![entry("kind", word)],
    };
    Some(Table { entries })
}
