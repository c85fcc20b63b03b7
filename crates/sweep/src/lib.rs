//! Sweeps: every combination of some values, each run with the same seeds, in a crash-safe store.
//!
//! * [`grid`]: the points of a sweep; [`digest`]: keys that identify their runs.
//! * [`rule`]: stopping rule for a precision.
//! * [`row`]: one run with its numbers.
//! * [`driver`]: order of the runs; the only writer of the store. It has no threads: [`thread_pool`] works on this machine,
//!   other workers elsewhere.
//! * [`batch`]: runs done by other processes, as bytes.
//! * [`store`]: the SQLite file, with one writer; merging of shards.
//! * [`results`]: output of a store: table, JSON objects, comma-separated values.
//!
//! Workers never open the store, and this crate prints nothing.

pub mod batch;
pub mod digest;
pub mod driver;
pub mod grid;
pub mod results;
pub mod row;
pub mod rule;
pub mod store;
pub mod thread_pool;
