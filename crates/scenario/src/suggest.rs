//! "Did you mean …?"

/// Words of other tools, and their equivalents here.
const MEANT: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("bbr2", "bbr3"),
    ("bbrv2", "bbr3"),
    ("bbrv3", "bbr3"),
    ("buffer", "queue"),
    ("bw", "rate"),
    ("cc", "congestion"),
    ("delay", "one_way_delay"),
    ("flows", "count"),
    ("latency", "one_way_delay"),
    ("mss", "segment"),
];

/// The candidate nearest to the written word, if it is near enough.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparison costs the product of the lengths; longer texts are not misspelt names.
    const LONGEST: usize = 64;
    /// A shorter word is a prefix of too many names.
    const SHORTEST: usize = 3;
    if written.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let written = plain(written);
    let meant = MEANT.iter().find(|(word, _)| *word == written).map(|(_, meant)| *meant);
    let scored = candidates.into_iter().map(|name| {
        let candidate = plain(name);
        let similarity = strsim::damerau_levenshtein(&written, &candidate);
        let is_begun = written.len() >= SHORTEST && candidate.starts_with(&written);
        let is_part = is_begun || (candidate.len() >= SHORTEST && written.starts_with(&candidate));
        let distance = match meant {
            Some(meant) if meant == name => 0,
            _ if is_part => similarity.min(1),
            _ => similarity,
        };
        // Ties: a name that continues the written word, then the name with fewer changes.
        ((distance, !is_begun, similarity), name)
    });
    let ((distance, ..), name) = scored.min_by_key(|(score, _)| *score)?;
    let most = if meant.is_some() { 1 } else { 1 + written.chars().count() / 3 };
    (distance <= most).then_some(name)
}

pub(crate) fn among(written: &str, what: &str, candidates: &[&str]) -> String {
    if candidates.is_empty() {
        return format!("there are no {what}");
    }
    let known = format!("{what}: {}", listed(candidates));
    match nearest(written, candidates.iter().copied()) {
        Some(name) => format!("did you mean `{name}`? {known}"),
        None => known,
    }
}

/// The first two dozen names, separated by commas.
pub(crate) fn listed(names: &[&str]) -> String {
    const MOST: usize = 24;
    match names.len() {
        n if n > MOST => format!("{}, … ({n} in all)", names[..MOST].join(", ")),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_recognised_and_far_ones_are_not() {
        let names = ["new_reno", "reno", "sack", "tahoe"];
        assert_eq!(nearest("newreno", names), Some("new_reno"));
        assert_eq!(nearest("SACK", names), Some("sack"));
        assert_eq!(nearest("thaoe", names), Some("tahoe"));
        assert_eq!(nearest("cubic", names), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }

    #[test]
    fn the_nearest_of_several_is_the_one_that_is_meant() {
        let controls = ["reno", "bbr", "bbr3", "cubic"];
        for word in ["bbrv3", "bbr2", "BBRv2"] {
            assert_eq!(nearest(word, controls), Some("bbr3"), "{word}");
        }
        assert_eq!(nearest("bbr1", controls), Some("bbr"));
        let columns = ["c", "good", "goodput_kbps", "completed_s"];
        assert_eq!(nearest("goodput", columns), Some("goodput_kbps"));
        assert_eq!(nearest("completed_p95_s", columns), Some("completed_s"));
        let keys = ["rate", "rtt", "one_way_delay", "queue", "loss", "ber", "count", "congestion"];
        for (word, key) in [
            ("buffer", "queue"),
            ("flows", "count"),
            ("delay", "one_way_delay"),
            ("cc", "congestion"),
            ("bw", "rate"),
        ] {
            assert_eq!(nearest(word, keys), Some(key));
        }
        assert_eq!(nearest("flows", ["loss", "rate"]), None, "no key here has the meaning");
        assert_eq!(nearest("flows", ["link", "flow"]), Some("flow"), "one letter too many");
    }
}
