//! How the values of flags are read.

use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;
use std::str::FromStr;

/// A parser of names that shells can complete.
#[derive(Clone)]
pub(crate) struct Named<P> {
    /// All names.
    pub(crate) names: fn() -> Vec<&'static str>,
    /// Reads one, or says what is wrong with it.
    pub(crate) parse: P,
}

impl<P: TypedValueParser> TypedValueParser for Named<P> {
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

/// `path=value` of `--set`; an empty value takes the key away.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) path: String,
    pub(crate) value: String,
}

/// `path=a,b,c` of `--vary`.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub(crate) path: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Assignment, String> {
        let wrong = || {
            "expected path=value, like recovery=new_reno or link.wireless.down.rate=4Mbit/s; path= takes a value away"
                .to_owned()
        };
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        match path.trim().is_empty() {
            true => Err(wrong()),
            false => Ok(Assignment { path: path.trim().to_owned(), value: value.trim().to_owned() }),
        }
    }
}

impl FromStr for Choices {
    type Err = String;

    fn from_str(text: &str) -> Result<Choices, String> {
        let wrong = || "expected path=a,b,c, like recovery=sack,new_reno,reno".to_owned();
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let values = between_commas(values);
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

/// The parts between commas that stand outside of quotes and brackets, without blanks around them.
fn between_commas(text: &str) -> Vec<String> {
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

/// `--runs`.
pub(crate) fn runs(text: &str) -> Result<u32, String> {
    whole(text, 1, 1_000_000)
}

/// `--jobs`.
pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    whole(text, 1, 1024)
}

/// `--snap`.
pub(crate) fn snap(text: &str) -> Result<u32, String> {
    whole(text, 1, 65_535)
}

/// `--seed`.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, i64::MAX as u64)
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
    fn an_assignment_needs_a_path_and_may_take_a_value_away() {
        let assignment: Assignment = "channel={kind=iid}".parse().unwrap();
        assert_eq!((assignment.path.as_str(), assignment.value.as_str()), ("channel", "{kind=iid}"));
        assert_eq!("a.b= ".parse::<Assignment>().unwrap().value, "");
        for wrong in ["nonsense", "=1", ""] {
            assert!(wrong.parse::<Assignment>().is_err(), "{wrong}");
        }
    }
}
