//! HTML of a report's first screen: sentence, tiles with numbers, and figures side by side.

use super::anchor::Anchors;
use super::{ContentsEntry, drawing, paragraphs};
use crate::document::{FirstScreen, Tile};
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::looks::Looks;

/// Style sheet of the first screen. A page without a first screen omits this style sheet.
pub const STYLE: &str = include_str!("first_screen.css");

/// Returns the HTML of the first screen.
pub fn html(screen: &FirstScreen, anchors: &mut Anchors) -> String {
    let mut html = format!("<div class=\"answer\">\n{}", paragraphs(&screen.sentence));
    if !screen.tiles.is_empty() {
        html += "<dl class=\"tiles\">\n";
        html.extend(screen.tiles.iter().map(tile));
        html += "</dl>\n";
    }
    if !screen.figures.is_empty() {
        let looks = Looks::of(screen.figures.iter());
        html += "<div class=\"beside-each-other\">\n";
        for figure in &screen.figures {
            let entry = ContentsEntry::new("answer", &figure.id, &figure.title, anchors);
            html += &drawing(figure, &looks, &entry);
        }
        html += "</div>\n";
    }
    html + "</div>\n"
}

fn tile(Tile { label, value, unit }: &Tile) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" <small>{}</small>", escaped(unit)) };
    format!("<div><dt>{}</dt><dd>{}{unit}</dd></div>\n", escaped(label), escaped(value))
}
