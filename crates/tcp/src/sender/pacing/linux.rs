//! Pacing of Linux with `fq` or with TCP's internal pacing: a multiple of cwnd / SRTT.
//!
//! The rate is 200 % of `max(cwnd, outstanding) / SRTT` while cwnd is below half of ssthresh, else 120 %
//! (`tcp_update_pacing_rate`). The first nine segments are not paced. A burst lasts one millisecond at the pacing rate
//! and has at least two segments and at most 64 KiB (`tcp_tso_autosize`). After a pause in sending, the wait after the
//! next burst is shortened by the pause, but by at most half of the burst's duration (`tcp_update_skb_after_send`).
//!
//! # Not modelled
//! Longer bursts on paths with an RTT below 1 ms (`tcp_tso_rtt_log`), the deferral of short bursts
//! (`tcp_tso_should_defer`), and the initial credit of a flow in `fq`.

use super::{Build, Pace, PacedSegment, Pacing};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Unit};

const PERCENT: Unit = Unit::Number(1.0, 10_000.0);

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "linux",
        summary: "paces controls without a rate at 200 % of cwnd / SRTT in slow start, then at 120 %",
        source: "Linux 6.1 net/ipv4/tcp_input.c tcp_update_pacing_rate, tcp_output.c tcp_tso_autosize (described)",
        parameters: &[
            Parameter {
                name: "slow_start_percent",
                unit: PERCENT,
                default: Some("200"),
                doc: "pacing rate while cwnd < ssthresh / 2, percent of cwnd / SRTT (tcp_pacing_ss_ratio)",
            },
            Parameter {
                name: "avoidance_percent",
                unit: PERCENT,
                default: Some("120"),
                doc: "pacing rate otherwise, percent of cwnd / SRTT (tcp_pacing_ca_ratio)",
            },
            Parameter {
                name: "burst",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(1)),
                default: Some("1 ms"),
                doc: "duration of a burst at the pacing rate, at least two segments; 0 ms: single segments",
            },
        ],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Linux {
            slow_start: values.number("slow_start_percent") / 100.0,
            avoidance: values.number("avoidance_percent") / 100.0,
            burst: values.duration("burst"),
        }))
    },
};

/// Number of the first paced segment: earlier segments do not delay the segments after them.
const FIRST_PACED: u64 = 10;
/// Smallest burst, segments (`min_tso_segs`).
const SMALLEST_BURST: u64 = 2;
/// Largest burst, bytes (`gso_max_size`).
const LARGEST_BURST: u64 = 65_536;

struct Linux {
    slow_start: f64,
    avoidance: f64,
    burst: Duration,
}

impl Pacing for Linux {
    fn pace(&self, segment: &PacedSegment) -> Option<Pace> {
        let srtt = segment.srtt.filter(|_| segment.number >= FIRST_PACED)?.as_secs();
        let factor = if segment.window < segment.ssthresh / 2 { self.slow_start } else { self.avoidance };
        let bps = factor * 8.0 * segment.window.max(segment.outstanding) as f64 / srtt.max(1e-9);
        let bps = bps.clamp(1.0, 1e15);
        let burst = if self.burst == Duration::ZERO {
            0
        } else {
            let segments = (bps / 8.0 * self.burst.as_secs()) as u64 / segment.mss;
            (segments.max(SMALLEST_BURST) * segment.mss).min(LARGEST_BURST)
        };
        Some(Pace { rate: Rate::from_bps(bps as u64), burst })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 100 segments of 1000 bytes per 100 ms is 8 Mbit/s. The pacing rate is 16 Mbit/s while the window is
    /// below half of ssthresh, otherwise 9.6 Mbit/s. A burst has the bytes of 1 ms at the pacing rate, but at least 2
    /// segments. Here a burst has 2 segments, and 12 segments if the window is ten times as large.
    #[test]
    fn the_rate_is_a_multiple_of_the_window_per_rtt() {
        let linux = (MECHANISM.build)(&MECHANISM.info.defaults()).expect("a rule");
        let segment = PacedSegment {
            number: 10,
            window: 100_000,
            ssthresh: 300_000,
            outstanding: 0,
            srtt: Some(Duration::from_millis(100)),
            mss: 1000,
        };
        let pace = |segment| linux.pace(&segment).map(|pace| (pace.rate.bps(), pace.burst));
        assert_eq!(pace(segment), Some((16_000_000, 2000)));
        assert_eq!(pace(PacedSegment { ssthresh: 200_000, ..segment }), Some((9_600_000, 2000)));
        let large = PacedSegment { ssthresh: 2000, window: 1_000_000, ..segment };
        assert_eq!(pace(large), Some((96_000_000, 12_000)));
        assert_eq!(pace(PacedSegment { outstanding: 2_000_000, ..large }), Some((192_000_000, 24_000)));
        assert_eq!(pace(PacedSegment { number: 9, ..segment }), None);
        assert_eq!(pace(PacedSegment { srtt: None, ..segment }), None);
    }
}
