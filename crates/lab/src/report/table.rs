//! Tables, and what their verdicts mean.

use crate::document::{Block, Cell, Document, Setting, Table};
use lasthop_charts::plot::escape::escaped;
use serde_json::json;

/// What the words of the verdicts mean, in [`Verdict`](crate::item::Verdict)'s terms.
pub const VERDICTS: &str = "\
<dl class=\"verdicts\" aria-label=\"Verdicts\">\n\
<div><dt class=\"agrees\">agrees</dt><dd>Our whole 95&nbsp;% interval lies within the margin of the published number; a \
claim surely holds at all of its points.</dd></div>\n\
<div><dt class=\"differs\">differs</dt><dd>The interval lies outside of the margin; a claim surely fails at a point.</dd></div>\n\
<div><dt class=\"inconclusive\">inconclusive</dt><dd>Neither: more repetitions would tell.</dd></div>\n\
<div><dt class=\"shape\">shape</dt><dd>Of claims alone: it holds at all points in the mean, not surely at all.</dd></div>\n\
</dl>\n";

/// Whether any part of `document` has a verdict to explain.
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

/// `table` within a box of its own that scrolls if the table is wider than the page.
pub fn html(table: &Table) -> String {
    within(table, "")
}

/// The same with what a script needs to show it under other settings; without one it stays as it is.
pub fn switched(table: &Table, settings: &[Setting]) -> String {
    let cell = |(row, column, cell): &(usize, usize, Cell)| {
        json!([row, column, cell.text(), name(table, *column, cell).unwrap_or_default()])
    };
    let setting = |setting: &Setting| {
        let cells: Vec<serde_json::Value> = setting.cells.iter().map(cell).collect();
        json!([setting.label, cells])
    };
    let settings: Vec<serde_json::Value> = settings.iter().map(setting).collect();
    let settings = escaped(&serde_json::Value::from(settings).to_string());
    within(table, &format!(" data-settings=\"{settings}\""))
}

fn within(table: &Table, attribute: &str) -> String {
    let caption = escaped(&table.caption);
    let mut html = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table{attribute}>\n"
    );
    if !caption.is_empty() {
        html += &format!("<caption><span>{caption}</span></caption>\n");
    }
    html += "<thead><tr>";
    for (index, heading) in table.columns.iter().enumerate() {
        let class = if is_numeric(table, index) { " class=\"number\"" } else { "" };
        html += &format!("<th scope=\"col\"{class}>{}</th>", escaped(heading));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        html += "<tr>";
        for (index, cell) in row.iter().enumerate() {
            html += &format!("<td{}>{}</td>", class(table, index, cell), escaped(cell.text()));
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}

fn class(table: &Table, column: usize, cell: &Cell) -> String {
    name(table, column, cell).map_or(String::new(), |name| format!(" class=\"{name}\""))
}

/// A cell's class; a verdict's is its name.
fn name(table: &Table, column: usize, cell: &Cell) -> Option<&'static str> {
    Some(match cell {
        Cell::Number(_) => "number",
        Cell::Verdict(Some(verdict)) => verdict.name(),
        Cell::Verdict(None) => "none",
        Cell::Empty if is_numeric(table, column) => "number none",
        Cell::Empty => "none",
        // A long note takes lines, a short word never does; between them the table's width decides.
        Cell::Text(text) => match text.chars().count() {
            41.. => "note",
            21..=40 => return None,
            _ => "word",
        },
    })
}

/// Whether a column holds numbers, and nothing but them and gaps.
fn is_numeric(table: &Table, column: usize) -> bool {
    let cells = || table.rows.iter().filter_map(|row| row.get(column));
    cells().any(|cell| matches!(cell, Cell::Number(_)))
        && cells().all(|cell| matches!(cell, Cell::Number(_) | Cell::Empty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Verdict;

    #[test]
    fn what_can_be_switched_stands_with_its_table() {
        let verdict = |verdict| Cell::Verdict(Some(verdict));
        let table = Table {
            columns: vec!["row".into(), "verdict".into()],
            rows: vec![vec![Cell::Text("gain".into()), verdict(Verdict::Differs)]],
            ..Table::default()
        };
        let cells = vec![(0, 1, verdict(Verdict::Agrees))];
        let settings = [Setting { label: "\"ACKs\": on".into(), cells }];
        let html = switched(&table, &settings);
        // The default is what is seen without a script.
        assert!(html.contains("<td class=\"differs\">differs</td>"), "{html}");
        let settings =
            "[[&quot;\\&quot;ACKs\\&quot;: on&quot;,[[0,1,&quot;agrees&quot;,&quot;agrees&quot;]]]]";
        assert!(html.contains(settings), "{html}");
    }
}
