//! A host with TCP sockets. The application identifies sockets by handles. The host reads and writes real IPv4 and IPv6
//! packets.
//!
//! The TCP endpoint is the endpoint of the simulator. The crate is for tests, and for programs that communicate with
//! other TCP implementations. The crate reads no clock, opens no device and starts no thread. Two callers drive a host:
//!
//! * The application calls [`Host::listen`], [`Host::connect`], [`Host::accept`], [`Host::send`], [`Host::recv`],
//!   [`Host::shutdown`], [`Host::close`], [`Host::abort`]. Calls that would block return [`Error::WouldBlock`].
//!   [`Host::readiness`] reports which calls would not block.
//! * The driver calls [`Host::handle_packet`] for each packet that arrives. The driver sends the packets that
//!   [`Host::poll_packet`] returns, until the result is `None`. The driver calls [`Host::handle_timeout`] at the time
//!   that [`Host::poll_timeout`] returns.
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
//! `examples/echo.rs` contains an echo server and a client of this server.
//!
//! # Modules
//! * [`host`]: the socket operations, lookup of sockets, timers, and the choice of the next packet to send.
//! * `connection`: an endpoint with its buffers, and handling of ICMP errors; `outgoing`: the send buffer; `incoming`:
//!   the receive buffer.
//! * `listener`: a listener and its connections that the application has not accepted yet.
//! * `secret_numbers`: initial sequence numbers and ephemeral ports, which an attacker must not be able to guess.
//! * [`info`]: state of a connection, as in Linux's `tcp_info`.
//! * [`options`]: options of sockets; [`error`]: errors of socket calls.
//!
//! # Not modelled
//! UDP, IP fragments, SYN cookies, urgent data and TCP Fast Open are not modelled. If the backlog is full, the host
//! drops SYNs. The host handles ICMP errors about TCP, but sends no ICMP messages and does not answer pings. A path MTU
//! reported by ICMP applies only to the connection that the error concerns, until that connection ends. The host does
//! not probe for a larger MTU (RFC 1191 §6.3).

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
