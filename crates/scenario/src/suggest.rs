//! "Did you mean …?"

/// The candidate nearest to what was written, if one is near enough to be meant.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing costs the product of the lengths; nothing longer than this is a misspelt name.
    const LONGEST: usize = 64;
    if written.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let written = plain(written);
    let scored = candidates.into_iter().map(|name| {
        let candidate = plain(name);
        let similarity = strsim::damerau_levenshtein(&written, &candidate);
        let is_part =
            written.len() >= 3 && (candidate.starts_with(&written) || written.starts_with(&candidate));
        (if is_part { similarity.min(1) } else { similarity }, name)
    });
    let (distance, name) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + written.chars().count() / 3).then_some(name)
}

/// A help line: the nearest candidate, and all of them.
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
}
