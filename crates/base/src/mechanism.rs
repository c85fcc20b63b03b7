//! How a mechanism describes itself.
//!
//! Each strategy file exports one [`Mechanism`]: its name, what it is, where it
//! comes from, its parameters and the function that builds it. Each folder's
//! `mod.rs` lists them. Scenario keys, defaults, range checks, `lasthop list` and
//! the JSON Schema are all read from there, so that one file and one line add a
//! mechanism.

use crate::rate::Rate;
use crate::time::Duration;

/// Name, meaning and origin of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The word in scenarios: `sack`, `bit_error`.
    pub name: &'static str,
    /// One line for `lasthop list`.
    pub summary: &'static str,
    /// One-line source: `RFC 6675`, `hasegawa §3.4, Eq. 5`.
    pub source: &'static str,
    /// What can be set, with defaults.
    pub parameters: &'static [Parameter],
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in scenarios.
    pub name: &'static str,
    /// What kind of value it takes.
    pub unit: Unit,
    /// The default, written as in a scenario: `"200 ms"`, `"4"`, `"true"`; `None`: the key is required.
    pub default: Option<&'static str>,
    /// Meaning, one line.
    pub doc: &'static str,
}

/// Kind and range of a parameter's value. Bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// `"45 ms"`: a time between the bounds.
    Duration(Duration, Duration),
    /// `"2 Mbit/s"`.
    Rate,
    /// `"1000 bytes"`, `"64 KB"`: an amount between the bounds.
    Bytes(u64, u64),
    /// The room of a queue: an amount between the bounds, or `"1 bdp"`, a multiple of the bandwidth-delay product.
    Room(u64, u64),
    /// A number between the bounds, without a unit.
    Number(f64, f64),
    /// A share or probability between the bounds: `0.01` or `"1 %"`.
    Probability(f64, f64),
    /// A whole number between the bounds.
    Count(u64, u64),
    /// `"14, 26, 28"`: whole numbers, each larger than the one before; none at all is a list too.
    Counts,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A parameter's value, already checked against its [`Unit`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// See [`Unit::Duration`].
    Duration(Duration),
    /// See [`Unit::Rate`].
    Rate(Rate),
    /// See [`Unit::Bytes`] and [`Unit::Room`].
    Bytes(u64),
    /// See [`Unit::Room`]: so many bandwidth-delay products. Whoever knows the path makes it [`Value::Bytes`] before a
    /// mechanism is built.
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

/// All parameters of one mechanism with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// No parameters.
    pub fn new() -> Values {
        Values::default()
    }

    /// Sets a value; an earlier one of the same name is replaced.
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The same, for chaining.
    pub fn with(mut self, name: &'static str, value: Value) -> Values {
        self.set(name, value);
        self
    }

    /// Name and value of each parameter, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The value of a parameter that the mechanism declares.
    ///
    /// # Panics
    /// If the mechanism asks for a name it did not declare: a mistake in its own
    /// file, which the test over all lists finds (every mechanism is built from its defaults there).
    pub fn value(&self, name: &str) -> &Value {
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => value,
            None => panic!("parameter `{name}` is read but not declared"),
        }
    }

    /// A list of whole numbers.
    ///
    /// # Panics
    /// Like [`Values::value`], and if the parameter was declared with another unit.
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
            /// Like [`Values::value`], and if the parameter was declared with another unit.
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
    /// A yes or no.
    flag -> bool = Flag;
    /// One of the declared words.
    word -> &'static str = Word;
}

/// A mechanism: what it is, and how to build one (`B` is a function of its values).
#[derive(Clone, Copy)]
pub struct Mechanism<B: 'static> {
    /// Name, source, parameters.
    pub info: Info,
    /// Builds the strategy from checked values.
    pub build: B,
}

impl<B> std::fmt::Debug for Mechanism<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mechanism({})", self.info.name)
    }
}

/// A seam: a question, and the mechanisms that answer it.
#[derive(Clone, Debug)]
pub struct Seam {
    /// The scenario key: `recovery`, `channel`.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// Who asks it: `sender`, `receiver` or `link`.
    pub side: &'static str,
    /// The answers.
    pub mechanisms: Vec<&'static Info>,
}

impl Seam {
    /// A seam whose answers are those of a list.
    pub fn new<B>(
        side: &'static str,
        name: &'static str,
        question: &'static str,
        list: &'static [Mechanism<B>],
    ) -> Seam {
        Seam { name, question, side, mechanisms: list.iter().map(|mechanism| &mechanism.info).collect() }
    }

    /// The same with the answers of a further list, whose mechanisms are built otherwise.
    pub fn and<B>(mut self, list: &'static [Mechanism<B>]) -> Seam {
        self.mechanisms.extend(list.iter().map(|mechanism| &mechanism.info));
        self
    }

    /// The mechanism of this name, however it is spelt: `newreno`, `New-Reno` and `new_reno` are one, and so are
    /// `westwood+` and `westwood_plus`.
    pub fn find(&self, name: &str) -> Option<&'static Info> {
        let exact = self.mechanisms.iter().copied().find(|info| info.name == name);
        exact.or_else(|| self.mechanisms.iter().copied().find(|info| spelt(info.name) == spelt(name)))
    }

    /// The names of all.
    pub fn names(&self) -> Vec<&'static str> {
        self.mechanisms.iter().map(|info| info.name).collect()
    }
}

/// A name without what people write differently.
fn spelt(name: &str) -> String {
    let letters = name.trim().replace('+', "plus");
    letters.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Finds a mechanism by its name.
pub fn find<B>(list: &'static [Mechanism<B>], name: &str) -> Option<&'static Mechanism<B>> {
    list.iter().find(|mechanism| mechanism.info.name == name)
}

/// A mechanism and the values of its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which one.
    pub info: &'static Info,
    /// Its parameters, all of them.
    pub values: Values,
}

impl Choice {
    /// A mechanism with its defaults.
    ///
    /// # Panics
    /// If the list has no such mechanism, or one of its parameters has no default.
    pub fn named<B>(list: &'static [Mechanism<B>], name: &str) -> Choice {
        match find(list, name) {
            Some(mechanism) => Choice { info: &mechanism.info, values: mechanism.info.defaults() },
            None => panic!("no mechanism is called `{name}`"),
        }
    }

    /// The mechanism itself, from its seam's list.
    ///
    /// # Panics
    /// If the choice was made from another list.
    pub fn mechanism<B>(&self, list: &'static [Mechanism<B>]) -> &'static Mechanism<B> {
        match find(list, self.info.name) {
            Some(mechanism) => mechanism,
            None => panic!("`{}` is not of this seam", self.info.name),
        }
    }
}

impl Info {
    /// The values of all parameters that have a default.
    ///
    /// # Panics
    /// If a default does not parse as its own unit: a mistake in the mechanism's file.
    pub fn defaults(&self) -> Values {
        let mut values = Values::new();
        for parameter in self.parameters {
            if let Some(text) = parameter.default {
                match parameter.unit.parse(text) {
                    Ok(value) => values.set(parameter.name, value),
                    Err(why) => panic!("default of {}.{}: {why}", self.name, parameter.name),
                }
            }
        }
        values
    }
}

impl Unit {
    /// Reads a value written as in a scenario (`"45 ms"`, `"2 Mbit/s"`, `"0.5"`, `"1 %"`) and checks its range.
    ///
    /// # Errors
    /// One sentence that says what is wrong and what would be right.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        crate::quantity::parse(self, text.trim())
    }
}
