//! Window validation: cwnd does not grow while the application or the receiver's window, not cwnd, limits the sender.
//!
//! The use of cwnd is measured over a round trip. FlightSize at one instant would mislead, because it falls with each
//! burst of ACKs although the sender had filled cwnd. If the sender has filled cwnd, cwnd may grow until a whole window
//! of data is sent without filling cwnd. Otherwise one of two rules applies:
//!
//! * RFC 7661: cwnd may grow ("is validated") while pipeACK is at least half of cwnd (§4.3), and during the first round
//!   trip. pipeACK is the largest number of bytes acknowledged in a round trip (§4.2). A sample expires after max(3
//!   RTT, 1 s), unless a larger sample replaces it.
//! * Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`): in slow start cwnd grows while it is less than twice the
//!   largest number of bytes outstanding within a window of data (`max_packets_out`).
//!
//! # Not modelled
//! RFC 7661: the smaller cwnd after a loss in the non-validated phase (§4.4.1), and the end of this phase after five
//! minutes (§4.4.3). Linux: the decay of an unused cwnd (`tcp_cwnd_application_limited`), and counts in packets.

use super::scoreboard::Scoreboard;
use super::window::CongestionWindow;
use crate::config::Config;
use crate::rtt::RttEstimator;
use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    max_outstanding: MaxOutstanding,
    /// pipeACK for the rule of RFC 7661. `None`: Linux's rule applies.
    pipe_ack: Option<PipeAck>,
}

impl Usage {
    /// Returns `None` if the configuration turns window validation off.
    pub(super) fn new(config: &Config) -> Option<Box<Usage>> {
        let pipe_ack = (!config.validates_as_linux).then(PipeAck::default);
        config
            .validates_window
            .then(|| Box::new(Usage { max_outstanding: MaxOutstanding::default(), pipe_ack }))
    }

    /// Whether the sender has not used enough of cwnd, so that this ACK must not increase cwnd. `acked`: bytes that the
    /// ACK newly acknowledges, already removed from `scoreboard`; `full`: payload of a full segment, bytes.
    pub(super) fn leaves_unused(
        &mut self,
        now: Time,
        acked: u64,
        full: u64,
        rtt: &RttEstimator,
        scoreboard: &Scoreboard,
        window: &CongestionWindow,
    ) -> bool {
        let (una, nxt, cwnd) = (scoreboard.una(), scoreboard.nxt(), window.bytes());
        let before = una - acked;
        self.max_outstanding.update(before, nxt, nxt - before + full > cwnd);
        let is_used = match &mut self.pipe_ack {
            Some(pipe_ack) => {
                let period = || rtt.srtt().map_or(SHORTEST_PERIOD, |srtt| SHORTEST_PERIOD.max(srtt * 3));
                pipe_ack.update(now, before, una, nxt, period);
                self.max_outstanding.full || pipe_ack.is_half_of(cwnd)
            }
            None => self.max_outstanding.uses(cwnd, window.control().ssthresh()),
        };
        !is_used
    }
}

/// pipeACK (RFC 7661 §4.2): largest number of bytes acknowledged in a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PipeAck {
    /// The largest sample in bytes, and its time; `None` while pipeACK is undefined.
    most: Option<(u64, Time)>,
    /// Offset of the first byte of this round trip's data.
    from: u64,
    /// Offset after the last byte of this round trip's data.
    until: u64,
}

impl PipeAck {
    /// Updates pipeACK for an ACK that advances from `before` to `una`. `nxt`: next byte to send; `period`: lifetime of
    /// a sample.
    fn update(&mut self, now: Time, before: u64, una: u64, nxt: u64, period: impl FnOnce() -> Duration) {
        if before >= self.until {
            (self.from, self.until) = (before, nxt);
        }
        if una < self.until {
            return;
        }
        let sample = una - self.from;
        let is_kept = self.most.is_some_and(|(most, at)| sample < most && now.since(at) <= period());
        if !is_kept {
            self.most = Some((sample, now));
        }
    }

    /// Whether pipeACK is at least half of `cwnd` bytes; true while pipeACK is undefined.
    fn is_half_of(&self, cwnd: u64) -> bool {
        self.most.is_none_or(|(most, _)| most.saturating_mul(2) >= cwnd)
    }
}

/// Linux's fields `is_cwnd_limited`, `max_packets_out` and `cwnd_usage_seq`, with which Linux measures the use of cwnd.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaxOutstanding {
    full: bool,
    /// Largest number of bytes outstanding within this window of data.
    most: u64,
    /// Offset after the last byte of this window of data.
    until: u64,
    /// Offset of the next byte to send (SND.NXT) at the last ACK. If SND.NXT has not moved, nothing was sent, and the
    /// state stays, as in Linux.
    last_nxt: u64,
}

impl MaxOutstanding {
    /// Updates the state at an ACK. The bytes `una..nxt` were outstanding when the ACK arrived. `full`: cwnd admitted
    /// no further segment.
    pub fn update(&mut self, una: u64, nxt: u64, full: bool) {
        if nxt == self.last_nxt {
            return;
        }
        self.last_nxt = nxt;
        let outstanding = nxt - una;
        if full || una >= self.until || (!self.full && outstanding > self.most) {
            *self = MaxOutstanding { full, most: outstanding, until: nxt, last_nxt: nxt };
        }
    }

    /// Whether the sender uses enough of a window of `cwnd` bytes for cwnd to grow. `ssthresh`: slow start threshold,
    /// bytes.
    pub fn uses(&self, cwnd: u64, ssthresh: u64) -> bool {
        self.full || (cwnd < ssthresh && cwnd < self.most.saturating_mul(2))
    }
}

/// Shortest lifetime of a pipeACK sample (RFC 7661 §4.2).
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);
