//! Rounded times and amounts of memory for messages.

/// Formats a time, for example `45 s`, `12 min`, `3.5 h`, `11 days`.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 90.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 36.0 * 3600.0 => format!("{} h", two_digits(s / 3600.0)),
        s if s < 1000.0 * 86_400.0 => format!("{} days", two_digits(s / 86_400.0)),
        s => format!("{} years", two_digits(s / 86_400.0 / 365.25)),
    }
}

/// Formats an amount of memory, for example `650 MB`, `1.2 GB`, `70 GB`.
pub(crate) fn memory(bytes: f64) -> String {
    match bytes {
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b if b < 1e12 => format!("{} GB", two_digits(b / 1e9)),
        b => format!("{} TB", two_digits(b / 1e12)),
    }
}

fn two_digits(number: f64) -> String {
    if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_exact_as_an_estimate_is() {
        assert_eq!(
            [3.4, 89.0, 95.0, 5000.0, 6000.0, 1e5, 2e5, 1e10].map(time),
            ["3 s", "89 s", "2 min", "83 min", "1.7 h", "28 h", "2.3 days", "317 years"]
        );
        assert_eq!([2.5e6, 1.24e9, 7e10, 3e12].map(memory), ["2 MB", "1.2 GB", "70 GB", "3.0 TB"]);
    }
}
