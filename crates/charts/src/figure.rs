//! What a report draws.

use lasthop_stats::Estimate;

/// A plot: labelled axes with units, and curves.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Figure {
    /// Anchor and file name: `fig7`.
    pub id: String,
    /// Title above the plot.
    pub title: String,
    /// A sentence or two below it: what is seen, what the paper says.
    pub caption: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Whether the x axis is logarithmic.
    pub x_log: bool,
    /// Whether the y axis is logarithmic.
    pub y_log: bool,
    /// Names of the places 1, 2, … on the x axis, where x is no quantity: each is drawn by itself, never joined by a line.
    pub x_categories: Vec<String>,
    /// The ends of the x axis, if they are not to be those of the points; no point lies beyond them.
    pub x_range: Option<[f64; 2]>,
    /// The ends of what the quantity can be (0 and 1 for a share, 0 and infinity for a rate): neither the axis nor an interval goes beyond.
    pub y_bounds: Option<[f64; 2]>,
    /// Whether each curve has a panel of its own, one above the other on the same axes: for courses that would cover
    /// each other.
    pub panels: bool,
    /// The command that gives it: `lasthop reproduce saad`; empty if there is none.
    pub source: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// What it is.
    pub kind: CurveKind,
    /// Its points, by ascending x.
    pub points: Vec<Point>,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    /// Ours, with intervals where there are any.
    Measured,
    /// A time series: a line without markers or intervals.
    Line,
    /// A step function of time.
    Steps,
    /// What belongs to the series before it, as ssthresh to cwnd: a dotted line of its colour.
    Bound,
    /// Single events: small markers alone.
    Dots,
    /// The paper's numbers: markers alone.
    Published,
    /// Another program's numbers: markers with their intervals.
    Other,
}

impl CurveKind {
    /// Whether it is a series of ours, and not numbers of somebody else beside one.
    pub const fn is_ours(self) -> bool {
        !matches!(self, CurveKind::Published | CurveKind::Other)
    }

    /// Whether it is a series by itself, with a colour of its own.
    pub const fn is_series(self) -> bool {
        self.is_ours() && !matches!(self, CurveKind::Bound)
    }
}

/// A point, with its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// 95 % interval of the ordinate.
    pub ci95: Option<[f64; 2]>,
}

impl Point {
    /// A point without an interval.
    pub fn exact(x: f64, y: f64) -> Point {
        Point { x, y, ci95: None }
    }

    /// A mean with its interval.
    pub fn of(x: f64, estimate: &Estimate) -> Point {
        Point { x, y: estimate.mean, ci95: estimate.ci95 }
    }
}
