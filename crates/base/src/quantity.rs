//! Parsing of quantities: `45 ms`, `2 Mbit/s`, `12Mbps`, `10mbit`, `64 KB`, `1 %`, `2.5 bdp`.

use crate::mechanism::{Unit, Value};
use crate::rate::Rate;
use crate::time::Duration;
use std::borrow::Cow;

/// Time units in seconds, including the units of tc(8).
const TIMES: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("usec", 1e-6),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];

/// Rate units in bit/s. `kbit`, `mbit`, `gbit` and `tbit` have the meaning of tc(8). `kbps` means kbit/s, as in most
/// programs; in tc(8), `kbps` means kilobytes per second.
const RATES: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("Tbps", 1e12),
    ("Kbps", 1e3),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("tbit", 1e12),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("Tbit", 1e12),
];

/// Units that are rejected as ambiguous. The second field lists the meanings and the unambiguous alternatives.
const AMBIGUOUS: &[(&str, &str)] = &[
    ("mbps", "megabytes per second in tc, megabits elsewhere; write Mbit/s"),
    ("gbps", "gigabytes per second in tc, gigabits elsewhere; write Gbit/s"),
    ("tbps", "terabytes per second in tc, terabits elsewhere; write Tbit/s"),
    ("kb", "1024 bytes in tc, kilobits elsewhere; write KiB, KB or kbit/s"),
    ("mb", "1,048,576 bytes in tc, megabits elsewhere; write MiB, MB or Mbit/s"),
    ("gb", "2^30 bytes in tc, gigabits elsewhere; write GiB, GB or Gbit/s"),
];

/// Units of amounts, in bytes.
const AMOUNTS: &[(&str, f64)] = &[
    ("bytes", 1.0),
    ("byte", 1.0),
    ("B", 1.0),
    ("KB", 1e3),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

const BDP: &str = "bdp";
/// Largest queue capacity that a scenario may set, as a multiple of the bandwidth-delay product.
pub const MAX_BDP: f64 = 10_000.0;

/// Splits a text such as `12.5 Mbit/s` into a number and the name of a unit, which may be empty.
///
/// # Errors
/// If the text does not begin with a number, or if the number is too large.
pub fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || "+-._".contains(c);
    let mut end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    // Accepts an exponent (`1e-5`), but not a unit that begins with e.
    let rest = &text[end..];
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let digits = signed.find(|c: char| !c.is_ascii_digit()).unwrap_or(signed.len());
        if digits > 0 {
            end += 1 + (exponent.len() - signed.len()) + digits;
        }
    }
    let number = match &text[..end] {
        number if number.contains('_') => Cow::Owned(number.replace('_', "")),
        number => Cow::Borrowed(number),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, text[end..].trim())),
        Ok(value) if value.is_infinite() => Err(format!("`{}` is too large a number", &text[..end])),
        _ => Err(format!("`{text}` does not begin with a number")),
    }
}

fn scaled(text: &str, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    let (number, unit) = split(text)?;
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit: write it like \"{example}\""));
    }
    if let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) {
        return Ok(number * factor);
    }
    if let Some((_, why)) = AMBIGUOUS.iter().find(|(name, _)| *name == unit) {
        return Err(format!("`{unit}` is ambiguous: {why}"));
    }
    Err(format!("`{unit}` is not a unit here: use one of {}", names(units)))
}

fn names(units: &[(&str, f64)]) -> String {
    units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Returns the kinds of quantities, each with the names of its units, separated by commas.
pub fn units() -> [(&'static str, String); 3] {
    [("a time", names(TIMES)), ("a rate", names(RATES)), ("an amount", names(AMOUNTS))]
}

fn between(value: f64, low: f64, high: f64, shown: impl Fn(f64) -> String) -> Result<f64, String> {
    match value {
        v if v < low => Err(format!("{} is too small: at least {}", shown(v), shown(low))),
        v if v > high => Err(format!("{} is too large: at most {}", shown(v), shown(high))),
        v => Ok(v),
    }
}

/// Parses a time such as `45 ms`.
///
/// # Errors
/// If the text is not a time, or if the time is negative or above 1e9 s.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, TIMES, "45 ms")?;
    match seconds {
        s if s < 0.0 => Err(format!("`{text}` is negative: a time is at least 0 s")),
        s if s > 1e9 => Err(format!("`{text}` is too long: at most 1e9 s")),
        s => Ok(Duration::from_secs_f64(s)),
    }
}

/// Parses a rate such as `2 Mbit/s`.
///
/// # Errors
/// If the text is not a rate, or if the rate is below 1 bit/s or above 10 Tbit/s.
pub fn rate(text: &str) -> Result<Rate, String> {
    let bps = scaled(text, RATES, "2 Mbit/s")?;
    let bps = between(bps, 1.0, 1e13, |v| {
        if v >= 1.0 { Rate::from_bps(v as u64).to_string() } else { format!("{v} bit/s") }
    })?;
    Ok(Rate::from_bps(libm::round(bps) as u64))
}

/// Parses an amount of data such as `1 MB`. Returns bytes.
///
/// # Errors
/// If the text is not an amount, or if the amount is negative or above 1e18 bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let amount = scaled(text, AMOUNTS, "1000 bytes")?;
    let amount = between(amount, 0.0, 1e18, |v| format!("{v} bytes"))?;
    Ok(libm::round(amount) as u64)
}

/// Parses a queue capacity: an amount such as `64 KB`, or a multiple of the bandwidth-delay product such as `2.5 bdp`.
///
/// # Errors
/// If the text is neither an amount nor a multiple, or if the value is negative or too large.
pub fn room(text: &str) -> Result<Value, String> {
    match bdp(text) {
        Some(number) => between(number, 0.0, MAX_BDP, |v| format!("{v} {BDP}")).map(Value::Bdp),
        None => bytes(text).map(Value::Bytes),
    }
}

/// Returns the factor of a multiple of the bandwidth-delay product, for example 2.5 for `2.5 bdp`; `None` for other
/// texts.
pub fn bdp(text: &str) -> Option<f64> {
    match split(text) {
        Ok((number, unit)) if unit.eq_ignore_ascii_case(BDP) => Some(number),
        _ => None,
    }
}

/// Parses a share such as `0.01` or `1 %`. The value is not checked against a range.
///
/// # Errors
/// If the text is neither a number nor a percentage.
pub fn probability(text: &str) -> Result<f64, String> {
    match split(text)? {
        (number, "") => Ok(number),
        (number, "%") => Ok(number / 100.0),
        (_, unit) => Err(format!("`{unit}` is not a unit here: write a share like 0.01 or \"1 %\"")),
    }
}

fn plain(text: &str) -> Result<f64, String> {
    match split(text)? {
        (number, "") => Ok(number),
        (_, unit) => Err(format!("a number without a unit is expected, not `{unit}`")),
    }
}

/// Parses a list of ascending whole numbers such as `14, 26, 28`.
///
/// # Errors
/// If an item is not a whole number, or if the numbers do not ascend.
pub fn counts(text: &str) -> Result<Vec<u64>, String> {
    let mut counts: Vec<u64> = Vec::new();
    for item in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let count = item.parse().map_err(|_| format!("`{item}` is not a whole number"))?;
        if let Some(before) = counts.last().filter(|before| **before >= count) {
            return Err(format!(
                "{count} must not follow {before}: write each number once, in ascending order"
            ));
        }
        counts.push(count);
    }
    Ok(counts)
}

pub(crate) fn parse(unit: &Unit, text: &str) -> Result<Value, String> {
    Ok(match *unit {
        Unit::Duration(low, high) => {
            let value = duration(text)?;
            match value {
                v if v < low => return Err(format!("{v} is too short: at least {low}")),
                v if v > high => return Err(format!("{v} is too long: at most {high}")),
                v => Value::Duration(v),
            }
        }
        Unit::Rate => Value::Rate(rate(text)?),
        Unit::Bytes(low, high) => {
            let value = bytes(text)? as f64;
            Value::Bytes(between(value, low as f64, high as f64, |v| format!("{v} bytes"))? as u64)
        }
        Unit::Room(low, high) => match room(text)? {
            Value::Bytes(amount) => {
                let inside = between(amount as f64, low as f64, high as f64, |v| format!("{v} bytes"))?;
                Value::Bytes(inside as u64)
            }
            room => room,
        },
        Unit::Number(low, high) => Value::Number(between(plain(text)?, low, high, |v| v.to_string())?),
        Unit::Probability(low, high) => {
            Value::Number(between(probability(text)?, low, high, |v| v.to_string())?)
        }
        Unit::Count(low, high) => {
            let value = plain(text)?;
            if value.fract() != 0.0 {
                return Err(format!("{value} is not a whole number"));
            }
            Value::Count(between(value, low as f64, high as f64, |v| v.to_string())? as u64)
        }
        Unit::Counts => Value::Counts(counts(text)?),
        Unit::Flag => match text {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            _ => return Err(format!("`{text}` is neither true nor false")),
        },
        Unit::Word(words) => match words.iter().find(|word| **word == text) {
            Some(word) => Value::Word(word),
            None => return Err(format!("`{text}` is not one of {}", words.join(", "))),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!(duration("45 ms"), Ok(Duration::from_millis(45)));
        assert_eq!(duration("6.16ms"), Ok(Duration::from_micros(6160)));
        assert_eq!(rate("12Mbps"), Ok(Rate::from_bps(12_000_000)));
        assert_eq!(rate("384 kbit/s"), Ok(Rate::from_bps(384_000)));
        assert_eq!(bytes("64 KiB"), Ok(65_536));
        assert_eq!(probability("1 %"), Ok(0.01));
        assert_eq!(probability("1e-5"), Ok(1e-5));
        assert_eq!(split("2e6bit/s"), Ok((2e6, "bit/s")));
        assert_eq!(counts("14, 26,28"), Ok(vec![14, 26, 28]));
        assert_eq!(counts(" "), Ok(vec![]));
        assert_eq!(Unit::Room(0, 1 << 40).parse("64 KB"), Ok(Value::Bytes(64_000)));
        assert_eq!(Unit::Room(0, 1 << 40).parse("2.5 bdp"), Ok(Value::Bdp(2.5)));
        assert_eq!(room("1BDP"), Ok(Value::Bdp(1.0)));
    }

    /// In tc(8), "UNITS", `bit`, `kbit`, `mbit`, `gbit` and `tbit` are bits per second with decimal prefixes. `bps`,
    /// `kbps` etc. are bytes per second.
    #[test]
    fn tcs_units_of_bits_are_taken_and_those_of_bytes_are_named() {
        let bps = |text| rate(text).map(Rate::bps);
        assert_eq!(bps("10mbit"), Ok(10_000_000));
        assert_eq!(bps("64kbit"), Ok(64_000));
        assert_eq!(bps("1gbit"), Ok(1_000_000_000));
        assert_eq!(bps("10Tbit/s"), Ok(10_000_000_000_000));
        let why = bps("10mbps").unwrap_err();
        assert!(why.contains("megabytes per second in tc") && why.contains("Mbit/s"), "{why}");
        assert!(bytes("64kb").unwrap_err().contains("write KiB"));
        assert_eq!(duration("20msec"), Ok(Duration::from_millis(20)));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(duration("45").unwrap_err().contains("no unit"));
        assert!(duration("-1 ms").unwrap_err().contains("negative"));
        assert!(rate("10 apples").unwrap_err().contains("apples"));
        assert!(rate("0 bit/s").unwrap_err().contains("too small"));
        assert_eq!(rate("1e400Mbit/s").unwrap_err(), "`1e400` is too large a number");
        assert!(rate("11Tbit/s").unwrap_err().contains("11 Tbit/s is too large: at most 10 Tbit/s"));
        assert!(room("-1bdp").unwrap_err().contains("-1 bdp is too small"));
        assert!(Unit::Count(1, 8).parse("9").unwrap_err().contains("at most 8"));
        assert!(counts("14 26").unwrap_err().contains("`14 26` is not a whole number"));
        assert!(counts("14,,26").unwrap_err().contains("`` is not"));
        assert!(counts("14, 14").unwrap_err().contains("ascending"));
        assert!(Unit::Count(1, 8).parse("1.5").unwrap_err().contains("whole"));
        assert!(Unit::Word(&["a", "b"]).parse("c").unwrap_err().contains("a, b"));
    }
}
