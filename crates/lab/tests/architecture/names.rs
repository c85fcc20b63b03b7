//! Test that no code compares with the name of a mechanism. Code should use the mechanism's description or a method of
//! its trait instead.

use lasthop_scenario::Catalogue;
use std::path::{Path, PathBuf};

/// String literals that equal the name of a mechanism but have a different meaning: file, literal and meaning.
const OTHER_WORDS: &[(&str, &str, &str)] = &[
    ("import/src/ping.rs", "rtt", "a column"),
    ("lab/src/assertion/quantile.rs", "rtt", "a quantity"),
    ("lab/src/papers/cells.rs", "reno", "an axis: number of such flows"),
    ("lab/src/papers/cells.rs", "w_cw", "an axis: number of such flows"),
    ("middlebox/src/spack.rs", "bytes", "a value of its parameter `pieces`"),
    ("net/src/arq/repeat.rs", "once", "a value of its parameter `mode`"),
    ("lab/src/compare/amounts.rs", "packets", "a unit"),
    ("net/src/channel/two_state.rs", "packets", "a value of its parameter `clock`"),
    ("net/src/harq/direction.rs", "none", "a value of HARQ's parameter `order`"),
    ("python/src/events.rs", "sack", "a column"),
    ("python/src/gym/settings.rs", "packets", "a unit"),
    ("python/src/gym/settings.rs", "rtt", "a length of a step"),
    ("scenario/src/check.rs", "none", "a value of the key `headers`"),
    ("scenario/src/inline/line_keys.rs", "rtt", "a key of a line"),
    ("tcp/src/receiver/ack_splitting/split.rs", "always", "a value of its parameter `when`"),
    ("tcp/src/sender/congestion/cubic.rs", "linux", "a value of its parameter `variant`"),
    ("tcp/src/sender/congestion/w_cw.rs", "rtt", "a value of its parameter `pace`"),
];

/// Returns the source files of all crates, without integration tests.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    let folders = std::fs::read_dir(crates).expect("crates").flatten().map(|entry| entry.path().join("src"));
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).expect("text");
                sources.push((path.strip_prefix(crates).expect("below it").to_owned(), text));
            }
        }
    }
    sources
}

/// Returns the words with which code outside of unit tests compares: `== "word"`, `"word" =>`, `matches!(…, "word")`.
fn compared(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        let pieces: Vec<&str> = line.split('"').collect();
        for at in (1..pieces.len().saturating_sub(1)).step_by(2) {
            let before = pieces[at - 1].trim_end().trim_end_matches(['&', '*', '(']).trim_end();
            let behind = pieces[at + 1].trim_start().trim_start_matches(')').trim_start();
            let is_arm =
                ["=>", "if ", "|"].iter().any(|sign| behind.starts_with(sign)) && !behind.starts_with("||");
            let is_equal = ["==", "!="].iter().any(|sign| before.ends_with(sign) || behind.starts_with(sign));
            if is_arm || is_equal || line.contains("matches!(") {
                found.push(pieces[at]);
            }
        }
    }
    found
}

#[test]
fn no_code_asks_for_a_name() {
    let catalogue = Catalogue::default();
    let names: Vec<&str> = catalogue.seams().iter().flat_map(|seam| seam.names()).collect();
    assert!(names.len() > 80, "{}", names.len());
    let sources = sources();
    assert!(sources.len() > 300, "{}", sources.len());
    let mut others = OTHER_WORDS.to_vec();
    let mut asks = Vec::new();
    for (path, text) in &sources {
        for name in compared(text).into_iter().filter(|word| names.contains(word)) {
            let is_own = text.contains(&format!("name: \"{name}\""));
            let is_other = OTHER_WORDS.iter().any(|(file, word, _)| path == Path::new(file) && *word == name);
            others.retain(|(file, word, _)| path != Path::new(file) || *word != name);
            if !is_own && !is_other {
                asks.push(format!("{}: \"{name}\"", path.display()));
            }
        }
    }
    assert!(
        asks.is_empty(),
        "code compares with a mechanism's name; use its description (`Info`) or a method of its trait: {asks:?}"
    );
    assert!(others.is_empty(), "no code compares with these words; remove them: {others:?}");
}

#[test]
fn comparisons_are_found() {
    let text = r#"
        if source.recovery.info.name != "rack" {}
        match shape.info.name { "copies" => 1, "split" if is_always => 2, "by_loss" | "once" => 3, _ => 0 }
        let is_slow = matches!(name, "reno" | "veno") || "cubic" == name;
        let chosen = Choice::named(ALL, "tahoe"); // == "vegas"
        // if name == "jersey"
    "#;
    let found = compared(text);
    for name in ["rack", "copies", "split", "by_loss", "once", "reno", "veno", "cubic"] {
        assert!(found.contains(&name), "{name}: {found:?}");
    }
    assert!(!found.contains(&"tahoe") && !found.contains(&"jersey"), "{found:?}");
}
