//! The simulation engine: the event loop, and the flows, links and nodes that cause events.
//!
//! * [`engine`]: flows, endpoints, links and the event loop.
//! * [`pipe`]: one direction of a link and its packets.
//! * [`node`]: nodes with a middlebox.
//! * [`event_queue`]: the event queue. One tournament tree holds the next event of each pipe, another tree holds the
//!   timers.
//! * [`flow`]: TCP connections and datagram sources, and their totals.
//! * [`application`]: applications with requests and responses, and sources that alternate between sending and silence.
//! * [`fairness`]: fair shares of concurrent flows.
//! * [`delay_statistics`]: link delay statistics.
//! * [`stuck`]: detection of runs whose time does not advance.
//! * [`observer`]: the interface through which traces and captures receive events.
//! * [`external`]: packets of real traffic.
//!
//! The order of events depends only on their times and on the indices of pipes and timers. At the same instant, pipe
//! events precede timers, and lower indices precede higher ones.
//!
//! # Fused hops
//! A FIFO link can compute a packet's arrival time as soon as the packet enters the link. If all packets of a link come
//! from one other link, the engine therefore moves a packet over the two links in one event. With an observer, hops are
//! not fused, so that the observer receives all hops in order of time. A test verifies that fused hops do not change
//! the results.

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
pub mod stack_flow;
pub mod stuck;

pub use application::{Application, Exchange, Exchanges, Pauses};
pub use delay_statistics::DelayStatistics;
pub use engine::{Engine, ReleasedConnection, RequestRefused};
pub use external::{Departure, ExternalCopy, ExternalPacket};
pub use fairness::ConcurrentShare;
pub use flow::{Datagrams, DiscriminationAccuracy, FlowAccount, FlowSide, FlowSpec, NoEndpoint, Traffic};
pub use lasthop_net::discipline::Discipline;
pub use lasthop_net::{ChangeRefused, LinkChange, LinkSettings};
pub use node::{NodeAccount, NodeId};
pub use observer::{Fate, MiddleboxAction, Observer};
pub use pipe::{PipeAccount, PipeId};
pub use stack_flow::StackFlow;
pub use stuck::{EventSource, Stuck};

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();
