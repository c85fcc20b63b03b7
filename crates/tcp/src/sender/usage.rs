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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn second() -> Duration {
        Duration::from_secs(1)
    }

    /// RFC 7661 §4.2: a sample has the bytes that were acknowledged in a round trip. The round trip that begins at byte
    /// 1 ends when byte 10,001, the next to send at its start, is acknowledged.
    #[test]
    fn pipe_ack_measures_round_trips() {
        let mut pipe_ack = PipeAck::default();
        assert!(pipe_ack.is_half_of(u64::MAX), "pipeACK is undefined at first (§4.3)");
        pipe_ack.update(at(100), 1, 2001, 10_001, second);
        assert_eq!((pipe_ack.from, pipe_ack.until, pipe_ack.most), (1, 10_001, None));
        pipe_ack.update(at(110), 2001, 10_000, 15_001, second);
        assert_eq!(pipe_ack.most, None);
        pipe_ack.update(at(120), 10_000, 10_001, 15_001, second);
        assert_eq!(pipe_ack.most, Some((10_000, at(120))));
        assert!(pipe_ack.is_half_of(20_000) && !pipe_ack.is_half_of(20_001));
        pipe_ack.update(at(130), 10_001, 11_001, 15_001, second);
        assert_eq!((pipe_ack.from, pipe_ack.until), (10_001, 15_001));
        // A smaller sample of 5000 bytes does not replace the larger sample within its lifetime of 1 s.
        pipe_ack.update(at(1120), 11_001, 15_001, 20_001, second);
        assert_eq!(pipe_ack.most, Some((10_000, at(120))));
        pipe_ack.update(at(1121), 15_001, 20_001, 20_001, second);
        assert_eq!(pipe_ack.most, Some((5000, at(1121))));
        // A larger or equal sample replaces the stored sample at once.
        pipe_ack.update(at(1122), 20_001, 26_001, 26_001, second);
        assert_eq!(pipe_ack.most, Some((6000, at(1122))));
        pipe_ack.update(at(1123), 26_001, 32_001, 32_001, second);
        assert_eq!(pipe_ack.most, Some((6000, at(1123))));
    }

    /// Linux's `tcp_cwnd_validate` stores the largest number of bytes outstanding in a window of data. If cwnd was full,
    /// smaller numbers do not replace the state until the window of data is acknowledged.
    #[test]
    fn the_largest_number_of_outstanding_bytes_is_stored() {
        let mut max = MaxOutstanding::default();
        let mut after = |una, nxt, full| {
            max.update(una, nxt, full);
            (max.full, max.most, max.until)
        };
        assert_eq!(after(1, 5001, false), (false, 5000, 5001));
        assert_eq!(after(2001, 5001, true), (false, 5000, 5001), "nothing was sent");
        assert_eq!(after(1001, 6001, false), (false, 5000, 5001));
        assert_eq!(after(1001, 7001, false), (false, 6000, 7001), "a larger number");
        assert_eq!(after(5001, 8001, false), (false, 6000, 7001), "a smaller number");
        assert_eq!(after(5001, 9001, true), (true, 4000, 9001), "cwnd is full");
        assert_eq!(after(5001, 14_001, false), (true, 4000, 9001));
        assert_eq!(after(9000, 15_001, false), (true, 4000, 9001));
        assert_eq!(after(9001, 16_001, false), (false, 7000, 16_001), "the window of data is acknowledged");
    }

    /// `tcp_is_cwnd_limited`: a full cwnd may grow. In slow start, cwnd may also grow while cwnd is less than twice the
    /// largest number of outstanding bytes.
    #[test]
    fn slow_start_needs_half_of_the_window() {
        let max = |full| MaxOutstanding { full, most: 5000, until: 1, last_nxt: 1 };
        assert!(max(true).uses(1_000_000, 1) && max(false).uses(9999, 10_000));
        assert!(!max(false).uses(10_000, 20_000) && !max(false).uses(9999, 9999));
    }
}
