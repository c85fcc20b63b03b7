//! Writes values as scenario text. Reading the text gives the same values.

use lasthop_base::Value;
use std::fmt::Write;

/// Returns the value without quotes, such as `45 ms`, `64 KB` or `2e-5`.
pub(crate) fn plain(value: &Value) -> String {
    let mut text = String::with_capacity(16);
    push(value, &mut text);
    text
}

pub(crate) fn push_toml(value: &Value, text: &mut String) {
    match value {
        Value::Number(_) | Value::Count(_) | Value::Flag(_) => push(value, text),
        Value::Word(word) => push_quoted(word, text),
        Value::Duration(_) | Value::Rate(_) | Value::Bytes(_) | Value::Bdp(_) | Value::Counts(_) => {
            text.push('"');
            push(value, text);
            text.push('"');
        }
    }
}

fn push(value: &Value, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Duration(span) => write!(text, "{span}"),
        Value::Rate(rate) => write!(text, "{rate}"),
        Value::Bytes(amount) => {
            let (number, unit) = in_unit(*amount);
            write!(text, "{number} {unit}")
        }
        Value::Bdp(products) => write!(text, "{products} bdp"),
        Value::Number(number) => write!(text, "{number:?}"),
        Value::Count(count) => write!(text, "{count}"),
        Value::Counts(counts) => counts.iter().enumerate().try_for_each(|(at, count)| {
            let between = if at > 0 { ", " } else { "" };
            write!(text, "{between}{count}")
        }),
        Value::Flag(flag) => {
            text.push_str(if *flag { "true" } else { "false" });
            Ok(())
        }
        Value::Word(word) => {
            text.push_str(word);
            Ok(())
        }
    };
}

pub(crate) fn push_quoted(text: &str, to: &mut String) {
    to.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        to.push_str(text)
    } else {
        text.chars().for_each(|c| match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            c if c.is_control() => to.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => to.push(c),
        })
    }
    to.push('"');
}

/// Converts an amount to the largest unit that divides the amount. Amounts below 10,000 stay in bytes.
fn in_unit(amount: u64) -> (u64, &'static str) {
    const UNITS: &[(&str, u64)] = &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("KB", 1_000),
    ];
    // Segment sizes such as "1000 bytes" and "1500 bytes" are usually written in bytes.
    const SMALL: u64 = 10_000;
    let unit = UNITS.iter().find(|(_, size)| amount >= SMALL && amount.is_multiple_of(*size));
    match unit {
        Some((name, size)) => (amount / size, name),
        None => (amount, "bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::quantity;

    #[test]
    fn amounts_read_back() {
        let bytes = |amount| plain(&Value::Bytes(amount));
        for amount in [0, 1, 1000, 1500, 64_000, 65_536, 4 << 20, 1_000_000, 1_000_001, 3_000_000_000] {
            assert_eq!(quantity::bytes(&bytes(amount)), Ok(amount), "{amount}");
        }
        assert_eq!(bytes(4 << 20), "4 MiB");
        assert_eq!(bytes(64_000), "64 KB");
    }

    #[test]
    fn texts_are_quoted_as_toml() {
        let mut quoted = String::new();
        push_quoted("a \"b\"\\\n\u{7f}", &mut quoted);
        assert_eq!(quoted, r#""a \"b\"\\\u000A\u007F""#);
    }
}
