//! Source of a paper's files: a folder, or the program itself for built-in papers.

use lasthop_scenario::{Draft, Problem};
use serde::de::DeserializeOwned;
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Source of the files of a paper.
#[derive(Clone, Debug)]
pub enum PaperSource {
    /// Files in the program: name of the folder, then name and text of each file.
    Within(&'static str, &'static [(&'static str, &'static str)]),
    /// Files in a folder.
    Folder(PathBuf),
}

/// Largest accepted size of a file, bytes.
const LARGEST: u64 = 4 << 20;

impl PaperSource {
    /// Returns the name of a file for messages.
    pub fn path(&self, file: &str) -> String {
        match self {
            PaperSource::Within(folder, _) => format!("papers/{folder}/{file}"),
            PaperSource::Folder(folder) => folder.join(file).display().to_string(),
        }
    }

    /// Returns the name that selects the paper on the command line: name of a built-in paper, or path of a folder.
    pub fn origin(&self) -> String {
        match self {
            PaperSource::Within(folder, _) => (*folder).to_owned(),
            PaperSource::Folder(folder) => folder.display().to_string(),
        }
    }

    /// Returns the text of a file. Returns `None` if the file is missing. Fails if the file cannot be read.
    pub fn text(&self, file: &str) -> Result<Option<String>, Problem> {
        match self {
            PaperSource::Within(_, files) => {
                Ok(files.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned()))
            }
            PaperSource::Folder(folder) => read(&folder.join(file)),
        }
    }

    /// Returns the text of a file, with the name for messages. Returns `None` if the file is missing. Fails if the file
    /// cannot be read.
    pub fn file(&self, file: &str) -> Result<Option<NamedText>, Problem> {
        Ok(self.text(file)?.map(|text| NamedText { name: self.path(file), text }))
    }

    /// Parses a scenario file. Fails if the file cannot be read or parsed. If the file is missing, `wanted` converts a
    /// message about the missing file to the returned error.
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

/// Text of a file, with the name of the file for error messages.
#[derive(Clone, Debug, Default)]
pub struct NamedText {
    /// Name of the file in messages.
    pub name: String,
    /// Contents of the file.
    pub text: String,
}

impl NamedText {
    /// Parses the text as TOML. If the TOML is invalid, the error has its position.
    pub fn toml<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        toml::from_str(&self.text)
            .map_err(|error| self.at(error.span().unwrap_or(0..0), error.message().trim()))
    }

    /// Returns an error at a byte range of the text.
    pub fn at(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::at(&self.name, &self.text, span, message)
    }

    /// Returns an error at an occurrence of `word`. The texts in `within` (headings, keys) are searched one after
    /// another. The error is at the first occurrence of `word` after the last of these texts.
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
