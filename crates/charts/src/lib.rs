//! Drawing of figures, shared by the lab page and all reports.
//!
//! * [`figure`]: content of a plot; [`time_series`]: figures over time, of one run or several.
//! * [`plot`]: SVG of a figure; works without scripts, in light and dark pages, and in print.
//! * [`segments`]: a flow's segments and ACKs for the time-sequence graph; [`packed`]: their text encoding.
//! * [`STYLE`], [`SCRIPTS`]: style sheet; scripts for saved pictures and the time-sequence graph.
//!
//! No plot library is used. `plotters` fixes colours, text sizes and widths, and takes 22 kB for four curves of eight
//! points instead of 4 kB. Web libraries (uPlot, ECharts) need scripts and print bitmaps.

pub mod figure;
pub mod packed;
pub mod plot;
pub mod segments;
pub mod time_series;

/// Style sheet of plots; the page defines `--paper`, `--ink`, `--muted`, `--grid` and `--c1` to `--c6`.
pub const STYLE: &str = include_str!("../web/plot.css");

/// Script that saves plots as pictures.
pub const PICTURE: &str = include_str!("../web/picture.js");

/// Scripts of time-sequence graphs, in loading order: elements, pens, graph.
pub const SEQUENCE: [&str; 3] =
    [include_str!("../web/elements.js"), include_str!("../web/pen.js"), include_str!("../web/sequence.js")];

/// All scripts, in loading order.
pub const SCRIPTS: [&str; 4] = [SEQUENCE[0], SEQUENCE[1], PICTURE, SEQUENCE[2]];
