//! Names of metrics in sentences and as axis labels.

/// Suffixes of metric names, each with the unit that the suffix stands for.
const UNITS: [(&str, &str); 6] = [
    ("_kbps", "kbit/s"),
    ("_per_s", "per s"),
    ("_bytes", "bytes"),
    ("_ms", "ms"),
    ("_pct", "%"),
    ("_s", "s"),
];
/// Words in metric names that are abbreviations, each with its spelling in labels.
const ABBREVIATIONS: [(&str, &str); 4] = [("rtt", "RTT"), ("srtt", "SRTT"), ("acks", "ACKs"), ("rlc", "RLC")];

/// Returns the words and the unit of a metric: `mean RTT` and `ms` for `mean_rtt_ms`. The unit of a count or a share is
/// empty.
pub fn words(name: &str) -> (String, &'static str) {
    let unit = UNITS.iter().find_map(|(ending, unit)| Some((name.strip_suffix(ending)?, *unit)));
    let (name, unit) = unit.unwrap_or((name, ""));
    let word = |word| ABBREVIATIONS.iter().find(|(known, _)| *known == word).map_or(word, |(_, long)| *long);
    (name.split('_').map(word).collect::<Vec<_>>().join(" "), unit)
}

/// Returns the label of an axis: `mean RTT, ms`.
pub fn axis(name: &str) -> String {
    match words(name) {
        (words, "") => words,
        (words, unit) => format!("{words}, {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_words_and_units() {
        for (name, label) in [
            ("goodput_kbps", "goodput, kbit/s"),
            ("mean_rtt_ms", "mean RTT, ms"),
            ("acks_per_s", "ACKs, per s"),
            ("timeouts", "timeouts"),
            ("exchange_p50_s", "exchange p50, s"),
        ] {
            assert_eq!(axis(name), label);
        }
    }
}
