//! HTML of the matrix of chapters by themes. Each cell shows the number of rows for each verdict.

use super::anchor::link;
use crate::item::Verdict;
use crate::overview::{Matrix, MatrixCell, VerdictCounts};
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::percent;

pub fn html(matrix: &Matrix) -> String {
    let caption = escaped(&matrix.caption);
    let mut html = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table class=\"matrix\" style=\"--themes:{}\">\n\
         <caption><span>{caption}</span></caption>\n<thead><tr><td></td>",
        matrix.themes.len()
    );
    for theme in &matrix.themes {
        html += &format!("<th scope=\"col\">{}</th>", escaped(theme));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &matrix.rows {
        html += &format!(
            "<tr><th scope=\"row\">{}<p>{}</p></th>",
            link(&row.anchor, &row.title),
            escaped(&row.sentence)
        );
        let cells =
            row.cells.iter().map(cell).chain(std::iter::repeat("<td class=\"none\">–</td>".to_string()));
        html.extend(cells.take(matrix.themes.len()));
        html += "</tr>\n";
    }
    html += "</tbody>\n</table>\n</div>\n<p class=\"key\">";
    for (verdict, _) in VerdictCounts::default().each() {
        let name = verdict.name();
        html += &format!("<span class=\"{name}\">{} {name}</span> ", sign(verdict));
    }
    html + "Each cell shows the shares of its verdicts as colours.</p>\n"
}

fn cell(cell: &MatrixCell) -> String {
    if cell.counts.all() == 0 {
        return "<td class=\"none\">–</td>".to_string();
    }
    let counts = cell.counts.each().into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(verdict, count)| format!("{count}\u{a0}{}", sign(verdict))).collect();
    format!("<td style=\"{}\">{}</td>", shares(&cell.counts), link(&cell.anchor, &counts.join(" ")))
}

/// Returns the background of a cell: stripes in the colours of the verdicts. The width of each stripe is the share of
/// its verdict.
fn shares(counts: &VerdictCounts) -> String {
    let share = |count: usize| 100.0 * count as f64 / counts.all() as f64;
    let mut end = 0.0;
    let mut stops = Vec::new();
    for (verdict, count) in counts.each().into_iter().filter(|(_, count)| *count > 0) {
        let from = end;
        end += share(count);
        stops.push(format!("var(--{}) {} {}", verdict.name(), percent(from / 100.0), percent(end / 100.0)));
    }
    format!("background:linear-gradient(to right,{})", stops.join(","))
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "✓",
        Verdict::Shape => "~",
        Verdict::Undecidable => "∅",
        Verdict::Inconclusive => "?",
        Verdict::Differs => "✗",
    }
}
