//! Window validation: if the application or the peer's window limits a sender, cwnd does not grow.
//!
//! The use of cwnd is measured over a round trip, because the momentary FlightSize falls with each burst of ACKs, even
//! if a burst had filled cwnd. If cwnd admitted no further segment after the last one sent, cwnd may grow until a
//! window of data leaves room. Otherwise one of two rules applies:
//!
//! * RFC 7661: cwnd is validated while pipeACK is at least half of cwnd (§4.3), and until the first round trip ends.
//!   pipeACK is the largest number of bytes acknowledged in a round trip (§4.2). A sample expires after max(3 RTT, 1
//!   s), unless a larger sample replaces it.
//! * Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`): in slow start cwnd grows while it is less than twice the
//!   largest number of bytes outstanding within a window of data (`max_packets_out`).
//!
//! # Not modelled
//! RFC 7661: the smaller window after a loss in the non-validated phase (§4.4.1), and that phase's end after five
//! minutes (§4.4.3). Linux: the decay of an unused cwnd (`tcp_cwnd_application_limited`), and counts in packets.

use super::scoreboard::Scoreboard;
use super::window::CongestionWindow;
use crate::config::Config;
use crate::rtt::RttEstimator;
use lasthop_base::{Duration, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    max_outstanding: MaxOutstanding,
    /// `None`: Linux's rule applies.
    pipe_ack: Option<PipeAck>,
}

impl Usage {
    /// Returns `None` if cwnd grows whether it is used or not.
    pub(super) fn new(config: &Config) -> Option<Box<Usage>> {
        let pipe_ack = (!config.validates_as_linux).then(PipeAck::default);
        config
            .validates_window
            .then(|| Box::new(Usage { max_outstanding: MaxOutstanding::default(), pipe_ack }))
    }

    /// Whether cwnd is unused and must not grow by this ACK. `acked`: bytes of the ACK, already recorded; `full`:
    /// payload of a full segment.
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
            None => {
                let is_used =
                    self.max_outstanding.is_more_than_half_of(cwnd) && cwnd < window.control().ssthresh();
                self.max_outstanding.full || is_used
            }
        };
        !is_used
    }
}

/// pipeACK (RFC 7661 §4.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PipeAck {
    /// The largest sample in bytes, and its time; `None` while pipeACK is undefined.
    most: Option<(u64, Time)>,
    /// First byte of this round trip's data.
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

/// State of Linux's `is_cwnd_limited`, `max_packets_out` and `cwnd_usage_seq`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxOutstanding {
    full: bool,
    /// Largest number of bytes outstanding within this window of data.
    most: u64,
    /// Offset after the last byte of this window of data.
    until: u64,
    /// Next byte to send, as of the last ACK. Linux updates this state only when data is sent.
    last_nxt: u64,
}

impl MaxOutstanding {
    /// Updates the state at an ACK while `una..nxt` is outstanding. `full`: cwnd admits no further segment.
    fn update(&mut self, una: u64, nxt: u64, full: bool) {
        if nxt == self.last_nxt {
            return;
        }
        self.last_nxt = nxt;
        let outstanding = nxt - una;
        if full || una >= self.until || (!self.full && outstanding > self.most) {
            *self = MaxOutstanding { full, most: outstanding, until: nxt, last_nxt: nxt };
        }
    }

    fn is_more_than_half_of(&self, cwnd: u64) -> bool {
        cwnd < self.most.saturating_mul(2)
    }
}

/// Shortest lifetime of a pipeACK sample (RFC 7661 §4.2).
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);
