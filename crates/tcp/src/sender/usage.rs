//! Window validation: a sender that the application or the peer's window limits learns nothing of the path, so its cwnd does
//! not grow.
//!
//! The use of cwnd is measured over a round trip. A momentary FlightSize would not do: it falls as the ACKs of a
//! burst arrive, also of a burst that has filled cwnd. A sender whose cwnd had no room for another segment after the last one
//! sent is limited by cwnd, which may grow until a window of data later it had room. Otherwise one of two rules holds:
//!
//! * RFC 7661: cwnd is validated, and may grow, while pipeACK is at least half of it (§4.3), and before the first round trip has
//!   ended. pipeACK is the most bytes acknowledged in a round trip (§4.2). A sample holds for max(3 RTT, 1 s), unless a larger
//!   one replaces it before.
//! * Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`): in slow start cwnd grows while it is less than twice the most bytes
//!   outstanding within a window of data (`max_packets_out`).
//!
//! # What is not modelled
//! RFC 7661's smaller window after a loss in the non-validated phase (§4.4.1), and its end of that phase after five minutes
//! (§4.4.3): cwnd stays. Linux's decay of a cwnd that was not used for a timeout (`tcp_cwnd_application_limited`): here only
//! the restart after idle time lowers such a window. Linux counts packets, this file bytes.

use super::scoreboard::Scoreboard;
use super::window::Window;
use crate::config::Config;
use crate::rtt::RttEstimator;
use lasthop_base::{Duration, Time};

/// The use of cwnd lately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    out: MostOut,
    /// `None`: Linux's rule.
    pipe_ack: Option<PipeAck>,
}

impl Usage {
    /// Nothing was sent yet; `None`: cwnd grows whether it is used or not.
    pub(super) fn new(config: &Config) -> Option<Box<Usage>> {
        let pipe_ack = (!config.validates_as_linux).then(PipeAck::default);
        config.validates_window.then(|| Box::new(Usage { out: MostOut::default(), pipe_ack }))
    }

    /// An ACK, in the scoreboard already, is new by `acked` bytes: whether cwnd may not grow by it, because it is not used.
    /// `full`: payload of a full segment, bytes.
    pub(super) fn leaves_unused(
        &mut self,
        now: Time,
        acked: u64,
        full: u64,
        rtt: &RttEstimator,
        board: &Scoreboard,
        window: &Window,
    ) -> bool {
        let (una, nxt, cwnd) = (board.una(), board.nxt(), window.bytes());
        let before = una - acked;
        self.out.see(before, nxt, nxt - before + full > cwnd);
        let is_used = match &mut self.pipe_ack {
            Some(pipe_ack) => {
                let period = || rtt.srtt().map_or(SHORTEST_PERIOD, |srtt| SHORTEST_PERIOD.max(srtt * 3));
                pipe_ack.see(now, before, una, nxt, period);
                self.out.full || pipe_ack.is_half_of(cwnd)
            }
            None => {
                let is_used = self.out.is_more_than_half_of(cwnd) && cwnd < window.rules().ssthresh();
                self.out.full || is_used
            }
        };
        !is_used
    }
}

/// RFC 7661 §4.2.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PipeAck {
    /// The largest sample, bytes, and when it was taken; `None`: undefined.
    most: Option<(u64, Time)>,
    /// First byte of this round trip's data, and the byte behind the last one.
    from: u64,
    until: u64,
}

impl PipeAck {
    /// An ACK has advanced from `before` to `una`, after `nxt` was the next byte to send; a sample holds for `period`.
    fn see(&mut self, now: Time, before: u64, una: u64, nxt: u64, period: impl FnOnce() -> Duration) {
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

    /// Whether at least half of a cwnd of so many bytes is used, as far as one knows.
    fn is_half_of(&self, cwnd: u64) -> bool {
        self.most.is_none_or(|(most, _)| most.saturating_mul(2) >= cwnd)
    }
}

/// Linux's `is_cwnd_limited`, `max_packets_out` and `cwnd_usage_seq`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MostOut {
    full: bool,
    /// Bytes.
    most: u64,
    /// The byte behind this window of data.
    until: u64,
    /// The next byte to send at the last ACK: Linux looks when it sends.
    seen: u64,
}

impl MostOut {
    /// An ACK has arrived while `una..nxt` was outstanding; `full`: cwnd had no room for another segment.
    fn see(&mut self, una: u64, nxt: u64, full: bool) {
        if nxt == self.seen {
            return;
        }
        self.seen = nxt;
        let out = nxt - una;
        if full || una >= self.until || (!self.full && out > self.most) {
            *self = MostOut { full, most: out, until: nxt, seen: nxt };
        }
    }

    fn is_more_than_half_of(&self, cwnd: u64) -> bool {
        cwnd < self.most.saturating_mul(2)
    }
}

/// The shortest time for which a sample of pipeACK holds (RFC 7661 §4.2).
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);
