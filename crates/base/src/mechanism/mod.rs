//! Description and selection of mechanisms. A mechanism is an exchangeable algorithm such as a congestion control, a
//! queue or a channel model.
//!
//! The file of each mechanism exports one [`Mechanism`]. The file `mod.rs` in the same folder lists these mechanisms.
//! Scenario keys, defaults, range checks, `lasthop list` and the JSON Schema are derived from the lists. Therefore a
//! new mechanism needs only one file and one line in a list.
//!
//! * [`Mechanism`]: description and constructor of a mechanism.
//! * [`Choice`]: a mechanism selected in a configuration, with its constructor and the values of its parameters.
//! * [`Seam`]: an extension point for one kind of mechanism, with a list of all mechanisms of this kind. Callers may
//!   add mechanisms. A catalogue contains all seams of a configuration.

mod choice;
mod seam;
mod seams;
mod value;

pub use choice::{Choice, Constructor};
pub use seam::{Seam, SeamInfo, Selection};
pub use value::{Value, Values};

use crate::time::Duration;

/// Description of a mechanism, e.g. name, source, parameters and requirements.
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
    /// Name of the mechanism in scenarios: `sack`, `bit_error`.
    pub name: &'static str,
    /// Summary for `lasthop list`, one line.
    pub summary: &'static str,
    /// Source, one line: `RFC 6675`, `hasegawa §3.4, Eq. 5`.
    pub source: &'static str,
    /// Parameters of the mechanism.
    pub parameters: &'static [Parameter],
    /// Properties of the connection that the mechanism requires.
    pub needs: &'static [Need],
    /// Checks parameters of which at least one must be set. Returns these parameters if the values set none of the
    /// parameters, otherwise `None`.
    pub one_of: fn(&Values) -> Option<OneOf>,
    /// Parameters that are effective only with certain values of other parameters. While a parameter is not effective,
    /// only its default is accepted.
    pub only_if: &'static [OnlyIf],
    /// For queues: parameters that are set if a scenario specifies an amount instead of the name of a queue (`queue =
    /// "50 packets"`).
    pub limit: Option<Limit>,
    /// Whether a Linux host can behave like the mechanism. Experiments with a real kernel report each selected
    /// mechanism for which this field is false.
    pub as_linux: bool,
    /// For congestion controls: whether the control is scalable, so that it responds in proportion to the share of CE
    /// marks (L4S, RFC 9331 §4.3). A scalable control requires AccECN.
    pub scalable: bool,
    /// For congestion controls: name of the equivalent control in mainline Linux (`net.ipv4.tcp_congestion_control`),
    /// if any.
    pub linux_name: Option<&'static str>,
    /// For congestion controls: name of the same control in QUIC stacks, if any.
    pub quic_name: Option<&'static str>,
    /// Option of `lasthop agent` that applies the mechanism to connections of a real kernel, if any.
    pub live: Option<Live>,
}

impl Info {
    /// Description with an empty name and no parameters. Supplies the defaults of rarely used fields.
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

    /// Returns the rule of `only_if` that makes `parameter` ineffective with these values. `None` if the parameter is
    /// effective.
    pub fn unmet_condition(&self, parameter: &str, values: &Values) -> Option<&'static OnlyIf> {
        let fails = |rule: &&OnlyIf| rule.parameters.contains(&parameter) && !rule.holds(self, values);
        self.only_if.iter().find(fails)
    }

    /// Returns the default values of all parameters that have a default.
    ///
    /// # Panics
    /// If a default is invalid for the unit of its parameter, which is a mistake in the file of the mechanism.
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
    /// Name of the option: `link-rate`.
    pub word: &'static str,
    /// Name of the parameter of the mechanism that `VALUE` sets.
    pub parameter: &'static str,
    /// Value if the user omits `=VALUE`. `None` if `=VALUE` is required.
    pub usual: Option<&'static str>,
    /// Name and value of a parameter with which the mechanism works without loss discrimination. `None` if the
    /// mechanism with default parameters works without loss discrimination.
    pub without_discrimination: Option<(&'static str, &'static str)>,
}

/// A property of a connection that a mechanism may require.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Selective acknowledgements (RFC 2018).
    Sack,
    /// Timestamps (RFC 7323).
    Timestamps,
}

impl Need {
    /// Returns the scenario key that enables the property.
    pub fn key(self) -> &'static str {
        match self {
            Need::Sack => "sack",
            Need::Timestamps => "timestamps",
        }
    }
}

/// Parameters of which at least one must be set. A parameter with the value 0 counts as set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneOf {
    /// Names of the parameters.
    pub parameters: &'static [&'static str],
    /// Short description of the missing parameter: `no rate`.
    pub missing: &'static str,
    /// Consequence for the mechanism, as a phrase that follows the name of the mechanism: `loses nothing without a loss
    /// rate`.
    pub without: &'static str,
    /// Example of a scenario that sets one of the parameters.
    pub example: &'static str,
}

/// Parameters that are effective only with certain values of another parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnlyIf {
    /// Names of the parameters.
    pub parameters: &'static [&'static str],
    /// Name of the parameter on which `parameters` depend.
    pub other: &'static str,
    /// Condition on the value of the parameter `other`. If the condition holds, `parameters` are effective.
    pub is: Is,
}

/// A condition on the value of a parameter. The text is in scenario syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// The value equals this text.
    This(&'static str),
    /// The value differs from this text.
    Not(&'static str),
}

impl OnlyIf {
    /// Whether `parameters` are effective with these values.
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

/// Parameters of a queue that a scenario can set by an amount instead of the name of a queue: `"50 packets"`, `"64 KB"`
/// or `"1 bdp"`. `"unlimited"` sets `packets` and `bytes` to 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Name of the parameter for amounts in packets, whose unit is [`Unit::Count`].
    pub packets: &'static str,
    /// Name of the parameter for all other amounts, whose unit is [`Unit::Room`].
    pub bytes: &'static str,
}

/// A parameter of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key of the parameter in scenarios.
    pub name: &'static str,
    /// Kind and range of the value.
    pub unit: Unit,
    /// Default in scenario syntax: `"200 ms"`, `"4"`, `"true"`. `None` if the scenario must set the parameter.
    pub default: Option<&'static str>,
    /// Meaning of the parameter, one line.
    pub doc: &'static str,
}

/// Kind and range of a parameter's value. Bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A time between the bounds: `"45 ms"`.
    Duration(Duration, Duration),
    /// A rate: `"2 Mbit/s"`.
    Rate,
    /// An amount in bytes between the bounds: `"1000 bytes"`, `"64 KB"`.
    Bytes(u64, u64),
    /// A queue capacity: an amount in bytes between the bounds, or a multiple of the bandwidth-delay product:
    /// `"1 bdp"`.
    Room(u64, u64),
    /// A number between the bounds, without a unit.
    Number(f64, f64),
    /// A share or probability between the bounds: `0.01` or `"1 %"`.
    Probability(f64, f64),
    /// A whole number between the bounds.
    Count(u64, u64),
    /// A list of ascending whole numbers, which may be empty: `"14, 26, 28"`.
    Counts,
    /// A flag: `true` or `false`.
    Flag,
    /// One of the listed words.
    Word(&'static [&'static str]),
}

impl Unit {
    /// Parses a value in scenario syntax (`"45 ms"`, `"2 Mbit/s"`, `"0.5"`, `"1 %"`) and checks its range.
    ///
    /// # Errors
    /// If the text is invalid. The error message explains the mistake and, where possible, the correction.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        crate::quantity::parse(self, text.trim())
    }
}

/// A mechanism: description and constructor. `B` is the type of the constructor, a function of the parameter values
/// such as `dyn Fn(&Values) -> Box<dyn AckSplitting> + Send + Sync`. The module of each seam defines this type as
/// `Build`.
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
    /// Description of the mechanism.
    pub info: Info,
    /// Constructor, which gets the checked values of the parameters.
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

/// Returns the mechanism of `list` with the name `name`, if any.
pub fn find<B: ?Sized>(list: &'static [Mechanism<B>], name: &str) -> Option<&'static Mechanism<B>> {
    list.iter().find(|mechanism| mechanism.info.name == name)
}
