//! Sweeps: every combination of some values, each run with the same seeds, in a store that a kill does not harm.
//!
//! * [`grid`]: the points of a sweep; [`digest`]: what tells one from another.
//! * [`rule`]: when a point has been run often enough.
//! * [`row`]: one run as a worker gives it back.
//! * [`driver`]: which run is next, and what becomes of one that came back: the only one that writes. It has no threads:
//!   [`crew`] works for it on this machine; others may work for it elsewhere.
//! * [`parcel`]: runs done by other processes: what goes there, what comes back.
//! * [`store`]: the file: SQLite, one writer; merging of shards.
//! * [`results`]: what is shown of a store: a table, objects, comma-separated values.
//!
//! What is absent: workers never open the file; nothing here prints.

pub mod crew;
pub mod digest;
pub mod driver;
pub mod grid;
pub mod parcel;
pub mod results;
pub mod row;
pub mod rule;
pub mod store;
