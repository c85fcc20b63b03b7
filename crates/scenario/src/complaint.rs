//! What is wrong without a place in a document, and how to mend it.

use miette::Diagnostic;
use std::fmt;

/// One sentence, and what would be right.
///
/// [`fmt::Display`] gives the sentence alone; as a [`miette::Diagnostic`] it is drawn with a help line. A [`crate::Problem`]
/// is the same with a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, one sentence.
    pub message: String,
    /// What would be right; may be empty.
    pub help: String,
}

impl Complaint {
    /// A sentence and what would be right.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Complaint {}

impl Diagnostic for Complaint {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }
}
