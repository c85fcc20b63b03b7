//! List of all mechanisms, profiles and built-in scenarios (ready paths).

use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::ready;
use crate::suggest;
use lasthop_base::SeamInfo;
use lasthop_tcp::profile;

/// One entry of the output of `lasthop list`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListEntry {
    /// Key that selects the mechanism (`recovery`, `sender.loss_discrimination` …), `profile`, or `path` for a built-in
    /// scenario (ready path).
    pub kind: String,
    /// Name used in scenarios.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: String,
    /// Source, such as a paper; may be empty.
    pub source: String,
}

impl Catalogue {
    /// Returns every mechanism, grouped by the key that selects it, then every profile, then every built-in scenario
    /// (ready path).
    pub fn list(&self) -> Vec<ListEntry> {
        entries(self)
    }

    /// Returns the entries that match a word. The word is compared with the kinds first (`queue`). If no kind matches,
    /// the names are searched (`sack`, `fading`), then the summaries and sources (`satellite`, `huang`). Case, and the
    /// choice of `-` or `_`, do not matter.
    ///
    /// # Errors
    /// Returns a hint with all kinds if nothing matches.
    pub fn list_of(&self, word: &str) -> Result<Vec<ListEntry>, String> {
        entries_of(&self.list(), word)
    }
}

fn entries(catalogue: &Catalogue) -> Vec<ListEntry> {
    let seams = catalogue.seams();
    // The sender and the receiver may have keys of the same name. The kind then includes the side.
    let kind = |seam: &SeamInfo| match seams.iter().filter(|other| other.name == seam.name).count() {
        1 => seam.name.to_owned(),
        _ => format!("{}.{}", seam.side, seam.name),
    };
    let mechanisms = seams.iter().flat_map(|seam| {
        seam.mechanisms.iter().map(|info| ListEntry {
            kind: kind(seam),
            name: info.name,
            summary: info.summary.to_owned(),
            source: info.source.to_owned(),
        })
    });
    let paths = ready::ALL.iter().filter_map(|(name, text)| {
        let scenario = Draft::parse(text, name).and_then(|draft| draft.check()).ok()?;
        Some(ListEntry {
            kind: "path".to_owned(),
            name,
            summary: scenario.title,
            source: scenario.source.unwrap_or_default(),
        })
    });
    let profiles = profile::ALL.iter().map(|profile| ListEntry {
        kind: "profile".to_owned(),
        name: profile.name,
        summary: profile.summary.to_owned(),
        source: profile.source.to_owned(),
    });
    mechanisms.chain(profiles).chain(paths).collect()
}

fn entries_of(all: &[ListEntry], word: &str) -> Result<Vec<ListEntry>, String> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let wanted = plain(word);
    type Matches = fn(&ListEntry, &str, &dyn Fn(&str) -> String) -> bool;
    const MATCHERS: [Matches; 3] = [
        // The word may also be the plural of a kind, or a key without its side.
        |entry, wanted, _| {
            let key = entry.kind.rsplit('.').next().unwrap_or_default();
            let one = wanted.strip_suffix('s').unwrap_or(wanted);
            [one, wanted].iter().any(|word| *word == entry.kind || *word == key)
        },
        |entry, wanted, plain| plain(entry.name).contains(wanted),
        |entry, wanted, plain| {
            [&entry.summary, &entry.source].iter().any(|text| plain(text).contains(wanted))
        },
    ];
    for matches in MATCHERS {
        let found: Vec<ListEntry> =
            all.iter().filter(|entry| matches(entry, &wanted, &plain)).cloned().collect();
        if !wanted.is_empty() && !found.is_empty() {
            return Ok(found);
        }
    }
    let mut kinds: Vec<&str> = all.iter().map(|entry| entry.kind.as_str()).collect();
    kinds.dedup();
    let names = all.iter().map(|entry| entry.name).chain(kinds.iter().copied());
    let kinds = format!("kinds: {}", kinds.join(", "));
    Err(match suggest::hint(word, names) {
        Some(hint) => format!("{hint} {kinds}"),
        None => kinds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(word: &str) -> Vec<String> {
        let entries = Catalogue::default().list_of(word).unwrap_or_else(|why| panic!("{word}: {why}"));
        entries.iter().map(|entry| format!("{} {}", entry.kind, entry.name)).collect()
    }

    #[test]
    fn a_kind_goes_before_a_name_and_a_name_before_a_text() {
        assert!(found("queue").iter().all(|line| line.starts_with("queue ")), "{:?}", found("queue"));
        assert_eq!(found("queues"), found("queue"));
        assert!(found("queue").contains(&"queue red".to_owned()));
        assert_eq!(found("SACK"), ["recovery sack", "recovery sack1", "middlebox snoop_sack"]);
        assert_eq!(found("new-reno"), ["recovery new_reno"]);
        assert!(found("Jakes").contains(&"channel fading".to_owned()));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        for (word, meant) in
            [("quue", "`queue`"), ("sakc", "`sack`"), ("xyzzy", "kinds: recovery, "), ("", "kinds: ")]
        {
            let why = Catalogue::default().list_of(word).expect_err(word);
            assert!(why.contains(meant) && why.contains("channel") && why.contains("path"), "{word}: {why}");
        }
    }
}
