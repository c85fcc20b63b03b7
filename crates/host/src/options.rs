//! Options of a socket before it connects or listens.

use lasthop_base::{Choice, Value};
use lasthop_tcp::Config;
use lasthop_tcp::receiver::window;
use lasthop_wire::bytes::Header;

/// Options of a socket. A listener's apply to the connections that it accepts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Configuration of the endpoint: mechanisms, timers, SACK, timestamps, ECN, Nagle (`TCP_NODELAY` is `nagle:
    /// false`).
    ///
    /// [`Config::segment`] is an upper limit: the host's MTU and [`Options::mss`] may lower it.
    pub tcp: Config,
    /// `TCP_MAXSEG`: largest MSS to announce, bytes, at least 64.
    pub mss: Option<u16>,
    /// `SO_SNDBUF`: most written bytes that the peer has not acknowledged, at least 1.
    pub send_buffer: usize,
    /// `SO_RCVBUF`: most unread bytes, 1 to 1 GiB; `None`: the size of the advertised window's mechanism.
    pub receive_buffer: Option<u64>,
    /// `IP_TOS` without its ECN bits: the differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// `IP_TTL`, over IPv6 the hop limit: 1 to 255, 64 unless set (RFC 9293 MUST-49).
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
    /// Smallest MSS allowed, bytes; smaller values serve attacks (CVE-2019-11479).
    pub const SMALLEST_MSS: u16 = 64;

    /// Whether every option is in its range.
    pub fn are_valid(&self) -> bool {
        self.mss.is_none_or(|mss| mss >= Options::SMALLEST_MSS)
            && self.send_buffer > 0
            && self.receive_buffer.is_none_or(|size| (1..=1 << 30).contains(&size))
            && self.dscp < 64
            && self.ttl > 0
    }

    /// The endpoint's configuration for packets with `room` bytes of payload and TCP options.
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
