//! SVG of a figure's curves. Lines and intervals stretch with the page. Markers have fixed sizes.

use super::axes::{Axes, has_markers, interval};
use super::looks::Look;
use super::path::{Pen, Position};
use super::thin::{LONGEST, SPANS, thinned};
use crate::figure::{Curve, CurveKind, Figure, Point};
use std::fmt::Write;

/// Largest number of points of a dashed line. With more points, the gaps between the dashes would hide points.
const DASHED: usize = 1000;
/// Largest number of events that are drawn as markers. More events are drawn as round dots in a single path.
pub const FORMS: usize = 1000;

#[derive(Debug, Default)]
pub struct CurveSvg {
    /// SVG of the paths, in the units of [`Axes::size`].
    pub paths: String,
    /// SVG of the markers. Their positions are in per cent of the plot.
    pub markers: String,
}

pub struct StyledCurve<'a> {
    pub index: usize,
    pub curve: &'a Curve,
    pub look: &'a Look,
    /// Row of the first marker in the figure's CSV data.
    pub row: Option<usize>,
}

/// Draws curves of `figure`. Bands are at the bottom, lines and error bars above the bands, and markers at the top.
/// Published curves are drawn after Lasthop's curves.
pub fn drawn(figure: &Figure, axes: &Axes, parts: &[StyledCurve<'_>]) -> CurveSvg {
    let mut drawn = CurveSvg::default();
    let mut lines = String::new();
    let published = |part: &&StyledCurve<'_>| !part.curve.kind.is_ours();
    for part in parts.iter().filter(|part| !published(part)).chain(parts.iter().filter(published)) {
        let marked = has_markers(figure, part.curve);
        let color = &part.look.color;
        let path = |into: &mut String, class: &str, data: String| {
            if !data.is_empty() {
                let _ = write!(into, "<path class=\"{color}{class}\" d=\"{data}\"/>");
            }
        };
        let points = thinned(&part.curve.points, figure.x_log);
        let painter =
            CurvePainter { axes, index: part.index, coarse: points.len() < part.curve.points.len(), marked };
        if !marked {
            path(&mut drawn.paths, " band", painter.band(&points));
        }
        if figure.x_categories.is_empty() {
            let dash = dash(figure, part.curve, part.look);
            match part.curve.kind {
                CurveKind::Measured => path(&mut lines, &format!(" {dash}"), painter.line(&points)),
                CurveKind::Line | CurveKind::Bound => {
                    path(&mut lines, &format!(" {dash} thin"), painter.line(&points))
                }
                CurveKind::Steps => path(&mut lines, &format!(" {dash} thin"), painter.steps(&points)),
                CurveKind::Dots if points.len() > FORMS => path(&mut lines, " dots", painter.dots(&points)),
                CurveKind::Dots | CurveKind::Published | CurveKind::Other => {}
            }
        }
        if marked {
            path(&mut lines, " bar", painter.bars(&points));
            if part.curve.kind != CurveKind::Dots || points.len() <= FORMS {
                drawn.markers += &painter.markers(&points, part);
            }
        }
    }
    drawn.paths += &lines;
    drawn
}

/// Returns the CSS class for the dashes of a curve's line. Lines with many points and lines in panels are solid.
pub fn dash<'a>(figure: &Figure, curve: &Curve, look: &'a Look) -> &'a str {
    let is_dashed = curve.kind == CurveKind::Bound || (curve.points.len() <= DASHED && !figure.panels);
    if is_dashed { &look.dash } else { "d0" }
}

pub fn marker(curve: &Curve, look: &Look) -> String {
    match curve.kind {
        CurveKind::Dots => look.marker.replacen('f', "t", 1),
        _ => look.marker.clone(),
    }
}

/// Returns a note that long series are drawn with fewer points. Returns `None` if `figure` has no long series.
pub fn note(figure: &Figure) -> Option<String> {
    let longest = figure.curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
    (longest > LONGEST).then(|| {
        format!(
            "Long series (up to {longest} points) show only the first, lowest, highest and last point in each of \
             {SPANS} equal spans of the x axis."
        )
    })
}

pub fn has_line(figure: &Figure, curve: &Curve) -> bool {
    figure.x_categories.is_empty()
        && matches!(curve.kind, CurveKind::Measured | CurveKind::Line | CurveKind::Steps | CurveKind::Bound)
}

/// Formats a share as a percentage with at most two decimals.
pub fn percent(share: f64) -> String {
    format!("{}%", libm::round(share * 1e4) / 1e2)
}

struct CurvePainter<'a> {
    axes: &'a Axes,
    index: usize,
    /// Whether long series were thinned. If so, the x axis is divided into spans of about two pixels, and all points of
    /// a span are drawn at the same x position.
    coarse: bool,
    marked: bool,
}

impl CurvePainter<'_> {
    fn pen(&self) -> Pen {
        Pen::new(if self.marked { 10 } else { self.axes.fine })
    }

    fn place(&self, point: &Point) -> Position {
        let (x, y) = self.axes.place(self.index, point);
        let x = if self.coarse {
            (libm::floor(x * SPANS as f64).min(SPANS as f64 - 1.0) + 0.5) / SPANS as f64
        } else {
            x
        };
        let (width, height) = self.axes.size;
        (x * width, y * height)
    }

    fn stretches(&self, points: &[Point]) -> Vec<Vec<Position>> {
        let runs = points.chunk_by(|one, next| self.axes.shows(one) == self.axes.shows(next));
        runs.filter(|run| self.axes.shows(&run[0]))
            .map(|run| run.iter().map(|point| self.place(point)).collect())
            .collect()
    }

    fn line(&self, points: &[Point]) -> String {
        let mut pen = self.pen();
        self.stretches(points).iter().for_each(|positions| pen.polyline(positions));
        pen.data()
    }

    fn steps(&self, points: &[Point]) -> String {
        let mut pen = self.pen();
        self.stretches(points).iter().for_each(|positions| pen.steps_through(positions));
        pen.data()
    }

    fn dots(&self, points: &[Point]) -> String {
        let mut pen = self.pen();
        let mut positions: Vec<Position> = self.stretches(points).concat();
        positions.dedup_by_key(|(x, y)| (libm::round(*x) as i64, libm::round(*y) as i64));
        positions.into_iter().for_each(|place| pen.dot(place));
        pen.data()
    }

    fn bars(&self, points: &[Point]) -> String {
        let mut pen = self.pen();
        for point in points.iter().filter(|point| self.axes.shows(point)) {
            if let Some((low, high)) = self.axes.interval(point) {
                let (x, _) = self.place(point);
                pen.move_to((x, low * self.axes.size.1));
                pen.line_to((x, high * self.axes.size.1));
            }
        }
        pen.data()
    }

    /// Returns the outline of the band around consecutive points with intervals: forward along the upper ends, and back
    /// along the lower ends.
    fn band(&self, points: &[Point]) -> String {
        let mut pen = self.pen();
        let has = |point: &Point| self.axes.shows(point) && interval(point).is_some();
        for run in points.chunk_by(|one, next| has(one) == has(next)).filter(|run| has(&run[0])) {
            let ends = run.iter().filter_map(|point| {
                let (low, high) = self.axes.interval(point)?;
                let (x, _) = self.place(point);
                let height = self.axes.size.1;
                Some(((x, low * height), (x, high * height)))
            });
            let (low, mut round): (Vec<Position>, Vec<Position>) = ends.unzip();
            round.extend(low.iter().rev());
            pen.polyline(&round);
            pen.close();
        }
        pen.data()
    }

    fn markers(&self, points: &[Point], part: &StyledCurve<'_>) -> String {
        let id = marker(part.curve, part.look);
        let row = part.row.map_or(String::new(), |row| format!(" data-row=\"{row}\""));
        let hollow = if !part.curve.kind.is_ours() { " hollow" } else { "" };
        let mut out = format!("<g class=\"{}{hollow}\"{row}>", part.look.color);
        for point in points.iter().filter(|point| self.axes.shows(point)) {
            let (x, y) = self.axes.place(self.index, point);
            let _ = write!(out, "<use href=\"#{id}\" x=\"{}\" y=\"{}\"/>", percent(x), percent(y));
        }
        out + "</g>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(figure: &Figure) -> CurveSvg {
        let look = Look { color: "c1".into(), dash: "d1".into(), marker: "f0".into() };
        let axes = Axes::of(figure).unwrap();
        drawn(figure, &axes, &[StyledCurve { index: 0, curve: &figure.curves[0], look: &look, row: None }])
    }

    fn figure(kind: CurveKind, points: Vec<Point>) -> Figure {
        Figure { curves: vec![Curve { name: "ours".into(), kind, points }], ..Figure::default() }
    }

    #[test]
    fn few_points_are_a_line_with_bars_and_markers() {
        let points = [(0.0, 0.0), (1.0, 50.0), (2.0, 100.0)];
        let points = points.map(|(x, y)| Point { x, y, ci95: Some([y - 1.0, y + 1.0]) });
        let mut figure = figure(CurveKind::Measured, points.to_vec());
        figure.curves[0].points[1].ci95 = Some([f64::NEG_INFINITY, f64::INFINITY]);
        let drawn = part(&figure);
        assert_eq!(drawn.paths.matches("<path").count(), 2, "{}", drawn.paths);
        assert_eq!(drawn.markers.matches("<use").count(), 3);
        let (_, bars) = drawn.paths.split_once("c1 bar").unwrap();
        assert_eq!(bars.matches('v').count(), 2, "an infinite interval must have no error bar: {bars}");
    }

    #[test]
    fn a_band_goes_round_each_run_of_intervals() {
        let points =
            (0..50u8).map(|x| Point { x: f64::from(x), y: 1.0, ci95: Some([0.0, 2.0 + f64::from(x % 2)]) });
        let mut figure = figure(CurveKind::Measured, points.collect());
        figure.curves[0].points[2].ci95 = Some([f64::NEG_INFINITY, f64::INFINITY]);
        let drawn = part(&figure);
        let (_, band) = drawn.paths.split_once("c1 band\" d=\"").unwrap();
        let (band, _) = band.split_once('"').unwrap();
        assert_eq!(band.matches('z').count(), 2, "{band}");
        assert_eq!(band.matches('m').count(), 2, "{band}");
        assert!(drawn.markers.is_empty());
    }

    #[test]
    fn a_gap_is_no_line() {
        let points =
            (0..9u8).map(|x| Point::exact(f64::from(x), if x == 4 { f64::NAN } else { f64::from(x) }));
        let figure = figure(CurveKind::Line, points.collect());
        assert_eq!(part(&figure).paths.matches('m').count(), 2);
    }

    #[test]
    fn categories_are_never_joined() {
        let points = vec![Point::exact(1.0, 5.0), Point::exact(2.0, 6.0)];
        for kind in [CurveKind::Measured, CurveKind::Line, CurveKind::Steps] {
            let mut figure = figure(kind, points.clone());
            figure.x_categories = vec!["2.5 flows".into(), "5 flows".into()];
            let drawn = part(&figure);
            assert!(drawn.paths.is_empty() && drawn.markers.matches("<use").count() == 2, "{drawn:?}");
        }
    }

    #[test]
    fn a_long_course_stays_small() {
        let noise = |index: u32| f64::from(index.wrapping_mul(2_654_435_761) >> 20);
        for (kind, most) in [(CurveKind::Line, 15_000), (CurveKind::Steps, 15_000), (CurveKind::Dots, 20_000)]
        {
            let points = (0..100_000).map(|index| Point::exact(f64::from(index), noise(index)));
            let drawn = part(&figure(kind, points.collect()));
            assert!(drawn.paths.len() < most, "{kind:?}: {} bytes", drawn.paths.len());
        }
    }
}
