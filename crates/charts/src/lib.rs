//! Drawing of figures for the lab page and for all reports.
//!
//! * [`figure`]: content of a plot.
//! * [`time_series`]: plots over time, of one run or of several runs.
//! * [`plot`]: SVG of a figure. The SVG works without scripts, in light and dark pages, and in print.
//! * [`segments`]: a flow's segments and ACKs for the time-sequence graph.
//! * [`packed`]: text encoding of segments and ACKs.
//! * [`STYLE`]: style sheet of plots.
//! * [`SCRIPTS`]: scripts that save plots as pictures and draw the time-sequence graph.
//!
//! This crate uses no plot library. The library `plotters` fixes colours, text sizes and widths, and its SVG of four
//! curves of eight points takes 22 kB instead of 4 kB. Plots of web libraries (uPlot, ECharts) need scripts and print
//! as bitmaps.

pub mod figure;
pub mod packed;
pub mod plot;
pub mod segments;
pub mod time_series;

/// Style sheet of plots. The page must define `--paper`, `--ink`, `--muted`, `--grid` and `--c1` to `--c6`.
pub const STYLE: &str = include_str!("../web/plot.css");

/// Script that saves plots as pictures.
pub const PICTURE: &str = include_str!("../web/picture.js");

/// Scripts of time-sequence graphs, in the order in which a page must load them.
pub const SEQUENCE: [&str; 3] =
    [include_str!("../web/elements.js"), include_str!("../web/pen.js"), include_str!("../web/sequence.js")];

/// All scripts, in the order in which a page must load them.
pub const SCRIPTS: [&str; 4] = [SEQUENCE[0], SEQUENCE[1], PICTURE, SEQUENCE[2]];
