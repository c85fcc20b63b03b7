//! A paper as data: `study.toml` defines axes, runs, measures and claims. This module reads the file, runs the
//! scenarios and compares the results with the paper.
//!
//! # Terms
//!
//! * Grid: the runs of every combination of some axes' values. A cell is one such combination of axis values.
//! * Row: one published number, claim or point of a figure, with our result.
//! * Question: a detail that the paper leaves open. An answer changes the scenarios. A try repeats rows under several
//!   answers.
//! * Reading: a set of answers. The default reading contains no answers.
//!
//! # Steps from the paper to one number
//!
//! The paper `huang` prints a gain of 83 % at a bad period of 1 ms. The following steps compute our number for this row
//! from the folder `papers/huang`.
//!
//! 1. [`source`] finds the files of the folder. serde parses `study.toml` into the types of [`mod@file`] and, for axis
//!    values, of [`value`]. `published.csv` gives `gain-low-1, low delay, bad_ms=1, gain, %, 83` ([`published`]).
//! 2. [`study::Study::read`] resolves all names. `[[published]] rows = "gain-*"` refers to the measure `gain`, which
//!    refers to the metric `throughput` in `[grid.wireless]`. `references` records that this grid must measure the
//!    metric.
//! 3. [`reproduce`] lists the runs as one [`runs::RunRequest`] each: the default reading, other readings, and each
//!    answer of each `[[try]]`.
//! 4. [`runs`] takes every combination of the values on the grid's axes: method, link and bad period. [`cells`] builds
//!    a scenario from each combination. In this example, the scenario is `wireless.toml` with `bad = "1 ms"` and the
//!    keys of the method.
//! 5. [`jobs`] runs each distinct scenario once for each seed. [`run_store`] holds the results of runs from earlier
//!    starts of the program.
//! 6. [`expression`] evaluates the formula of `[metric.throughput]`, `goodput_kbps`, on the [`columns`] of the run's
//!    outcome. Only this number is stored.
//! 7. A [`runs::ResultsByGrid`] holds the numbers by grid, coordinates, metric and repetition. If an interval is too
//!    wide for its row's margin, [`width`] requests more repetitions, and steps 5 to 7 repeat.
//! 8. [`rows::number`] takes the row of `published.csv`. `series_is = "link"` and the column `bad_ms` give the
//!    coordinates: link "low delay", bad period 1 ms.
//! 9. [`measure`] combines 100 throughputs with `method = "tagged"` and 100 throughputs with `"sack"` into one gain.
//!    The throughputs are paired by seed. The kind of gain is the measure's `as = "change of means, %"`.
//! 10. [`class`] computes the interval, the margin (`class = "gain"`: 5 percentage points) and the verdict. The result
//!     is an [`Item`](crate::item::Item).
//!
//! # Other modules
//!
//! * [`axis_place`]: positions on an axis, such as the value at which two curves cross.
//! * [`computed`]: measures that Rust code computes.
//! * [`claims`]: tests of claims at points.
//! * [`claim_verdict`]: verdicts on claims.
//! * [`ns2`]: numbers of ns-2.
//! * [`readings`]: comparison of readings.
//! * [`causes`]: causes of differences.
//! * [`counts`]: number of rows with each verdict.
//! * [`selector`]: selection of rows for tables, causes and placeholders.
//! * [`prose`]: text of the paper's chapter in the report.
//! * [`tables`], [`figures`], [`time_series`]: tables and figures of the chapter.
//! * [`switches`]: choice of answers above a table.
//! * [`overview`]: the paper's part of the report's first screen.

pub mod axis_place;
pub mod causes;
pub mod cells;
pub mod claim_verdict;
pub mod claims;
pub mod class;
pub mod columns;
pub mod computed;
pub mod counts;
pub mod expression;
pub mod figures;
pub mod file;
pub mod jobs;
pub mod measure;
pub mod ns2;
pub mod overview;
pub mod prose;
pub mod published;
pub mod readings;
mod references;
pub mod reproduce;
pub mod rows;
pub mod run_store;
pub mod runs;
pub mod selector;
pub mod source;
#[allow(clippy::module_inception, reason = "a study's files and the folder that runs them")]
pub mod study;
pub mod switches;
pub mod tables;
pub mod time_series;
pub mod value;
pub mod width;
