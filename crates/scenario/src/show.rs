//! Writes the resolved scenario as TOML with comments.

use crate::resolved::{KeyValue, Resolved, ResolvedSection};

/// Rightmost column that comments use.
const WIDEST: usize = 110;

/// Returns all tables, each key with its value and meaning.
pub(crate) fn text(resolved: &Resolved) -> String {
    let mut text =
        String::from("# Every key with its value; lines that begin with # are examples of keys not set.\n");
    for section in &resolved.sections {
        if !section.path.is_empty() {
            text.push('\n');
            if let Some(doc) = &section.doc {
                comment(doc, &mut text);
            }
            text.push_str(&format!("[{}]\n", section.path));
        }
        lines(section, &mut text);
    }
    text
}

/// Returns only the keys that are set, without comments.
pub(crate) fn bare(resolved: &Resolved) -> String {
    let mut text = String::with_capacity(4096);
    for section in &resolved.sections {
        if !section.path.is_empty() {
            for part in ["[", &section.path, "]\n"] {
                text.push_str(part);
            }
        }
        for line in section.lines.iter().filter(|line| line.is_set) {
            text.push_str(&line.key);
            text.push_str(" = ");
            line.value.push(&mut text);
            text.push('\n');
        }
    }
    text
}

fn lines(section: &ResolvedSection, text: &mut String) {
    let width =
        section.lines.iter().map(assignment).map(|line| line.chars().count()).filter(|n| *n < 48).max();
    let width = width.unwrap_or_default();
    for line in &section.lines {
        let assignment = assignment(line);
        let padded = format!("{assignment:<width$}  # {}", line.doc);
        if padded.chars().count() <= WIDEST {
            text.push_str(&padded)
        } else {
            comment(&line.doc, text);
            text.push_str(&assignment);
        }
        text.push('\n');
    }
}

fn comment(doc: &str, text: &mut String) {
    let mut width = 0;
    for word in doc.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length <= WIDEST {
            text.push(' ');
            width += 1 + length;
        } else {
            text.push_str(if width > 0 { "\n# " } else { "# " });
            width = 2 + length;
        }
        text.push_str(word);
    }
    text.push('\n');
}

fn assignment(line: &KeyValue) -> String {
    let mark = if line.is_set { "" } else { "# " };
    let mut text = format!("{mark}{} = ", line.key);
    line.value.push(&mut text);
    text
}
