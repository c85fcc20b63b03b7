//! TCP as a pure state machine: segments and times in, segments and deadlines out.
//!
//! An [`Endpoint`] is one end of one connection. Whoever has a clock and a wire drives it:
//!
//! 1. [`Endpoint::open`], then [`Endpoint::write`] and [`Endpoint::close`] as the application likes;
//! 2. [`Endpoint::poll_segment`] until `None`: what is to leave now;
//! 3. [`Endpoint::handle_segment`] for what arrives, [`Endpoint::handle_timeout`] at [`Endpoint::poll_timeout`]; then 2.
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
//! A whole driver, with losses, deadlines and the end of a connection, is `examples/two_endpoints.rs`. Sockets with bytes
//! and real packets are `lasthop-host`.
//!
//! # Where to look
//! * [`endpoint`]: the only place that knows both halves: handshake, teardown, what goes out next.
//! * [`config`]: parts of an endpoint, and every mechanism for them, by seam; [`profile`]: whole TCPs, as defaults of a
//!   scenario.
//! * [`sender`]: what is outstanding and what may be sent; its seams:
//!   [`sender::recovery`] (what was lost, what goes again), [`sender::reduction`] (how the window comes down meanwhile),
//!   [`sender::slow_start`] (what ends it), [`sender::congestion`] (how large the window is), [`sender::counting`] (what an ACK is worth),
//!   [`sender::judge`] (was a loss congestion, after all?).
//! * [`receiver`]: what arrived and how it is acknowledged; its seams:
//!   [`receiver::timing`] (when), [`receiver::shape`] (in how many pieces), [`receiver::echo`] (how is a mark echoed?),
//!   [`receiver::window`] (how much may come), [`receiver::cause`] (why was it lost?),
//!   [`receiver::estimate`] (what the receiver knows of the path).
//! * [`event`]: what can be told of a connection, and counters; [`notice`]: what a driver knows and no segment says.
//!
//! # What is absent
//! No clock, no socket, no payload bytes. A stream is counted in absolute 64-bit offsets; the 32-bit numbers of the wire
//! appear in `endpoint` only.

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
pub use notice::{Notice, Wants};
pub use ranges::Range;
