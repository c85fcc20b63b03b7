//! Links and their mechanisms, as state machines without clock or I/O.
//!
//! * [`link`]: one direction of a link, made of queue, service, channel and propagation delay.
//! * [`element`]: the trait of link directions whose decisions depend on later events.
//! * [`scheduled`]: a direction with a [`queue`] that drops packets at dequeue or from its middle.
//! * [`discipline`]: the queue discipline, either first in, first out, or a [`queue`].
//! * [`admission`]: admission to a first-in-first-out queue (drop-tail, RED).
//! * [`service`]: service time at a constant, planned or recorded rate.
//! * [`channel`]: losses over the air. [`arq`]: the link layer's retransmissions.
//! * [`jitter`]: random delay. [`steps`]: rates, delays and losses that change by plan.
//! * [`rlc`]: RLC acknowledged mode. [`harq`]: LTE and 5G NR, with hybrid ARQ of transport blocks under RLC.
//! * [`fec`]: an erasure code over packets. [`wifi`]: directions that share one medium.
//! * [`processing`]: a host's processing delay, before its first link.
//! * [`change`]: run-time changes. `adjustable`: a direction whose rate may change at run time.
//! * [`peer_message`]: messages between the directions of a link. [`counters`]: counts of PDUs.
//! * [`Catalogue`]: all mechanisms of a link, by kind (queue, channel, link layer, jitter).
//!
//! A [`Link`] returns a packet's arrival or loss when the packet enters, because no later event can change the result.
//! An [`Element`] outputs the arrival or loss later.

mod adjustable;
pub mod admission;
pub mod arq;
mod bucket;
pub mod change;
pub mod channel;
pub mod counters;
pub mod discipline;
pub mod element;
mod failures;
pub mod fec;
pub mod harq;
pub mod jitter;
pub mod link;
mod link_queue;
pub mod peer_message;
pub mod processing;
mod propagation;
pub mod queue;
mod rayleigh;
pub mod rlc;
pub mod scheduled;
pub mod service;
mod span;
pub mod steps;
#[cfg(test)]
mod testing;
pub mod wifi;

pub use change::{ChangeRefused, LinkChange, LinkSettings};
pub use element::{Element, Output};
pub use failures::TransmissionFailures;
pub use link::{Catalogue, Config, Link, LinkDirection, Passage};
pub use processing::Processing;

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();
