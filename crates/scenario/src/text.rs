//! Values written as in a scenario, so that they read back as the same value.

use lasthop_base::Value;

/// The value without quotes: `45 ms`, `64 KB`, `2e-5`.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Duration(span) => span.to_string(),
        Value::Rate(rate) => rate.to_string(),
        Value::Bytes(amount) => bytes(*amount),
        Value::Bdp(products) => format!("{products} bdp"),
        Value::Number(number) => format!("{number:?}"),
        Value::Count(count) => count.to_string(),
        Value::Counts(counts) => counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        Value::Flag(flag) => flag.to_string(),
        Value::Word(word) => (*word).to_owned(),
    }
}

/// The value as TOML.
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Number(_) | Value::Count(_) | Value::Flag(_) => plain(value),
        Value::Duration(_)
        | Value::Rate(_)
        | Value::Bytes(_)
        | Value::Bdp(_)
        | Value::Counts(_)
        | Value::Word(_) => quoted(&plain(value)),
    }
}

/// Any text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// An amount in the largest unit that keeps it a whole number below a thousand or so.
fn bytes(amount: u64) -> String {
    const UNITS: &[(&str, u64)] = &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("KB", 1_000),
    ];
    // "1000 bytes" and "1500 bytes" are how segments are written.
    const SMALL: u64 = 10_000;
    let unit = UNITS.iter().find(|(_, size)| amount >= SMALL && amount.is_multiple_of(*size));
    match unit {
        Some((name, size)) => format!("{} {name}", amount / size),
        None => format!("{amount} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::quantity;

    #[test]
    fn amounts_read_back() {
        for amount in [0, 1, 1000, 1500, 64_000, 65_536, 4 << 20, 1_000_000, 1_000_001, 3_000_000_000] {
            assert_eq!(quantity::bytes(&bytes(amount)), Ok(amount), "{amount}");
        }
        assert_eq!(bytes(4 << 20), "4 MiB");
        assert_eq!(bytes(64_000), "64 KB");
    }

    #[test]
    fn texts_are_quoted_as_toml() {
        assert_eq!(quoted("a \"b\"\\\n\u{7f}"), r#""a \"b\"\\\u000A\u007F""#);
    }
}
