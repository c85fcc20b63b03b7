//! Options of a socket. The application passes the options to [`crate::Host::connect`] or [`crate::Host::listen`].

use lasthop_base::{Choice, Value};
use lasthop_tcp::Config;
use lasthop_tcp::receiver::window;
use lasthop_wire::bytes::Header;

/// Options of a socket. The options of a listener apply to each connection that a SYN to the listener opens.
#[derive(Clone, Debug)]
pub struct Options {
    /// Configuration of the endpoint: mechanisms, timers, SACK, timestamps, ECN, Nagle's algorithm. `nagle: false`
    /// corresponds to `TCP_NODELAY`.
    ///
    /// [`Config::segment`] is an upper limit of the segment size. The host's MTU and [`Options::mss`] may reduce the
    /// segment size further.
    pub tcp: Config,
    /// `TCP_MAXSEG`: largest MSS that the host advertises, bytes, at least 64.
    pub mss: Option<u16>,
    /// `SO_SNDBUF`: size of the send buffer, bytes, at least 1. The buffer stores bytes that the application has
    /// written and that the peer has not acknowledged.
    pub send_buffer: usize,
    /// `SO_RCVBUF`: size of the receive buffer, from 1 byte to 1 GiB. The buffer stores bytes that the application has
    /// not read. If `None`, the mechanism `window` of the endpoint's configuration determines the size.
    pub receive_buffer: Option<u64>,
    /// Differentiated services code point, 0 to 63: `IP_TOS` without the ECN bits.
    pub dscp: u8,
    /// `IP_TTL`, or the hop limit of IPv6, hops: 1 to 255, by default 64 (RFC 9293 MUST-49).
    pub ttl: u8,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tcp: Config { segment: u32::from(u16::MAX), validates_window: true, ..Config::default() },
            mss: None,
            send_buffer: 1 << 20,
            receive_buffer: None,
            dscp: 0,
            ttl: Header::TTL,
        }
    }
}

impl Options {
    /// Smallest MSS that an application may set, bytes. Attackers use smaller values for denial of service
    /// (CVE-2019-11479).
    pub const SMALLEST_MSS: u16 = 64;

    /// Whether every option is in its range.
    pub fn are_valid(&self) -> bool {
        self.mss.is_none_or(|mss| mss >= Options::SMALLEST_MSS)
            && self.send_buffer > 0
            && self.receive_buffer.is_none_or(|size| (1..=1 << 30).contains(&size))
            && self.dscp < 64
            && self.ttl > 0
    }

    /// Returns the endpoint's configuration. `room` is the space of a packet for payload and TCP options, bytes.
    pub(crate) fn config(&self, room: u32) -> Config {
        let mut config = self.tcp.clone();
        let announced = self.mss.map_or(room, |mss| room.min(u32::from(mss)));
        let stamps = if config.timestamps { TIMESTAMP_BYTES } else { 0 };
        config.segment = config.segment.min(announced.saturating_sub(stamps)).max(1);
        if let Some(size) = self.receive_buffer {
            let mut buffer = Choice::named(window::ALL, "buffer");
            buffer.values.set("size", Value::Bytes(size));
            config.window = buffer;
        }
        config
    }
}

/// Length of the timestamps option with padding, bytes (RFC 7323 appendix A).
const TIMESTAMP_BYTES: u32 = 12;
