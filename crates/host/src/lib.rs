//! A host: TCP sockets by handle, real IPv4 and IPv6 packets in and out.
//!
//! The same endpoint that the simulator runs, for tests and programs that speak to other stacks. Nothing here reads a
//! clock, opens a device or starts a thread:
//!
//! * the application calls [`Host::listen`], [`Host::connect`], [`Host::accept`], [`Host::send`], [`Host::recv`],
//!   [`Host::shutdown`], [`Host::close`], [`Host::abort`]; nothing blocks: what cannot be done yet is
//!   [`Error::WouldBlock`], and [`Host::readiness`] says when it can;
//! * the driver calls [`Host::handle_packet`] for what arrived, [`Host::poll_packet`] until `None` for what is to
//!   leave, and [`Host::handle_timeout`] at [`Host::poll_timeout`].
//!
//! ```
//! use lasthop_base::{Duration, Time};
//! use lasthop_host::{Host, Options};
//! use std::net::SocketAddr;
//!
//! let [here, there]: [SocketAddr; 2] = ["10.0.0.1:0", "10.0.0.2:80"].map(|text| text.parse().expect("an address"));
//! let (mut client, mut server) =
//!     (Host::new(&[here.ip()], 1500, [1; 16]), Host::new(&[there.ip()], 1500, [2; 16]));
//! let mut now = Time::ZERO;
//! let listener = server.listen(there, 8, &Options::default())?;
//! let socket = client.connect(now, None, there, &Options::default())?;
//! for _ in 0..3 {
//!     now += Duration::from_millis(10);
//!     while let Some(packet) = client.poll_packet(now) {
//!         server.handle_packet(now, packet);
//!     }
//!     while let Some(packet) = server.poll_packet(now) {
//!         client.handle_packet(now, packet);
//!     }
//! }
//! let (accepted, from) = server.accept(listener)?;
//! assert_eq!(from.ip(), here.ip());
//! assert_eq!(client.send(socket, b"hello")?, 5);
//! # let _ = accepted;
//! # Ok::<(), lasthop_host::Error>(())
//! ```
//!
//! A server that answers, and a client that asks it, are `examples/echo.rs`.
//!
//! # Where to look
//! * [`host`]: what applications ask for; which socket a packet belongs to, timers, what leaves next.
//! * `connection`: an endpoint with its bytes, and what routers say of its packets; `outgoing` and `incoming`: its two buffers.
//! * `listener`: connections that wait to be accepted.
//! * `numbers`: initial sequence numbers and ephemeral ports.
//! * [`info`]: what a connection knows of itself, as Linux's `tcp_info`.
//! * [`options`], [`error`]: what a socket can be told, and what it answers.
//!
//! # What is absent
//! No UDP, no fragments, no SYN cookies: a full backlog ignores SYNs until a place is free. No urgent data, no TCP Fast
//! Open. ICMP errors about TCP are heard, no ICMP is sent, and pings are not answered. What a router says of the path's
//! MTU holds for the connection that it spoke of, to its end: other connections learn it themselves, and nobody tries
//! whether the path takes more by now (RFC 1191 §6.3).

pub mod error;
pub mod host;
pub mod info;
pub mod options;

mod connection;
mod incoming;
mod listener;
mod numbers;
mod outgoing;

pub use error::Error;
pub use host::{Handle, Host, Readiness};
pub use info::Info;
pub use options::Options;
