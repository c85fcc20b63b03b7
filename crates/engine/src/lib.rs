//! The event loop: what happens next, and whom it concerns.
//!
//! * [`engine`]: flows, their endpoints, the links between them, and the loop.
//! * [`pipe`]: one direction of a link with the packets on it.
//! * [`node`]: where pipes meet, and a middlebox may stand.
//! * [`agenda`]: which pipe or timer is next; a tournament for pipes, lazy timers apart.
//! * [`flow`]: a TCP connection or a datagram source, and its accounts.
//! * [`application`]: requests and responses, and sources that pause, on a connection.
//! * [`together`]: how flows share that are alive together.
//! * [`waits`]: how long packets took on a pipe.
//! * [`stuck`]: a run whose time stands still.
//! * [`observer`]: what a trace or a capture is told.
//! * [`external`]: packets of real traffic on their way through.
//!
//! An order of events that depends on nothing but times and numbers: at the same
//! instant pipes go before timers, lower numbers before higher ones.
//!
//! # Hops are fused
//! A packet's passage over a first-in-first-out link is known when it joins. Where
//! a link is fed by a single other one, the packet is taken through both at once, and
//! one event per direction is left. An observer sees every hop in the order of time
//! (fusing is off then); the results are the same, which a test shows.

mod account;
pub mod agenda;
pub mod application;
pub mod engine;
pub mod external;
pub mod flow;
pub mod node;
pub mod observer;
pub mod pipe;
mod ring;
mod routes;
#[cfg(test)]
mod sizes;
pub mod stuck;
pub mod together;
pub mod waits;

pub use application::{Application, Exchange, Exchanges, Pauses};
pub use engine::{Engine, Over};
pub use external::{Copied, Entering, Left};
pub use flow::{Accuracy, Datagrams, Flow, FlowAccount, Side, Traffic, Unanswered};
pub use lasthop_net::{Change, Fixed, Setting};
pub use node::{NodeAccount, NodeId};
pub use observer::{Deed, Fate, Observer};
pub use pipe::{PipeAccount, PipeId};
pub use stuck::{Source, Stuck};
pub use together::Share;
pub use waits::Waits;
