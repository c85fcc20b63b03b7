//! What there is: every mechanism and every ready path.

use crate::draft::Draft;
use crate::ready;
use crate::seam::seams;

/// One line of `lasthop list`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The seam (`recovery`, `channel` …), or `path` for a ready path.
    pub kind: &'static str,
    /// The word in scenarios.
    pub name: &'static str,
    /// What it is, one line.
    pub summary: String,
    /// Where it comes from; empty if nobody says.
    pub source: String,
}

/// Every mechanism by seam, then every ready path.
pub fn list() -> Vec<Entry> {
    let mechanisms = seams().into_iter().flat_map(|seam| {
        seam.mechanisms.into_iter().map(move |info| Entry {
            kind: seam.name,
            name: info.name,
            summary: info.summary.to_owned(),
            source: info.source.to_owned(),
        })
    });
    let paths = ready::ALL.iter().filter_map(|(name, text)| {
        let scenario = Draft::parse(text, name).and_then(|draft| draft.check()).ok()?;
        Some(Entry {
            kind: "path",
            name,
            summary: scenario.title,
            source: scenario.source.unwrap_or_default(),
        })
    });
    mechanisms.chain(paths).collect()
}
