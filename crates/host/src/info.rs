//! State of a connection.

use crate::connection::Connection;
use lasthop_base::Duration;
use lasthop_tcp::State;
use lasthop_tcp::endpoint::Agreed;

/// State of a connection. The names are those of Linux's `tcp_info` where possible.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Info {
    /// Connection state.
    pub state: State,
    /// Options that both ends agreed on in the handshake.
    pub options: Agreed,
    /// Largest payload in bytes of a segment that this host sends. The peer's MSS, this host's MTU and MTUs reported by
    /// ICMP limit the payload. The bytes of the options that every segment has are subtracted. Before the handshake
    /// ends, the peer's MSS counts as unlimited.
    pub snd_mss: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Smoothed round-trip time, `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Mean deviation of the round-trip time.
    pub rttvar: Duration,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Bytes that are sent and not acknowledged.
    pub unacked_bytes: u64,
    /// Unacknowledged bytes that the peer has reported in SACK blocks.
    pub sacked_bytes: u64,
    /// Unacknowledged bytes that the sender has marked as lost.
    pub lost_bytes: u64,
    /// Number of retransmitted segments.
    pub total_retrans: u64,
    /// Number of later segments that must arrive before the sender marks a hole as lost (RFC 6675 §2, DupThresh).
    pub reordering: u32,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Bytes that have arrived at the peer, according to acknowledgements and SACK.
    pub delivered_bytes: u64,
    /// Bytes that arrived in order.
    pub bytes_received: u64,
    /// Bytes that the application has read.
    pub bytes_read: u64,
    /// Number of data segments sent, retransmissions included.
    pub data_segs_out: u64,
    /// Number of data segments received.
    pub data_segs_in: u64,
    /// Bytes that the application has written and the peer has not acknowledged, sent or not.
    pub notsent_and_unacked_bytes: u64,
    /// Bytes that the application has not read.
    pub unread_bytes: u64,
}

/// Number of duplicate ACKs after which a hole counts as lost (RFC 6675 §2).
const DUP_THRESH: u32 = 3;

impl Info {
    pub(crate) fn of(connection: &Connection) -> Info {
        let endpoint = &connection.endpoint;
        let (sender, counters) = (endpoint.sender(), endpoint.counters());
        let (scoreboard, rtt) = (sender.scoreboard(), sender.rtt());
        Info {
            state: endpoint.state(),
            options: *endpoint.agreed(),
            snd_mss: sender.segment(),
            cwnd_bytes: sender.window(),
            ssthresh_bytes: sender.ssthresh(),
            srtt: rtt.srtt(),
            rttvar: rtt.variation(),
            rto: rtt.rto(),
            unacked_bytes: scoreboard.outstanding(),
            sacked_bytes: scoreboard.sacked(),
            lost_bytes: scoreboard.lost(),
            total_retrans: counters.retransmitted,
            reordering: DUP_THRESH,
            timeouts: counters.timeouts,
            bytes_acked: scoreboard.una() - 1,
            delivered_bytes: scoreboard.una() - 1 + scoreboard.sacked(),
            bytes_received: endpoint.delivered(),
            bytes_read: connection.read_so_far(),
            data_segs_out: counters.data_sent,
            data_segs_in: counters.data_received,
            notsent_and_unacked_bytes: connection.unacknowledged() as u64,
            unread_bytes: connection.unread(),
        }
    }
}
