//! The event loop.
//!
//! * [`engine`]: flows, endpoints, links and the event loop.
//! * [`pipe`]: one direction of a link and its packets.
//! * [`node`]: nodes with a middlebox.
//! * [`agenda`]: the event queue: a tournament tree of pipes, and lazy timers.
//! * [`flow`]: TCP connections and datagram sources, and their totals.
//! * [`application`]: requests and responses, and sources that pause.
//! * [`together`]: fair shares of concurrent flows.
//! * [`waits`]: link delay statistics.
//! * [`stuck`]: detection of runs whose time does not advance.
//! * [`observer`]: the interface of traces and captures.
//! * [`external`]: packets of real traffic.
//!
//! The order of events depends only on times and numbers: at the same instant, pipes precede timers, and lower numbers
//! precede higher ones.
//!
//! # Fused hops
//! A FIFO link knows a packet's departure when the packet joins. If all packets of a link come from one other link, a
//! packet passes both in one event. An observer turns fusing off, to see every hop in order of time; the results are
//! the same, as a test shows.

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
pub use lasthop_net::{ChangeRefused, LinkChange, LinkSettings};
pub use node::{NodeAccount, NodeId};
pub use observer::{Deed, Fate, Observer};
pub use pipe::{PipeAccount, PipeId};
pub use stuck::{Source, Stuck};
pub use together::Share;
pub use waits::Waits;
