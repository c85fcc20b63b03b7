//! Source texts of a scenario, and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One text: a file, a ready path, or something typed on the command line.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    /// Name in messages: a file's path, `umts`, `command line`.
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// Directory for relative names of further files.
    pub(crate) directory: PathBuf,
}

pub(crate) const TYPED: &str = "command line";

impl SourceText {
    /// A text of this name; further files are resolved relative to it.
    pub(crate) fn new(name: &str, text: &str) -> SourceText {
        let directory = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
        SourceText { name: name.to_owned(), text: text.into(), directory }
    }

    /// Typed text: an inline scenario, or an option.
    pub(crate) fn typed(text: &str) -> SourceText {
        SourceText::new(TYPED, text)
    }
}

/// A byte range of one of a draft's sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}
