//! Bars of a categorical x axis, from zero to each point.

use super::axes::{Axes, bar_width};
use super::looks::Look;
use super::path::Pen;
use crate::figure::{Figure, Point};
use std::fmt::Write;

/// Returns the SVG of the bars in path units. Returns an empty text if `figure` has no bars.
pub fn svg(figure: &Figure, axes: &Axes, looks: &[Look]) -> String {
    let mut out = String::new();
    if !figure.bars || figure.x_categories.is_empty() {
        return out;
    }
    let ((width, height), half) = (axes.size, bar_width(figure) / figure.x_categories.len() as f64 / 2.0);
    for (index, (curve, look)) in figure.curves.iter().zip(looks).enumerate() {
        let mut pen = Pen::new(10);
        for point in curve.points.iter().filter(|point| curve.kind.is_series() && axes.shows(point)) {
            let (x, top) = axes.place(index, point);
            let (_, zero) = axes.place(index, &Point { y: 0.0, ..*point });
            let [left, right] = [(x - half) * width, (x + half) * width];
            let [top, zero] = [top, zero.clamp(0.0, 1.0)].map(|share| share * height);
            pen.polyline(&[(left, zero), (left, top), (right, top), (right, zero)]);
            pen.close();
        }
        let _ = write!(out, "<path class=\"{} band\" d=\"{}\"/>", look.color, pen.data());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Curve, CurveKind};
    use crate::plot::looks::Looks;

    /// Without bars, the y axis would start above zero, because the two values are close to each other.
    #[test]
    fn bars_begin_at_zero_and_lie_side_by_side() {
        let curve = |name: &str| Curve {
            name: name.into(),
            kind: CurveKind::Measured,
            points: vec![Point::exact(1.0, 90.0), Point::exact(2.0, 100.0)],
        };
        let x_categories = vec!["sack".into(), "reno".into()];
        let curves = vec![curve("a"), curve("b")];
        let mut figure = Figure { bars: true, x_categories, curves, ..Figure::default() };
        let axes = Axes::of(&figure).unwrap();
        assert_eq!(axes.y.low, 0.0);
        let looks = Looks::of([&figure].into_iter()).assign(&figure.curves);
        let drawn = svg(&figure, &axes, &looks);
        assert_eq!((drawn.matches("<path").count(), drawn.matches('z').count()), (2, 4), "{drawn}");
        // Each series takes 40 % of the distance between categories. A bar takes 90 % of the width of its series.
        let [first, second] = [0, 1].map(|curve| axes.place(curve, &figure.curves[0].points[0]).0);
        assert!(second - first > bar_width(&figure) / 2.0 && bar_width(&figure) > 0.3);
        figure.bars = false;
        assert!(Axes::of(&figure).unwrap().y.low > 80.0 && svg(&figure, &axes, &looks).is_empty());
    }
}
