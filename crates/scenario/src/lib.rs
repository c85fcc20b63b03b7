//! Reads the text of a scenario, checks the text, and returns a [`Scenario`] of plain data that a simulator can run.
//!
//! A [`Draft`] is a document whose values can still be changed (`--set`). Checking a draft gives a [`Scenario`], or one
//! [`Problem`] with the file, the line, the text to underline and a remedy.
//!
//! Modules:
//! * [`scenario`]: the plain data that checking gives.
//! * `language`: every table and key of the language, with unit, default and meaning. `reader` checks documents against
//!   these tables; `resolved` and `show` print them; [`Catalogue::schema`], [`Catalogue::list`] and
//!   [`Catalogue::reference`] describe them. Mechanisms and their parameters come from a [`Catalogue`], by default
//!   those of `lasthop-tcp`, `lasthop-net` and `lasthop-middlebox`.
//! * `check`, `links`, `flows`, `routes`, `nodes`, `bdp`, `traces`, `arrivals`: conversion of a document to a scenario.
//!   `check` is the entry.
//! * `notes`: warnings about valid but unlikely settings.
//! * [`inline`]: one-line scenarios; `set`: changes by `--set path=value`; `ready`: the ready paths, which are built-in
//!   scenarios from the files in `scenarios/`.
//! * [`PlainProblem`]: an error without a position in a document.
//! * `file_source`: access to scenario and trace files.
//!
//! This crate runs no simulation and prints nothing. It reads only scenario files and the files that they name.
//!
//! ```
//! use lasthop_scenario::{Draft, Scenario};
//!
//! let scenario = Scenario::load("rate=10Mbit/s,rtt=20ms,queue=100packets,loss=1%")?;
//! assert_eq!(scenario.nodes, ["server", "client"]);
//!
//! let mut draft = Draft::load("hasegawa")?;
//! draft.set("link.wireless.down.channel.rate", "3e-5")?;
//! draft.set("ack_splitting", "split")?;
//! assert_eq!(draft.check()?.flows[0].name, "bulk");
//! # Ok::<(), lasthop_scenario::Problem>(())
//! ```

mod applications;
mod arrivals;
mod bdp;
mod catalogue;
mod cells;
mod check;
mod draft;
mod dscp;
pub mod examples;
mod fields;
mod file_source;
mod flows;
mod foreign;
pub mod inline;
mod key;
mod language;
mod links;
mod list;
mod mechanisms;
mod nodes;
mod notes;
mod plain_problem;
mod problem;
mod profiles;
mod quantities;
mod reader;
mod ready;
mod reference;
mod replicas;
mod resolved;
mod routes;
pub mod scenario;
mod schema;
mod set;
mod show;
mod snippet;
mod source;
mod suggest;
mod target;
mod text;
mod traces;
mod tree;

pub use catalogue::Catalogue;
pub use draft::Draft;
pub use file_source::{Disk, FileSource};
pub use foreign::{Foreign, all_foreign, foreign};
pub use list::ListEntry;
pub use notes::of_all as notes_of_all;
pub use plain_problem::PlainProblem;
pub use problem::Problem;
pub use ready::names as ready_paths;
pub use reference::{KeyDescription, ReferenceSection, aliases, units};
pub use scenario::{
    ChosenStack, Exchanges, Flow, Headers, Hop, Link, Pattern, Pauses, Route, Scenario, Traffic, Transfer,
};
pub use suggest::{hint, nearest};

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();
