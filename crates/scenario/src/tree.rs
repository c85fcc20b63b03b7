//! A TOML document as a tree. Every key and value has its position in the source text (`place`).

use crate::problem::Problem;
use crate::source::{SourceText, Span};
use crate::text::push_quoted;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug, Default)]
pub(crate) struct TomlTable {
    pub(crate) entries: Vec<TomlEntry>,
}

#[derive(Clone, Debug)]
pub(crate) struct TomlEntry {
    pub(crate) key: String,
    pub(crate) place: Span,
    pub(crate) node: TomlNode,
}

#[derive(Clone, Debug)]
pub(crate) struct TomlNode {
    pub(crate) place: Span,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Text(String),
    /// A number as written: digits, sign, point, exponent; also `nan` and `inf`.
    Number(String),
    Flag(bool),
    /// Tables are shared and copied on write, because the drafts of a sweep (one per point) share most of their tables.
    Table(Arc<TomlTable>),
    /// A list: a value for each replica of a flow.
    List(Vec<TomlNode>),
    /// A date, or a value that is nested too deeply. No key accepts such a value.
    Other(&'static str),
}

impl TomlTable {
    pub(crate) fn find(&self, key: &str) -> Option<&TomlEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn find_mut(&mut self, key: &str) -> Option<&mut TomlEntry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.key.as_str()).collect()
    }

    /// Sets a key: replaces its value, or appends the key with the value.
    pub(crate) fn set(&mut self, key: &str, place: Span, node: TomlNode) {
        match self.find_mut(key) {
            Some(entry) => entry.node = node,
            None => self.entries.push(TomlEntry { key: key.to_owned(), place, node }),
        }
    }

    pub(crate) fn table(&self, key: &str) -> Option<&TomlTable> {
        self.find(key).and_then(|entry| entry.node.table())
    }
}

impl TomlNode {
    pub(crate) fn text(place: Span, text: &str) -> TomlNode {
        TomlNode { place, content: Content::Text(text.to_owned()) }
    }

    pub(crate) fn table(&self) -> Option<&TomlTable> {
        match &self.content {
            Content::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the text of a value other than a table, for [`lasthop_base::Unit::parse`].
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) | Content::Number(text) => Some(text),
            Content::Flag(true) => Some("true"),
            Content::Flag(false) => Some("false"),
            Content::Table(_) | Content::List(_) | Content::Other(_) => None,
        }
    }

    /// Writes the value as TOML on one line.
    pub(crate) fn push_toml(&self, text: &mut String) {
        match &self.content {
            Content::Text(words) => push_quoted(words, text),
            Content::Number(digits) => text.push_str(digits),
            Content::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Content::List(values) => {
                text.push('[');
                for (at, value) in values.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    value.push_toml(text);
                }
                text.push(']');
            }
            Content::Table(table) => {
                text.push_str("{ ");
                for (at, entry) in table.entries.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    push_quoted(&entry.key, text);
                    text.push_str(" = ");
                    entry.node.push_toml(text);
                }
                text.push_str(" }");
            }
            Content::Other(_) => {}
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Text(_) => "a text",
            Content::Number(_) => "a number",
            Content::Flag(_) => "true or false",
            Content::Table(_) => "a table",
            Content::List(_) => "a list",
            Content::Other(kind) => kind,
        }
    }
}

pub(crate) fn parse(source: &SourceText, number: usize) -> Result<TomlTable, Problem> {
    refuse_deep_keys(source)?;
    match DeTable::parse(&source.text) {
        Ok(document) => Ok(table(document.get_ref(), number, 0)),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            Err(Problem::new(source, span, format!("this is not TOML: {message}"))
                .help("write `key = value` lines; put texts and quantities in quotes: rate = \"2 Mbit/s\""))
        }
    }
}

/// Reads a value typed after `--set KEY=`. A value that is not valid TOML is read as a text.
pub(crate) fn parse_typed(written: &str, place: Span) -> TomlNode {
    let trimmed = written.trim();
    // A line break would start another entry, and a comment would hide the rest of the text.
    let may_be_toml = !trimmed.contains(['\n', '\r', '#']) && trimmed.matches('.').count() <= MAX_DEPTH;
    if may_be_toml {
        let document = format!("v={trimmed}");
        if let Ok(document) = DeTable::parse(&document)
            && let Some((_, value)) = document.get_ref().iter().next()
        {
            let mut typed = node(value, place.source, 0);
            if !matches!(typed.content, Content::Other(_)) {
                relocate(&mut typed, place);
                return typed;
            }
        }
    }
    TomlNode::text(place, trimmed)
}

/// Sets the source position of a node and of all keys and values in the node.
fn relocate(node: &mut TomlNode, place: Span) {
    node.place = place;
    match &mut node.content {
        Content::Table(table) => {
            for entry in &mut Arc::make_mut(table).entries {
                entry.place = place;
                relocate(&mut entry.node, place);
            }
        }
        Content::List(values) => values.iter_mut().for_each(|value| relocate(value, place)),
        _ => {}
    }
}

const MAX_DEPTH: usize = 32;

/// Refuses keys with very many parts (`a.a.a.a…`). Each part is a nested table, and the stack is limited.
fn refuse_deep_keys(source: &SourceText) -> Result<(), Problem> {
    const MAX_DOTS: usize = 64;
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#') && line.matches('.').count() > MAX_DOTS {
            let span = start..start + line.trim_end().len();
            return Err(Problem::new(source, span, format!("this line has more than {MAX_DOTS} dots"))
                .help("the longest keys are like link.wireless.down.channel.rate"));
        }
        start += line.len();
    }
    Ok(())
}

fn table(table: &DeTable<'_>, source: usize, depth: usize) -> TomlTable {
    let entries = table
        .iter()
        .map(|(key, value)| TomlEntry {
            key: key.get_ref().to_string(),
            place: place(key.span(), source),
            node: node(value, source, depth + 1),
        })
        .collect();
    TomlTable { entries }
}

fn node(value: &Spanned<DeValue<'_>>, source: usize, depth: usize) -> TomlNode {
    let content = match value.get_ref() {
        _ if depth > MAX_DEPTH => Content::Other("a deeply nested table"),
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str();
            Content::Number(match i64::from_str_radix(digits, integer.radix()) {
                Ok(number) => number.to_string(),
                Err(_) => digits.to_owned(),
            })
        }
        DeValue::Float(float) => Content::Number(float.as_str().to_owned()),
        DeValue::Boolean(flag) => Content::Flag(*flag),
        DeValue::Datetime(_) => Content::Other("a date"),
        DeValue::Array(values) => {
            Content::List(values.iter().map(|value| node(value, source, depth + 1)).collect())
        }
        DeValue::Table(inner) => Content::Table(table(inner, source, depth).into()),
    };
    TomlNode { place: place(value.span(), source), content }
}

fn place(span: Range<usize>, source: usize) -> Span {
    Span { source, start: span.start, end: span.end }
}
