//! The resolved document: every key with its value, as `show` prints it. The values are recorded while the scenario is
//! checked.

use crate::fields::{FieldValue, Fields};
use crate::key::{Key, Presence, ValueType};
use crate::text;
use lasthop_base::{Info, Parameter, Selection, Unit, Value};
use std::borrow::Cow;

/// Amount of text to record during checking. Most runs need only the scenario. Recording every key with its meaning
/// takes longer than checking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Detail {
    Nothing,
    Values,
    /// Also records each key's meaning, and example values of keys that are not set.
    Everything,
}

#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    detail: Detail,
    pub(crate) sections: Vec<ResolvedSection>,
}

#[derive(Clone, Debug)]
pub(crate) struct ResolvedSection {
    /// Path of the table, such as `link.wired.down`; empty for the document itself.
    pub(crate) path: String,
    pub(crate) doc: Option<String>,
    pub(crate) lines: Vec<KeyValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct KeyValue {
    pub(crate) key: Cow<'static, str>,
    pub(crate) value: ResolvedValue,
    /// Whether the key is set or has a default; otherwise the value is only an example.
    pub(crate) is_set: bool,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) enum ResolvedValue {
    Value(Value),
    Text(String),
    /// Name of a mechanism, or an example.
    Word(&'static str),
    /// TOML text of a list or a mix, whose values differ between the replicas of a flow.
    Toml(String),
}

impl ResolvedValue {
    pub(crate) fn push(&self, text: &mut String) {
        match self {
            ResolvedValue::Value(value) => text::push_toml(value, text),
            ResolvedValue::Text(words) => text::push_quoted(words, text),
            ResolvedValue::Word(word) => text::push_quoted(word, text),
            ResolvedValue::Toml(toml) => text.push_str(toml),
        }
    }
}

impl Resolved {
    pub(crate) fn new(detail: Detail) -> Resolved {
        Resolved { detail, sections: Vec::new() }
    }

    /// Records a table. `fields` must be in the order of `keys`.
    pub(crate) fn record(&mut self, path: &str, keys: &[Key], fields: &Fields) {
        if self.detail == Detail::Nothing {
            return;
        }
        let is_explained = self.detail == Detail::Everything;
        let mut lines = Vec::with_capacity(keys.len());
        let mut below = Vec::new();
        let mut read = fields.iter().peekable();
        for key in keys {
            let setting = read.next_if(|(name, _)| *name == key.name).map(|(_, setting)| setting);
            let doc = if is_explained { doc(key) } else { String::new() };
            let line = |value, is_set, doc| KeyValue { key: key.name.into(), value, is_set, doc };
            match (setting, &key.presence, &key.value_type) {
                (_, _, ValueType::Table) => {}
                (Some(FieldValue::Value(value)), ..) => {
                    lines.push(line(ResolvedValue::Value(value.clone()), true, doc))
                }
                (Some(FieldValue::Text(value)), ..) => {
                    lines.push(line(ResolvedValue::Text(value.clone()), true, doc))
                }
                (Some(FieldValue::Mechanism(selection)), _, value_type) => {
                    if selection.info.parameters.is_empty() {
                        let doc = if is_explained {
                            format!("{}: {}", key.doc, origin(selection.info, value_type))
                        } else {
                            doc
                        };
                        lines.push(line(ResolvedValue::Word(selection.info.name), true, doc));
                    } else {
                        below.push(mechanism(path, key, selection, is_explained))
                    }
                }
                (None, Presence::Optional(example), _) if is_explained => {
                    lines.push(line(ResolvedValue::Word(example), false, doc));
                }
                (None, ..) => {}
            }
        }
        debug_assert!(
            read.next().is_none(),
            "{path}: a value without a key, or values not in the keys' order"
        );
        self.sections.push(ResolvedSection { path: path.to_owned(), doc: None, lines });
        self.sections.extend(below);
    }

    /// Removes a key without effect, and the table of that key.
    pub(crate) fn omit(&mut self, path: &str, key: &str) {
        let table = format!("{path}.{key}");
        self.sections.retain(|section| section.path != table);
        for section in self.sections.iter_mut().filter(|section| section.path == path) {
            section.lines.retain(|line| line.key != key);
        }
    }

    /// Replaces a value that depends on the whole scenario. The text `from` is added to the key's comment.
    pub(crate) fn replace(&mut self, path: &str, key: &str, value: Value, from: &str) {
        let sections = self.sections.iter_mut().filter(|section| section.path == path);
        for line in sections.flat_map(|section| &mut section.lines).filter(|line| line.key == key) {
            line.value = ResolvedValue::Value(value.clone());
            line.doc = format!("{}; here: {from}", line.doc);
        }
    }
}

impl Resolved {
    /// Replaces a key's value or table by TOML, because the value differs between the replicas of a flow.
    pub(crate) fn vary(&mut self, path: &str, key: &str, toml: &str) {
        let table = format!("{path}.{key}");
        let doc = self.sections.iter().find(|section| section.path == table).and_then(|it| it.doc.clone());
        self.sections.retain(|section| section.path != table);
        let Some(section) = self.sections.iter_mut().find(|section| section.path == path) else { return };
        let value = ResolvedValue::Toml(toml.to_owned());
        match section.lines.iter_mut().find(|line| line.key == key) {
            Some(line) => (line.value, line.is_set) = (value, true),
            None => {
                let (key, doc) = (Cow::Owned(key.to_owned()), doc.unwrap_or_default());
                section.lines.push(KeyValue { key, value, is_set: true, doc });
            }
        }
    }
}

fn mechanism(path: &str, key: &Key, selection: &Selection, is_explained: bool) -> ResolvedSection {
    let said = |doc: &dyn Fn() -> String| if is_explained { doc() } else { String::new() };
    let kind = KeyValue {
        key: "kind".into(),
        value: ResolvedValue::Word(selection.info.name),
        is_set: true,
        doc: said(&|| origin(selection.info, &key.value_type)),
    };
    let works =
        |parameter: &&Parameter| selection.info.unmet_condition(parameter.name, &selection.values).is_none();
    let parameters = selection.info.parameters.iter().filter(works).filter_map(|parameter| {
        let (_, value) = selection.values.iter().find(|(name, _)| *name == parameter.name)?;
        Some(KeyValue {
            key: parameter.name.into(),
            value: ResolvedValue::Value(value.clone()),
            is_set: true,
            doc: said(&|| doc(&Key::from(parameter))),
        })
    });
    ResolvedSection {
        path: [path, ".", key.name].concat(),
        doc: is_explained.then(|| key.doc.to_owned()),
        lines: std::iter::once(kind).chain(parameters).collect(),
    }
}

/// Returns the comment for a key: the words that the key accepts, then the key's meaning.
fn doc(key: &Key) -> String {
    match &key.value_type {
        ValueType::Unit(Unit::Word(words)) => format!("{}: {}", words.join(", "), key.doc),
        _ => key.doc.to_owned(),
    }
}

fn origin(info: &Info, value_type: &ValueType) -> String {
    format!("{} ({}){}", info.summary, info.source, others(value_type, info))
}

fn others(value_type: &ValueType, chosen: &Info) -> String {
    let ValueType::Mechanism(seam) = value_type else { return String::new() };
    let mut names = seam.names();
    names.retain(|name| *name != chosen.name);
    if names.is_empty() { String::new() } else { format!("; or {}", names.join(", ")) }
}
