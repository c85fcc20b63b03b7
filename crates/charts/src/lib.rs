//! What is drawn of runs: one room for the page and for all reports.
//!
//! * [`figure`]: what a plot shows, apart from how it looks; [`courses`]: a run's figures over time, of several runs in one
//!   picture.
//! * [`plot`]: a figure as SVG that is there without a script, is light or dark with its page, and is printed.
//! * [`segments`]: a flow's segments and ACKs for the time-sequence graph; [`packed`]: the same as letters that a page holds.
//! * [`STYLE`], [`SCRIPTS`]: colours and widths; what a pointer says, pictures to save, the time-sequence graph.
//!
//! Plots are not drawn by a library: `plotters` gives each element its colour (a page that is light or dark needs
//! classes of a style sheet), fixes text and width (a page of 360 pixels needs text of the same size), and takes 22 kB
//! for four curves of eight points where these files take 4; those of the web (uPlot, ECharts) draw nothing without a
//! script, and print bitmaps.

pub mod courses;
pub mod figure;
pub mod packed;
pub mod plot;
pub mod segments;

/// How plots look; the page around it says what `--paper`, `--ink`, `--muted`, `--grid` and `--c1` to `--c6` are.
pub const STYLE: &str = include_str!("../web/plot.css");

/// For a page's script: plots as pictures to be saved.
pub const PICTURE: &str = include_str!("../web/picture.js");

/// For that of a page with time-sequence graphs, in this order: elements, pens, the graph.
pub const SEQUENCE: [&str; 3] =
    [include_str!("../web/elements.js"), include_str!("../web/pen.js"), include_str!("../web/sequence.js")];

/// All of them, in their order.
pub const SCRIPTS: [&str; 4] = [SEQUENCE[0], SEQUENCE[1], PICTURE, SEQUENCE[2]];
