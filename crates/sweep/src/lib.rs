//! Sweeps: simulate every combination of some values with the same seeds, and store the results in a crash-safe file.
//!
//! * [`grid`]: the points of a sweep; [`digest`]: keys that identify the runs of a point.
//! * [`rule`]: stopping rule that repeats runs until a precision is reached.
//! * [`row`]: one run and its results.
//! * [`driver`]: chooses the order of the runs, and is the only writer of the store. The driver has no threads:
//!   [`thread_pool`] simulates on this machine, and other programs may do runs elsewhere.
//! * [`batch`]: byte encoding of runs that other processes do.
//! * [`store`]: the SQLite file, which has one writer; merging of stores.
//! * [`results`]: output of a store as a table, as JSON objects or as comma-separated values.
//!
//! Workers never open the store. This crate prints nothing.

pub mod batch;
pub mod digest;
pub mod driver;
pub mod grid;
pub mod results;
pub mod row;
pub mod rule;
pub mod store;
pub mod thread_pool;
