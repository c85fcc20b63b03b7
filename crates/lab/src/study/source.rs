//! Source of a paper's files: the program itself (built-in papers) or a folder.

use lasthop_scenario::{Draft, Problem};
use serde::de::DeserializeOwned;
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files of a paper.
#[derive(Clone, Debug)]
pub enum PaperSource {
    /// Files in the program: the folder's name, then name and text of each file.
    Within(&'static str, &'static [(&'static str, &'static str)]),
    /// A folder.
    Folder(PathBuf),
}

/// Largest size of a file that is read, bytes.
const LARGEST: u64 = 4 << 20;

impl PaperSource {
    /// Name of a file in messages.
    pub fn path(&self, file: &str) -> String {
        match self {
            PaperSource::Within(folder, _) => format!("papers/{folder}/{file}"),
            PaperSource::Folder(folder) => folder.join(file).display().to_string(),
        }
    }

    /// Name of the paper on the command line.
    pub fn origin(&self) -> String {
        match self {
            PaperSource::Within(folder, _) => (*folder).to_owned(),
            PaperSource::Folder(folder) => folder.display().to_string(),
        }
    }

    /// Text of a file; `None` if missing, an error if unreadable.
    pub fn text(&self, file: &str) -> Result<Option<String>, Problem> {
        match self {
            PaperSource::Within(_, files) => {
                Ok(files.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned()))
            }
            PaperSource::Folder(folder) => read(&folder.join(file)),
        }
    }

    /// A file with its name for messages; `None` if missing, an error if unreadable.
    pub fn file(&self, file: &str) -> Result<Option<NamedText>, Problem> {
        Ok(self.text(file)?.map(|text| NamedText { name: self.path(file), text }))
    }

    /// Parses a scenario file. Fails if the file is unreadable. If the file is missing, `wanted` turns the
    /// message into the error.
    pub fn draft(&self, file: &str, wanted: impl FnOnce(String) -> Problem) -> Result<Draft, Problem> {
        match self.text(file)? {
            Some(text) => Draft::parse(&text, &self.path(file)),
            None => Err(wanted(format!("there is no file `{}`", self.path(file)))),
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, Problem> {
    let text = std::fs::metadata(path).and_then(|about| {
        if about.len() > LARGEST {
            Err(Error::other(format!("larger than {LARGEST} bytes")))
        } else {
            std::fs::read_to_string(path)
        }
    });
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let name = path.display().to_string();
            Err(Problem::at(&name, &name, 0..name.len(), format!("cannot read `{name}`: {error}")))
        }
    }
}

/// A text with its name, for error messages.
#[derive(Clone, Debug, Default)]
pub struct NamedText {
    /// Name of the file in messages.
    pub name: String,
    /// Contents.
    pub text: String,
}

impl NamedText {
    /// Parses the text as TOML; if the TOML is invalid, the error has the position.
    pub fn toml<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        toml::from_str(&self.text)
            .map_err(|error| self.at(error.span().unwrap_or(0..0), error.message().trim()))
    }

    /// A problem at a byte range.
    pub fn at(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::at(&self.name, &self.text, span, message)
    }

    /// A problem at the first occurrence of `word` after the texts `within` (headings, keys), which are searched one
    /// after another.
    pub fn problem_near(&self, within: &[&str], word: &str, message: impl Into<String>) -> Problem {
        let mut from = 0;
        for step in within.iter().chain([&word]) {
            match self.text[from..].find(step) {
                Some(at) if std::ptr::eq(*step, word) => {
                    return self.at(from + at..from + at + word.len(), message);
                }
                Some(at) => from += at,
                None => {}
            }
        }
        let end = self.text[from..].find('\n').map_or(self.text.len(), |at| from + at);
        self.at(from..end, message)
    }
}
