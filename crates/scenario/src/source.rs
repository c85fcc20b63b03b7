//! Texts that a scenario is made of, and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One text: a file, a ready path, or something typed on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// How messages call it: a file's path, `umts`, `command line`.
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// Where the names of further files in it begin.
    pub(crate) directory: PathBuf,
}

/// How messages call what was typed.
pub(crate) const TYPED: &str = "command line";

impl Source {
    /// A text of this name; further files are looked for beside it.
    pub(crate) fn new(name: &str, text: &str) -> Source {
        let directory = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
        Source { name: name.to_owned(), text: text.into(), directory }
    }

    /// Something typed: an inline scenario, or an option.
    pub(crate) fn typed(text: &str) -> Source {
        Source::new(TYPED, text)
    }
}

/// Some bytes of one of a draft's sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its number among the draft's sources.
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}
