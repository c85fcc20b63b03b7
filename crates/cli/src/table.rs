//! Formats a table of the crate `lab` as text that fits the terminal.

use crate::output;
use lasthop_lab::document::{Cell, Table};
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthStr;

const GAP: &str = "  ";

/// Formats a table: words are aligned left, numbers right. If the table is wider than the terminal, cells are wrapped.
pub(crate) fn text(table: &Table) -> String {
    fitted(table, output::width(), &[])
}

/// Formats a table like [`text`]. If the table is too wide, omits the columns named in `expendable`, in this order,
/// until the table fits.
pub(crate) fn without(table: &Table, expendable: &[&str]) -> String {
    fitted(table, output::width(), expendable)
}

/// Formats a table for a terminal of `width` columns (`None`: no limit). If the table is too wide, wraps headings, then
/// omits the columns named in `expendable` one by one, then wraps cells, then breaks words.
fn fitted(table: &Table, width: Option<usize>, expendable: &[&str]) -> String {
    let width = width.unwrap_or(usize::MAX);
    let mut table = table.clone();
    for name in expendable {
        if Layout::of(&table).narrowed(width).total() <= width
            && Layout::of(&table).headed(width).total() <= width
        {
            break;
        }
        table = without_column(table, name);
    }
    let layout = Layout::of(&table).narrowed(width);
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&output::filled(&table.caption, width));
        out.push('\n');
    }
    out.push_str(&layout.head(&table.columns));
    table.rows.iter().for_each(|row| out.push_str(&layout.row(row)));
    out
}

fn without_column(mut table: Table, name: &str) -> Table {
    if let Some(at) = table.columns.iter().position(|column| column == name) {
        table.columns.remove(at);
        table.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| drop(row.remove(at)));
    }
    table
}

/// Column widths of a table. If a table is printed row by row, the widths are computed in advance from a similar
/// complete table.
pub(crate) struct Layout {
    widths: Vec<usize>,
    are_numbers: Vec<bool>,
    /// Minimum width of each column at which no word is broken, terminal columns.
    least: Vec<usize>,
    /// Width of the widest cell of each column, without the heading, terminal columns.
    cells: Vec<usize>,
}

impl Layout {
    pub(crate) fn of(table: &Table) -> Layout {
        let cells_of = |column: usize| table.rows.iter().filter_map(move |row| row.get(column));
        let columns = || table.columns.iter().enumerate();
        let cells: Vec<usize> = columns()
            .map(|(column, _)| cells_of(column).map(|cell| width(cell.text())).max().unwrap_or(0))
            .collect();
        let widths = columns().map(|(column, name)| width(name).max(cells[column])).collect();
        let least = columns()
            .map(|(column, name)| {
                let texts = cells_of(column).map(Cell::text).chain([name.as_str()]);
                texts.flat_map(words).map(|word| width(word.trim_end())).max().unwrap_or(0)
            })
            .collect();
        let are_numbers = columns()
            .map(|(column, _)| cells_of(column).any(|cell| matches!(cell, Cell::Number(_))))
            .collect();
        Layout { widths, are_numbers, least, cells }
    }

    fn total(&self) -> usize {
        self.widths.iter().sum::<usize>() + GAP.len() * self.widths.len().saturating_sub(1)
    }

    /// Narrows columns until the table fits `width`, but never so far that a cell is wrapped; headings may be wrapped.
    fn headed(mut self, width: usize) -> Layout {
        let floors: Vec<usize> =
            self.cells.iter().zip(&self.least).map(|(cells, least)| *cells.max(least)).collect();
        self.shrink(width, &floors);
        self
    }

    /// Returns the layout for at most `width` terminal columns. Wraps headings first, then cells, then breaks words.
    pub(crate) fn narrowed(self, width: usize) -> Layout {
        let mut layout = self.headed(width);
        let least = layout.least.clone();
        layout.shrink(width, &least);
        layout.shrink(width, &vec![1; least.len()]);
        layout
    }

    /// Narrows the widest column by one terminal column at a time, until the table fits `width`. No column becomes
    /// narrower than its value in `floors`.
    fn shrink(&mut self, width: usize, floors: &[usize]) {
        while self.total() > width {
            let wide = (0..self.widths.len()).filter(|at| self.widths[*at] > floors[*at]);
            let Some(widest) = wide.max_by_key(|at| self.widths[*at]) else { return };
            self.widths[widest] -= 1;
        }
    }

    pub(crate) fn head(&self, columns: &[String]) -> String {
        let rule: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
        self.lines(columns.iter().map(String::as_str)) + &self.lines(rule.iter().map(String::as_str))
    }

    pub(crate) fn row(&self, row: &[Cell]) -> String {
        self.lines((0..self.widths.len()).map(|column| row.get(column).map_or("", Cell::text)))
    }

    /// Formats a row. The cell with the most lines determines the number of lines.
    fn lines<'t>(&self, texts: impl Iterator<Item = &'t str>) -> String {
        let cells: Vec<Vec<String>> =
            texts.zip(&self.widths).map(|(text, width)| wrapped(text, *width)).collect();
        let count = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let columns = cells.iter().zip(&self.widths).zip(&self.are_numbers);
            let padded = columns.map(|((lines, width), is_number)| {
                pad(lines.get(number).map_or("", String::as_str), *width, *is_number)
            });
            padded.collect::<Vec<String>>().join(GAP).trim_end().to_owned() + "\n"
        };
        (0..count).map(line).collect()
    }
}

fn wrapped(text: &str, to: usize) -> Vec<String> {
    if width(text) <= to {
        return vec![text.to_owned()];
    }
    let options = Options::new(to)
        .word_separator(WordSeparator::Custom(parts))
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Splits a cell into the parts between which a line may end. A line may also end after `_`, `/`, `,` and `=`, because
/// names and settings have no spaces.
fn parts(text: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    Box::new(words(text).map(Word::from))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '_', '/', ',', '='])
}

/// Returns the width of a text in terminal columns: two for a wide character, none for a combining accent.
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

    fn three_columns() -> Table {
        let word = |text: &str| Cell::Text(text.into());
        let number = |text: &str| Cell::Number(text.into());
        Table {
            caption: String::new(),
            columns: vec!["metric".into(), "excess delay, ms".into(), "difference".into()],
            rows: vec![vec![word("goodput_kbps"), number("1915 ± 12"), number("+3 ± 1")]],
        }
    }

    /// A heading is wrapped before a column is omitted. A column is omitted before a cell is wrapped.
    #[test]
    fn narrow_terminals() {
        let table = three_columns();
        let lines = |width: usize, expendable: &[&str]| fitted(&table, Some(width), expendable);
        assert_eq!(lines(42, &[]).lines().next().unwrap(), "metric        excess delay, ms  difference");
        let two = "metric            excess  difference\n               delay, ms\n\
                   ────────────  ──────────  ──────────\ngoodput_kbps   1915 ± 12      +3 ± 1\n";
        assert_eq!(lines(36, &["difference"]), two);
        let one = lines(30, &["difference"]);
        assert!(!one.contains("difference") && one.contains("1915 ± 12"), "{one}");
        let cells = lines(28, &[]);
        assert!(cells.lines().all(|line| width(line) <= 28), "{cells}");
        assert!(cells.contains("goodput_") && cells.contains("difference"), "{cells}");
    }

    /// Words are broken only if the table is too wide otherwise.
    #[test]
    fn no_line_is_longer_than_the_terminal() {
        for columns in 8..60 {
            let text = fitted(&three_columns(), Some(columns), &[]);
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}:\n{text}");
        }
    }
}
