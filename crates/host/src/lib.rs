//! A host: TCP sockets by handle, real IPv4 and IPv6 packets in and out.
//!
//! The endpoint is the simulator's. The crate serves tests and programs that talk to other stacks. It reads no clock,
//! opens no device and starts no thread:
//!
//! * the application calls [`Host::listen`], [`Host::connect`], [`Host::accept`], [`Host::send`], [`Host::recv`],
//!   [`Host::shutdown`], [`Host::close`], [`Host::abort`]; calls that would block return [`Error::WouldBlock`], and
//!   [`Host::readiness`] reports when they are possible;
//! * the driver calls [`Host::handle_packet`] for each arriving packet, [`Host::poll_packet`] until `None` for packets
//!   to send, and [`Host::handle_timeout`] at [`Host::poll_timeout`].
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
//! `examples/echo.rs` has an echo server and its client.
//!
//! # Modules
//! * [`host`]: the operations, lookup of sockets, timers, choice of the next packet.
//! * `connection`: an endpoint with its bytes, and ICMP errors; `outgoing` and `incoming`: its buffers.
//! * `listener`: connections that wait to be accepted.
//! * `secret_numbers`: initial sequence numbers and ephemeral ports.
//! * [`info`]: state of a connection, as Linux's `tcp_info`.
//! * [`options`], [`error`]: options and errors of sockets.
//!
//! # Not modelled
//! UDP, fragments, SYN cookies (a full backlog ignores SYNs), urgent data, TCP Fast Open. ICMP errors about TCP are
//! handled; the host sends no ICMP and answers no pings. A path MTU from ICMP applies to its own connection only, until
//! its end; the host does not probe for a larger MTU (RFC 1191 §6.3).

pub mod error;
pub mod host;
pub mod info;
pub mod options;

mod connection;
mod incoming;
mod listener;
mod outgoing;
mod secret_numbers;

pub use error::Error;
pub use host::{Handle, Host, Readiness};
pub use info::Info;
pub use options::Options;
