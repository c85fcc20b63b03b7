//! Ranges of a figure's axes, and positions of points within these ranges.

use super::looks::series_of;
use super::path::{HEIGHT, WIDTH};
use super::scale::Scale;
use crate::figure::{Curve, CurveKind, Figure, Point};

/// Largest number of points for which a curve is drawn with markers and error bars. A curve with more points is drawn
/// as a line with a band.
const SPARSE: usize = 40;
/// Space for the outermost markers at each end of an axis, as a share of the axis.
const ROOM: f64 = 0.04;
/// Largest offset between two neighbouring series of a category, and largest width of all series together. The numbers
/// are shares of the distance between categories.
const BESIDE: (f64, f64) = (0.12, 0.7);
/// Limits like [`BESIDE`], for figures with bars.
const BARS: (f64, f64) = (0.5, 0.8);
/// Width of a bar, as a share of the offset between two series.
const BAR: f64 = 0.9;

#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    pub x: Scale,
    pub y: Scale,
    /// Width and height of the plot, in path units.
    pub size: (f64, f64),
    /// Resolution of curves without markers: coordinates are rounded to 1 / `fine` path units.
    pub fine: u8,
    bounds: Option<[f64; 2]>,
    /// Horizontal offset of each curve from the centre of a category. Empty if the x axis is not categorical.
    shifts: Vec<f64>,
}

impl Axes {
    /// Returns axes that show all points of `figure`. Returns `None` if the figure has no point to show.
    pub fn of(figure: &Figure) -> Option<Axes> {
        let is_log = |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
        let points = figure.curves.iter().flat_map(|curve| &curve.points);
        let shown: Vec<&Point> =
            points.filter(|point| is_log(point.x, figure.x_log) && is_log(point.y, figure.y_log)).collect();
        let holds = |[least, most]: &[f64; 2]| {
            least < most && shown.iter().all(|point| (*least..=*most).contains(&point.y))
        };
        let bounds = figure.y_bounds.filter(holds);
        let x = x_axis(figure, &shown)?;
        let y = y_axis(figure, &shown, bounds)?;
        Some(Axes { x, y, size: (WIDTH, HEIGHT), fine: 1, bounds, shifts: shifts(figure) })
    }

    pub fn shows(&self, point: &Point) -> bool {
        self.x.has(point.x) && self.y.has(point.y)
    }

    /// Returns the position of a point of the curve with index `curve`: the distances from the left and from the top of
    /// the plot, as shares of the axes.
    pub fn place(&self, curve: usize, point: &Point) -> (f64, f64) {
        let shift = self.shifts.get(curve).copied().unwrap_or(0.0);
        (self.x.place(point.x + shift), 1.0 - self.y.place(point.y))
    }

    /// Returns the ends of a point's interval: their distances from the top of the plot, as shares of the axis. The
    /// ends are limited to the bounds of the quantity and of the axis.
    pub fn interval(&self, point: &Point) -> Option<(f64, f64)> {
        let [low, high] = bounded(interval(point)?, self.bounds);
        Some((1.0 - self.y.clipped(low), 1.0 - self.y.clipped(high)))
    }
}

/// Returns a point's interval. Returns `None` if an end of the interval is infinite or undefined.
pub fn interval(point: &Point) -> Option<[f64; 2]> {
    point.ci95.filter(|&ends| is_finite(ends))
}

/// Whether the points of `curve` are drawn with markers.
pub fn has_markers(figure: &Figure, curve: &Curve) -> bool {
    !figure.x_categories.is_empty()
        || match curve.kind {
            CurveKind::Measured => curve.points.len() <= SPARSE,
            CurveKind::Dots | CurveKind::Published | CurveKind::Other => true,
            CurveKind::Line | CurveKind::Steps | CurveKind::Bound => false,
        }
}

fn x_axis(figure: &Figure, shown: &[&Point]) -> Option<Scale> {
    if !figure.x_categories.is_empty() {
        let count = figure.x_categories.len() as f64;
        return (!shown.is_empty()).then(|| Scale::new(0.5, count + 0.5, false));
    }
    let (low, high) = ends(shown.iter().map(|point| point.x))?;
    if let Some([low, high]) = figure.x_range.filter(|[from, to]| from < to) {
        return Some(Scale { low, high, log: figure.x_log });
    }
    let marked =
        figure.curves.iter().any(|curve| has_markers(figure, curve) && curve.kind != CurveKind::Dots);
    let scale = Scale::new(low, high, figure.x_log);
    Some(if marked { scale.padded(ROOM, true, true) } else { scale })
}

/// Returns the range of the y axis. A linear axis starts at zero, unless half of the plot would then be empty.
fn y_axis(figure: &Figure, shown: &[&Point], bounds: Option<[f64; 2]>) -> Option<Scale> {
    let (lowest, _) = ends(shown.iter().map(|point| point.y))?;
    // On a logarithmic axis, the lower end of an interval may be near or below zero. The axis therefore extends at most
    // one decade below the lowest point.
    let floor = if figure.y_log { lowest / 10.0 } else { f64::NEG_INFINITY };
    let within = |point: &Point| {
        let [low, high] = bounded(interval(point).unwrap_or([point.y; 2]), bounds);
        [low.min(point.y).max(floor), high.max(point.y)]
    };
    let (mut low, mut high) = ends(shown.iter().flat_map(|point| within(point)))?;
    if figure.y_log {
        return Some(Scale::new(low, high, true).padded(ROOM, true, true));
    }
    let (above_zero, below_zero) =
        (low >= 0.0 && (figure.bars || low <= high / 2.0), high <= 0.0 && high >= low / 2.0);
    if above_zero {
        low = 0.0;
    } else if below_zero {
        high = 0.0;
    }
    let scale = Scale::new(low, high, false).padded(ROOM, !above_zero, !below_zero);
    Some(match bounds {
        Some([least, most]) => Scale { low: scale.low.max(least), high: scale.high.min(most), log: false },
        None => scale,
    })
}

/// Returns the horizontal offsets that place the series of a category side by side. A published series gets the offset
/// of the Lasthop series whose name is part of the published name.
fn shifts(figure: &Figure) -> Vec<f64> {
    if figure.x_categories.is_empty() {
        return Vec::new();
    }
    let own = |curve: &&Curve| curve.kind.is_series();
    let count = figure.curves.iter().filter(own).count();
    let apart = apart(figure);
    let shift = |index: usize| {
        let place = figure.curves[..index].iter().filter(own).count();
        (place as f64 - (count.saturating_sub(1)) as f64 / 2.0) * apart
    };
    let of = |(index, curve): (usize, &Curve)| match curve.kind {
        CurveKind::Published | CurveKind::Other => series_of(curve, &figure.curves).map_or(0.0, shift),
        _ => shift(index),
    };
    figure.curves.iter().enumerate().map(of).collect()
}

/// Returns the offset between two neighbouring series of a category, as a share of the distance between categories.
fn apart(figure: &Figure) -> f64 {
    let count = figure.curves.iter().filter(|curve| curve.kind.is_series()).count();
    let (most, together) = if figure.bars { BARS } else { BESIDE };
    most.min(together / count.max(1) as f64)
}

/// Returns the width of a bar, as a share of the distance between categories.
pub fn bar_width(figure: &Figure) -> f64 {
    BAR * apart(figure)
}

fn bounded(ends: [f64; 2], bounds: Option<[f64; 2]>) -> [f64; 2] {
    match bounds {
        Some([least, most]) => ends.map(|end| end.clamp(least, most)),
        None => ends,
    }
}

fn is_finite(ends: [f64; 2]) -> bool {
    ends.iter().all(|end| end.is_finite())
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| match ends {
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        None => Some((value, value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kind: CurveKind, points: &[(f64, f64, [f64; 2])]) -> Figure {
        let points = points.iter().map(|(x, y, ci95)| Point { x: *x, y: *y, ci95: Some(*ci95) }).collect();
        Figure { curves: vec![Curve { name: "ours".into(), kind, points }], ..Figure::default() }
    }

    #[test]
    fn a_share_ends_at_its_bounds() {
        let mut shares = figure(CurveKind::Measured, &[(1.0, 0.8, [-0.8, 2.4]), (2.0, 0.4, [0.3, 0.5])]);
        shares.y_bounds = Some([0.0, 1.0]);
        let axes = Axes::of(&shares).unwrap();
        assert_eq!((axes.y.low, axes.y.high), (0.0, 1.0));
        assert_eq!(axes.interval(&shares.curves[0].points[0]), Some((1.0, 0.0)));
        shares.curves[0].points =
            [0.97, 0.999].map(|y| Point { x: y, y, ci95: Some([y - 0.01, y + 0.01]) }).to_vec();
        let axes = Axes::of(&shares).unwrap();
        assert!(axes.y.low > 0.95 && axes.y.high == 1.0, "{axes:?}");
        shares.y_bounds = Some([0.0, f64::INFINITY]);
        shares.curves[0].points = vec![Point { x: 1.0, y: 2.0, ci95: Some([-3.0, 7.0]) }];
        let axes = Axes::of(&shares).unwrap();
        assert!(axes.y.low == 0.0 && axes.y.high > 7.0 && axes.y.high < 8.0, "{axes:?}");
        shares.y_bounds = Some([0.0, 1.0]);
        // A share in per cent, such as 43, exceeds the bounds 0 and 1. In this case, the axis ignores the bounds, so
        // that the point remains visible.
        shares.curves[0].points.push(Point::exact(3.0, 43.0));
        assert!(Axes::of(&shares).unwrap().y.high > 43.0);
    }

    #[test]
    fn a_quantity_begins_at_zero_unless_half_the_plot_were_empty() {
        let axis = |low: f64, high: f64| {
            let axes =
                Axes::of(&figure(CurveKind::Line, &[(0.0, low, [low; 2]), (9.0, high, [high; 2])])).unwrap();
            (axes.y.low, axes.y.high, axes.x.low, axes.x.high)
        };
        assert_eq!(axis(50.0, 100.0), (0.0, 104.0, 0.0, 9.0));
        assert!(axis(60.0, 100.0).0 > 50.0);
        assert_eq!(axis(-100.0, -20.0).1, 0.0);
        assert!(axis(-10.0, 100.0).0 < -10.0);
    }

    #[test]
    fn a_logarithm_has_no_place_for_nothing() {
        let mut counts = figure(
            CurveKind::Measured,
            &[(1.0, 0.0, [0.0, 3.7]), (2.0, 20.0, [-5.0, 45.0]), (3.0, 200.0, [180.0, 220.0])],
        );
        counts.y_log = true;
        let axes = Axes::of(&counts).unwrap();
        let [nothing, twenty, _] = &counts.curves[0].points[..] else { panic!("three points") };
        assert!(!axes.shows(nothing) && axes.shows(twenty));
        // The interval of the point at 20 extends below 0. The drawn interval ends at the lower end of the axis, one
        // decade below the lowest point.
        assert_eq!(axes.interval(twenty).map(|(low, _)| low), Some(1.0));
        assert!(axes.y.low > 1.5 && axes.y.low < 20.0, "{axes:?}");
        counts.curves[0].points.truncate(1);
        assert_eq!(Axes::of(&counts), None);
    }

    #[test]
    fn series_of_a_category_stand_beside_each_other() {
        let mut bars = figure(CurveKind::Measured, &[(1.0, 5.0, [4.0, 6.0]), (2.0, 7.0, [6.0, 8.0])]);
        bars.x_categories = vec!["2.5 flows".into(), "5 flows".into()];
        for (name, kind) in [("theirs", CurveKind::Measured), ("ours, published", CurveKind::Published)] {
            let points = bars.curves[0].points.clone();
            bars.curves.push(Curve { name: name.into(), kind, points });
        }
        let axes = Axes::of(&bars).unwrap();
        let place = |curve: usize| axes.place(curve, &bars.curves[curve].points[0]).0;
        assert!((place(0) - (0.25 - 0.03)).abs() < 1e-12 && (place(1) - (0.25 + 0.03)).abs() < 1e-12);
        assert_eq!(place(2), place(0), "the published point must have the same position as our point");
    }
}
