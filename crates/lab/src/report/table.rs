//! Tables, and what their verdicts mean.

use super::escape::escaped;
use crate::document::{Block, Cell, Document, Table};

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
        Block::Table(table) => table.rows.iter().flatten().any(|cell| matches!(cell, Cell::Verdict(Some(_)))),
        Block::Matrix(_) => true,
        _ => false,
    })
}

/// `table` within a box of its own that scrolls if the table is wider than the page.
pub fn html(table: &Table) -> String {
    let caption = escaped(&table.caption);
    let mut html =
        format!("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n");
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

/// A verdict's class is its name.
fn class(table: &Table, column: usize, cell: &Cell) -> String {
    let name = match cell {
        Cell::Number(_) => "number",
        Cell::Verdict(Some(verdict)) => verdict.name(),
        Cell::Verdict(None) => "none",
        Cell::Empty if is_numeric(table, column) => "number none",
        Cell::Empty => "none",
        // A long note takes lines, a short word never does; between them the table's width decides.
        Cell::Text(text) => match text.chars().count() {
            41.. => "note",
            21..=40 => return String::new(),
            _ => "word",
        },
    };
    format!(" class=\"{name}\"")
}

/// Whether a column holds numbers, and nothing but them and gaps.
fn is_numeric(table: &Table, column: usize) -> bool {
    let cells = || table.rows.iter().filter_map(|row| row.get(column));
    cells().any(|cell| matches!(cell, Cell::Number(_)))
        && cells().all(|cell| matches!(cell, Cell::Number(_) | Cell::Empty))
}
