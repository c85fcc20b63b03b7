//! Parsers of flag values.

use crate::failure::Failure;
use clap::builder::{PossibleValue, TypedValueParser};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_sweep::driver::Shard;
use lasthop_sweep::rule::Precision;
use std::ffi::OsStr;
use std::str::FromStr;

#[derive(Clone)]
pub(crate) struct KnownNames<P> {
    pub(crate) names: fn() -> Vec<&'static str>,
    pub(crate) parse: P,
}

impl<P: TypedValueParser> TypedValueParser for KnownNames<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// Value of `--set`: `path=value`. An empty value removes the key.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) path: String,
    pub(crate) value: String,
}

/// Value of `--vary`: `path=a,b,c`.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub(crate) path: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Assignment, String> {
        let wrong = || {
            "expected path=value, like recovery=new_reno or link.wireless.down.rate=4Mbit/s; path= removes a value"
                .to_owned()
        };
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        if path.trim().is_empty() {
            Err(wrong())
        } else {
            Ok(Assignment { path: path.trim().to_owned(), value: value.trim().to_owned() })
        }
    }
}

impl FromStr for Choices {
    type Err = String;

    fn from_str(text: &str) -> Result<Choices, String> {
        let wrong = || "expected path=a,b,c, like recovery=sack,new_reno,reno".to_owned();
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let values = split_commas(values);
        let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
        if path.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong());
        }
        match twice {
            Some((_, value)) => Err(format!("`{value}` is given twice: write each value once")),
            None => Ok(Choices { path: path.trim().to_owned(), values }),
        }
    }
}

/// Value of a sweep's `--set`: `path=a,b,c`. An empty value removes the key.
#[derive(Clone, Debug)]
pub(crate) struct SweptKey(pub(crate) Choices);

impl FromStr for SweptKey {
    type Err = String;

    fn from_str(text: &str) -> Result<SweptKey, String> {
        match text.parse::<Assignment>()? {
            Assignment { path, value } if value.is_empty() => {
                Ok(SweptKey(Choices { path, values: vec![value] }))
            }
            _ => text.parse().map(SweptKey),
        }
    }
}

impl From<&Choices> for Variation {
    fn from(Choices { path, values }: &Choices) -> Variation {
        Variation { path: path.clone(), values: values.clone() }
    }
}

const MAX_CASES: usize = 100_000;

/// Refuses keys that cannot vary, keys that occur in more than one flag, and too many combinations.
pub(crate) fn refuse_invalid<'c>(
    flag: &str,
    all: impl Iterator<Item = &'c Choices> + Clone,
) -> Result<(), Failure> {
    for Choices { path, values } in all.clone() {
        if values.len() > 1 && (path == "seed" || path == "runs") {
            return Err(Failure::bad_input(
                format!("`{path}` cannot be varied: every value runs with the same seeds"),
                format!("use --{path}"),
            ));
        }
        if all.clone().filter(|other| other.path == *path).count() > 1 {
            return Err(Failure::bad_input(
                format!("`{path}` is varied twice"),
                format!("list all values in one flag: {flag} {path}=a,b,c"),
            ));
        }
    }
    let count = all.clone().try_fold(1_usize, |count, choices| count.checked_mul(choices.values.len()));
    match count {
        Some(count) if count <= MAX_CASES => Ok(()),
        _ => Err(Failure::bad_input(
            format!("more than {MAX_CASES} combinations"),
            "vary fewer keys or values at once",
        )),
    }
}

/// Splits at commas outside quotes and brackets, and trims each part.
fn split_commas(text: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0_u32, None);
    for c in text.chars() {
        match (quote, c) {
            (None, ',') if depth == 0 => {
                parts.push(part.trim().to_owned());
                part.clear();
                continue;
            }
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        part.push(c);
    }
    parts.push(part.trim().to_owned());
    parts
}

/// Parses `--until`: half the width of the 95 % interval as a share of the mean, for example `2%`.
pub(crate) fn precision(text: &str) -> Result<Precision, String> {
    let wrong = || "expected a percentage of the mean from 0.01% to 50%, like 2%".to_owned();
    let number =
        text.trim().strip_suffix('%').ok_or_else(wrong)?.trim().parse::<f64>().map_err(|_| wrong())?;
    let is_meant = (0.01..=50.0).contains(&number);
    Precision::new(number / 100.0).filter(|_| is_meant).ok_or_else(wrong)
}

/// Parses `--shard`: index of this shard (from 1) and total number of shards, for example `2/8`.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let wrong = || {
        "expected the number of this shard and the total number of shards, like 1/4, 2/4, 3/4 and 4/4"
            .to_owned()
    };
    let (number, of) = text.split_once('/').ok_or_else(wrong)?;
    let of = whole(of.trim(), 1, 100_000).map_err(|_| wrong())?;
    let number = whole(number.trim(), 1, of).map_err(|_| wrong())?;
    Ok(Shard { number, of })
}

pub(crate) fn runs(text: &str) -> Result<u32, String> {
    whole(text, 1, 1_000_000)
}

pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    whole(text, 1, 1024)
}

pub(crate) fn snap(text: &str) -> Result<u32, String> {
    whole(text, 1, 65_535)
}

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, i64::MAX as u64)
}

pub(crate) fn quantity(name: &str) -> Result<Quantity, String> {
    Quantity::named(name).ok_or_else(|| {
        let known: Vec<&str> = Quantity::all().map(Quantity::name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn whole<N: FromStr + PartialOrd + std::fmt::Display>(text: &str, least: N, most: N) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(number) if least <= number && number <= most => Ok(number),
        _ => Err(format!("expected a whole number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_hold_commas_in_brackets_and_quotes() {
        let choices: Choices = r#"channel={kind="iid", loss=0.1}, none ,"a,b""#.parse().unwrap();
        assert_eq!(choices.path, "channel");
        assert_eq!(choices.values, [r#"{kind="iid", loss=0.1}"#, "none", r#""a,b""#]);
        assert!("recovery=sack,,reno".parse::<Choices>().is_err());
        assert!("recovery".parse::<Choices>().is_err());
        assert_eq!("x=a,b,a".parse::<Choices>().unwrap_err(), "`a` is given twice: write each value once");
    }

    #[test]
    fn a_setting_has_one_value_or_several_or_none() {
        let values = |text: &str| text.parse::<SweptKey>().map(|SweptKey(choices)| choices.values);
        assert_eq!(values("recovery=sack,reno").unwrap(), ["sack", "reno"]);
        assert_eq!(values("duration=7 s").unwrap(), ["7 s"]);
        assert_eq!(values("source=").unwrap(), [""]);
        assert!(values("recovery=sack,").is_err() && values("recovery").is_err() && values("=1").is_err());
    }

    #[test]
    fn a_precision_is_a_percentage_and_a_shard_one_of_several() {
        assert_eq!(precision("2%").ok(), Precision::new(0.02));
        assert_eq!(precision(" 0.5 %").ok(), Precision::new(0.005));
        for wrong in ["2", "0%", "-1%", "51%", "NaN%", "%", ""] {
            assert!(precision(wrong).is_err(), "{wrong}");
        }
        assert_eq!(shard("2/8"), Ok(Shard { number: 2, of: 8 }));
        for wrong in ["0/8", "9/8", "2", "2/0", "a/b", "-1/2", ""] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_assignment_needs_a_path_and_may_take_a_value_away() {
        let assignment: Assignment = "channel={kind=iid}".parse().unwrap();
        assert_eq!((assignment.path.as_str(), assignment.value.as_str()), ("channel", "{kind=iid}"));
        assert_eq!("a.b= ".parse::<Assignment>().unwrap().value, "");
        for wrong in ["nonsense", "=1", ""] {
            assert!(wrong.parse::<Assignment>().is_err(), "{wrong}");
        }
    }
}
