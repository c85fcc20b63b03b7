//! The event loop.
//!
//! * [`engine`]: flows, endpoints, links and the event loop.
//! * [`pipe`]: one direction of a link and its packets.
//! * [`node`]: nodes with a middlebox.
//! * [`event_queue`]: the event queue: a tournament tree of pipes, and lazy timers.
//! * [`flow`]: TCP connections and datagram sources, and their totals.
//! * [`application`]: requests and responses, and sources that pause.
//! * [`fairness`]: fair shares of concurrent flows.
//! * [`delay_statistics`]: link delay statistics.
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
pub mod application;
pub mod delay_statistics;
pub mod engine;
pub mod event_queue;
pub mod external;
pub mod fairness;
pub mod flow;
pub mod node;
pub mod observer;
pub mod pipe;
mod ring;
mod routes;
#[cfg(test)]
mod sizes;
pub mod stuck;

pub use application::{Application, Exchange, Exchanges, Pauses};
pub use delay_statistics::DelayStatistics;
pub use engine::{Engine, ReleasedConnection};
pub use external::{Departure, ExternalCopy, ExternalPacket};
pub use fairness::ConcurrentShare;
pub use flow::{Datagrams, DiscriminationAccuracy, FlowAccount, FlowSide, FlowSpec, NoEndpoint, Traffic};
pub use lasthop_net::{ChangeRefused, LinkChange, LinkSettings};
pub use node::{NodeAccount, NodeId};
pub use observer::{Fate, MiddleboxAction, Observer};
pub use pipe::{PipeAccount, PipeId};
pub use stuck::{EventSource, Stuck};
