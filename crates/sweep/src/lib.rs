//! Sweeps: simulation of every combination of some values with the same seeds. A crash-safe file stores the results.
//!
//! * [`grid`]: points of a sweep.
//! * [`digest`]: keys that identify the runs of a point.
//! * [`rule`]: stopping rule: adds runs until the means are precise enough.
//! * [`row`]: one run and its results.
//! * [`driver`]: order of the runs. The driver is the only writer of the store and has no threads.
//! * [`thread_pool`]: simulation of runs on this machine.
//! * [`batch`]: byte encoding of the results of runs, which worker processes return.
//! * [`store`]: the SQLite file, which has one writer, and merging of stores.
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
