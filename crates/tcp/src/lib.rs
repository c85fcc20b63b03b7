//! TCP as a pure state machine: segments and times in, segments and deadlines out.
//!
//! An [`Endpoint`] is one end of one connection. The program that drives the endpoint (the driver) supplies the clock
//! and the wire:
//!
//! 1. Call [`Endpoint::open`], then [`Endpoint::write`] and [`Endpoint::close`] at any time.
//! 2. Call [`Endpoint::poll_segment`] until the result is `None`, and send each returned segment at once.
//! 3. Call [`Endpoint::handle_segment`] when a segment arrives, and [`Endpoint::handle_timeout`] at the time that
//!    [`Endpoint::poll_timeout`] returns. Then repeat step 2.
//!
//! ```
//! use lasthop_base::{Choice, Duration, Stream, Time};
//! use lasthop_tcp::sender::congestion;
//! use lasthop_tcp::{Arriving, Config, Endpoint, Role, State};
//! use lasthop_wire::Seq;
//!
//! let config = Config { congestion: Choice::named(congestion::ALL, "cubic"), ..Config::default() };
//! let mut client = Endpoint::new(config.clone(), Role::Active, Seq(7), Stream::named(1, "client"));
//! let mut server = Endpoint::new(config, Role::Passive, Seq(9), Stream::named(1, "server"));
//! let mut now = Time::ZERO;
//! client.open(now);
//! server.open(now);
//! client.write(5_000);
//! for _ in 0..4 {
//!     now += Duration::from_millis(10);
//!     while let Some(sending) = client.poll_segment(now) {
//!         server.handle_segment(now, &sending.segment, &Arriving::default());
//!     }
//!     while let Some(sending) = server.poll_segment(now) {
//!         client.handle_segment(now, &sending.segment, &Arriving::default());
//!     }
//! }
//! assert_eq!((client.state(), server.delivered()), (State::Established, 5_000));
//! ```
//!
//! `examples/two_endpoints.rs` is a complete driver with losses, deadlines and closing. The crate `lasthop-host` adds
//! sockets, bytes and real packets.
//!
//! # Modules
//! A *seam* is a trait that several mechanisms implement. The configuration selects one mechanism for each seam.
//!
//! * [`endpoint`]: handshake, teardown, and the order of outgoing segments.
//! * [`config`]: configuration of an endpoint, and a list of the mechanisms of each seam. [`profile`]: defaults of
//!   existing TCP implementations, such as Linux, that scenarios can select.
//! * [`sender`]: outstanding data and permission to send. Its seams are [`sender::recovery`] (loss detection and
//!   retransmission), [`sender::reduction`] (window reduction during recovery), [`sender::slow_start`] (end of slow
//!   start), [`sender::congestion`] (congestion window), [`sender::ack_counting`] (ACK counting: window growth per
//!   ACK), and [`sender::loss_discrimination`] (cause of a repaired loss: congestion or the wireless link).
//! * [`receiver`]: reassembly and acknowledgement. Its seams are [`receiver::ack_policy`] (ACK policy),
//!   [`receiver::ack_splitting`] (ACK splitting), [`receiver::ecn_echo`] (ECN echo), [`receiver::window`] (advertised
//!   window), [`receiver::loss_discrimination`] (cause of a gap: congestion or the wireless link), and
//!   [`receiver::window_estimate`] (estimate of the RTT and of the sender's window).
//! * [`event`]: events and counters of a connection. [`notice`]: reports that the driver passes to an endpoint apart
//!   from segments, such as a loss at the link layer.
//!
//! # Not modelled
//! An endpoint has no clock, no socket and no payload bytes. Stream offsets are absolute and 64 bits wide. Only
//! `endpoint` converts between these offsets and the 32-bit sequence numbers of segments.

pub mod config;
pub mod endpoint;
pub mod event;
pub mod notice;
pub mod profile;
pub mod ranges;
pub mod receiver;
pub mod rtt;
pub mod sender;

pub use config::{Catalogue, Config};
pub use endpoint::{Arriving, Endpoint, Role, State};
pub use event::{Counters, Event};
pub use notice::{Notice, WantedNotices};
pub use ranges::Range;

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();
