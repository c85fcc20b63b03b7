//! Values of a mechanism's parameters.

#[cfg(doc)]
use super::Unit;
use crate::rate::Rate;
use crate::time::Duration;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// Value of a parameter, checked against the [`Unit`] of the parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A time ([`Unit::Duration`]).
    Duration(Duration),
    /// A rate ([`Unit::Rate`]).
    Rate(Rate),
    /// An amount in bytes ([`Unit::Bytes`] or [`Unit::Room`]).
    Bytes(u64),
    /// A multiple of the bandwidth-delay product ([`Unit::Room`]). This value must be converted to [`Value::Bytes`]
    /// before the constructor is called.
    Bdp(f64),
    /// A number, share or probability ([`Unit::Number`] or [`Unit::Probability`]).
    Number(f64),
    /// A whole number ([`Unit::Count`]).
    Count(u64),
    /// A list of whole numbers ([`Unit::Counts`]).
    Counts(Vec<u64>),
    /// A flag ([`Unit::Flag`]).
    Flag(bool),
    /// One of the declared words ([`Unit::Word`]).
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

/// Names and values of the parameters of one mechanism.
#[derive(Clone, Hash, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// Returns a set without parameters.
    pub fn new() -> Values {
        Values::default()
    }

    /// Sets the value of the parameter `name`. Replaces an earlier value of this parameter.
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Sets a value like [`Values::set`], and returns the set so that calls can be chained.
    pub fn with(mut self, name: &'static str, value: Value) -> Values {
        self.set(name, value);
        self
    }

    /// Returns the names and values of the parameters. The order is the order in which the parameters were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Returns the value of the parameter `name`.
    ///
    /// # Panics
    /// If the parameter has no value, because the mechanism does not declare the parameter. A test of all mechanisms
    /// finds this mistake.
    pub fn value(&self, name: &str) -> &Value {
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => value,
            None => panic!("parameter `{name}` is read but not declared"),
        }
    }

    /// Returns the value of a parameter that is a list of whole numbers.
    ///
    /// # Panics
    /// If the parameter has no value, or if the parameter has another unit.
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
            /// If the parameter has no value, or if the parameter has another unit.
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
    /// Returns the value of a parameter that is a time.
    duration -> Duration = Duration;
    /// Returns the value of a parameter that is a rate.
    rate -> Rate = Rate;
    /// Returns the value of a parameter that is an amount in bytes.
    bytes -> u64 = Bytes;
    /// Returns the value of a parameter that is a number, share or probability.
    number -> f64 = Number;
    /// Returns the value of a parameter that is a whole number.
    count -> u64 = Count;
    /// Returns the value of a parameter that is a flag.
    flag -> bool = Flag;
    /// Returns the value of a parameter that is one of the declared words.
    word -> &'static str = Word;
}
