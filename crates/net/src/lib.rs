//! Path elements as pure state machines.
//!
//! * [`link`]: one direction of a link: queue, service, channel, propagation delay.
//! * [`element`]: a direction whose decisions depend on later events.
//! * [`scheduled`]: a direction with a [`queue`] that decides at dequeue or removes from the middle.
//! * [`discipline`]: queue discipline: first in, first out, or a [`queue`].
//! * [`admission`]: admission to the queue.
//! * [`service`]: service time: constant rate, planned rate or recorded rate.
//! * [`channel`]: losses over the air. [`arq`]: the link layer's retransmissions.
//! * [`jitter`]: random delay. [`steps`]: values that change by plan: rates, delays, losses.
//! * [`rlc`]: RLC acknowledged mode. [`harq`]: LTE or 5G NR, hybrid ARQ of transport blocks under RLC.
//! * [`fec`]: an erasure code over packets. [`wifi`]: directions that share one medium.
//! * [`processing`]: a host's processing delay, before its first link.
//! * [`change`]: run-time changes; `adjustable`: a direction whose rate may change at run time.
//! * [`peer_message`]: messages between the directions of a link; [`counters`]: counts of PDUs.
//! * [`Catalogue`]: all mechanisms, by seam.
//!
//! A link has no clock and returns a packet's fate at once, because no later event can change it; only elements wait.

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
pub mod wifi;

pub use change::{ChangeRefused, LinkChange, LinkSettings};
pub use element::{Element, Output};
pub use failures::TransmissionFailures;
pub use link::{Catalogue, Config, Link, LinkDirection, Passage};
pub use processing::Processing;
