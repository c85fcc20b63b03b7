//! The resolved scenario as commented TOML.

use crate::resolved::{Line, Resolved, Section};

/// A line that would be longer has its comment above it.
const WIDEST: usize = 118;

/// All tables, each key with its value and what it means.
pub(crate) fn text(resolved: &Resolved) -> String {
    let mut text =
        String::from("# Every key with its value; lines that begin with # are examples of keys not set.\n");
    for section in &resolved.sections {
        if !section.path.is_empty() {
            text.push('\n');
            if let Some(doc) = &section.doc {
                text.push_str(&format!("# {doc}\n"));
            }
            text.push_str(&format!("[{}]\n", section.path));
        }
        lines(section, &mut text);
    }
    text
}

fn lines(section: &Section, text: &mut String) {
    let width =
        section.lines.iter().map(assignment).map(|line| line.chars().count()).filter(|n| *n < 48).max();
    let width = width.unwrap_or_default();
    for line in &section.lines {
        let assignment = assignment(line);
        let padded = format!("{assignment:<width$}  # {}", line.doc);
        match padded.chars().count() <= WIDEST {
            true => text.push_str(&padded),
            false => text.push_str(&format!("# {}\n{assignment}", line.doc)),
        }
        text.push('\n');
    }
}

fn assignment(line: &Line) -> String {
    let mark = if line.holds { "" } else { "# " };
    format!("{mark}{} = {}", line.key, line.value)
}
