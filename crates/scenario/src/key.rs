//! Descriptions of the keys of the scenario language. The reader, `show`, `list` and the schema all use these
//! descriptions.

use lasthop_base::{Info, Parameter, SeamInfo, Unit};
use lasthop_tcp::profile::Preset;
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) value_type: ValueType,
    pub(crate) presence: Presence,
    pub(crate) doc: &'static str,
    /// If the key selects a mechanism, the parameters whose defaults the profile replaces; otherwise empty.
    pub(crate) presets: Vec<Preset>,
}

#[derive(Clone, Debug)]
pub(crate) enum ValueType {
    /// A quantity, number, flag or word.
    Unit(Unit),
    /// One of these words, or a quantity.
    WordOr(&'static [&'static str], Unit),
    Text,
    Node,
    File,
    /// A file, or an arrival process ([`crate::arrivals`]).
    FileOrProcess,
    /// A mechanism: its name, or a table with `kind` and the parameters.
    Mechanism(SeamInfo),
    Table,
}

#[derive(Clone, Debug)]
pub(crate) enum Presence {
    Required,
    /// The key has no default; the text is an example value.
    Optional(&'static str),
    /// The key's default, written as in a scenario but without quotes.
    Default(Cow<'static, str>),
}

impl Key {
    pub(crate) fn required(name: &'static str, value_type: ValueType, doc: &'static str) -> Key {
        Key { name, value_type, presence: Presence::Required, doc, presets: Vec::new() }
    }

    pub(crate) fn optional(
        name: &'static str,
        value_type: ValueType,
        example: &'static str,
        doc: &'static str,
    ) -> Key {
        Key { name, value_type, presence: Presence::Optional(example), doc, presets: Vec::new() }
    }

    pub(crate) fn default(
        name: &'static str,
        value_type: ValueType,
        default: impl Into<Cow<'static, str>>,
        doc: &'static str,
    ) -> Key {
        Key { name, value_type, presence: Presence::Default(default.into()), doc, presets: Vec::new() }
    }

    /// Returns a key whose value is a table. The contents of the table are read separately.
    pub(crate) fn table(name: &'static str, doc: &'static str) -> Key {
        Key::optional(name, ValueType::Table, "{}", doc)
    }

    /// Returns the same key as an optional key.
    pub(crate) fn made_optional(self) -> Key {
        match self.presence {
            Presence::Optional(_) => self,
            _ => Key { presence: Presence::Optional(""), ..self },
        }
    }
}

impl From<&Parameter> for Key {
    fn from(parameter: &Parameter) -> Key {
        let presence = match parameter.default {
            Some(text) => Presence::Default(text.into()),
            None => Presence::Required,
        };
        let value_type = ValueType::Unit(parameter.unit);
        Key { name: parameter.name, value_type, presence, doc: parameter.doc, presets: Vec::new() }
    }
}

/// Returns the keys of a mechanism's table other than `kind`.
pub(crate) fn parameters(info: &Info) -> Vec<Key> {
    info.parameters.iter().map(Key::from).collect()
}

/// Returns the keys of the mechanism `info`, with the defaults of the profile. `seam` is the key that selects the
/// mechanism.
pub(crate) fn preset_parameters(seam: &Key, info: &Info) -> Vec<Key> {
    let mut keys = parameters(info);
    for preset in seam.presets.iter().filter(|preset| preset.with.1 == info.name) {
        if let Some(key) = keys.iter_mut().find(|key| key.name == preset.key) {
            key.presence = Presence::Default(preset.value.into());
        }
    }
    keys
}
