//! The resolved document: every key with its value, recorded during checking.

use crate::fields::{Fields, Setting};
use crate::key::{Form, Key, Presence};
use crate::text;
use lasthop_base::{Info, Parameter, Selection, Unit, Value};
use std::borrow::Cow;

/// Text to record during checking. Most runs need only the scenario, and recording every key with its meaning takes
/// longer than checking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wanted {
    Nothing,
    Values,
    /// Also each key's meaning, and keys that are not set.
    Everything,
}

#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    wanted: Wanted,
    pub(crate) sections: Vec<Section>,
}

#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// `link.wired.down`; empty for the document itself.
    pub(crate) path: String,
    pub(crate) doc: Option<String>,
    pub(crate) lines: Vec<KeyValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct KeyValue {
    pub(crate) key: Cow<'static, str>,
    pub(crate) value: Shown,
    /// Whether the key is in effect; otherwise it is an example.
    pub(crate) holds: bool,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Value(Value),
    Text(String),
    /// Name of a mechanism, or an example.
    Word(&'static str),
}

impl Shown {
    pub(crate) fn push(&self, text: &mut String) {
        match self {
            Shown::Value(value) => text::push_toml(value, text),
            Shown::Text(words) => text::push_quoted(words, text),
            Shown::Word(word) => text::push_quoted(word, text),
        }
    }
}

impl Resolved {
    pub(crate) fn new(wanted: Wanted) -> Resolved {
        Resolved { wanted, sections: Vec::new() }
    }

    /// Records a table; `fields` are in the order of `keys`.
    pub(crate) fn note(&mut self, path: &str, keys: &[Key], fields: &Fields) {
        if self.wanted == Wanted::Nothing {
            return;
        }
        let is_explained = self.wanted == Wanted::Everything;
        let mut lines = Vec::with_capacity(keys.len());
        let mut below = Vec::new();
        let mut read = fields.iter().peekable();
        for key in keys {
            let setting = read.next_if(|(name, _)| *name == key.name).map(|(_, setting)| setting);
            let doc = if is_explained { doc(key) } else { String::new() };
            let line = |value, holds, doc| KeyValue { key: key.name.into(), value, holds, doc };
            match (setting, &key.presence, &key.form) {
                (_, _, Form::Table) => {}
                (Some(Setting::Value(value)), ..) => lines.push(line(Shown::Value(value.clone()), true, doc)),
                (Some(Setting::Text(value)), ..) => lines.push(line(Shown::Text(value.clone()), true, doc)),
                (Some(Setting::Mechanism(selection)), _, form) => {
                    match selection.info.parameters.is_empty() {
                        true => {
                            let doc = match is_explained {
                                true => format!("{}: {}", key.doc, origin(selection.info, form)),
                                false => doc,
                            };
                            lines.push(line(Shown::Word(selection.info.name), true, doc));
                        }
                        false => below.push(mechanism(path, key, selection, is_explained)),
                    }
                }
                (None, Presence::Optional(example), _) if is_explained => {
                    lines.push(line(Shown::Word(example), false, doc));
                }
                (None, ..) => {}
            }
        }
        debug_assert!(
            read.next().is_none(),
            "{path}: a value without a key, or values not in the keys' order"
        );
        self.sections.push(Section { path: path.to_owned(), doc: None, lines });
        self.sections.extend(below);
    }

    /// Replaces a value that depends on the whole scenario, and adds its origin to the comment.
    pub(crate) fn settle(&mut self, path: &str, key: &str, value: Value, from: &str) {
        let sections = self.sections.iter_mut().filter(|section| section.path == path);
        for line in sections.flat_map(|section| &mut section.lines).filter(|line| line.key == key) {
            line.value = Shown::Value(value.clone());
            line.doc = format!("{}; here: {from}", line.doc);
        }
    }
}

fn mechanism(path: &str, key: &Key, selection: &Selection, is_explained: bool) -> Section {
    let said = |doc: &dyn Fn() -> String| if is_explained { doc() } else { String::new() };
    let kind = KeyValue {
        key: "kind".into(),
        value: Shown::Word(selection.info.name),
        holds: true,
        doc: said(&|| origin(selection.info, &key.form)),
    };
    let works =
        |parameter: &&Parameter| selection.info.unmet_condition(parameter.name, &selection.values).is_none();
    let parameters = selection.info.parameters.iter().filter(works).filter_map(|parameter| {
        let (_, value) = selection.values.iter().find(|(name, _)| *name == parameter.name)?;
        Some(KeyValue {
            key: parameter.name.into(),
            value: Shown::Value(value.clone()),
            holds: true,
            doc: said(&|| doc(&Key::from(parameter))),
        })
    });
    Section {
        path: [path, ".", key.name].concat(),
        doc: is_explained.then(|| key.doc.to_owned()),
        lines: std::iter::once(kind).chain(parameters).collect(),
    }
}

/// Meaning of a key, after the words that it accepts.
fn doc(key: &Key) -> String {
    match &key.form {
        Form::Unit(Unit::Word(words)) => format!("{}: {}", words.join(", "), key.doc),
        _ => key.doc.to_owned(),
    }
}

fn origin(info: &Info, form: &Form) -> String {
    format!("{} ({}){}", info.summary, info.source, others(form, info))
}

fn others(form: &Form, chosen: &Info) -> String {
    let Form::Mechanism(seam) = form else { return String::new() };
    let mut names = seam.names();
    names.retain(|name| *name != chosen.name);
    match names.is_empty() {
        true => String::new(),
        false => format!("; or {}", names.join(", ")),
    }
}
