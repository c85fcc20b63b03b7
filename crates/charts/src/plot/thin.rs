//! Thinning of long series to the resolution of a screen.

use crate::figure::Point;
use std::borrow::Cow;

/// Number of equal spans into which the x axis is divided. On a laptop's screen, a span is about two pixels wide.
pub const SPANS: usize = 500;

/// Largest number of points of a series that is drawn without thinning.
pub const LONGEST: usize = 4 * SPANS;

/// Returns the points to draw. In a long series, these are the first, lowest, highest and last point of each span. A
/// gap in a span is preserved. A line through these points covers the same pixels as a line through all points.
pub fn thinned(points: &[Point], x_log: bool) -> Cow<'_, [Point]> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Cow::Borrowed(points) };
    if points.len() <= LONGEST {
        return Cow::Borrowed(points);
    }
    let place = |x: f64| if x_log { libm::log10(x) } else { x };
    let low = place(first.x);
    let scale = SPANS as f64 / (place(last.x) - low);
    let span = |point: &Point| ((place(point.x) - low) * scale) as usize;
    let mut kept = Vec::with_capacity(LONGEST);
    for run in points.chunk_by(|one, next| span(one) == span(next)) {
        outline(run, &mut kept);
    }
    Cow::Owned(kept)
}

fn outline(run: &[Point], kept: &mut Vec<Point>) {
    let Some(last) = run.len().checked_sub(1) else { return };
    let (mut lowest, mut highest, mut gap) = (0, 0, 0);
    for (index, point) in run.iter().enumerate() {
        if point.y < run[lowest].y || run[lowest].y.is_nan() {
            lowest = index;
        }
        if point.y > run[highest].y || run[highest].y.is_nan() {
            highest = index;
        }
        if !point.y.is_finite() {
            gap = index;
        }
    }
    let mut chosen = [0, lowest, highest, gap, last];
    chosen.sort_unstable();
    let mut before = None;
    for index in chosen {
        if before != Some(index) {
            kept.push(run[index]);
        }
        before = Some(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(length: usize, y: impl Fn(usize) -> f64) -> Vec<Point> {
        (0..length).map(|index| Point::exact(index as f64 * 1e-3, y(index))).collect()
    }

    #[test]
    fn short_series_stay_as_they_are() {
        let points = series(LONGEST, |index| index as f64);
        assert_eq!(thinned(&points, false).as_ref(), &points[..]);
        assert!(thinned(&[], true).is_empty());
    }

    #[test]
    fn a_long_series_keeps_its_ends_spikes_and_order() {
        let points = series(100_000, |index| match index {
            54_321 => 900.0,
            67_890 => -900.0,
            _ => (index % 7) as f64,
        });
        let drawn = thinned(&points, false);
        assert!(drawn.len() <= LONGEST + 4, "{}", drawn.len());
        assert!(drawn.contains(&points[54_321]) && drawn.contains(&points[67_890]));
        assert_eq!((drawn.first(), drawn.last()), (points.first(), points.last()));
        assert!(drawn.windows(2).all(|pair| pair[0].x < pair[1].x));
    }

    #[test]
    fn gaps_and_standstills_survive() {
        let gap = series(20_000, |index| if index == 12_345 { f64::NAN } else { 1.0 });
        assert_eq!(thinned(&gap, false).iter().filter(|point| point.y.is_nan()).count(), 1);
        let still: Vec<Point> = (0..10_000).map(|index| Point::exact(1.0, f64::from(index))).collect();
        assert_eq!(thinned(&still, false).len(), 2);
    }

    #[test]
    fn a_logarithmic_axis_is_cut_in_equal_ratios() {
        let points: Vec<Point> = (1..=50_000).map(|index| Point::exact(f64::from(index), 0.0)).collect();
        let drawn = thinned(&points, true);
        assert!(
            drawn.len() < 5 * SPANS && drawn[..90] == points[..90],
            "no point of the first decades must be omitted"
        );
    }
}
