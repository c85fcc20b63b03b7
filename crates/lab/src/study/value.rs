//! Values of axes, and patterns of names.

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Value of an axis: a number, the name of a setting, or a switch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, such as `0.059`.
    Number(f64),
    /// The name of a setting, such as `tagged, tags shielded`.
    Text(String),
    /// A switch: `true` or `false`.
    Flag(bool),
}

impl Value {
    /// Parses a text from a table of the paper's files. The result is a number if the text is a number, otherwise a
    /// text.
    pub fn read(text: &str) -> Value {
        text.parse().map_or_else(|_| Value::Text(text.into()), Value::Number)
    }

    /// Returns the value as a number. Returns `None` if the value is a text or a switch.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) | Value::Flag(_) => None,
        }
    }

    /// Returns the value as JSON, in the form of a row's coordinate.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => (*number as i64).into(),
            Value::Number(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Flag(flag) => (*flag).into(),
        }
    }

    /// Whether a text from `published.csv` equals this value. Numbers are compared up to rounding.
    pub fn is(&self, text: &str) -> bool {
        match self {
            Value::Number(number) => text.parse().is_ok_and(|one: f64| same(one, *number)),
            Value::Text(own) => own == text,
            Value::Flag(flag) => text == flag.to_string(),
        }
    }

    /// Whether the coordinate of a row equals this value. 3 equals 3.0. A word never equals a number.
    pub fn is_json(&self, x: &serde_json::Value) -> bool {
        match self {
            Value::Number(number) => x.as_f64().is_some_and(|x| same(x, *number)),
            _ => *x == self.json(),
        }
    }

    /// Whether two values are equal. Numbers are compared up to rounding.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(one), Value::Number(other)) => same(*one, *other),
            _ => self == other,
        }
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// Coordinates of a cell: the name of each axis, and the value on that axis.
pub type Coordinates = BTreeMap<String, Value>;

/// Selected values of an axis.
pub type Pick = OneOrMore<Value>;

impl Pick {
    /// Whether `value` is selected.
    pub fn contains(&self, value: &Value) -> bool {
        self.0.iter().any(|one| one.same(value))
    }

    /// Returns the selected values as written in the file.
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}

/// Names or patterns of names. In a pattern, `*` stands for any text.
pub type Texts = OneOrMore<String>;

impl Texts {
    /// Returns all texts as written in the file.
    pub fn all(&self) -> &[String] {
        &self.0
    }

    /// Whether `name` matches one of the patterns.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| matches(pattern, name))
    }
}

/// Several items of one type. The file may contain a single item or a list.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMore<T>(pub Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> OneOrMore<T> {
        OneOrMore(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMore<T>, D::Error> {
        deserializer.deserialize_any(Items(PhantomData))
    }
}

/// Visitor that reads a list, or a single item as a list with one item. serde's attribute `untagged` would hide the
/// error messages of the items.
struct Items<T>(PhantomData<T>);

macro_rules! as_one {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: Error>(self, one: $type) -> Result<OneOrMore<T>, E> {
            T::deserialize(one.into_deserializer()).map(|one| OneOrMore(vec![one]))
        })*
    };
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
    type Value = OneOrMore<T>;

    as_one!(visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, or a list of values")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<OneOrMore<T>, M::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMore(vec![one]))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<OneOrMore<T>, S::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMore)
    }
}

/// Whether `name` matches `pattern`. In the pattern, `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, is_match) in [
            ("gain-*", "gain-mac", true),
            ("gain-*", "wired", false),
            ("*-kbps", "gain-mac-kbps", true),
            ("t*", "t12", true),
            ("reno.*", "reno", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*a", "a", false),
            ("wired", "wired", true),
            ("wired", "wired2", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(Value::Number(7e-5).is("0.00007"));
        assert!(!Value::Number(7e-5).is("0.00008"));
        assert_eq!(Value::Number(3.0).json(), serde_json::json!(3));
        assert_eq!(Value::Number(0.5).json(), serde_json::json!(0.5));
    }
}
