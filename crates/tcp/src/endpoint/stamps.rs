//! Timestamp clock (RFC 7323 §3).

use super::Endpoint;
use lasthop_base::{Duration, Time};
use lasthop_wire::Timestamps;

impl Endpoint {
    pub(super) fn stamp(&self, now: Time) -> Timestamps {
        Timestamps { value: self.ticks(now), echo: self.ts_recent }
    }

    pub(super) fn ticks(&self, now: Time) -> u32 {
        ticks_at(now, u64::from(self.tick))
    }

    pub(super) fn peer_time(&self, now: Time, value: u32) -> Time {
        peer_time(now, u64::from(self.tick), value)
    }

    pub(super) fn since_echo(&self, now: Time, echo: u32) -> Option<Duration> {
        since_echo(now, u64::from(self.tick), echo)
    }
}

/// Converts the peer's timestamp `value` to an unwrapped time. `tick_nanos`: tick of both ends' timestamp clocks, ns.
#[inline]
pub(crate) fn peer_time(now: Time, tick_nanos: u64, value: u32) -> Time {
    let ahead = u64::from(value.wrapping_sub(ticks_at(now, tick_nanos)).wrapping_add(1 << 31));
    Time::from_nanos((now.as_nanos() / tick_nanos + ahead).saturating_mul(tick_nanos))
}

/// Returns the age of our timestamp `echo`, which the peer echoed. `tick_nanos`: tick of our timestamp clock, ns.
/// Returns `None` if `echo` is in the future and thus invalid.
pub(crate) fn since_echo(now: Time, tick_nanos: u64, echo: u32) -> Option<Duration> {
    let ticks = ticks_at(now, tick_nanos).wrapping_sub(echo);
    (ticks < 1 << 31).then(|| Duration::from_nanos(tick_nanos * u64::from(ticks)))
}

fn ticks_at(now: Time, tick_nanos: u64) -> u32 {
    // For the usual ticks the divisor is a constant, which avoids a division.
    let ticks = match tick_nanos {
        1_000_000 => now.as_nanos() / 1_000_000,
        1_000 => now.as_nanos() / 1_000,
        tick => now.as_nanos() / tick,
    };
    ticks as u32
}
