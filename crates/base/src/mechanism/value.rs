//! Values of a mechanism's parameters.

#[cfg(doc)]
use super::Unit;
use crate::rate::Rate;
use crate::time::Duration;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// A parameter's value, checked against its [`Unit`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// See [`Unit::Duration`].
    Duration(Duration),
    /// See [`Unit::Rate`].
    Rate(Rate),
    /// See [`Unit::Bytes`] and [`Unit::Room`].
    Bytes(u64),
    /// Number of bandwidth-delay products (see [`Unit::Room`]), which must be converted to [`Value::Bytes`] before
    /// building.
    Bdp(f64),
    /// See [`Unit::Number`] and [`Unit::Probability`].
    Number(f64),
    /// See [`Unit::Count`].
    Count(u64),
    /// See [`Unit::Counts`].
    Counts(Vec<u64>),
    /// See [`Unit::Flag`].
    Flag(bool),
    /// See [`Unit::Word`].
    Word(&'static str),
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Value::Duration(span) => span.hash(state),
            Value::Rate(rate) => rate.hash(state),
            Value::Bytes(whole) | Value::Count(whole) => whole.hash(state),
            Value::Bdp(number) | Value::Number(number) => number.to_bits().hash(state),
            Value::Counts(counts) => counts.hash(state),
            Value::Flag(flag) => flag.hash(state),
            Value::Word(word) => word.hash(state),
        }
    }
}

/// All parameters of one mechanism with their values.
#[derive(Clone, Hash, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// Returns an empty set.
    pub fn new() -> Values {
        Values::default()
    }

    /// Sets a value, or replaces the value of the same name.
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// As [`Values::set`], for chaining.
    pub fn with(mut self, name: &'static str, value: Value) -> Values {
        self.set(name, value);
        self
    }

    /// Names and values, in the order of setting.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the parameter is not declared: a mistake in the mechanism's file, which a test over all lists finds.
    pub fn value(&self, name: &str) -> &Value {
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => value,
            None => panic!("parameter `{name}` is read but not declared"),
        }
    }

    /// A list of whole numbers.
    ///
    /// # Panics
    /// As [`Values::value`], and if the parameter has another unit.
    pub fn counts(&self, name: &str) -> &[u64] {
        match self.value(name) {
            Value::Counts(counts) => counts,
            other => panic!("parameter `{name}` is {other:?}, not a list"),
        }
    }
}

macro_rules! typed {
    ($($(#[$doc:meta])* $method:ident -> $type:ty = $variant:ident;)*) => {
        impl Values {
            $($(#[$doc])*
            ///
            /// # Panics
            /// As [`Values::value`], and if the parameter has another unit.
            pub fn $method(&self, name: &str) -> $type {
                match self.value(name) {
                    Value::$variant(value) => *value,
                    other => panic!("parameter `{name}` is {other:?}, not a {}", stringify!($method)),
                }
            })*
        }
    };
}

typed! {
    /// A time.
    duration -> Duration = Duration;
    /// A rate.
    rate -> Rate = Rate;
    /// An amount in bytes.
    bytes -> u64 = Bytes;
    /// A number, share or probability.
    number -> f64 = Number;
    /// A whole number.
    count -> u64 = Count;
    /// A flag.
    flag -> bool = Flag;
    /// One of the declared words.
    word -> &'static str = Word;
}
