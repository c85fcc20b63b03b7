//! Source texts of a scenario, and spans (ranges of bytes) of these texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One source text: a file, a built-in scenario, or text typed on the command line.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    /// Name used in messages: a file's path, a built-in scenario's name (`umts`), or `command line`.
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// Directory to which the file names in the text are relative.
    pub(crate) directory: PathBuf,
}

pub(crate) const TYPED: &str = "command line";

impl SourceText {
    /// Returns a source text with this name. File names in the text are relative to the directory of `name`.
    pub(crate) fn new(name: &str, text: &str) -> SourceText {
        let directory = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
        SourceText { name: name.to_owned(), text: text.into(), directory }
    }

    /// Returns a source text that the user typed: a one-line scenario, or an option such as `--set`.
    pub(crate) fn typed(text: &str) -> SourceText {
        SourceText::new(TYPED, text)
    }
}

/// A range of bytes in one of a draft's source texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}
