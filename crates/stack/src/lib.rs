//! Transport implementations of other projects as ends of a flow.
//!
//! * [`Stack`]: one end of a flow, without input and output of its own (sans-IO). A simulation passes datagrams and the
//!   time to the stack, and polls the stack for datagrams and for the next deadline.
//! * [`Guarded`]: a stack whose panic ends the stack's flow, but not the simulation.
//! * [`transport`]: the transports that scenarios can select. [`quic`]: QUIC stacks and their settings.
//!
//! A stack draws random numbers only from seeds that its constructor receives, and reads no clock. Equal calls
//! therefore give equal datagrams.

mod guarded;
pub mod quic;
pub mod transport;

pub use guarded::Guarded;

use lasthop_base::{Duration, Time};
use lasthop_wire::Ecn;
use std::io::Write;

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

/// Layer of a stack's datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layer {
    /// Payload of a UDP datagram (QUIC). A link carries 28 bytes of IPv4 and UDP headers in addition.
    Udp,
    /// An IP packet (a TCP/IP stack). A link carries the packet's bytes.
    Ip,
}

/// Properties of a datagram that a stack sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentDatagram {
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Whether the datagram carries data that was sent before; `None`: unknown. Only statistics use this value.
    pub is_retransmission: Option<bool>,
}

/// State of a sender. A value is `None` if the stack does not report it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Observed {
    /// Congestion window, bytes.
    pub cwnd: Option<u64>,
    /// Slow start threshold, bytes.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// Number of packets that the sender considers lost.
    pub lost: Option<u64>,
    /// Number of congestion events (reductions of the window).
    pub congestion_events: Option<u64>,
    /// Number of timeouts (PTO or RTO).
    pub timeouts: Option<u64>,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT.
    pub min_rtt: Option<Duration>,
}

/// One end of a flow.
///
/// The caller calls `handle_*` at an event of this end. After each such call, and after [`Stack::open`], the caller
/// calls [`Stack::read`], [`Stack::write`], then [`Stack::poll_datagram`] until the result is `None`, and finally
/// [`Stack::poll_timeout`]. The caller calls a stack at no other time. Times never decrease.
///
/// Payload has no content of its own: an application writes a number of bytes, and the stack chooses the values of
/// these bytes.
pub trait Stack: Send {
    /// Layer of the datagrams.
    fn layer(&self) -> Layer;

    /// Begins a connection. The opposite end has listened from the start of the run.
    fn open(&mut self, now: Time);

    /// Handles a datagram that has arrived undamaged. `ecn` is the ECN field on arrival.
    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn);

    /// Handles the expiry of the deadline of [`Stack::poll_timeout`].
    fn handle_timeout(&mut self, now: Time);

    /// Writes the next datagram to `datagram`, which is empty. Returns `None` if the stack has nothing to send.
    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram>;

    /// Returns the time at which the stack must be called if no datagram arrives; [`Time::NEVER`]: no deadline.
    fn poll_timeout(&mut self, now: Time) -> Time;

    /// Accepts data of the application, up to `bytes`. Returns the number of bytes accepted.
    fn write(&mut self, now: Time, bytes: u64) -> u64;

    /// Ends the application's data. The application writes no data after this call. Without data, the call may precede the
    /// end of the handshake.
    fn finish(&mut self, now: Time);

    /// Reads all data that has arrived in order. Returns the number of bytes.
    fn read(&mut self, now: Time) -> u64;

    /// Returns whether the peer's data has ended and all of this data was read.
    fn is_at_end(&self) -> bool;

    /// Returns the state of the sender.
    fn observe(&self) -> Observed {
        Observed::default()
    }

    /// Passes a writer for the stack's own log, before the first call of any other method. Returns false if the stack has
    /// no log. A log depends on nothing but the calls of the stack.
    fn write_log(&mut self, writer: Box<dyn Write + Send + Sync>) -> bool {
        let _ = writer;
        false
    }

    /// Returns the reason why the connection cannot continue, such as a protocol error; `None` while the connection can
    /// continue.
    fn failure(&self) -> Option<String> {
        None
    }
}
