//! Delivery rate, computed from the sender's state when a segment was sent and when its ACK arrived
//! (draft-ietf-ccwg-bbr §4.1). TCP's [sampler](super::sampler) finds the state at sending by stream offset, the sampler
//! of QUIC (`lasthop-quic`) by packet number.

use crate::ranges::Range;
use lasthop_base::{Duration, Time};

/// Delivery rate sample of one ACK.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`.
    pub delivered: u64,
    /// Longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// Whether the rate is valid: `interval` is at least the smallest RTT.
    pub reliable: bool,
    /// Total number of bytes delivered at the time when the segment was sent. A round trip ends when `prior` reaches
    /// the value that `total` had at the start of the round trip.
    pub prior: u64,
    /// Total number of bytes delivered so far, including by this ACK.
    pub total: u64,
    /// Whether the segment was sent while the sender was application-limited, so that the path may be faster than this
    /// sample.
    pub app_limited: bool,
    /// Bytes in flight when the segment was sent, the segment included.
    pub in_flight: u64,
    /// Bytes marked lost since the segment was sent.
    pub lost: u64,
    /// Round-trip time of the segment; `None` if the segment was retransmitted.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Delivery rate, bytes per second.
    pub fn bytes_per_sec(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// A segment marked lost, with the sampler's state at the time when the segment was sent (draft-ietf-ccwg-bbr
/// §5.5.10.2, HandleLostPacket).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostSegment {
    /// Bytes of the segment.
    pub range: Range,
    /// Bytes in flight when the segment was sent, the segment included.
    pub in_flight: u64,
    /// Bytes marked lost since the segment was sent, the segment included.
    pub lost: u64,
    /// Total number of bytes delivered so far.
    pub delivered: u64,
    /// Whether the segment was sent while the sender was application-limited.
    pub app_limited: bool,
}

/// State of a sender when it sends a segment.
#[derive(Clone, Copy, Debug)]
pub struct StateAtSending {
    /// Total number of bytes delivered.
    delivered: u64,
    /// Time of the last ACK that delivered data.
    delivered_at: Time,
    /// Start of the send interval: sending time of the newest delivered segment.
    first_sent_at: Time,
    app_limited: bool,
    /// Bytes in flight, the segment included.
    in_flight: u64,
    /// Total number of bytes marked lost.
    lost: u64,
}

/// Delivery rate of a sender.
#[derive(Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Value of `delivered` at which the last application-limited data is delivered; 0 if the sender is not
    /// application-limited.
    limited_until: u64,
}

impl DeliveryRate {
    /// Returns the state for a segment that is sent now. `begins`: nothing was outstanding before; `in_flight`: bytes
    /// in flight, the segment included; `lost`: total number of bytes marked lost.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Time, begins: bool, in_flight: u64, lost: u64) -> StateAtSending {
        if begins {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        StateAtSending {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.is_limited(),
            in_flight,
            lost,
        }
    }

    /// Records `bytes` newly delivered by an ACK.
    #[inline(always)]
    pub fn on_delivered(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.delivered += bytes;
            self.delivered_at = now;
            if self.delivered > self.limited_until {
                self.limited_until = 0;
            }
        }
    }

    /// Marks the segments sent from now on as application-limited, until the `in_flight` bytes now in flight are
    /// delivered.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Whether segments sent now count as application-limited.
    #[inline(always)]
    pub fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Returns a lost segment. `range`: the segment's bytes; `sent`: the state when the segment was sent; `lost`: total
    /// number of bytes marked lost, the segment included.
    pub fn lost_segment(&self, range: Range, sent: &StateAtSending, lost: u64) -> LostSegment {
        LostSegment {
            range,
            in_flight: sent.in_flight,
            lost: lost.saturating_sub(sent.lost),
            delivered: self.delivered,
            app_limited: sent.app_limited,
        }
    }

    /// Returns the sample of an ACK. The sample belongs to the newest segment that the ACK delivers. `sent_at` and
    /// `sent`: time and state at the sending of this segment; `lost`: total number of bytes marked lost; `shortest`:
    /// smallest RTT; `rtt`: RTT of the segment, `None` if the segment was retransmitted.
    #[inline(always)]
    pub fn sample(
        &mut self,
        now: Time,
        (sent_at, sent): (Time, &StateAtSending),
        lost: u64,
        shortest: Option<Duration>,
        rtt: Option<Duration>,
    ) -> RateSample {
        self.first_sent_at = sent_at;
        let interval = sent_at.since(sent.first_sent_at).max(now.since(sent.delivered_at));
        RateSample {
            delivered: self.delivered - sent.delivered,
            interval,
            reliable: interval > Duration::ZERO && shortest.is_none_or(|shortest| shortest <= interval),
            prior: sent.delivered,
            total: self.delivered,
            app_limited: sent.app_limited,
            in_flight: sent.in_flight,
            lost: lost - sent.lost,
            rtt,
        }
    }
}
