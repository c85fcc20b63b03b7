//! The text shown with a problem: the whole source, with long lines shortened.

use std::borrow::Cow;
use std::ops::Range;

const LONGEST: usize = 240;

/// Returns the text with long lines shortened, and the range of `span` in the shortened text.
pub(crate) fn snippet(text: &str, span: Range<usize>) -> (Cow<'_, str>, Range<usize>) {
    if text.split('\n').all(|line| line.len() <= LONGEST) {
        return (Cow::Borrowed(text), span);
    }
    let mut drawn = String::new();
    let mut moved = 0..0;
    let mut begins = 0;
    for line in text.split_inclusive('\n') {
        let ends = begins + line.len();
        let holds_start = (begins..ends).contains(&span.start) || (span.start == ends && ends == text.len());
        // The line with the start of the span may also be shortened on the left.
        let from =
            if holds_start { boundary(line, (span.start - begins).saturating_sub(LONGEST / 2)) } else { 0 };
        let to = boundary(line, (from + LONGEST).min(line.len()));
        if holds_start {
            let offset = |at: usize| drawn.len() + at.clamp(begins + from, begins + to) - begins - from;
            moved = offset(span.start)..offset(span.end);
        }
        drawn.push_str(line[from..to].trim_end_matches(['\n', '\r']));
        if line.ends_with('\n') {
            drawn.push('\n');
        }
        begins = ends;
    }
    let end = moved.end.min(drawn.len());
    (Cow::Owned(drawn), moved.start.min(end)..end)
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_as_they_are() {
        assert_eq!(snippet("a = 1\nb = 2\n", 6..7), (Cow::Borrowed("a = 1\nb = 2\n"), 6..7));
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let text = format!("first\n{}HERE{}\nlast", "ä".repeat(5000), "x".repeat(5000));
        let start = 6 + 10_000;
        let (drawn, span) = snippet(&text, start..start + 4);
        assert_eq!(&drawn[span], "HERE");
        assert_eq!(drawn.lines().count(), 3);
        assert!(drawn.len() < 300);
    }
}
