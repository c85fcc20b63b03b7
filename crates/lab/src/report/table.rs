//! HTML of tables, and the explanation of the verdicts in tables.

use crate::document::{Block, Cell, Document, Table, TableSetting};
use lasthop_charts::plot::escape::escaped;
use serde_json::json;

/// Explanation of the verdicts for the reader. [`Verdict`](crate::item::Verdict) has the exact definitions.
pub const VERDICTS: &str = "\
<dl class=\"verdicts\" aria-label=\"Verdicts\">\n\
<div><dt class=\"agrees\">agrees</dt><dd>The whole 95&nbsp;% interval lies within the margin of the published number. A \
claim significantly holds at all of its points.</dd></div>\n\
<div><dt class=\"differs\">differs</dt><dd>The interval lies outside of the margin. A claim significantly fails at a point.</dd></div>\n\
<div><dt class=\"inconclusive\">inconclusive</dt><dd>More repetitions are needed.</dd></div>\n\
<div><dt class=\"undecidable\">undecidable</dt><dd>No number of repetitions decides: single runs vary too much to \
confirm a published number of one run, or the margin is the spread between the paper's own runs.</dd></div>\n\
<div><dt class=\"shape\">shape</dt><dd>Claims only: the means satisfy the claim at all points, but \
not significantly at every point.</dd></div>\n\
</dl>\n";

pub fn has_verdicts(document: &Document) -> bool {
    let mut blocks = document.chapters.iter().flat_map(|chapter| &chapter.blocks);
    blocks.any(|block| match block {
        Block::Table(table) | Block::Switched { table, .. } => {
            table.rows.iter().flatten().any(|cell| matches!(cell, Cell::Verdict(Some(_))))
        }
        Block::Matrix(_) => true,
        _ => false,
    })
}

/// Returns the HTML of `table`, in a box that scrolls if the table is wider than the page.
pub fn html(table: &Table) -> String {
    table_html(table, "")
}

/// Returns the HTML of `table`, with the cells of the alternative settings as data for the page's script. The data
/// omits the class of a cell if the cell has no class, or if the class equals the cell's text.
pub fn switched(table: &Table, settings: &[TableSetting]) -> String {
    let kinds = kinds(table);
    let cell = |(row, column, cell): &(usize, usize, Cell)| match class_of(&kinds, *column, cell) {
        Some(class) if class != cell.text() => json!([row, column, cell.text(), class]),
        _ => json!([row, column, cell.text()]),
    };
    let setting = |setting: &TableSetting| {
        let cells: Vec<serde_json::Value> = setting.cells.iter().map(cell).collect();
        json!([setting.label, cells])
    };
    let settings: Vec<serde_json::Value> = settings.iter().map(setting).collect();
    // The attribute is in single quotes because the JSON contains many double quotes.
    let settings = serde_json::Value::from(settings).to_string();
    let settings = settings.replace('&', "&amp;").replace('\'', "&#39;").replace('<', "&lt;");
    table_html(table, &format!(" data-settings='{settings}'"))
}

fn table_html(table: &Table, attribute: &str) -> String {
    let caption = escaped(&table.caption);
    let kinds = kinds(table);
    let named = (1..).zip(&kinds).filter_map(|(number, kind)| match kind {
        ColumnKind::Numbers => Some(format!("n{number}")),
        ColumnKind::Words => Some(format!("w{number}")),
        ColumnKind::Mixed => None,
    });
    let classes = named.collect::<Vec<String>>().join(" ");
    let classes = if classes.is_empty() { classes } else { format!(" class=\"{classes}\"") };
    let mut html = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table{classes}{attribute}>\n"
    );
    if !caption.is_empty() {
        html += &format!("<caption><span>{caption}</span></caption>\n");
    }
    html += "<thead><tr>";
    for heading in &table.columns {
        html += &format!("<th scope=\"col\">{}</th>", escaped(heading));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        // End tags of cells and rows are omitted to save space, because a report has thousands of cells. The HTML
        // standard allows the omission ("Optional tags").
        html += "<tr>";
        for (index, cell) in row.iter().enumerate() {
            let class =
                class_of(&kinds, index, cell).map_or(String::new(), |name| format!(" class=\"{name}\""));
            html += &format!("<td{class}>{}", escaped(cell.text()));
        }
        html += "\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}

/// Kind that all cells of a column share. The tag `<table>` has a CSS class for each such column, so that the cells
/// need no class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Numbers,
    /// Words that are too short to be wrapped, and empty cells.
    Words,
    /// Cells of different kinds. Each cell has its own class.
    Mixed,
}

/// Number of columns for which the style sheet has a class for each kind: `n1` to `n16` for numbers, `w1` to `w16` for
/// words.
const MAX_KINDS: usize = 16;
/// Largest number of characters of a short word. A short word is never wrapped.
const SHORT: usize = 20;
/// Largest number of characters of a text without the class `note`. A longer text is a note, which wraps.
const MIDDLING: usize = 40;

fn kinds(table: &Table) -> Vec<ColumnKind> {
    let kind = |column: usize| {
        let cells = || table.rows.iter().filter_map(|row| row.get(column));
        let is_word = |cell: &Cell| matches!(cell, Cell::Text(text) if text.chars().count() <= SHORT);
        let is_gap = |cell: &Cell| matches!(cell, Cell::Empty);
        let is_number = |cell: &Cell| matches!(cell, Cell::Number(_));
        let is_named = column < MAX_KINDS;
        if is_named && cells().any(is_number) && cells().all(|cell| is_number(cell) || is_gap(cell)) {
            ColumnKind::Numbers
        } else if is_named && cells().any(is_word) && cells().all(|cell| is_word(cell) || is_gap(cell)) {
            ColumnKind::Words
        } else {
            ColumnKind::Mixed
        }
    };
    (0..table.columns.len()).map(kind).collect()
}

/// Returns the class of a cell in the style sheet. Returns `None` if the cell needs no class. The class of a verdict is
/// the verdict's name.
fn class_of(kinds: &[ColumnKind], column: usize, cell: &Cell) -> Option<&'static str> {
    let kind = kinds.get(column).copied().unwrap_or(ColumnKind::Mixed);
    Some(match cell {
        Cell::Number(_) if kind == ColumnKind::Numbers => return None,
        Cell::Number(_) => "number",
        Cell::Verdict(Some(verdict)) => verdict.name(),
        Cell::Verdict(None) | Cell::Empty => "none",
        // Long notes wrap, and short words never wrap. A text whose length is between the two limits wraps if the table
        // is too narrow.
        Cell::Text(text) => match text.chars().count() {
            // Row names have the same font size in all rows. A long row name is therefore not a note.
            letters if letters > MIDDLING && column == 0 => "name",
            letters if letters > MIDDLING => "note",
            letters if letters > SHORT || kind == ColumnKind::Words => return None,
            _ => "word",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Verdict;

    #[test]
    fn a_column_of_one_kind_is_named_once() {
        let text = |text: &str| Cell::Text(text.into());
        let number = |text: &str| Cell::Number(text.into());
        let table = Table {
            columns: ["row", "ours", "what", "both"].map(String::from).to_vec(),
            rows: vec![
                vec![text("gain"), number("1.2"), text(&"so ".repeat(20)), number("3")],
                vec![text("loss"), Cell::Empty, text("no"), text("4")],
            ],
            ..Table::default()
        };
        let html = html(&table);
        assert!(html.contains("<table class=\"w1 n2\">"), "{html}");
        assert!(html.contains("<tr><td>gain<td>1.2<td class=\"note\">so "), "{html}");
        assert!(
            html.contains("<tr><td>loss<td class=\"none\">–<td class=\"word\">no<td class=\"word\">4\n"),
            "{html}"
        );
    }

    #[test]
    fn what_can_be_switched_stands_with_its_table() {
        let verdict = |verdict| Cell::Verdict(Some(verdict));
        let table = Table {
            columns: vec!["row".into(), "verdict".into()],
            rows: vec![vec![Cell::Text("gain".into()), verdict(Verdict::Differs)]],
            ..Table::default()
        };
        let cells = vec![(0, 1, verdict(Verdict::Agrees))];
        let settings = [TableSetting { label: "\"ACKs\": on".into(), cells }];
        let html = switched(&table, &settings);
        assert!(html.contains("<td class=\"differs\">differs\n"), "{html}");
        assert!(html.contains(r#"data-settings='[["\"ACKs\": on",[[0,1,"agrees"]]]]'"#), "{html}");
    }
}
