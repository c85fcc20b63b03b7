//! Points of a figure as CSV. The reader can copy the CSV from the page, and tooltips of markers show its values.

use super::axes::{Axes, interval};
use super::escape::escaped;
use super::looks::legend_name;
use crate::figure::{Figure, Point};

/// Largest number of points in the CSV. If a figure has more points, the CSV contains only every second, third, … point
/// of each series.
const MAX_POINTS: usize = 600;

#[derive(Debug)]
pub struct FigureData {
    csv: String,
    /// Row of each curve's first marker in the CSV; the row after the header is row 0. `None` if the CSV omits some
    /// points.
    pub rows: Vec<Option<usize>>,
    points: usize,
    every: usize,
}

impl FigureData {
    /// Returns the CSV of `figure`. The last rows are the points that `axes` cannot show.
    pub fn of(figure: &Figure, axes: Option<&Axes>) -> FigureData {
        let points: usize = figure.curves.iter().map(|curve| curve.points.len()).sum();
        let every = points.div_ceil(MAX_POINTS).max(1);
        let has_intervals =
            figure.curves.iter().flat_map(|curve| &curve.points).any(|one| interval(one).is_some());
        let x_name = if figure.x_categories.is_empty() { "x" } else { "category" };
        let columns = ["series", x_name, "y", "ci95_low", "ci95_high"];
        let width = if has_intervals { 5 } else { 3 };
        let mut lines = vec![columns[..width].join(",")];
        let (mut first, mut hidden) = (Vec::new(), Vec::new());
        for curve in &figure.curves {
            first.push((every == 1).then_some(lines.len() - 1));
            let name = field(&legend_name(curve, &figure.curves));
            for point in curve.points.iter().step_by(every) {
                let mut line = format!("{name},{},{}", abscissa(figure, point), number(point.y));
                if has_intervals {
                    match interval(point) {
                        Some([low, high]) => line += &format!(",{},{}", number(low), number(high)),
                        None => line += ",,",
                    }
                }
                let shown = axes.is_some_and(|axes| axes.shows(point));
                if shown { &mut lines } else { &mut hidden }.push(line);
            }
        }
        lines.extend(hidden);
        FigureData { csv: lines.join("\n"), rows: first, points, every }
    }

    pub fn html(&self) -> String {
        if self.points == 0 {
            return String::new();
        }
        let csv = escaped(&self.csv);
        let which = match self.every {
            1 => format!("{} points", self.points),
            every => format!("one in {every} of {} points", self.points),
        };
        format!(
            "<details class=\"data\"><summary>data</summary>\n<p>{which}, as CSV:</p>\n<pre>\n{csv}\n</pre></details>\n"
        )
    }
}

/// Formats a number with five significant digits. Returns an empty text if the number is not finite.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-4..1e9).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

fn abscissa(figure: &Figure, point: &Point) -> String {
    let category = || figure.x_categories.get((point.x as usize).checked_sub(1)?);
    category().map_or_else(|| number(point.x), |name| field(name))
}

/// Quotes a text as a CSV field where needed (RFC 4180 §2).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Curve, CurveKind};

    fn figure(points: Vec<Point>) -> Figure {
        let curve = |name: &str, points| Curve { name: name.into(), kind: CurveKind::Measured, points };
        let curves = vec![curve("a, \"b\"", points), curve("c", vec![Point::exact(3.0, 1234.567)])];
        Figure { x_log: true, curves, ..Figure::default() }
    }

    #[test]
    fn every_point_is_a_row_and_those_without_a_place_come_last() {
        let points = vec![
            Point::exact(0.0, 9.0),
            Point { x: 1e-5, y: 5.0, ci95: Some([4.0, 6.0]) },
            Point { x: 2.0, y: 2.7654321, ci95: None },
        ];
        let figure = figure(points);
        let axes = Axes::of(&figure);
        let data = FigureData::of(&figure, axes.as_ref());
        assert_eq!(
            data.csv.lines().collect::<Vec<_>>(),
            [
                "series,x,y,ci95_low,ci95_high",
                "\"a, \"\"b\"\"\",1e-5,5,4,6",
                "\"a, \"\"b\"\"\",2,2.7654,,",
                "c,3,1234.6,,",
                "\"a, \"\"b\"\"\",0,9,,",
            ]
        );
        assert_eq!(data.rows, [Some(0), Some(2)]);
    }

    #[test]
    fn long_series_are_thinned_and_say_so() {
        let figure = figure((1..=1799).map(|x| Point::exact(f64::from(x), 1.0)).collect());
        let data = FigureData::of(&figure, Axes::of(&figure).as_ref());
        assert_eq!(data.csv.lines().count(), 1 + 600 + 1);
        assert_eq!(data.rows, [None, None]);
        assert!(data.html().contains("one in 3 of 1800 points"));
    }

    #[test]
    fn numbers_have_five_digits() {
        for (value, text) in [
            (1187.461, "1187.5"),
            (0.0123456, "0.012346"),
            (-2.0, "-2"),
            (0.0, "0"),
            (3.14159e-6, "3.1416e-6"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
