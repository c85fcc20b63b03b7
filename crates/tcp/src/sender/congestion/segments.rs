//! Rules of controls whose cwnd is a number of segments with a fraction.

use super::Recovered;

/// Returns a cwnd of `cwnd` segments of `mss` bytes in bytes, at most 1 GiB (RFC 7323 §2.3).
pub(super) fn bytes(cwnd: f64, mss: f64) -> u64 {
    (cwnd.min((1u64 << 30) as f64 / mss) * mss) as u64
}

/// Returns cwnd after an idle time, segments: at most `window` bytes, at least one segment.
pub(super) fn after_idle(cwnd: f64, window: u64, mss: f64) -> f64 {
    cwnd.min(window as f64 / mss).max(1.0)
}

/// Returns cwnd after the end or the undo of a recovery, segments.
pub(super) fn after_recovery(cwnd: f64, recovered: Recovered, mss: f64) -> f64 {
    match recovered {
        Recovered::Revised { to, .. } => cwnd.max(to.window as f64 / mss),
        Recovered::Probed { window } => window as f64 / mss,
        Recovered::Kept => cwnd,
    }
}
