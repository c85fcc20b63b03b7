//! What a connection knows of itself.

use crate::connection::Connection;
use lasthop_base::Duration;
use lasthop_tcp::State;
use lasthop_tcp::endpoint::Agreed;

/// A connection's state, under the names of Linux's `tcp_info` where it has one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Info {
    /// Connection state.
    pub state: State,
    /// The options that the handshake agreed on.
    pub options: Agreed,
    /// Payload of a full segment that this side sends, bytes: no more than the peer, this host's MTU and the path (as far
    /// as routers have spoken) take, less the options that every segment has. Before the handshake, what would be sent
    /// to a peer that takes as much.
    pub snd_mss: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Smoothed round-trip time, `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Bytes sent and not acknowledged.
    pub unacked_bytes: u64,
    /// Of these, bytes that SACK reported.
    pub sacked_bytes: u64,
    /// Of these, bytes that are held lost.
    pub lost_bytes: u64,
    /// Segments with data sent again, so far.
    pub total_retrans: u64,
    /// Segments behind a hole after which it counts as a loss (RFC 6675 §2, DupThresh).
    pub reordering: u32,
    /// Expiries of the retransmission timer, so far.
    pub timeouts: u64,
    /// Bytes that the peer has acknowledged, so far.
    pub bytes_acked: u64,
    /// Bytes that the peer holds, by acknowledgement or SACK, so far.
    pub delivered_bytes: u64,
    /// Bytes that arrived in order, so far.
    pub bytes_received: u64,
    /// Bytes that the application has read, so far.
    pub bytes_read: u64,
    /// Segments with data sent, retransmissions included, so far.
    pub data_segs_out: u64,
    /// Segments with data received, so far.
    pub data_segs_in: u64,
    /// Bytes written that the peer has not acknowledged.
    pub notsent_and_unacked_bytes: u64,
    /// Bytes that wait for the application.
    pub unread_bytes: u64,
}

/// Duplicates after which a hole is a loss (RFC 6675 §2).
const DUP_THRESH: u32 = 3;

impl Info {
    pub(crate) fn of(connection: &Connection) -> Info {
        let endpoint = &connection.endpoint;
        let (sender, counters) = (endpoint.sender(), endpoint.counters());
        let (board, rtt) = (sender.board(), sender.rtt());
        Info {
            state: endpoint.state(),
            options: *endpoint.agreed(),
            snd_mss: sender.segment(),
            cwnd_bytes: sender.window(),
            ssthresh_bytes: sender.ssthresh(),
            srtt: rtt.srtt(),
            rttvar: rtt.variation(),
            rto: rtt.rto(),
            unacked_bytes: board.outstanding(),
            sacked_bytes: board.sacked(),
            lost_bytes: board.lost(),
            total_retrans: counters.retransmitted,
            reordering: DUP_THRESH,
            timeouts: counters.timeouts,
            bytes_acked: board.una() - 1,
            delivered_bytes: board.una() - 1 + board.sacked(),
            bytes_received: endpoint.delivered(),
            bytes_read: connection.read_so_far(),
            data_segs_out: counters.data_sent,
            data_segs_in: counters.data_received,
            notsent_and_unacked_bytes: connection.unacknowledged() as u64,
            unread_bytes: connection.unread(),
        }
    }
}
