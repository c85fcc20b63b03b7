//! Where a number comes from: which program, which seed, how much was run.

use lasthop_lab::item::Item;
use lasthop_lab::papers::Settings;
use serde::Serialize;

/// The version, and of a checkout the commit.
pub(crate) fn version() -> String {
    let commit = env!("LASTHOP_COMMIT");
    match commit.is_empty() {
        true => env!("CARGO_PKG_VERSION").to_owned(),
        false => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
    }
}

/// A row with all that is needed to run it again.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    #[serde(flatten)]
    item: &'a Item,
    /// The program.
    version: &'a str,
    /// The first repetition's seed.
    seed: u64,
    /// Whether it was a quick run.
    quick: bool,
    /// Of the paper's files.
    digest: &'a str,
    /// What gives it again.
    command: &'a str,
}

/// What all rows of a paper share.
pub(crate) struct Provenance<'a> {
    version: String,
    settings: &'a Settings,
    digest: String,
    command: String,
}

impl<'a> Provenance<'a> {
    /// Of a paper: its name or folder, and the digest of its files.
    pub(crate) fn new(paper: &str, digest: String, settings: &'a Settings) -> Provenance<'a> {
        let quick = if settings.quick { " --quick" } else { "" };
        let seed = if settings.seed == 1 { String::new() } else { format!(" --seed {}", settings.seed) };
        let command = format!("lasthop reproduce {paper}{quick}{seed}");
        Provenance { version: version(), settings, digest, command }
    }

    /// A row as an object.
    pub(crate) fn json(&self, item: &Item) -> Option<String> {
        let row = Row {
            item,
            version: &self.version,
            seed: self.settings.seed,
            quick: self.settings.quick,
            digest: &self.digest,
            command: &self.command,
        };
        serde_json::to_string(&row).ok()
    }
}
