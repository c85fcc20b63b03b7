//! Where a paper's files come from: from the program itself, or from a folder.

use lasthop_scenario::{Draft, Problem};
use serde::de::DeserializeOwned;
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The files of a paper.
#[derive(Clone, Debug)]
pub enum Source {
    /// In the program: the folder's name, and name and text of each file.
    Within(&'static str, &'static [(&'static str, &'static str)]),
    /// In a folder.
    Folder(PathBuf),
}

/// Largest file that is read, bytes.
const LARGEST: u64 = 4 << 20;

impl Source {
    /// How messages call a file of it.
    pub fn path(&self, file: &str) -> String {
        match self {
            Source::Within(folder, _) => format!("papers/{folder}/{file}"),
            Source::Folder(folder) => folder.join(file).display().to_string(),
        }
    }

    /// What names the paper on the command line.
    pub fn origin(&self) -> String {
        match self {
            Source::Within(folder, _) => (*folder).to_owned(),
            Source::Folder(folder) => folder.display().to_string(),
        }
    }

    /// The text of a file; `None` if there is none.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn text(&self, file: &str) -> Result<Option<String>, Problem> {
        match self {
            Source::Within(_, files) => {
                Ok(files.iter().find(|(name, _)| *name == file).map(|(_, text)| (*text).to_owned()))
            }
            Source::Folder(folder) => read(&folder.join(file)),
        }
    }

    /// A file with its name, for messages; `None` if there is none.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn file(&self, file: &str) -> Result<Option<Text>, Problem> {
        Ok(self.text(file)?.map(|text| Text { name: self.path(file), text }))
    }

    /// A path's scenario.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be read; `wanted` says who asked for it.
    pub fn draft(&self, file: &str, wanted: impl FnOnce(String) -> Problem) -> Result<Draft, Problem> {
        match self.text(file)? {
            Some(text) => Draft::parse(&text, &self.path(file)),
            None => Err(wanted(format!("there is no file `{}`", self.path(file)))),
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, Problem> {
    let text = std::fs::metadata(path).and_then(|about| match about.len() > LARGEST {
        true => Err(Error::other(format!("larger than {LARGEST} bytes"))),
        false => std::fs::read_to_string(path),
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

/// A text of the paper in which something can be wrong.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// How messages call it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl Text {
    /// Reads it as TOML.
    ///
    /// # Errors
    /// The TOML reader's error, at its place.
    pub fn toml<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        toml::from_str(&self.text)
            .map_err(|error| self.at(error.span().unwrap_or(0..0), error.message().trim()))
    }

    /// A problem at some bytes.
    pub fn at(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::at(&self.name, &self.text, span, message)
    }

    /// A problem about a word, at the first place where it stands after each of `within` (headings, keys) in turn.
    pub fn about(&self, within: &[&str], word: &str, message: impl Into<String>) -> Problem {
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
