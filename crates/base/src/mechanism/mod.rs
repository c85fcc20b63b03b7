//! Description and selection of mechanisms: exchangeable algorithms such as a congestion control, a queue or a channel
//! model.
//!
//! Each mechanism's file exports one [`Mechanism`], listed in the folder's `mod.rs`. Scenario keys, defaults, range
//! checks, `lasthop list` and the JSON Schema are derived from these lists. A new mechanism therefore needs only one
//! file and one line in such a list.
//!
//! * [`Mechanism`]: description and constructor, which a mechanism's file exports (in any crate).
//! * [`Choice`]: the mechanism selected in a configuration, with its constructor and the values of its parameters.
//! * [`Seam`]: a kind of mechanism (an extension point), with all mechanisms of this kind. Callers may add mechanisms.
//!   A catalogue holds all seams of a configuration.

mod choice;
mod seam;
mod seams;
mod value;

pub use choice::{Choice, Constructor};
pub use seam::{Seam, SeamInfo, Selection};
pub use value::{Value, Values};

use crate::time::Duration;

/// Description of a mechanism: name, source, parameters and requirements.
///
/// [`Info::PLAIN`] supplies the defaults of rarely used fields:
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
    /// Name in scenarios: `sack`, `bit_error`.
    pub name: &'static str,
    /// One line for `lasthop list`.
    pub summary: &'static str,
    /// One-line source: `RFC 6675`, `hasegawa §3.4, Eq. 5`.
    pub source: &'static str,
    /// Parameters with defaults.
    pub parameters: &'static [Parameter],
    /// Properties of the connection that the mechanism requires.
    pub needs: &'static [Need],
    /// Returns the parameters of which at least one must be set, if these values set none of them; otherwise `None`.
    pub one_of: fn(&Values) -> Option<OneOf>,
    /// Parameters that are effective only with certain values of other parameters. With other values, only their
    /// defaults are accepted.
    pub only_if: &'static [OnlyIf],
    /// For queues: parameters that are set if a scenario gives an amount in place of the mechanism's name (`queue = "50
    /// packets"`).
    pub limit: Option<Limit>,
    /// Whether a Linux host can behave like this mechanism. Experiments with a real kernel report each mechanism that
    /// Linux cannot imitate.
    pub as_linux: bool,
    /// For congestion controls: whether the response to marks is proportional (L4S, RFC 9331 §4.3); requires AccECN.
    pub scalable: bool,
    /// For congestion controls: the equivalent in mainline Linux (`net.ipv4.tcp_congestion_control`), if any.
    pub linux_name: Option<&'static str>,
    /// For congestion controls: the name of the same control in QUIC stacks, if any.
    pub quic_name: Option<&'static str>,
    /// Option of `lasthop agent` that applies the mechanism to connections of a real kernel, if any.
    pub live: Option<Live>,
}

impl Info {
    /// Defaults of rarely used fields: no name, no parameters, no needs.
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
        quic_name: None,
        live: None,
    };

    /// Returns the rule of `only_if` that makes a parameter ineffective with these values; `None` if the parameter is
    /// effective.
    pub fn unmet_condition(&self, parameter: &str, values: &Values) -> Option<&'static OnlyIf> {
        let fails = |rule: &&OnlyIf| rule.parameters.contains(&parameter) && !rule.holds(self, values);
        self.only_if.iter().find(fails)
    }

    /// Values of all parameters with a default.
    ///
    /// # Panics
    /// If a default is invalid for its unit: a mistake in the mechanism's file.
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

/// Option of `lasthop agent` that applies a mechanism to a real kernel: `WORD=VALUE`, or `WORD` alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Live {
    /// The option: `link-rate`.
    pub word: &'static str,
    /// Name of the parameter that the value sets.
    pub parameter: &'static str,
    /// Value that the option has without `=VALUE`; `None` if `=VALUE` is required.
    pub usual: Option<&'static str>,
    /// Name and value of a parameter that make the mechanism work without loss discrimination. `None` if the
    /// mechanism's defaults already work without it.
    pub without_discrimination: Option<(&'static str, &'static str)>,
}

/// A property of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Selective acknowledgements (RFC 2018).
    Sack,
    /// Timestamps (RFC 7323).
    Timestamps,
}

impl Need {
    /// Scenario key that enables the property.
    pub fn key(self) -> &'static str {
        match self {
            Need::Sack => "sack",
            Need::Timestamps => "timestamps",
        }
    }
}

/// Parameters of which at least one must be set. The value 0 counts as set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneOf {
    /// Names of the parameters.
    pub parameters: &'static [&'static str],
    /// Short description of what is missing: `no rate`.
    pub missing: &'static str,
    /// Consequence for the mechanism, as a phrase that follows its name: `loses nothing without a loss rate`.
    pub without: &'static str,
    /// Example of a scenario that sets one of the parameters.
    pub example: &'static str,
}

/// Parameters that are effective only with some values of another parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnlyIf {
    /// Names of the parameters.
    pub parameters: &'static [&'static str],
    /// Name of the other parameter.
    pub other: &'static str,
    /// Values of the other parameter that make `parameters` effective.
    pub is: Is,
}

/// A condition on a value in scenario syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// This value.
    This(&'static str),
    /// Any value other than this value.
    Not(&'static str),
}

impl OnlyIf {
    /// Whether the parameters are effective with these values.
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

/// Parameters that an amount in place of a queue's name sets: `"50 packets"`, `"64 KB"` or `"1 bdp"`. `"unlimited"`
/// sets both parameters to 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Parameter for amounts in packets; its unit is [`Unit::Count`].
    pub packets: &'static str,
    /// Parameter for all other amounts; its unit is [`Unit::Room`].
    pub bytes: &'static str,
}

/// One parameter of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in scenarios.
    pub name: &'static str,
    /// Kind and range of the value.
    pub unit: Unit,
    /// Default in scenario syntax: `"200 ms"`, `"4"`, `"true"`; `None`: the key is required.
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
    /// Queue capacity: an amount between the bounds, or `"1 bdp"`, a multiple of the bandwidth-delay product.
    Room(u64, u64),
    /// A number between the bounds, without a unit.
    Number(f64, f64),
    /// A share or probability between the bounds: `0.01` or `"1 %"`.
    Probability(f64, f64),
    /// A whole number between the bounds.
    Count(u64, u64),
    /// `"14, 26, 28"`: ascending whole numbers; the list may be empty.
    Counts,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Unit {
    /// Parses a value in scenario syntax (`"45 ms"`, `"2 Mbit/s"`, `"0.5"`, `"1 %"`) and checks its range.
    ///
    /// # Errors
    /// If the text is invalid: one sentence with the mistake and its correction.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        crate::quantity::parse(self, text.trim())
    }
}

/// A mechanism's description and constructor. `B` is the type of the constructor, a function of the values such as
/// `dyn Fn(&Values) -> Box<dyn AckSplitting> + Send + Sync`. Each seam's module defines this type as `Build`.
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
///         parameters: &[Parameter { name: "each", unit: Unit::Count(1, 9), default: Some("4"), doc: "number" }],
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
    /// Constructor, which takes the checked values.
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
