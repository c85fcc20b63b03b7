//! Content of a report's figures.

use lasthop_stats::Estimate;

/// A plot: labelled axes with units, and curves.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Figure {
    /// Anchor and file name of the figure, such as `fig7`.
    pub id: String,
    /// Title above the plot.
    pub title: String,
    /// Sentences below the plot.
    pub caption: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Whether the x axis is logarithmic.
    pub x_log: bool,
    /// Whether the y axis is logarithmic.
    pub y_log: bool,
    /// Names of the positions 1, 2, … on a categorical x axis. The list is empty for a numeric axis. On a categorical
    /// axis, no line joins the points.
    pub x_categories: Vec<String>,
    /// Ends of the x axis. The default is the outermost points. All points must lie between these ends.
    pub x_range: Option<[f64; 2]>,
    /// Smallest and largest possible value of the quantity on the y axis, such as 0 and 1 for a share, or 0 and
    /// infinity for a rate. Neither the axis nor an interval extends beyond these values.
    pub y_bounds: Option<[f64; 2]>,
    /// Whether each curve is drawn in its own panel, for curves that would overlap.
    pub panels: bool,
    /// Whether bars from zero are drawn below the points of a categorical x axis.
    pub bars: bool,
    /// Command that computes the figure, such as `lasthop reproduce saad`. The text may be empty.
    pub source: String,
    /// Curves of the figure.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Kind of the curve.
    pub kind: CurveKind,
    /// Points, sorted by ascending x.
    pub points: Vec<Point>,
}

/// Kind of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    /// Lasthop's results, drawn with 95 % intervals.
    Measured,
    /// Time series, drawn as a line without markers and intervals.
    Line,
    /// Step function of time.
    Steps,
    /// Second curve of the preceding series, such as ssthresh for cwnd: a dotted line in the colour of that series.
    Bound,
    /// Single events, drawn as small markers.
    Dots,
    /// Numbers from a paper, drawn as markers.
    Published,
    /// Numbers of a program other than Lasthop, drawn as markers with intervals.
    Other,
}

impl CurveKind {
    /// Whether the curve shows Lasthop's numbers, and not numbers of a paper or of a different program.
    pub const fn is_ours(self) -> bool {
        !matches!(self, CurveKind::Published | CurveKind::Other)
    }

    /// Whether the curve is a series of Lasthop's results with a colour of its own. [`CurveKind::Bound`] is no such
    /// series, because it has the colour of the preceding series.
    pub const fn is_series(self) -> bool {
        self.is_ours() && !matches!(self, CurveKind::Bound)
    }
}

/// A point with an optional interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Position on the y axis.
    pub y: f64,
    /// 95 % interval of `y`. `None` if the point has no interval.
    pub ci95: Option<[f64; 2]>,
}

impl Point {
    /// Returns a point without an interval.
    pub fn exact(x: f64, y: f64) -> Point {
        Point { x, y, ci95: None }
    }

    /// Returns a point that shows a mean with its interval.
    pub fn of(x: f64, estimate: &Estimate) -> Point {
        Point { x, y: estimate.mean, ci95: estimate.ci95 }
    }
}
