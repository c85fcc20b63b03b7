//! A paper as data: `study.toml` says what is varied, run, measured and claimed; this folder runs it.
//!
//! # One number's way
//!
//! huang prints a gain of 83 % at a bad period of 1 ms. The row beside it comes from `papers/huang` in ten steps.
//!
//! 1. [`source`] finds the folder's files. [`mod@file`] is what `study.toml` may say, and serde reads it; [`value`] has the
//!    values of axes. `published.csv` gives `gain-low-1, low delay, bad_ms=1, gain, %, 83` ([`published`]).
//! 2. [`study::Study::read`] looks up every name. `[[published]] rows = "gain-*"` asks for the measure `gain`, and
//!    `[measure.gain]` for the metric `throughput` in `[grid.wireless]`: `references` notes that this grid must measure it.
//! 3. [`reproduce`] lists what is run: the default reading, other readings, each answer of each `[[try]]`. Each is a
//!    [`runs::Order`].
//! 4. [`runs`] takes every combination of the grid's axes: method, link, bad period. Of each, [`cells`] makes a scenario:
//!    `wireless.toml` with `bad = "1 ms"` and the method's keys.
//! 5. [`jobs`] runs each scenario once with each seed, whoever asks for it. [`store`] has runs of an earlier start.
//! 6. After a run the formula of `[metric.throughput]`, `goodput_kbps`, is computed ([`expression`]) from the outcome's
//!    columns ([`columns`]). Nothing else of the run is kept.
//! 7. All numbers by grid, place, metric and repetition are a [`runs::Frame`]. If an interval is wide beside the margin of
//!    its row, [`width`] asks for more repetitions, and steps 5 to 7 come again.
//! 8. [`rows::number`] takes the row of `published.csv`. `series_is = "link"` and the column `bad_ms` say the place: link "low
//!    delay", bad period 1.
//! 9. [`measure`] has 100 throughputs there with `method = "tagged"`, 100 with `"sack"`, in pairs of the same seed. `as =
//!    "change of means, %"` makes one sample of both.
//! 10. [`class`] gives the sample its interval, the row its margin (`class = "gain"`: 5 points), and the verdict. The row is an
//!     [`Item`](crate::item::Item).
//!
//! # Other ways
//!
//! * A place on an axis, such as where two curves cross: [`place`]. A measure without runs: a `formula`, or one of the
//!   few computations in Rust ([`computed`]).
//! * A claim in words: [`claims`] tries it at its points, [`order`] gives the verdict.
//! * ns-2's number beside ours: [`ns2`]. Readings beside each other: [`readings`]. The cause of a row that
//!   differs: [`causes`]. All verdicts together: [`counts`].
//! * Rows that a table, a cause or a placeholder means: [`selector`].
//! * The chapter: [`prose`], with [`tables`], [`switches`], [`figures`] and [`courses`] (runs over time); the report's first
//!   screen: [`overview`].

pub mod causes;
pub mod cells;
pub mod claims;
pub mod class;
pub mod columns;
pub mod computed;
pub mod counts;
pub mod courses;
pub mod expression;
pub mod figures;
pub mod file;
pub mod jobs;
pub mod measure;
pub mod ns2;
pub mod order;
pub mod overview;
pub mod place;
pub mod prose;
pub mod published;
pub mod readings;
mod references;
pub mod reproduce;
pub mod rows;
pub mod runs;
pub mod selector;
pub mod source;
pub mod store;
#[allow(clippy::module_inception, reason = "a study's files and the folder that runs them")]
pub mod study;
pub mod switches;
pub mod tables;
pub mod value;
pub mod width;
