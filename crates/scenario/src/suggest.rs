//! Suggestions for misspelt names: "did you mean …?"

use crate::foreign::{Foreign, foreign, one_of};

/// Returns the candidate that the user probably meant by `written`. If `written` is a name that another tool uses,
/// returns Lasthop's equivalent; otherwise, or without an equivalent, returns the candidate with the nearest spelling.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let entry = foreign(written);
    if let Some(name) = entry.and_then(|entry| meant(entry, &candidates).first().copied()) {
        return Some(name);
    }
    // If `written` is another tool's name, a candidate counts as meant only if one letter differs.
    let most = if entry.is_some() { 1 } else { 1 + written.chars().count() / 3 };
    let ((distance, ..), name) = candidates
        .into_iter()
        .filter_map(|name| Some((score(written, name)?, name)))
        .min_by_key(|(score, _)| *score)?;
    (distance <= most).then_some(name)
}

/// Returns the candidates that mean the same as `entry`, a name that another tool uses.
fn meant<'a>(entry: &Foreign, candidates: &[&'a str]) -> Vec<&'a str> {
    entry.here.iter().filter_map(|here| candidates.iter().find(|name| *name == here).copied()).collect()
}

/// Sort key of a candidate; the nearest candidate has the smallest key. `None` if `written` is too long. The key has:
/// * the distance between the candidate and `written`, at most 1 if one word begins with the other;
/// * whether the candidate does not begin with `written`;
/// * the number of changed letters.
fn score(written: &str, candidate: &str) -> Option<(usize, bool, usize)> {
    // The time to compare two words grows with the product of their lengths. A longer text is not a misspelt name.
    const MAX_LENGTH: usize = 64;
    /// Shortest word, in letters, that is matched as the beginning of a name. Shorter words begin too many names.
    const MIN_LENGTH: usize = 3;
    if written.len() > MAX_LENGTH {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let (written, candidate) = (plain(written), plain(candidate));
    let changes = strsim::damerau_levenshtein(&written, &candidate);
    let is_begun = written.len() >= MIN_LENGTH && candidate.starts_with(&written);
    let is_part = is_begun || (candidate.len() >= MIN_LENGTH && written.starts_with(&candidate));
    let distance = if is_part { changes.min(1) } else { changes };
    Some((distance, !is_begun, changes))
}

/// Returns a help line without the list of candidates: "did you mean …?", or Lasthop's names for another tool's word.
/// Returns `None` if no candidate is near.
pub fn hint<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let Some(entry) = foreign(written) else {
        return nearest(written, candidates).map(|name| format!("did you mean `{name}`?"));
    };
    let here = meant(entry, &candidates);
    match (&here[..], entry.note) {
        ([], _) => match nearest(written, candidates) {
            Some(name) => Some(format!("did you mean `{name}`?")),
            None => Some(format!("{};", entry.sentence())),
        },
        (names, "") => Some(format!("did you mean {}?", one_of(names))),
        (names, note) => Some(format!("{note}; did you mean {}?", one_of(names))),
    }
}

/// Returns a help line with the hint, if any, and all candidates.
pub(crate) fn among(written: &str, what: &str, candidates: &[&str]) -> String {
    if candidates.is_empty() {
        return if what == "available" {
            "none is available".to_owned()
        } else {
            format!("there are no {what}")
        };
    }
    let known = format!("{what}: {}", listed(candidates));
    match hint(written, candidates.iter().copied()) {
        Some(hint) => format!("{hint} {known}"),
        None => known,
    }
}

/// Returns the first 24 names, separated by commas.
pub(crate) fn listed(names: &[&str]) -> String {
    const MAX_LISTED: usize = 24;
    match names.len() {
        n if n > MAX_LISTED => format!("{}, … ({n} in all)", names[..MAX_LISTED].join(", ")),
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

    #[test]
    fn words_of_other_tools_lead_to_the_names_here() {
        let keys = ["rate", "rtt", "one_way_delay", "queue"];
        assert_eq!(hint("delay", keys).as_deref(), Some("did you mean `one_way_delay` or `rtt`?"));
        assert_eq!(
            hint("delay", ["rate", "one_way_delay"]).as_deref(),
            Some("did you mean `one_way_delay`?")
        );
        assert_eq!(
            hint("bbrv2", ["bbr", "bbr3"]).as_deref(),
            Some("BBRv2 is not implemented; BBRv3 is its successor; did you mean `bbr3`?")
        );
        assert_eq!(hint("qdisc", ["segment"]).as_deref(), Some("tc: `qdisc` is `queue` here;"));
        assert_eq!(hint("ns3::TcpVegas", ["veno", "vegas"]).as_deref(), Some("did you mean `vegas`?"));
        assert_eq!(hint("MaxSize", ["queue"]).as_deref(), Some("did you mean `queue`?"));
        assert_eq!(hint("quadrature", keys), None);
    }
}
