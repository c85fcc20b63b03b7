//! The values of a table after checking.

use crate::source::Span;
use lasthop_base::{Duration, Rate, Selection, Value};

#[derive(Clone, Debug)]
pub(crate) enum FieldValue {
    Value(Value),
    Text(String),
    Mechanism(Selection),
}

/// The values of a table, written or default, in the order of the table's keys.
///
/// The methods below expect names from the table's list of keys, and values of the type that the key declares. The
/// methods return `None` for a key that has neither a value nor a default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    list: Vec<(&'static str, FieldValue, Span)>,
}

impl Fields {
    pub(crate) fn with_capacity(count: usize) -> Fields {
        Fields { list: Vec::with_capacity(count) }
    }

    pub(crate) fn push(&mut self, name: &'static str, setting: FieldValue, place: Span) {
        self.list.push((name, setting, place));
    }

    /// Removes a value and returns it with its position in the source text. The order of the remaining values changes.
    pub(crate) fn take(&mut self, name: &str) -> Option<(FieldValue, Span)> {
        let at = self.list.iter().position(|(known, _, _)| *known == name)?;
        let (_, setting, place) = self.list.swap_remove(at);
        Some((setting, place))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &FieldValue)> {
        self.list.iter().map(|(name, setting, _)| (*name, setting))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&FieldValue> {
        self.entry(name).map(|(_, setting, _)| setting)
    }

    /// Returns the position of the value in the source text. A default value has the position of its table's header,
    /// such as `[link.wired]`.
    pub(crate) fn place(&self, name: &str) -> Option<Span> {
        self.entry(name).map(|(_, _, place)| *place)
    }

    fn entry(&self, name: &str) -> Option<&(&'static str, FieldValue, Span)> {
        self.list.iter().find(|(known, _, _)| *known == name)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        match self.find(name) {
            Some(FieldValue::Value(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Some(FieldValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn selection(&self, name: &str) -> Option<&Selection> {
        match self.find(name) {
            Some(FieldValue::Mechanism(selection)) => Some(selection),
            _ => None,
        }
    }

    pub(crate) fn duration(&self, name: &str) -> Option<Duration> {
        match self.value(name) {
            Some(Value::Duration(span)) => Some(*span),
            _ => None,
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn rate(&self, name: &str) -> Option<Rate> {
        match self.value(name) {
            Some(Value::Rate(rate)) => Some(*rate),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Some(Value::Bytes(amount)) => Some(*amount),
            _ => None,
        }
    }

    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.value(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        match self.value(name) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }
}
