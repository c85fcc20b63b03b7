//! A paper as data: what is varied, run, measured and claimed stands in `study.toml`; this folder runs it.
//!
//! * [`mod@file`]: what `study.toml` may say; [`source`]: where the files are; [`study`]: all files, read and checked;
//!   [`value`]: values of axes; [`published`]: the paper's numbers; [`ns2`]: ns-2's beside them.
//! * [`cells`]: from a place in a grid to its scenario; [`runs`], [`jobs`]: all runs, each once; [`width`]: which are repeated more often; [`store`]: finished runs on disk; [`columns`], [`expression`]: what metrics are made of; [`computed`]: the few things that are Rust.
//! * [`measure`]: numbers of the results; [`place`]: places on an axis; [`class`]: the verdict on a number; [`order`]: the verdict on words;
//!   [`claims`], [`rows`]: all rows.
//! * [`reproduce`]: a whole paper; [`readings`]: sets of answers beside each other; [`causes`]: why a row differs; [`counts`]: verdicts together; [`overview`]: its part of the report's
//!   first screen.
//! * [`prose`]: its chapter, with [`figures`], [`courses`], [`tables`] and [`switches`] in them.

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
pub mod source;
pub mod store;
#[allow(clippy::module_inception, reason = "a study's files and the folder that runs them")]
pub mod study;
pub mod switches;
pub mod tables;
pub mod value;
pub mod width;
