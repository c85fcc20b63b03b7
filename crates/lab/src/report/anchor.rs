//! Unique names of the anchors to which links in a page refer.

use lasthop_charts::plot::escape::escaped;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Anchors {
    taken: BTreeSet<String>,
}

impl Anchors {
    pub fn reserving(names: impl IntoIterator<Item = String>) -> Anchors {
        Anchors { taken: names.into_iter().collect() }
    }

    /// Makes a unique anchor from `wanted`. Characters that need escaping are replaced by dashes. A number is appended
    /// if the name is already in use.
    pub fn unique(&mut self, wanted: &str) -> String {
        let plain = plain(wanted);
        let mut name = plain.clone();
        let mut copy = 1;
        while !self.taken.insert(name.clone()) {
            copy += 1;
            name = format!("{plain}-{copy}");
        }
        name
    }
}

/// Returns `words` as a link to the anchor `name`. Returns plain text if `name` is empty.
pub fn link(name: &str, words: &str) -> String {
    let words = escaped(words);
    if name.is_empty() { words } else { format!("<a href=\"#{}\">{words}</a>", plain(name)) }
}

/// Keeps ASCII letters and digits, `-`, `_` and `.`. Each sequence of other characters becomes one dash.
fn plain(wanted: &str) -> String {
    let kept = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let words: Vec<&str> =
        wanted.split(|character| !kept(character)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "part".to_string() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_own_names_are_not_given_away() {
        let mut anchors = Anchors::reserving(["top".to_string()]);
        assert_eq!(anchors.unique("top"), "top-2");
    }

    #[test]
    fn names_are_plain_and_unique() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.unique("hasegawa-fig7"), "hasegawa-fig7");
        assert_eq!(anchors.unique("hasegawa-fig7"), "hasegawa-fig7-2");
        assert_eq!(anchors.unique("koga5-Goodput, BER < 1e-5"), "koga5-Goodput-BER-1e-5");
        assert_eq!(anchors.unique("\"<>"), "part");
    }
}
