//! An error without a position in a document, with its remedy.

use miette::Diagnostic;
use std::fmt;

/// An error without a position in a document: one sentence and a remedy.
///
/// [`fmt::Display`] prints the sentence. As a [`miette::Diagnostic`], the error is printed with a help line.
/// [`crate::Problem`] is an error with a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainProblem {
    /// The error, one sentence.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
}

impl PlainProblem {
    /// Returns an error and its remedy.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> PlainProblem {
        PlainProblem { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for PlainProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlainProblem {}

impl Diagnostic for PlainProblem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }
}
