//! An error in a scenario, with its message, its position in the text and a remedy.

use crate::snippet::snippet;
use crate::source::SourceText;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The first error in a scenario: one sentence, a position in the text, and a remedy.
///
/// [`fmt::Display`] prints only the sentence. As a [`miette::Diagnostic`], the error is printed with the file, the
/// line, the underlined text and a help line.
#[derive(Clone, Debug)]
pub struct Problem(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    message: String,
    label: String,
    help: Option<String>,
    text: Arc<str>,
    span: Range<usize>,
    drawn: NamedSource<Arc<str>>,
    underlined: Range<usize>,
}

impl Problem {
    pub(crate) fn new(source: &SourceText, span: Range<usize>, message: impl Into<String>) -> Problem {
        let text = Arc::clone(&source.text);
        let span = within(&text, span);
        let (drawn, underlined) = snippet(&text, span.clone());
        Problem(Box::new(Details {
            message: printable(&message.into()),
            label: "here".to_owned(),
            help: None,
            drawn: NamedSource::new(&source.name, Arc::from(drawn)),
            underlined,
            text,
            span,
        }))
    }

    /// Returns an error in a document other than a scenario, such as a file of a study. `file` is the file name for
    /// messages. `span` is the range of bytes in `text` to underline.
    pub fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(&SourceText::new(file, text), span, message)
    }

    /// Returns the error with a remedy.
    pub fn advise(self, help: impl Into<String>) -> Problem {
        self.help(help)
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Problem {
        self.0.label = printable(&label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.help = Some(printable(&help.into()));
        self
    }

    /// Returns the message, one sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the remedy.
    pub fn advice(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns the name of the file or of the built-in scenario, or `command line`.
    pub fn file(&self) -> &str {
        self.0.drawn.name()
    }

    /// Line number, from 1.
    pub fn line(&self) -> usize {
        1 + self.0.text[..self.0.span.start].matches('\n').count()
    }

    /// Column, in characters from 1.
    pub fn column(&self) -> usize {
        let before = &self.0.text[..self.0.span.start];
        1 + before.rsplit('\n').next().unwrap_or_default().chars().count()
    }

    /// Returns the underlined range within the whole text, in UTF-16 units from 0, as browsers count.
    pub fn utf16(&self) -> Range<usize> {
        let units = |end: usize| self.0.text[..end].encode_utf16().count();
        units(self.0.span.start)..units(self.0.span.end)
    }

    /// Returns the underlined text.
    pub fn underlined(&self) -> &str {
        &self.0.text[self.0.span.clone()]
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.0.drawn)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.0.label.clone()), self.0.underlined.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Returns the span, limited to the text and extended to character boundaries. An empty span becomes the whole line
/// that contains it.
fn within(text: &str, span: Range<usize>) -> Range<usize> {
    let mut start = span.start.min(text.len());
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    if start == end {
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[line_start..line_end].trim();
        if !line.is_empty() {
            start = line_start + text[line_start..line_end].find(line).unwrap_or_default();
            end = start + line.len();
        }
    }
    start..end
}

/// Escapes control characters, because messages quote input, and a terminal must not interpret control characters of
/// the input.
fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { clean.extend(c.escape_default()) } else { clean.push(c) }
    }
    clean
}
