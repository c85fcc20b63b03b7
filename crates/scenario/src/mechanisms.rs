//! Reads mechanisms. A mechanism is written as a bare word, or as a table with `kind` and parameters. A queue may also
//! be an amount: `50 packets`, `64 KB`, `1 bdp`, `unlimited`.

use crate::key::{Key, Presence, ValueType, preset_parameters};
use crate::problem::Problem;
use crate::quantities::expected;
use crate::reader::{TableHead, TableReader};
use crate::suggest::among;
use crate::tree::{Content, TomlEntry, TomlNode, TomlTable};
use lasthop_base::{Info, Is, Limit, OnlyIf, SeamInfo, Selection, Value, Values, quantity};

/// Forms in which a queue limit can be written, for messages.
pub(crate) const LIMITS: &str = "\"50 packets\", \"64 KB\", \"1 bdp\" or \"unlimited\"";
pub(crate) const DEFAULT_LIMIT: &str = "1 bdp";

pub(crate) fn read(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    seam: &SeamInfo,
    node: &TomlNode,
) -> Result<Selection, Problem> {
    match &node.content {
        Content::Text(word) => {
            if let Some((info, limit)) = limited(seam)
                && let Some(values) = bare(reader, head, key, info, limit, node, word)?
            {
                return Ok(Selection { info, values });
            }
            let info = named(reader, head, key, seam, node, word)?;
            with_parameters(reader, head, key, seam, info, node, &TomlTable::default())
        }
        Content::Table(table) => {
            let info = match table.find("kind") {
                Some(kind) => match &kind.node.content {
                    Content::Text(word) => named(reader, head, key, seam, &kind.node, word)?,
                    _ => {
                        let message =
                            format!("{}.kind: {} is not expected here", head.key(key.name), kind.node.kind());
                        return Err(reader.problem(kind.node.place, message).help(expected(&key.value_type)));
                    }
                },
                None => seam.default,
            };
            with_parameters(reader, head, key, seam, info, node, table)
        }
        Content::Number(number) if seam.limited().is_some() => Err(reader
            .problem(node.place, format!("{}: {number} has no unit", head.key(key.name)))
            .help(format!("write it like \"{number} packets\", \"64 KB\", \"1 bdp\" or \"unlimited\""))),
        _ => {
            let message = format!("{}: {} is not expected here", head.key(key.name), node.kind());
            Err(reader.problem(node.place, message).help(expected(&key.value_type)))
        }
    }
}

fn named(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    seam: &SeamInfo,
    node: &TomlNode,
    word: &str,
) -> Result<&'static Info, Problem> {
    seam.find(word).ok_or_else(|| {
        let mut help = among(word, "available", &seam.names());
        if seam.limited().is_some() {
            help.push_str(&format!("; or {LIMITS}"));
        }
        reader
            .problem(node.place, format!("{}: no {} is called `{word}`", head.key(key.name), seam.name))
            .label(seam.label)
            .help(help)
    })
}

fn with_parameters(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    seam: &SeamInfo,
    info: &'static Info,
    node: &TomlNode,
    table: &TomlTable,
) -> Result<Selection, Problem> {
    if info.parameters.is_empty() && table.entries.iter().all(|entry| entry.key == "kind") {
        return Ok(Selection { info, values: Values::new() });
    }
    let path = head.key(key.name);
    let inner = TableHead { path: &path, place: node.place };
    let keys = preset_parameters(key, info);
    for entry in &table.entries {
        if entry.key != "kind" && !keys.iter().any(|key| key.name == entry.key) {
            return Err(unknown_parameter(reader, inner, seam, info, entry));
        }
    }
    let mut values = Values::new();
    for key in &keys {
        let value = match (table.find(key.name), &key.presence, &key.value_type) {
            (Some(entry), _, ValueType::Unit(unit)) => {
                crate::quantities::unit(reader, inner, key, unit, &entry.node)?
            }
            (None, Presence::Default(text), ValueType::Unit(unit)) => {
                crate::quantities::of_text(reader, inner, key, unit, (node.place, text))?
            }
            _ => {
                let message = format!("{path}: `{}` needs the parameter `{}`", info.name, key.name);
                return Err(reader.problem(node.place, message).help(format!(
                    "{}: {}; {}",
                    key.name,
                    key.doc,
                    expected(&key.value_type)
                )));
            }
        };
        values.set(key.name, value);
    }
    if let Some(limit) = info.limit
        && [limit.packets, limit.bytes].iter().all(|parameter| table.find(parameter).is_none())
        && let Ok((parameter, value)) = checked(info, limit.bytes, DEFAULT_LIMIT)
    {
        values.set(parameter, value);
    }
    for entry in table.entries.iter().filter(|entry| !is_default(info, &entry.key, &values)) {
        if let Some(rule) = info.unmet_condition(&entry.key, &values) {
            return Err(idle(reader, inner, info, rule, &values, entry));
        }
    }
    match (info.one_of)(&values) {
        Some(missing) if missing.parameters.iter().all(|parameter| table.find(parameter).is_none()) => {
            let parameters = missing.parameters.join(", ");
            let message = format!("{path}: `{}` {}", info.name, missing.without);
            Err(reader
                .problem(node.place, message)
                .label(missing.missing)
                .help(format!("give one of {parameters}: {} = {}", key.name, missing.example)))
        }
        _ => Ok(Selection { info, values }),
    }
}

/// Returns whether a parameter has its default value. A scenario may set a parameter that has no effect to its default.
fn is_default(info: &Info, name: &str, values: &Values) -> bool {
    let parameter = info.parameters.iter().find(|parameter| parameter.name == name);
    let default = parameter.and_then(|parameter| parameter.unit.parse(parameter.default?).ok());
    values.iter().any(|(known, value)| known == name && Some(value) == default.as_ref())
}

/// Creates the error for a parameter that has no effect because of another parameter's value.
fn idle(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    info: &Info,
    rule: &OnlyIf,
    values: &Values,
    entry: &TomlEntry,
) -> Problem {
    let other = |text: &str| {
        let unit = info.parameters.iter().find(|parameter| parameter.name == rule.other);
        let value = unit.and_then(|parameter| parameter.unit.parse(text).ok());
        value.map_or_else(|| text.to_owned(), |value| toml(&value))
    };
    let is = values.iter().find(|(name, _)| *name == rule.other).map(|(_, value)| toml(value));
    let is = format!("{} = {}", rule.other, is.unwrap_or_default());
    let works = match rule.is {
        Is::This(text) => format!("{} = {}", rule.other, other(text)),
        Is::Not(text) => format!("{} other than {}", rule.other, other(text)),
    };
    // Whether a parameter has an effect only with some values of `rule.other`, including its present value.
    let is_decided = |name: &&str| {
        let mut rules = info.only_if.iter().filter(|one| one.parameters.contains(name));
        rules.any(|one| one.other == rule.other) && info.unmet_condition(name, values).is_none()
    };
    let there: Vec<&str> =
        info.parameters.iter().map(|parameter| parameter.name).filter(is_decided).collect();
    let mut help = format!("leave `{}` out (or at its default), or set {works}", entry.key);
    if !there.is_empty() {
        help = format!("with {is}, these parameters have an effect: {}; {help}", there.join(", "));
    }
    let message = format!("{}.{}: has no effect with {is}", head.path, entry.key);
    reader.problem(entry.place, message).label("no effect").help(help)
}

fn toml(value: &Value) -> String {
    let mut text = String::new();
    crate::text::push_toml(value, &mut text);
    text
}

fn unknown_parameter(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    seam: &SeamInfo,
    info: &'static Info,
    entry: &TomlEntry,
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

const UNLIMITED: &str = "unlimited";
/// Units of a queue limit in packets.
const PACKETS: [&str; 5] = ["packets", "packet", "pkts", "pkt", "p"];

/// Returns the mechanism of this seam that a bare amount (`50 packets`) selects, and the names of the mechanism's
/// parameters that a bare amount can set. `None` if a bare amount selects no mechanism of this seam.
fn limited(seam: &SeamInfo) -> Option<(&'static Info, Limit)> {
    let info = seam.limited()?;
    info.limit.map(|limit| (info, limit))
}

/// Returns the parameter values of `info` that a bare amount (`50 packets`) means; `None` if `word` is not an amount.
fn bare(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    info: &'static Info,
    limit: Limit,
    node: &TomlNode,
    word: &str,
) -> Result<Option<Values>, Problem> {
    let with = |name: &'static str, value| {
        let mut values = info.defaults();
        values.set(limit.packets, Value::Count(0));
        values.set(limit.bytes, Value::Bytes(0));
        values.set(name, value);
        Ok(Some(values))
    };
    let refuse = |why: String| {
        Err(reader
            .problem(node.place, format!("{}: {why}", head.key(key.name)))
            .help(format!("write it like {LIMITS}")))
    };
    let word = word.trim();
    if word == UNLIMITED {
        return with(limit.packets, Value::Count(0));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return Ok(None);
    }
    let parsed = match quantity::split(word) {
        Ok((number, unit)) if PACKETS.contains(&unit) => checked(info, limit.packets, &format!("{number}")),
        Ok((_, "")) => return refuse(format!("`{word}` has no unit")),
        Ok(_) => checked(info, limit.bytes, word),
        Err(why) => Err(why),
    };
    match parsed {
        Ok((_, value)) if [Value::Count(0), Value::Bytes(0), Value::Bdp(0.0)].contains(&value) => {
            refuse(format!("a queue of {word} would discard every packet that cannot be sent at once"))
        }
        Ok((name, value)) => with(name, value),
        Err(why) => refuse(why),
    }
}

/// Checks that a bare amount (`64 KB`) is valid for the parameter that it sets.
fn checked(info: &Info, name: &str, text: &str) -> Result<(&'static str, Value), String> {
    match info.parameters.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => parameter.unit.parse(text).map(|value| (parameter.name, value)),
        None => Err(format!("`{}` has no parameter `{name}`", info.name)),
    }
}

/// Converts a mechanism written as a word to a table, so that a parameter can be added.
pub(crate) fn as_table(seam: Option<&SeamInfo>, entry: &TomlEntry) -> Option<TomlTable> {
    let node = &entry.node;
    let Content::Text(word) = &node.content else { return None };
    let pair = |key: &str, text: &str| TomlEntry {
        key: key.to_owned(),
        place: node.place,
        node: TomlNode::text(node.place, text),
    };
    let amount = seam.and_then(limited).and_then(|(info, limit)| {
        let amount = match quantity::split(word) {
            Ok((number, unit)) if PACKETS.contains(&unit) => pair(limit.packets, &number.to_string()),
            Ok(_) => pair(limit.bytes, word),
            Err(_) if word == UNLIMITED => pair(limit.packets, "0"),
            Err(_) => return None,
        };
        Some(vec![pair("kind", info.name), amount])
    });
    Some(TomlTable { entries: amount.unwrap_or_else(|| vec![pair("kind", word)]) })
}
