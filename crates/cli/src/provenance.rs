//! Provenance of a number: program version, seed, and whether `--quick` reduced the number of runs.

use lasthop_lab::item::Item;
use lasthop_lab::papers::ReproductionSettings;
use serde::Serialize;

/// Returns the version of the program. A build from a checkout appends the commit to the version.
pub(crate) fn version() -> String {
    let commit = env!("LASTHOP_COMMIT");
    if commit.is_empty() {
        env!("CARGO_PKG_VERSION").to_owned()
    } else {
        format!("{} ({commit})", env!("CARGO_PKG_VERSION"))
    }
}

#[derive(Serialize)]
pub(crate) struct ProvenanceRow<'a> {
    #[serde(flatten)]
    item: &'a Item,
    version: &'a str,
    seed: u64,
    quick: bool,
    /// SHA-256 of the paper's files.
    digest: &'a str,
    /// Command that reproduces the row.
    command: &'a str,
}

pub(crate) struct Provenance<'a> {
    version: String,
    settings: &'a ReproductionSettings,
    digest: String,
    command: String,
}

impl<'a> Provenance<'a> {
    /// Creates the provenance of a paper's rows. `paper` is a name or a folder; `digest` is the SHA-256 of the paper's
    /// files.
    pub(crate) fn new(paper: &str, digest: String, settings: &'a ReproductionSettings) -> Provenance<'a> {
        let quick = if settings.quick { " --quick" } else { "" };
        let seed = if settings.seed == 1 { String::new() } else { format!(" --seed {}", settings.seed) };
        let command = format!("lasthop reproduce {paper}{quick}{seed}");
        Provenance { version: version(), settings, digest, command }
    }

    pub(crate) fn json(&self, item: &Item) -> Option<String> {
        let row = ProvenanceRow {
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
