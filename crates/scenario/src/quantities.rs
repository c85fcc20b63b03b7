//! Reads values other than mechanisms: quantities, words, texts, names.

use crate::key::{Key, ValueType};
use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::source::Span;
use crate::suggest::nearest;
use crate::tree::{Content, TomlNode};
use lasthop_base::{Unit, Value};

const LONGEST_NAME: usize = 64;

pub(crate) fn unit(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    unit: &Unit,
    node: &TomlNode,
) -> Result<Value, Problem> {
    match node.scalar() {
        Some(text) => of_text(reader, head, key, unit, (node.place, text)),
        None => Err(wrong_kind(reader, head, key, node)),
    }
}

pub(crate) fn of_text(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    unit: &Unit,
    (place, text): (Span, &str),
) -> Result<Value, Problem> {
    parse(unit, text).map_err(|why| {
        let problem = reader.problem(place, format!("{}: {why}", head.key(key.name)));
        let expected = expected(&key.value_type);
        match unit {
            Unit::Word(words) => match nearest(text, words.iter().copied()) {
                Some(word) => problem.help(format!("did you mean \"{word}\"? {expected}")),
                None => problem.help(expected),
            },
            _ => problem.help(expected),
        }
    })
}

/// Parses a value as [`Unit::parse`] does, but keeps whole numbers above 2^53 exact.
fn parse(unit: &Unit, text: &str) -> Result<Value, String> {
    if let Unit::Count(low, high) = unit
        && let Ok(count) = text.trim().parse()
        && (low..=high).contains(&&count)
    {
        return Ok(Value::Count(count));
    }
    unit.parse(text)
}

pub(crate) fn word_or(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    words: &'static [&'static str],
    otherwise: &Unit,
    node: &TomlNode,
) -> Result<Value, Problem> {
    let Some(text) = node.scalar() else { return Err(wrong_kind(reader, head, key, node)) };
    let text = text.trim();
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(Value::Word(word));
    }
    if !text.starts_with(|c: char| c.is_alphabetic()) {
        return unit(reader, head, key, otherwise, node);
    }
    let message = format!("{}: `{text}` is not a known word", head.key(key.name));
    let problem = reader.problem(node.place, message);
    let expected = expected(&key.value_type);
    Err(match nearest(text, words.iter().copied()) {
        Some(word) => problem.help(format!("did you mean \"{word}\"? {expected}")),
        None => problem.help(expected),
    })
}

pub(crate) fn text(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    node: &TomlNode,
) -> Result<String, Problem> {
    match &node.content {
        Content::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
        Content::Text(_) => Err(reader
            .problem(node.place, format!("{} is empty", head.key(key.name)))
            .help(expected(&key.value_type))),
        _ => Err(wrong_kind(reader, head, key, node)),
    }
}

pub(crate) fn name(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    key: &Key,
    node: &TomlNode,
) -> Result<String, Problem> {
    let Some(name) = node.scalar() else { return Err(wrong_kind(reader, head, key, node)) };
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(reader
            .problem(node.place, format!("{}: `{name}` cannot be a name", head.key(key.name)))
            .help(NAMES))
    }
}

pub(crate) const NAMES: &str = "a name has at most 64 letters, digits, - and _";

/// Returns whether the text is a valid name of a node, link or flow.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_part)
}

fn wrong_kind(reader: &TableReader<'_>, head: TableHead<'_>, key: &Key, node: &TomlNode) -> Problem {
    let message = format!("{}: {} is not expected here", head.key(key.name), node.kind());
    reader.problem(node.place, message).help(expected(&key.value_type))
}

pub(crate) fn expected(value_type: &ValueType) -> String {
    format!("expected: {}", takes(value_type))
}

pub(crate) fn takes(value_type: &ValueType) -> String {
    match value_type {
        ValueType::Unit(unit) => describe(unit),
        ValueType::WordOr(words, unit) => format!("\"{}\", or {}", words.join("\", \""), describe(unit)),
        ValueType::Text => "a text in quotes".to_owned(),
        ValueType::Node => "the name of a node in quotes".to_owned(),
        ValueType::File => "the name of a file in quotes".to_owned(),
        ValueType::FileOrProcess => "the name of a file in quotes, or \"poisson 80 ms\"".to_owned(),
        ValueType::Mechanism(seam) => format!("one of {}", seam.names().join(", ")),
        ValueType::Table => "a table".to_owned(),
    }
}

fn describe(unit: &Unit) -> String {
    match unit {
        Unit::Duration(low, high) => format!("a time from {low} to {high}, such as \"45 ms\""),
        Unit::Rate => "a rate from 1 bit/s to 10 Tbit/s, such as \"2 Mbit/s\"".to_owned(),
        Unit::Bytes(low, high) => format!("an amount from {low} to {high} bytes, such as \"1000 bytes\""),
        Unit::Room(low, high) => {
            format!(
                "an amount from {low} to {high} bytes, such as \"64 KB\", or a multiple of the bandwidth-delay \
                 product, such as \"1 bdp\""
            )
        }
        Unit::Number(low, high) => format!("a number from {low} to {high}"),
        Unit::Probability(low, high) => format!("a share from {low} to {high}, such as 0.01 or \"1 %\""),
        Unit::Count(low, high) => format!("a whole number from {low} to {high}"),
        Unit::Counts => "whole numbers in ascending order, such as \"14, 26, 28\"".to_owned(),
        Unit::Flag => "true or false".to_owned(),
        Unit::Word(words) => format!("one of {}", words.join(", ")),
    }
}

pub(crate) fn example(value_type: &ValueType) -> String {
    match value_type {
        ValueType::Unit(unit) | ValueType::WordOr(_, unit) => match unit {
            Unit::Duration(..) => "\"45 ms\"".to_owned(),
            Unit::Rate => "\"2 Mbit/s\"".to_owned(),
            Unit::Bytes(..) => "\"1000 bytes\"".to_owned(),
            Unit::Room(..) => "\"1 bdp\"".to_owned(),
            Unit::Number(low, _) => format!("{low:?}"),
            Unit::Probability(..) => "0.01".to_owned(),
            Unit::Count(low, _) => low.to_string(),
            Unit::Counts => "\"14, 26, 28\"".to_owned(),
            Unit::Flag => "true".to_owned(),
            Unit::Word(words) => format!("\"{}\"", words.first().copied().unwrap_or_default()),
        },
        ValueType::Text => "\"…\"".to_owned(),
        ValueType::Node => "\"server\"".to_owned(),
        ValueType::File => "\"link.down\"".to_owned(),
        ValueType::FileOrProcess => "\"poisson 80 ms\"".to_owned(),
        ValueType::Mechanism(seam) => {
            format!("\"{}\"", seam.names().first().copied().unwrap_or_default())
        }
        ValueType::Table => "{ … }".to_owned(),
    }
}
