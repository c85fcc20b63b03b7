//! TCP as a pure state machine: segments and times in, segments and deadlines out.
//!
//! Where to look:
//! * [`endpoint`]: the only place that knows both halves: handshake, teardown, what goes out next.
//! * [`sender`]: what is outstanding and what may be sent; its strategies:
//!   [`sender::counting`] (what an ACK is worth), [`sender::recovery`] (what was lost,
//!   what goes again), [`sender::congestion`] (how large the window is),
//!   [`sender::judge`] (was a loss congestion, after all?).
//! * [`receiver`]: what arrived and how it is acknowledged; its strategies:
//!   [`receiver::timing`] (when), [`receiver::shape`] (in how many pieces),
//!   [`receiver::window`] (how much may come), [`receiver::cause`] (why was it lost?),
//!   [`receiver::estimate`] (what the receiver knows of the path).
//! * [`notice`]: what a driver knows and no segment says.
//! * [`catalogue`]: every mechanism of these folders, by seam.
//!
//! What is absent: no clock, no socket, no payload bytes. A stream is counted in
//! absolute 64-bit offsets; the 32-bit numbers of the wire appear in `endpoint` only.

pub mod catalogue;
pub mod config;
pub mod endpoint;
pub mod event;
pub mod notice;
pub mod ranges;
pub mod receiver;
pub mod rtt;
pub mod sender;

pub use catalogue::Catalogue;
pub use config::Config;
pub use endpoint::{Arriving, Endpoint, Role, State};
pub use event::{Counters, Event};
pub use notice::{Notice, Wants};
pub use ranges::Range;
