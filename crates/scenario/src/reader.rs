//! Reads a table according to its list of keys. Refuses unknown keys, missing keys and values of the wrong type.

use crate::catalogue::Catalogue;
use crate::fields::{FieldValue, Fields};
use crate::key::{Key, Presence, ValueType};
use crate::language;
use crate::problem::Problem;
use crate::resolved::Resolved;
use crate::source::{SourceText, Span};
use crate::suggest::{among, listed};
use crate::tree::{TomlEntry, TomlNode, TomlTable};
use crate::{mechanisms, quantities};

/// Reads tables, and records every value for the resolved document (the output of `show`).
pub(crate) struct TableReader<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) sources: &'a [SourceText],
    pub(crate) resolved: Resolved,
}

#[derive(Clone, Copy)]
pub(crate) struct TableHead<'a> {
    /// Path of the table, such as `link.wired`; empty for the document itself.
    pub(crate) path: &'a str,
    pub(crate) place: Span,
}

/// The checked values of a table, and the reader that creates error messages about the table.
pub(crate) struct CheckedTable<'a> {
    pub(crate) reader: &'a TableReader<'a>,
    pub(crate) head: TableHead<'a>,
    pub(crate) fields: &'a Fields,
}

impl TableHead<'_> {
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

impl TableReader<'_> {
    pub(crate) fn problem(&self, place: Span, message: impl Into<String>) -> Problem {
        Problem::new(&self.sources[place.source], place.start..place.end, message)
    }

    /// Reads all keys of a table. The value of a missing key comes from `inherited`, or else from the key's default.
    pub(crate) fn read(
        &mut self,
        head: TableHead<'_>,
        table: &TomlTable,
        inherited: &[&TomlEntry],
        keys: &[Key],
    ) -> Result<Fields, Problem> {
        let mut given = self.given(head, table, keys)?;
        let mut fields = Fields::with_capacity(keys.len());
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
                _ if matches!(key.value_type, ValueType::Table) => {}
                Presence::Optional(_) => {}
                Presence::Required => return Err(self.missing(head, key, keys)),
                Presence::Default(text) => {
                    fields.push(key.name, self.default_value(head, key, text)?, head.place);
                }
            }
        }
        self.resolved.record(head.path, keys, &fields);
        Ok(fields)
    }

    /// Reads the keys that are written in a table, in the order of the document.
    pub(crate) fn given(
        &self,
        head: TableHead<'_>,
        table: &TomlTable,
        keys: &[Key],
    ) -> Result<Fields, Problem> {
        let mut fields = Fields::with_capacity(table.entries.len());
        for entry in &table.entries {
            let Some(key) = keys.iter().find(|key| key.name == entry.key) else {
                return Err(self.unknown(head, entry, keys));
            };
            if !matches!(key.value_type, ValueType::Table) {
                fields.push(key.name, self.setting(head, key, &entry.node)?, entry.node.place);
            }
        }
        Ok(fields)
    }

    pub(crate) fn setting(
        &self,
        head: TableHead<'_>,
        key: &Key,
        node: &TomlNode,
    ) -> Result<FieldValue, Problem> {
        match &key.value_type {
            ValueType::Unit(unit) => quantities::unit(self, head, key, unit, node).map(FieldValue::Value),
            ValueType::WordOr(words, unit) => {
                quantities::word_or(self, head, key, words, unit, node).map(FieldValue::Value)
            }
            ValueType::Text => quantities::text(self, head, key, node).map(FieldValue::Text),
            ValueType::File => self.file(head, key, node).map(FieldValue::Text),
            ValueType::FileOrProcess => {
                let text = quantities::text(self, head, key, node)?;
                match crate::arrivals::process_of(&text) {
                    Some(_) => Ok(FieldValue::Text(text)),
                    None => self.file(head, key, node).map(FieldValue::Text),
                }
            }
            ValueType::Node => quantities::name(self, head, key, node).map(FieldValue::Text),
            ValueType::Mechanism(seam) => {
                mechanisms::read(self, head, key, seam, node).map(FieldValue::Mechanism)
            }
            ValueType::Table => Err(self.problem(node.place, format!("{} is a table", head.key(key.name)))),
        }
    }

    /// Returns the name of a file, relative to the working directory. File names in a scenario are relative to the
    /// document.
    fn file(&self, head: TableHead<'_>, key: &Key, node: &TomlNode) -> Result<String, Problem> {
        let name = quantities::text(self, head, key, node)?;
        if name.starts_with(crate::ready::TRACE_PREFIX) {
            return Ok(name);
        }
        let directory = &self.sources[node.place.source].directory;
        Ok(directory.join(name).to_string_lossy().into_owned())
    }

    fn default_value(&self, head: TableHead<'_>, key: &Key, text: &str) -> Result<FieldValue, Problem> {
        match &key.value_type {
            ValueType::Unit(unit) => {
                quantities::of_text(self, head, key, unit, (head.place, text)).map(FieldValue::Value)
            }
            _ => self.setting(head, key, &TomlNode::text(head.place, text)),
        }
    }

    /// Returns the table that is the value of a key. Any other value is an error.
    pub(crate) fn table<'t>(
        &self,
        head: TableHead<'_>,
        entry: &'t TomlEntry,
    ) -> Result<&'t TomlTable, Problem> {
        entry.node.table().ok_or_else(|| {
            let name = head.key(&entry.key);
            self.problem(entry.node.place, format!("{name} is a table, not {}", entry.node.kind()))
                .help(format!("write its keys below a line [{name}]"))
        })
    }

    fn unknown(&self, head: TableHead<'_>, entry: &TomlEntry, keys: &[Key]) -> Problem {
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let help = match language::tables_with_key(self.catalogue, &entry.key) {
            tables if tables.is_empty() => among(&entry.key, "keys here", &names),
            tables => format!("`{}` is a key of {}", entry.key, tables.join(" and of ")),
        };
        self.problem(entry.place, format!("{} has no key `{}`", head.bracketed(), entry.key))
            .label("unknown key")
            .help(help)
    }

    fn missing(&self, head: TableHead<'_>, key: &Key, keys: &[Key]) -> Problem {
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
                quantities::example(&key.value_type),
                listed(&required)
            ))
    }
}
