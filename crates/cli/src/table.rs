//! Formats a table of the lab as text.

use lasthop_lab::document::{Cell, Table};
use unicode_width::UnicodeWidthStr;

/// Aligns columns: words left, numbers right.
pub(crate) fn text(table: &Table) -> String {
    let layout = Layout::of(table);
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&table.caption);
        out.push('\n');
    }
    out.push_str(&layout.head(&table.columns));
    table.rows.iter().for_each(|row| out.push_str(&layout.row(row)));
    out
}

/// Column widths of a table. A table that is printed row by row takes the widths from a similar complete table.
pub(crate) struct Layout {
    widths: Vec<usize>,
    are_numbers: Vec<bool>,
}

impl Layout {
    pub(crate) fn of(table: &Table) -> Layout {
        let mut widths: Vec<usize> = table.columns.iter().map(|name| width(name)).collect();
        for row in &table.rows {
            for (width_there, cell) in widths.iter_mut().zip(row) {
                *width_there = (*width_there).max(width(cell.text()));
            }
        }
        let is_number =
            |column: usize| table.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Number(_))));
        let are_numbers = (0..widths.len()).map(is_number).collect();
        Layout { widths, are_numbers }
    }

    pub(crate) fn head(&self, columns: &[String]) -> String {
        let rule: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
        self.line(columns.iter().map(String::as_str)) + &self.line(rule.iter().map(String::as_str))
    }

    pub(crate) fn row(&self, row: &[Cell]) -> String {
        self.line((0..self.widths.len()).map(|column| row.get(column).map_or("", Cell::text)))
    }

    fn line<'t>(&self, texts: impl Iterator<Item = &'t str>) -> String {
        let columns = texts.zip(&self.widths).zip(&self.are_numbers);
        let cells = columns.map(|((text, width), is_number)| pad(text, *width, *is_number));
        cells.collect::<Vec<String>>().join("  ").trim_end().to_owned() + "\n"
    }
}

/// Returns the number of terminal columns of a text: two for a wide character, none for a combining accent.
fn width(text: &str) -> usize {
    text.width()
}

fn pad(text: &str, to: usize, to_the_right: bool) -> String {
    let blanks = " ".repeat(to.saturating_sub(width(text)));
    if to_the_right { blanks + text } else { text.to_owned() + &blanks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let word = |text: &str| Cell::Text(text.into());
        let number = |text: &str| Cell::Number(text.into());
        let table = Table {
            caption: "Goodput".into(),
            columns: vec!["flow".into(), "kbit/s".into()],
            rows: vec![vec![word("bulk"), number("1915 ± 12")], vec![word("x"), Cell::Empty]],
        };
        let expected = "Goodput\nflow     kbit/s\n────  ─────────\nbulk  1915 ± 12\nx             –\n";
        assert_eq!(text(&table), expected);
    }

    /// Numbers stay aligned beside names with wide characters and with combining accents.
    #[test]
    fn wide_characters_take_two_columns() {
        let row = |name: &str| vec![Cell::Text(name.into()), Cell::Number("7".into())];
        let table = Table {
            caption: String::new(),
            columns: vec!["flow".into(), "n".into()],
            rows: vec![row("東京"), row("cafe\u{301}"), row("four")],
        };
        assert_eq!(text(&table), "flow  n\n────  ─\n東京  7\ncafe\u{301}  7\nfour  7\n");
    }
}
