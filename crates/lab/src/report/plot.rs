//! A figure as Plotly's JSON.

use super::escape::label;
use super::palette::{Look, legend_name, looks};
use super::thin::{LONGEST, SPANS, thinned};
use crate::figure::{CurveKind, Figure, Point};
use plotly::common::{
    Anchor, DashType, ErrorData, ErrorType, ExponentFormat, Fill, HoverInfo, Label, Line, LineShape, Marker,
    Mode, Orientation, Title,
};
use plotly::configuration::{ImageButtonFormats, ModeBarButtonName, ToImageButtonOptions};
use plotly::layout::{Axis, AxisType, HoverMode, Legend, Margin, ModeBar, RangeMode, TicksDirection};
use plotly::{Configuration, Layout, Plot, Scatter};

/// Up to as many points have markers and bars; more than that make a line and a band.
const SPARSE: usize = 40;
/// Beyond as many points dashes fall between the points, and the line is solid.
const DASHED: usize = 1000;
/// No colour at all: the page's shows through.
const CLEAR: &str = "rgba(0,0,0,0)";

/// Plotly itself, in a script element.
///
/// The crate's sources come with a typesetter of formulas after it, which no label needs: half as much again.
pub fn library() -> String {
    let sources = Plot::offline_js_sources();
    match sources.split_once("</script>") {
        Some((plotly, _)) => format!("{plotly}</script>\n"),
        None => sources,
    }
}

/// What Plotly draws for `figure`: `data`, `layout` and `config`.
///
/// Colours are `var(--…)` of the page's style sheet, which `page.js` looks up.
pub fn json(figure: &Figure) -> String {
    let mut plot = Plot::new();
    for (curve, look) in figure.curves.iter().zip(looks(&figure.curves)) {
        let name = label(&legend_name(curve, &figure.curves));
        let shown: Vec<Point> =
            curve.points.iter().copied().filter(|point| is_shown(point, figure)).collect();
        let points = thinned(&shown, figure.x_log);
        if has_band(&points) {
            plot.add_trace(band(&points, &look, &name));
        }
        plot.add_trace(trace(curve.kind, &points, &look, &name));
    }
    plot.set_layout(layout(figure));
    plot.set_configuration(configuration(figure));
    plot.to_json()
}

/// What a reader should know of how `figure` is drawn.
pub fn notes(figure: &Figure) -> Vec<String> {
    let mut notes = Vec::new();
    let points = || figure.curves.iter().flat_map(|curve| &curve.points);
    if points().any(|point| point.ci95.is_some_and(is_finite)) {
        notes.push("Bars and bands are 95 % intervals.".to_string());
    }
    let hidden = points().filter(|point| !is_shown(point, figure)).count();
    if hidden > 0 {
        notes.push(format!("Not shown, because the axis is logarithmic: points at x ≤ 0 ({hidden})."));
    }
    let longest = figure.curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
    if longest > LONGEST {
        notes.push(format!(
            "Long series (up to {longest} points) are drawn by the first, lowest, highest and last point in each \
             of {SPANS} spans."
        ));
    }
    notes
}

fn trace(kind: CurveKind, points: &[Point], look: &Look, name: &str) -> Box<Scatter<f64, f64>> {
    let trace = curve(points).name(name);
    let trace = if has_band(points) { trace.legend_group(name) } else { trace };
    let dash = if points.len() <= DASHED { look.dash.clone() } else { DashType::Solid };
    let line = Line::new().color(look.color).dash(dash);
    let marker = Marker::new().color(look.color).symbol(look.symbol.clone());
    match kind {
        CurveKind::Line => trace.mode(Mode::Lines).line(line.width(1.5)),
        CurveKind::Steps => trace.mode(Mode::Lines).line(line.width(1.5).shape(LineShape::Hv)),
        CurveKind::Dots => trace.mode(Mode::Markers).marker(marker.size(5)),
        CurveKind::Published => {
            trace.mode(Mode::Markers).marker(marker.size(12).line(Line::new().width(2.0).color(look.color)))
        }
        CurveKind::Measured if points.len() > SPARSE => trace.mode(Mode::Lines).line(line.width(2.0)),
        CurveKind::Measured => {
            let trace = trace.mode(Mode::LinesMarkers).line(line.width(2.0)).marker(marker.size(8));
            match bars(points) {
                Some(bars) => trace.error_y(bars.color(look.color).thickness(1.5).width(4)),
                None => trace,
            }
        }
    }
}

/// `points` with what hovering over them says.
fn curve(points: &[Point]) -> Box<Scatter<f64, f64>> {
    let trace = Scatter::new(xs(points), ys(points));
    let head = "<b>%{fullData.name}</b><br>%{xaxis.title.text}: %{x}<br>%{yaxis.title.text}";
    if points.iter().any(|point| interval(point).is_some()) {
        // Plotly would show the bars' lengths beside y itself.
        trace
            .custom_data(points.iter().map(ordinate).collect())
            .hover_template(format!("{head}: %{{customdata}}<extra></extra>"))
    } else {
        trace.hover_template(format!("{head}: %{{y}}<extra></extra>"))
    }
}

/// A point's ordinate and interval in words.
fn ordinate(point: &Point) -> String {
    let y = digits(point.y);
    match interval(point) {
        Some([low, high]) => format!("{y}<br>95 % interval: {} to {}", digits(low), digits(high)),
        None => y,
    }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-4..1e7).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

fn bars(points: &[Point]) -> Option<ErrorData> {
    points.iter().any(|point| interval(point).is_some()).then(|| {
        let half = |side: fn(&Point, [f64; 2]) -> f64| {
            points.iter().map(|point| interval(point).map_or(0.0, |ends| side(point, ends))).collect()
        };
        ErrorData::new(ErrorType::Data)
            .symmetric(false)
            .array(half(|point, ends| ends[1] - point.y))
            .array_minus(half(|point, ends| point.y - ends[0]))
    })
}

fn has_band(points: &[Point]) -> bool {
    points.len() > SPARSE && points.iter().any(|point| interval(point).is_some())
}

/// The intervals of `points`: there along their upper ends, back along the lower; a hole where one is missing.
fn band(points: &[Point], look: &Look, name: &str) -> Box<Scatter<f64, f64>> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for run in points.chunk_by(|one, next| interval(one).is_some() == interval(next).is_some()) {
        let ends: Vec<(f64, [f64; 2])> =
            run.iter().filter_map(|point| interval(point).map(|ends| (point.x, ends))).collect();
        if !ends.is_empty() && !x.is_empty() {
            x.push(f64::NAN);
            y.push(f64::NAN);
        }
        let back = ends.iter().rev();
        x.extend(ends.iter().chain(back.clone()).map(|(x, _)| x));
        y.extend(ends.iter().map(|(_, ends)| ends[1]).chain(back.map(|(_, ends)| ends[0])));
    }
    Scatter::new(x, y)
        .name(name)
        .legend_group(name)
        .show_legend(false)
        .mode(Mode::Lines)
        .line(Line::new().width(0.0).dash(DashType::Solid).color(look.color))
        .fill(Fill::ToSelf)
        .fill_color(look.color)
        .opacity(0.25)
        .hover_info(HoverInfo::Skip)
}

fn layout(figure: &Figure) -> Layout {
    let x = axis(&figure.x_label);
    let x = if figure.x_log {
        x.type_(AxisType::Log).exponent_format(ExponentFormat::Power)
    } else {
        x.type_(AxisType::Linear)
    };
    let y = axis(&figure.y_label).type_(AxisType::Linear).range_mode(y_range(figure));
    Layout::new()
        .auto_size(true)
        .paper_background_color(CLEAR)
        .plot_background_color(CLEAR)
        .margin(Margin::new().left(56).right(16).top(8).bottom(48))
        .hover_mode(HoverMode::Closest)
        .hover_label(Label::new().name_length(-1).align("left"))
        .mode_bar(ModeBar::new().background_color(CLEAR).color("var(--muted)").active_color("var(--ink)"))
        .show_legend(true)
        .legend(
            Legend::new()
                .orientation(Orientation::Horizontal)
                .background_color(CLEAR)
                .x(0.0)
                .x_anchor(Anchor::Left)
                .y(1.02)
                .y_anchor(Anchor::Bottom)
                .trace_group_gap(0)
                .item_width(44),
        )
        .x_axis(x)
        .y_axis(y)
}

fn axis(title: &str) -> Axis {
    Axis::new()
        .title(Title::with_text(label(title)))
        .auto_margin(true)
        .color("var(--ink)")
        .line_color("var(--muted)")
        .show_line(true)
        .mirror(true)
        .grid_color("var(--grid)")
        .zero_line(false)
        .ticks(TicksDirection::Outside)
        .tick_length(4)
        .exponent_format(ExponentFormat::None)
        .separate_thousands(true)
}

/// From zero unless that would leave the lower half of the plot empty.
fn y_range(figure: &Figure) -> RangeMode {
    let values = || {
        let points = figure.curves.iter().flat_map(|curve| &curve.points);
        points.filter(|point| is_shown(point, figure)).map(|point| point.y).filter(|y| y.is_finite())
    };
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    if low >= 0.0 && low <= high / 2.0 { RangeMode::ToZero } else { RangeMode::Normal }
}

fn configuration(figure: &Figure) -> Configuration {
    Configuration::new()
        .display_logo(false)
        .mode_bar_buttons_to_remove(vec![
            ModeBarButtonName::Select2d,
            ModeBarButtonName::Lasso2d,
            ModeBarButtonName::AutoScale2d,
        ])
        .to_image_button_options(
            ToImageButtonOptions::new().format(ImageButtonFormats::Svg).filename(&figure.id),
        )
}

/// Whether a point has a place on the x axis.
fn is_shown(point: &Point, figure: &Figure) -> bool {
    !figure.x_log || point.x > 0.0
}

fn interval(point: &Point) -> Option<[f64; 2]> {
    point.ci95.filter(|&ends| is_finite(ends))
}

fn is_finite(ends: [f64; 2]) -> bool {
    ends.iter().all(|end| end.is_finite())
}

fn xs(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.x).collect()
}

fn ys(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.y).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Curve;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(1187.46, "1187"), (0.0123456, "0.01235"), (-2.0, "-2"), (0.0, "0"), (3.14159e-6, "3.142e-6")]
        {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn a_band_goes_round_each_run_of_intervals() {
        let mut points: Vec<Point> =
            (0..50u8).map(|x| Point { x: f64::from(x), y: 1.0, ci95: Some([0.0, f64::from(x)]) }).collect();
        points[2].ci95 = Some([f64::NEG_INFINITY, f64::INFINITY]);
        let look =
            Look { color: "var(--c1)", dash: DashType::Solid, symbol: plotly::common::MarkerSymbol::Circle };
        let band = serde_json::to_value(band(&points, &look, "band")).unwrap();
        let x: Vec<Option<f64>> = band["x"].as_array().unwrap().iter().map(|x| x.as_f64()).collect();
        assert_eq!(x[..6], [Some(0.0), Some(1.0), Some(1.0), Some(0.0), None, Some(3.0)]);
        assert_eq!(x.len(), 4 + 1 + 2 * 47);
    }

    #[test]
    fn a_point_without_a_place_is_counted_not_dropped_in_silence() {
        let figure = Figure {
            id: "log".to_string(),
            title: String::new(),
            caption: String::new(),
            x_label: "loss".to_string(),
            y_label: "goodput (kbit/s)".to_string(),
            x_log: true,
            curves: vec![Curve {
                name: "ours".to_string(),
                kind: CurveKind::Measured,
                points: vec![Point::exact(0.0, 5.0), Point::exact(1.0, 4.0)],
            }],
            ..Figure::default()
        };
        assert_eq!(notes(&figure), ["Not shown, because the axis is logarithmic: points at x ≤ 0 (1)."]);
        let plot: serde_json::Value = serde_json::from_str(&json(&figure)).unwrap();
        assert_eq!(plot["data"][0]["x"], serde_json::json!([1.0]));
    }
}
