//! State of a connection.

use crate::connection::Connection;
use lasthop_base::Duration;
use lasthop_tcp::State;
use lasthop_tcp::endpoint::Agreed;

/// State of a connection; names as in Linux's `tcp_info` where possible.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Info {
    /// Connection state.
    pub state: State,
    /// Options agreed in the handshake.
    pub options: Agreed,
    /// Payload of a full segment sent, bytes, limited by the peer, this host's MTU and ICMP, without the options of
    /// every segment. Before the handshake: with a peer that sets no limit.
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
    /// Bytes sent and not acknowledged.
    pub unacked_bytes: u64,
    /// Unacknowledged bytes that SACK reported.
    pub sacked_bytes: u64,
    /// Unacknowledged bytes that are marked lost.
    pub lost_bytes: u64,
    /// Segments retransmitted.
    pub total_retrans: u64,
    /// Segments after a hole that mark it lost (RFC 6675 §2, DupThresh).
    pub reordering: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Bytes that the peer has, by acknowledgement or SACK.
    pub delivered_bytes: u64,
    /// Bytes that arrived in order.
    pub bytes_received: u64,
    /// Bytes that the application has read.
    pub bytes_read: u64,
    /// Data segments sent, retransmissions included.
    pub data_segs_out: u64,
    /// Data segments received.
    pub data_segs_in: u64,
    /// Bytes written that the peer has not acknowledged.
    pub notsent_and_unacked_bytes: u64,
    /// Bytes that the application has not read.
    pub unread_bytes: u64,
}

/// Duplicate ACKs that mark a hole lost (RFC 6675 §2).
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
