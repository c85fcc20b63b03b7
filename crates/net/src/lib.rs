//! What a path does to packets, as pure state machines.
//!
//! * [`link`]: one direction of a link: queue, then service, then the air, then the propagation delay.
//! * [`element`]: what cannot be known when a packet joins, as a state machine in time.
//! * [`scheduled`]: a direction whose queue ([`queue`]) decides on leaving, or removes from the middle.
//! * [`discipline`]: how do packets wait? First in, first out, or as a [`queue`] says.
//! * [`admission`]: may a packet join the queue?
//! * [`service`]: how long does it occupy the link? A constant rate, one by plan, or a recorded one.
//! * [`channel`]: does a transmission arrive intact?
//! * [`jitter`]: by how much is a packet late? [`steps`]: what changes by plan: rates, delays, losses.
//! * [`rlc`]: a direction whose link layer cuts, repeats and reorders by itself.
//! * [`harq`]: a direction of LTE or 5G NR: hybrid ARQ of transport blocks under RLC.
//! * [`fec`]: a direction whose packets an erasure code protects.
//! * [`wifi`]: two directions that share one medium.
//! * [`processing`]: a host's own delay, in front of its first link.
//! * [`change`]: what may be set while time passes; `changing`: a direction whose rate may be.
//! * [`across`]: what one direction of a link tells the other; [`counters`]: what is counted of PDUs.
//! * [`arq`]: what does the link layer do when it does not?
//! * [`Catalogue`]: every mechanism of these folders, by seam.
//!
//! What is absent: no clock. A link says at once when a packet will arrive or that it
//! will not, because nothing that comes later can change it; only elements wait.

pub mod across;
pub mod admission;
pub mod arq;
mod bucket;
pub mod change;
mod changing;
pub mod channel;
pub mod counters;
pub mod discipline;
pub mod element;
pub mod fec;
pub mod harq;
pub mod jitter;
pub mod link;
pub mod processing;
mod propagation;
pub mod queue;
mod rayleigh;
pub mod rlc;
pub mod scheduled;
pub mod service;
mod span;
pub mod steps;
mod store;
mod trouble;
pub mod wifi;

pub use change::{Change, Fixed, Setting};
pub use element::{Element, Output};
pub use link::{Catalogue, Config, Line, Link, Passage};
pub use processing::Processing;
pub use trouble::Trouble;
