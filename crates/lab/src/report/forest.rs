//! HTML of a forest plot: one row for each number, drawn over the band of agreement.

use super::anchor::link;
use crate::overview::{Distance, Forest, ForestRow};
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::percent;

const MAX_ROWS: usize = 40;
/// Largest distance from the centre that is drawn to scale, in units of the accepted margin.
const FARTHEST: f64 = 4.0;
/// Distance from the centre to the plot's edge, in units of the accepted margin. The space beyond [`FARTHEST`] is
/// reserved for arrows.
const EDGE: f64 = 4.4;

pub fn html(forest: &Forest) -> String {
    let caption = escaped(&forest.caption);
    let has_best = forest.rows.iter().any(|row| row.best.is_some());
    let mut html = format!(
        "<table class=\"forest\">\n<caption><span>{caption}</span></caption>\n<thead><tr><td>{}</td>",
        key(has_best)
    );
    html += "<th scope=\"col\"><p>(ours − published) / margin</p><svg class=\"scale\" aria-hidden=\"true\"><g class=\"ticks x\">";
    for margins in [-4i8, -2, -1, 0, 1, 2, 4] {
        let label = margins.to_string().replace('-', "−");
        let class = if margins.abs() == 2 { " class=\"odd\"" } else { "" };
        html += &format!("<text{class} x=\"{}\" y=\"11\">{label}</text>", place(f64::from(margins)));
    }
    html += "</g></svg></th><th scope=\"col\" class=\"number\">margins</th></tr></thead>\n<tbody>\n";
    for row in forest.rows.iter().take(MAX_ROWS) {
        html += &line(row);
    }
    html += "</tbody>\n</table>\n";
    let more = forest.rows.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        html += &format!("<p>The chapters' tables list {more} further numbers.</p>\n");
    }
    html
}

fn line(row: &ForestRow) -> String {
    let readings = [(row.default, "c1", "f0", "45%"), (row.best, "c2 hollow", "h0", "45%")];
    let both = row.default.is_some() && row.best.is_some();
    let mut lane = String::new();
    for (index, (distance, class, marker, middle)) in readings.into_iter().enumerate() {
        if let Some(distance) = distance {
            let height = if both { ["30%", "70%"][index] } else { middle };
            lane += &mark(&distance, class, marker, height);
        }
    }
    let numbers: Vec<String> = [row.default, row.best].into_iter().flatten().map(words).collect();
    let numbers = if numbers.is_empty() { "–".to_string() } else { numbers.join("<br>") };
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"lane\"><svg aria-hidden=\"true\">{lane}</svg></td><td class=\"number\">{numbers}</td></tr>\n",
        link(&row.anchor, &row.label)
    )
}

/// Draws a bar for the interval and a marker for the number. If the number lies beyond [`FARTHEST`], an arrow near the
/// edge replaces the marker.
fn mark(distance: &Distance, class: &str, marker: &str, height: &str) -> String {
    let mut mark = format!("<g class=\"{class}\">");
    if let Some([low, high]) = distance.ci95 {
        mark +=
            &format!("<line x1=\"{}\" x2=\"{}\" y1=\"{height}\" y2=\"{height}\"/>", place(low), place(high));
        if low < -FARTHEST && distance.margins >= -FARTHEST {
            mark += &format!("<use href=\"#on-left\" x=\"{}\" y=\"{height}\"/>", place(low));
        }
        if high > FARTHEST && distance.margins <= FARTHEST {
            mark += &format!("<use href=\"#on-right\" x=\"{}\" y=\"{height}\"/>", place(high));
        }
    }
    let marker = match distance.margins {
        margins if margins < -FARTHEST => "to-left",
        margins if margins > FARTHEST => "to-right",
        _ => marker,
    };
    mark + &format!("<use href=\"#{marker}\" x=\"{}\" y=\"{height}\"/></g>", place(distance.margins))
}

fn place(margins: f64) -> String {
    percent((margins.clamp(-FARTHEST, FARTHEST) + EDGE) / (2.0 * EDGE))
}

fn words(distance: Distance) -> String {
    // Rounding before formatting, and the addition of 0.0, prevent the text `-0.0`.
    let number = |value: f64| format!("{:.1}", libm::round(value * 10.0) / 10.0 + 0.0).replace('-', "−");
    match distance.ci95 {
        Some([low, high]) => format!("{} ({} to {})", number(distance.margins), number(low), number(high)),
        None => number(distance.margins),
    }
}

fn key(has_best: bool) -> String {
    let entry = |class: &str, marker: &str, name: &str| {
        format!(
            "<span><svg class=\"{class}\" width=\"14\" height=\"14\" aria-hidden=\"true\"><use href=\"#{marker}\" x=\"7\" y=\"7\"/></svg>{name}</span> "
        )
    };
    let best = if has_best { entry("c2 hollow", "h0", "best reading") } else { String::new() };
    format!("<div class=\"legend\">{}{best}</div>", entry("c1", "f0", "default reading"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lane_ends_at_four_margins() {
        assert_eq!(place(0.0), "50%");
        assert_eq!((place(-4.0), place(-70.0)), ("4.55%".to_string(), "4.55%".to_string()));
        let far = mark(&Distance { margins: 9.0, ci95: Some([3.0, 15.0]) }, "c1", "f0", "45%");
        assert!(far.contains("#to-right") && far.contains("x2=\"95.45%\""), "{far}");
        let near = mark(&Distance { margins: -4.0, ci95: None }, "c1", "f0", "45%");
        assert!(near.contains("#f0") && !near.contains("<line"), "{near}");
        assert_eq!(words(Distance { margins: -0.51, ci95: Some([-1.0, -0.04]) }), "−0.5 (−1.0 to 0.0)");
    }
}
