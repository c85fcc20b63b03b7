//! State of a connection.

use crate::connection::Connection;
use lasthop_base::Duration;
use lasthop_tcp::State;
use lasthop_tcp::endpoint::Agreed;

/// State of a connection. The fields have the names of Linux's `tcp_info` where possible.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Info {
    /// State of the TCP state machine (RFC 9293 §3.3.2).
    pub state: State,
    /// Options that the two ends negotiated in the handshake.
    pub options: Agreed,
    /// Largest payload of a segment that this host sends, bytes. The limits are the peer's MSS, this host's MTU and
    /// MTUs reported by ICMP, less the options that every segment has. Before the end of the handshake, the peer's MSS
    /// does not limit the payload.
    pub snd_mss: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Smoothed round-trip time. `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Mean deviation of the round-trip time (RTTVAR, RFC 6298).
    pub rttvar: Duration,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Sent bytes that the peer has not acknowledged.
    pub unacked_bytes: u64,
    /// Unacknowledged bytes that the peer has reported in SACK blocks.
    pub sacked_bytes: u64,
    /// Unacknowledged bytes that the sender has marked as lost.
    pub lost_bytes: u64,
    /// Number of retransmitted segments.
    pub total_retrans: u64,
    /// DupThresh (RFC 6675 §2): number of later segments that must arrive before the sender marks a hole as lost.
    pub reordering: u32,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Bytes that have arrived at the peer, according to cumulative ACKs and SACK blocks.
    pub delivered_bytes: u64,
    /// Bytes of the peer's stream that have arrived in order.
    pub bytes_received: u64,
    /// Bytes that the application has read.
    pub bytes_read: u64,
    /// Number of data segments sent, retransmissions included.
    pub data_segs_out: u64,
    /// Number of data segments received.
    pub data_segs_in: u64,
    /// Bytes that the application has written and that the peer has not acknowledged. Includes bytes that are not sent
    /// yet.
    pub notsent_and_unacked_bytes: u64,
    /// Bytes that the application can read now.
    pub unread_bytes: u64,
}

/// Number of duplicate ACKs after which the sender marks a hole as lost (RFC 6675 §2).
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
