//! Plot of a figure: an SVG that works without scripts, and labels in HTML around the SVG.
//!
//! * [`Plot::of`]: returns the plot.
//! * `axes`: positions of points, with `scale` for one axis.
//! * `curves`: SVG of the curves, with `thin` for long series, `path` for short path data, and [`markers`].
//! * [`looks`]: colour, marker and dashes of each series.
//! * `data`: the points as CSV.
//! * `bars`: bars of categories.
//! * [`standalone`]: a picture as a separate SVG file, with all labels in SVG.
//! * [`escape`]: escaping of text in HTML and SVG.
//!
//! The plot is as wide as the page. Positions of text and markers are shares of the plot's width and height, so that
//! text has the same size at any width. Lines are paths whose coordinates stretch with the page. The widths of strokes
//! do not stretch.

mod axes;
mod bars;
mod curves;
mod data;
pub mod escape;
pub mod looks;
pub mod markers;
mod path;
pub mod scale;
pub mod standalone;
mod thin;

pub use curves::percent;

use crate::figure::{Curve, CurveKind, Figure};
use axes::Axes;
use curves::{StyledCurve, drawn, has_line};
use data::FigureData;
use escape::escaped;
use looks::{Look, Looks, legend_name, series_of};
use path::{HEIGHT, Pen, WIDTH};
use scale::{Scale, Tick};
use std::fmt::Write;

/// Approximate numbers of ticks, in this order: x axis, y axis, and y axis of a panel.
const TICKS: (usize, usize, usize) = (8, 5, 3);
/// Largest number of ticks that a narrow page shows. If an axis has more ticks, a narrow page hides every second tick.
const FEW: usize = 5;
/// Approximate width of a character in labels, pixels.
const CHARACTER: f64 = 7.2;
/// Width of a narrow plot, pixels. If category names need more space, narrow pages rotate the names.
const NARROW: f64 = 290.0;
/// Width of a wide plot, pixels. If category names need more space, all pages rotate the names.
const USUAL: f64 = 760.0;

/// Plot with legend and labels.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plot {
    /// Classes of the element that surrounds the plot.
    pub class: String,
    /// Number of characters in the widest y label. The style of the surrounding element has this number as `--left`.
    pub left: usize,
    /// Number of characters in the longest category name. The style of the surrounding element has this number as
    /// `--below`.
    pub below: usize,
    /// HTML inside the surrounding element.
    pub inner: String,
}

impl Plot {
    /// Returns the plot of `figure` without its data table. Returns `None` if the figure has no points.
    pub fn of(figure: &Figure, looks: &Looks) -> Option<Plot> {
        Some(plot(figure, &Axes::of(figure)?, &looks.assign(&figure.curves), &[], ""))
    }

    /// Returns the HTML of the surrounding element with the plot.
    pub fn html(&self) -> String {
        let Plot { class, left, below, inner } = self;
        format!("<div class=\"{class}\" style=\"--left:{left};--below:{below}\">\n{inner}</div>\n")
    }
}

/// Returns two HTML texts: the plot, and the plot's data as a collapsed element.
pub fn html(figure: &Figure, looks: &Looks) -> (String, String) {
    let axes = Axes::of(figure);
    let data = FigureData::of(figure, axes.as_ref());
    let plot = match axes {
        Some(axes) => {
            let looks = looks.assign(&figure.curves);
            plot(figure, &axes, &looks, &data.rows, &bars::svg(figure, &axes, &looks)).html()
        }
        None => "<p class=\"notice\">There are no points to draw.</p>\n".to_string(),
    };
    (plot, data.html())
}

/// Returns notes for the reader about the drawing of `figure`.
pub fn notes(figure: &Figure) -> Vec<String> {
    let mut notes = Vec::new();
    let points = || figure.curves.iter().flat_map(|curve| &curve.points);
    if points().any(|point| axes::interval(point).is_some()) {
        let drawn = if figure.bars { "Vertical lines" } else { "Bars and bands" };
        notes.push(format!("{drawn} are 95 % intervals."));
    }
    for (name, log, of) in [
        ("x", figure.x_log, (|point| point.x) as fn(&crate::figure::Point) -> f64),
        ("y", figure.y_log, |point| point.y),
    ] {
        let hidden = points().filter(|point| log && of(point) <= 0.0).count();
        if hidden > 0 {
            notes.push(format!(
                "Not shown, because the axis is logarithmic: points at {name} ≤ 0 ({hidden})."
            ));
        }
    }
    notes.extend(curves::note(figure));
    notes
}

/// Returns the plot. `below` is SVG in path units that is drawn below the curves.
fn plot(figure: &Figure, axes: &Axes, looks: &[Look], rows: &[Option<usize>], below: &str) -> Plot {
    let parts: Vec<StyledCurve<'_>> = figure
        .curves
        .iter()
        .zip(looks)
        .enumerate()
        .map(|(index, (curve, look))| StyledCurve {
            index,
            curve,
            look,
            row: rows.get(index).copied().flatten(),
        })
        .collect();
    let panels = if figure.panels { panels(figure, parts) } else { vec![parts] };
    let y_ticks = axes.y.ticks(if figure.panels { TICKS.2 } else { TICKS.1 });
    let widest = y_ticks.iter().map(|tick| tick.label.width()).max().unwrap_or(0);
    let (x_labels, tilt) = x_labels(figure, axes);
    let panelled = if figure.panels { " panels" } else { "" };
    let mut out = format!("{}<p class=\"y-label\">{}</p>\n", legend(figure, looks), escaped(&figure.y_label));
    let last = panels.len().saturating_sub(1);
    for (index, parts) in panels.iter().enumerate() {
        let drawn = drawn(figure, axes, parts);
        let _ = writeln!(
            out,
            "<div class=\"box\"><svg class=\"area\" role=\"img\" aria-label=\"{}\"{}>{}{}\
             <svg width=\"100%\" height=\"100%\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\">{}{below}{}</svg>{}</svg></div>",
            escaped(&figure.title),
            scales(figure, axes),
            if index == last { x_labels.as_str() } else { "" },
            y_labels(&y_ticks),
            grid(axes, &y_ticks, figure),
            drawn.paths,
            drawn.markers
        );
    }
    let _ = writeln!(out, "<p class=\"x-label\">{}</p>", escaped(&figure.x_label));
    Plot {
        class: format!("plot{panelled}{tilt}"),
        left: widest,
        below: figure.x_categories.iter().map(|name| name.chars().count()).max().unwrap_or(0),
        inner: out,
    }
}

/// Distributes curves to panels. Each Lasthop curve shares a panel with the published numbers for this curve. Published
/// curves that belong to no Lasthop curve share an additional panel.
fn panels<'a>(figure: &Figure, parts: Vec<StyledCurve<'a>>) -> Vec<Vec<StyledCurve<'a>>> {
    let mut panels: Vec<(Option<usize>, Vec<StyledCurve<'a>>)> = Vec::new();
    let own = |curve: &Curve| curve.kind.is_series();
    for part in parts {
        let of = if own(part.curve) { Some(part.index) } else { series_of(part.curve, &figure.curves) };
        match panels.iter_mut().find(|(panel, _)| *panel == of) {
            Some((_, panel)) => panel.push(part),
            None => panels.push((of, vec![part])),
        }
    }
    panels.into_iter().map(|(_, panel)| panel).collect()
}

/// Returns HTML attributes for scripts: the ends of the axes, and whether the axes are logarithmic.
fn scales(figure: &Figure, axes: &Axes) -> String {
    let ends = |scale: &Scale| format!("{} {}{}", scale.low, scale.high, if scale.log { " log" } else { "" });
    let x = if figure.x_categories.is_empty() { ends(&axes.x) } else { String::new() };
    format!(" data-x=\"{x}\" data-y=\"{}\"", ends(&axes.y))
}

/// Returns the labels below the plot, and a CSS class. If the labels do not fit, the class rotates the labels.
fn x_labels(figure: &Figure, axes: &Axes) -> (String, &'static str) {
    if figure.x_categories.is_empty() {
        let ticks = axes.x.ticks(TICKS.0);
        let mut out = String::from("<g class=\"ticks x\" transform=\"translate(0 18)\">");
        for (index, tick) in ticks.iter().enumerate() {
            let class = if ticks.len() > FEW && index % 2 == 1 { " class=\"odd\"" } else { "" };
            let _ =
                write!(out, "<text{class} x=\"{}\" y=\"100%\">{}</text>", percent(tick.at), tick.label.svg());
        }
        return (out + "</g>", "");
    }
    let widest = figure.x_categories.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let room = (widest as f64 + 1.0) * CHARACTER * figure.x_categories.len() as f64;
    let mut out = String::from("<g class=\"ticks x\" transform=\"translate(0 6)\">");
    for (index, name) in figure.x_categories.iter().enumerate() {
        let at = percent(axes.x.place(index as f64 + 1.0));
        // A nested SVG contains the name, so that the style sheet can rotate the name around its position.
        let _ = write!(out, "<svg x=\"{at}\" y=\"100%\"><text y=\"12\">{}</text></svg>", escaped(name));
    }
    let tilt = match room {
        ..NARROW => "",
        ..USUAL => " turn-narrow",
        _ => " turn",
    };
    (out + "</g>", tilt)
}

fn y_labels(ticks: &[Tick]) -> String {
    let mut out = String::from("<g class=\"ticks y\" transform=\"translate(-8 4)\">");
    for tick in ticks {
        let _ = write!(out, "<text y=\"{}\">{}</text>", percent(1.0 - tick.at), tick.label.svg());
    }
    out + "</g>"
}

fn grid(axes: &Axes, y_ticks: &[Tick], figure: &Figure) -> String {
    let (width, height) = axes.size;
    let lines = |xs: &[f64], ys: &[f64]| {
        let mut pen = Pen::new(10);
        for x in xs {
            pen.move_to((x * width, 0.0));
            pen.line_to((x * width, height));
        }
        for y in ys {
            pen.move_to((0.0, (1.0 - y) * height));
            pen.line_to((width, (1.0 - y) * height));
        }
        pen.data()
    };
    let x_ticks = if figure.x_categories.is_empty() { axes.x.ticks(TICKS.0) } else { Vec::new() };
    let places = |ticks: &[Tick]| ticks.iter().map(|tick| tick.at).collect::<Vec<f64>>();
    let minor = lines(&axes.x.minor(), &axes.y.minor());
    let minor = if minor.is_empty() { minor } else { format!("<path class=\"grid minor\" d=\"{minor}\"/>") };
    let major = lines(&places(&x_ticks), &places(y_ticks));
    format!(
        "{minor}<path class=\"grid\" d=\"{major}\"/><path class=\"frame\" d=\"m0 0h{width}v{height}h-{width}z\"/>"
    )
}

fn legend(figure: &Figure, looks: &[Look]) -> String {
    let mut out = String::from("<ul class=\"legend\">\n");
    for (curve, look) in figure.curves.iter().zip(looks) {
        let width = if has_line(figure, curve) { 32 } else { 14 };
        let dash = curves::dash(figure, curve, look);
        let line = match (has_line(figure, curve), curve.kind) {
            (true, CurveKind::Measured) => format!("<path class=\"{dash}\" d=\"M0 7h{width}\"/>"),
            (true, _) => format!("<path class=\"{dash} thin\" d=\"M0 7h{width}\"/>"),
            (false, _) => String::new(),
        };
        let marker = if axes::has_markers(figure, curve) {
            format!("<use href=\"#{}\" x=\"{}\" y=\"7\"/>", curves::marker(curve, look), width / 2)
        } else {
            String::new()
        };
        let hollow = if !curve.kind.is_ours() { " hollow" } else { "" };
        let _ = writeln!(
            out,
            "<li><svg class=\"{}{hollow}\" width=\"{width}\" height=\"14\" aria-hidden=\"true\">{line}{marker}</svg>{}</li>",
            look.color,
            escaped(&legend_name(curve, &figure.curves))
        );
    }
    out + "</ul>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Point;

    #[test]
    fn a_point_without_a_place_is_counted_not_dropped_in_silence() {
        let points = vec![Point::exact(0.0, 5.0), Point::exact(1.0, 4.0), Point::exact(2.0, 0.0)];
        let curves = vec![Curve { name: "ours".to_string(), kind: CurveKind::Measured, points }];
        let figure = Figure { x_log: true, y_log: true, curves, ..Figure::default() };
        assert_eq!(
            notes(&figure),
            [
                "Not shown, because the axis is logarithmic: points at x ≤ 0 (1).",
                "Not shown, because the axis is logarithmic: points at y ≤ 0 (1)."
            ]
        );
        let (plot, data) = html(&figure, &Looks::of([&figure].into_iter()));
        assert_eq!(plot.matches("<use").count(), 2, "{plot}");
        assert!(data.contains("ours,1,4\nours,0,5\nours,2,0\n"), "the data must contain all points: {data}");
    }

    #[test]
    fn a_figure_without_points_says_so() {
        let figure = Figure::default();
        let nothing = ("<p class=\"notice\">There are no points to draw.</p>\n".to_string(), String::new());
        assert_eq!(html(&figure, &Looks::default()), nothing);
    }
}
