//! How a mechanism describes itself, and how it is chosen.
//!
//! Each strategy file exports one [`Mechanism`]: its name, what it is, where it
//! comes from, its parameters and the function that builds it. Each folder's
//! `mod.rs` lists them. Scenario keys, defaults, range checks, `lasthop list` and
//! the JSON Schema are all read from there, so that one file and one line add a
//! mechanism.
//!
//! * [`Mechanism`]: what a file exports, here or in another crate.
//! * [`Choice`]: a mechanism with its values, as a configuration holds it. It carries how it is built: no list is asked
//!   once it is made.
//! * [`Seam`]: a question and the mechanisms that answer it; a catalogue has one for each question, and a caller may add
//!   to it.

mod choice;
mod seam;
mod seams;
mod value;

pub use choice::{Built, Choice};
pub use seam::{Answer, Question, Seam};
pub use value::{Value, Values};

use crate::time::Duration;

/// Name, meaning and origin of a mechanism.
///
/// What most have no use for stands in [`Info::PLAIN`]:
///
/// ```
/// use lasthop_base::Info;
///
/// const INFO: Info = Info {
///     name: "patient",
///     summary: "waits for ever",
///     source: "folklore",
///     parameters: &[],
///     ..Info::PLAIN
/// };
/// assert!(INFO.needs.is_empty());
/// ```
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
    /// What the connection must offer for it to have anything to go by.
    pub needs: &'static [Need],
    /// Parameters of which one must be written, for these values of the others; `None`: nothing is missing.
    pub one_of: fn(&Values) -> Option<OneOf>,
    /// Parameters that have an effect only with certain values of others: a scenario that sets them to
    /// anything but their default without is refused.
    pub only_if: &'static [OnlyIf],
    /// For queues: that a bare amount (`"50 packets"`) means this one.
    pub limit: Option<Limit>,
    /// Whether a Linux host does the same, by default or because it can be told to: an experiment with a kernel in the
    /// place of ours says what the kernel cannot be told.
    pub as_linux: bool,
    /// For congestion controls: that it answers each congestion mark in proportion (L4S, RFC 9331 §4.3), for which both ends
    /// have to tell and hear them in detail (RFC 9768).
    pub scalable: bool,
    /// For congestion controls: mainline Linux's name of the same one (`net.ipv4.tcp_congestion_control`), if it has it.
    pub linux_name: Option<&'static str>,
    /// Option that asks for it beside a live kernel (`lasthop agent`); `None`: no option does.
    pub live: Option<Live>,
}

impl Info {
    /// Nothing that is special: a mechanism without parameters and needs, and without a name yet.
    pub const PLAIN: Info = Info {
        name: "",
        summary: "",
        source: "",
        parameters: &[],
        needs: &[],
        one_of: |_| None,
        only_if: &[],
        limit: None,
        as_linux: false,
        scalable: false,
        linux_name: None,
        live: None,
    };

    /// Why a parameter has no effect with these values, all of them; `None` if it has one.
    pub fn idle(&self, parameter: &str, values: &Values) -> Option<&'static OnlyIf> {
        let fails = |rule: &&OnlyIf| rule.parameters.contains(&parameter) && !rule.holds(self, values);
        self.only_if.iter().find(fails)
    }

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

/// Option that asks for a mechanism where it acts beside a live kernel: `WORD=VALUE`, or `WORD` alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Live {
    /// The word: `link-rate`.
    pub word: &'static str,
    /// Name of the parameter that the value sets.
    pub parameter: &'static str,
    /// The value if the word stands alone; `None`: a value must follow.
    pub usual: Option<&'static str>,
    /// Parameter and value with which the mechanism acts without judgements of losses, if it waits for them otherwise.
    pub unjudged: Option<(&'static str, &'static str)>,
}

/// Something that a connection may offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Selective acknowledgements (RFC 2018).
    Sack,
    /// Timestamps (RFC 7323).
    Timestamps,
}

impl Need {
    /// The scenario key that offers it.
    pub fn key(self) -> &'static str {
        match self {
            Need::Sack => "sack",
            Need::Timestamps => "timestamps",
        }
    }
}

/// Parameters of which one at least must be written; 0 may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneOf {
    /// Their names.
    pub parameters: &'static [&'static str],
    /// What is missing, in two words: `no rate`.
    pub missing: &'static str,
    /// What it is without them: `loses nothing without a loss rate`.
    pub without: &'static str,
    /// How one is written in a scenario.
    pub example: &'static str,
}

/// Parameters that have an effect only with some values of another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnlyIf {
    /// Their names.
    pub parameters: &'static [&'static str],
    /// Name of the other one.
    pub other: &'static str,
    /// Values of the other one with which they have an effect.
    pub is: Is,
}

/// A condition on a value, which is written as in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// This value.
    This(&'static str),
    /// Any value but this.
    Not(&'static str),
}

impl OnlyIf {
    /// Whether the parameters have an effect with these values of a mechanism.
    pub fn holds(&self, info: &Info, values: &Values) -> bool {
        let (text, wanted) = match self.is {
            Is::This(text) => (text, true),
            Is::Not(text) => (text, false),
        };
        let unit = info.parameters.iter().find(|parameter| parameter.name == self.other);
        let value = unit.and_then(|parameter| parameter.unit.parse(text).ok());
        let is = values.iter().find(|(name, _)| *name == self.other).map(|(_, value)| value);
        (is == value.as_ref()) == wanted
    }
}

/// How a bare amount at its seam sets a queue: `"50 packets"`, `"64 KB"`, `"1 bdp"`; `"unlimited"` is 0 of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The parameter that packets set, a [`Unit::Count`].
    pub packets: &'static str,
    /// The parameter that any other amount sets, a [`Unit::Room`].
    pub bytes: &'static str,
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

impl Unit {
    /// Reads a value written as in a scenario (`"45 ms"`, `"2 Mbit/s"`, `"0.5"`, `"1 %"`) and checks its range.
    ///
    /// # Errors
    /// One sentence that says what is wrong and what would be right.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        crate::quantity::parse(self, text.trim())
    }
}

/// A mechanism: what it is, and how one is built. `B` is a function of its values, such as
/// `dyn Fn(&Values) -> Box<dyn AckShape> + Send + Sync`; each seam calls its own `Build`.
///
/// ```
/// use lasthop_base::{Choice, Info, Mechanism, Parameter, Unit, Values};
///
/// type Build = dyn Fn(&Values) -> u64 + Send + Sync;
///
/// const TWICE: Mechanism<Build> = Mechanism {
///     info: Info {
///         name: "twice",
///         summary: "two of each",
///         source: "an example",
///         parameters: &[Parameter { name: "each", unit: Unit::Count(1, 9), default: Some("4"), doc: "how many" }],
///         ..Info::PLAIN
///     },
///     build: &|values| 2 * values.count("each"),
/// };
///
/// let choice = Choice::of(&TWICE);
/// assert_eq!((choice.build)(&choice.values), 8);
/// ```
pub struct Mechanism<B: ?Sized + 'static> {
    /// Name, source, parameters.
    pub info: Info,
    /// Builds the strategy from checked values.
    pub build: &'static B,
}

impl<B: ?Sized> Clone for Mechanism<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: ?Sized> Copy for Mechanism<B> {}

impl<B: ?Sized> std::fmt::Debug for Mechanism<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mechanism({})", self.info.name)
    }
}

/// Finds a mechanism by its name.
pub fn find<B: ?Sized>(list: &'static [Mechanism<B>], name: &str) -> Option<&'static Mechanism<B>> {
    list.iter().find(|mechanism| mechanism.info.name == name)
}
