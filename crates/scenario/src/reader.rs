//! Reads a table against its list of keys: refuses unknown keys, missing keys and values of the wrong type.

use crate::catalogue::Catalogue;
use crate::fields::{Fields, Setting};
use crate::key::{Form, Key, Presence};
use crate::language;
use crate::problem::Problem;
use crate::resolved::Resolved;
use crate::source::{Source, Span};
use crate::suggest::{among, listed};
use crate::tree::{Entry, Node, Table};
use crate::{mechanisms, quantities};

/// Reads tables, and records every value for the resolved scenario.
pub(crate) struct Reader<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) sources: &'a [Source],
    pub(crate) resolved: Resolved,
}

#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    /// `link.wired`; empty for the document.
    pub(crate) path: &'a str,
    pub(crate) place: Span,
}

/// Checked values of a table, with the reader for error messages.
pub(crate) struct Given<'a> {
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) head: Head<'a>,
    pub(crate) fields: &'a Fields,
}

impl Head<'_> {
    pub(crate) fn key(&self, name: &str) -> String {
        match self.path {
            "" => name.to_owned(),
            path => [path, ".", name].concat(),
        }
    }

    pub(crate) fn bracketed(&self) -> String {
        match self.path {
            "" => "a scenario".to_owned(),
            path => format!("[{path}]"),
        }
    }
}

impl Reader<'_> {
    pub(crate) fn problem(&self, place: Span, message: impl Into<String>) -> Problem {
        Problem::new(&self.sources[place.source], place.start..place.end, message)
    }

    /// Reads all keys of a table; missing keys come from `inherited`, then from their defaults.
    pub(crate) fn read(
        &mut self,
        head: Head<'_>,
        table: &Table,
        inherited: &[&Entry],
        keys: &[Key],
    ) -> Result<Fields, Problem> {
        let mut given = self.given(head, table, keys)?;
        let mut fields = Fields::with_room(keys.len());
        for key in keys {
            if let Some((setting, place)) = given.take(key.name) {
                fields.push(key.name, setting, place);
                continue;
            }
            if let Some(entry) = inherited.iter().find(|entry| entry.key == key.name) {
                fields.push(key.name, self.setting(head, key, &entry.node)?, entry.node.place);
                continue;
            }
            match &key.presence {
                _ if matches!(key.form, Form::Table) => {}
                Presence::Optional(_) => {}
                Presence::Required => return Err(self.missing(head, key, keys)),
                Presence::Default(text) => {
                    fields.push(key.name, self.assumed(head, key, text)?, head.place);
                }
            }
        }
        self.resolved.note(head.path, keys, &fields);
        Ok(fields)
    }

    /// Reads the keys written in a table, in the order of the document.
    pub(crate) fn given(&self, head: Head<'_>, table: &Table, keys: &[Key]) -> Result<Fields, Problem> {
        let mut fields = Fields::with_room(table.entries.len());
        for entry in &table.entries {
            let Some(key) = keys.iter().find(|key| key.name == entry.key) else {
                return Err(self.unknown(head, entry, keys));
            };
            if !matches!(key.form, Form::Table) {
                fields.push(key.name, self.setting(head, key, &entry.node)?, entry.node.place);
            }
        }
        Ok(fields)
    }

    pub(crate) fn setting(&self, head: Head<'_>, key: &Key, node: &Node) -> Result<Setting, Problem> {
        match &key.form {
            Form::Unit(unit) => quantities::unit(self, head, key, unit, node).map(Setting::Value),
            Form::WordOr(words, unit) => {
                quantities::word_or(self, head, key, words, unit, node).map(Setting::Value)
            }
            Form::Text => quantities::text(self, head, key, node).map(Setting::Text),
            Form::File => {
                // File names are relative to the document; the result is relative to the working directory.
                let name = quantities::text(self, head, key, node)?;
                if name.starts_with(crate::ready::TRACE_PREFIX) {
                    return Ok(Setting::Text(name.to_string()));
                }
                let directory = &self.sources[node.place.source].directory;
                Ok(Setting::Text(directory.join(name).to_string_lossy().into_owned()))
            }
            Form::Node => quantities::name(self, head, key, node).map(Setting::Text),
            Form::Mechanism(seam) => mechanisms::read(self, head, key, seam, node).map(Setting::Mechanism),
            Form::Table => Err(self.problem(node.place, format!("{} is a table", head.key(key.name)))),
        }
    }

    fn assumed(&self, head: Head<'_>, key: &Key, text: &str) -> Result<Setting, Problem> {
        match &key.form {
            Form::Unit(unit) => {
                quantities::of_text(self, head, key, unit, (head.place, text)).map(Setting::Value)
            }
            _ => self.setting(head, key, &Node::text(head.place, text)),
        }
    }

    /// The table under a key; an error if the value is no table.
    pub(crate) fn table<'t>(&self, head: Head<'_>, entry: &'t Entry) -> Result<&'t Table, Problem> {
        entry.node.table().ok_or_else(|| {
            let name = head.key(&entry.key);
            self.problem(entry.node.place, format!("{name} is a table, not {}", entry.node.kind()))
                .help(format!("write its keys below a line [{name}]"))
        })
    }

    fn unknown(&self, head: Head<'_>, entry: &Entry, keys: &[Key]) -> Problem {
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let help = match language::homes(self.catalogue, &entry.key) {
            homes if homes.is_empty() => among(&entry.key, "keys here", &names),
            homes => format!("`{}` is a key of {}", entry.key, homes.join(" and of ")),
        };
        self.problem(entry.place, format!("{} has no key `{}`", head.bracketed(), entry.key))
            .label("unknown key")
            .help(help)
    }

    fn missing(&self, head: Head<'_>, key: &Key, keys: &[Key]) -> Problem {
        let required: Vec<&str> = keys
            .iter()
            .filter(|key| matches!(key.presence, Presence::Required))
            .map(|key| key.name)
            .collect();
        self.problem(head.place, format!("{} needs the key `{}`", head.bracketed(), key.name))
            .label(format!("`{}` is missing", key.name))
            .help(format!(
                "{}: {}, such as {}; required here: {}",
                key.name,
                key.doc,
                quantities::example(&key.form),
                listed(&required)
            ))
    }
}
