//! What a socket can be told before it is connected or listens.

use lasthop_base::{Choice, Value};
use lasthop_tcp::Config;
use lasthop_tcp::receiver::window;
use lasthop_wire::bytes::Header;

/// Options of a socket. A listener's are those of the connections that it accepts.
#[derive(Clone, Debug)]
pub struct Options {
    /// The endpoint's own: mechanisms, timers, SACK, timestamps, ECN, Nagle (`TCP_NODELAY` is `nagle: false`).
    ///
    /// [`Config::segment`] is a limit here: the host's MTU and [`Options::mss`] may lower it.
    pub tcp: Config,
    /// `TCP_MAXSEG`: announce no more than this, bytes, whatever the MTU allows; 64 at least.
    pub mss: Option<u16>,
    /// `SO_SNDBUF`: bytes written that the peer has not acknowledged, at least 1.
    pub send_buffer: usize,
    /// `SO_RCVBUF`: bytes that arrive without being read, 1 to 1 GiB; `None`: the size that the advertised window's
    /// mechanism has.
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
    /// The smallest MSS that can be asked for, bytes: smaller ones only serve attacks (CVE-2019-11479).
    pub const SMALLEST_MSS: u16 = 64;

    /// Whether every option is in its range.
    pub fn are_valid(&self) -> bool {
        self.mss.is_none_or(|mss| mss >= Options::SMALLEST_MSS)
            && self.send_buffer > 0
            && self.receive_buffer.is_none_or(|size| (1..=1 << 30).contains(&size))
            && self.dscp < 64
            && self.ttl > 0
    }

    /// The endpoint's configuration when a packet's payload, TCP options included, may have `room` bytes.
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

/// Bytes of the timestamps option with its padding (RFC 7323 appendix A).
const TIMESTAMP_BYTES: u32 = 12;
