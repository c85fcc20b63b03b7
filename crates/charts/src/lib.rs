//! Drawing of figures, shared by the lab page and all reports.
//!
//! * [`figure`]: content of a plot; [`time_series`]: plots over time, for one run or several.
//! * [`plot`]: SVG of a figure; works without scripts, in light and dark pages, and in print.
//! * [`segments`]: a flow's segments and ACKs for the time-sequence graph; [`packed`]: their text encoding.
//! * [`STYLE`]: style sheet. [`SCRIPTS`]: scripts that save plots as pictures and draw the time-sequence graph.
//!
//! This crate uses no plot library. With `plotters`, colours, text sizes and widths are fixed, and four curves of eight
//! points take 22 kB instead of 4 kB. Plots of web libraries (uPlot, ECharts) need scripts, and print as bitmaps.

pub mod figure;
pub mod packed;
pub mod plot;
pub mod segments;
pub mod time_series;

/// Style sheet of plots; the page defines `--paper`, `--ink`, `--muted`, `--grid` and `--c1` to `--c6`.
pub const STYLE: &str = include_str!("../web/plot.css");

/// Script that saves plots as pictures.
pub const PICTURE: &str = include_str!("../web/picture.js");

/// Scripts of time-sequence graphs, in the order in which a page must load them.
pub const SEQUENCE: [&str; 3] =
    [include_str!("../web/elements.js"), include_str!("../web/pen.js"), include_str!("../web/sequence.js")];

/// All scripts, in the order in which a page must load them.
pub const SCRIPTS: [&str; 4] = [SEQUENCE[0], SEQUENCE[1], PICTURE, SEQUENCE[2]];
