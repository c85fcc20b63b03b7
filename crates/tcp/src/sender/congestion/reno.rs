//! Slow start and congestion avoidance (RFC 5681 §3.1): the window of Tahoe, Reno, NewReno and SACK alike.

use super::{AckEvent, Build, CongestionControl, LossEvent, Phase, Recovered, Start};
use crate::sender::counting::{AckCounting, News, Regime};
use lasthop_base::{Info, Mechanism, Parameter, Unit, Values};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "reno",
        summary: "slow start, additive increase by one segment per RTT, halving at a loss",
        source: "RFC 5681 §3.1",
        parameters: &[
            Parameter {
                name: "halve",
                unit: Unit::Word(&["flight", "window"]),
                default: Some("flight"),
                doc: "what ssthresh is half of: FlightSize (RFC 5681 Eq. 4), or min(cwnd, awnd) (koga §2.1.6)",
            },
            Parameter {
                name: "slow_start_at_ssthresh",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "whether cwnd = ssthresh is still slow start (koga §2.1.3; RFC 5681 leaves it open)",
            },
            Parameter {
                name: "exit",
                unit: Unit::Word(&["ssthresh", "flight"]),
                default: Some("ssthresh"),
                doc: "cwnd after recovery: ssthresh, or min(ssthresh, flight + 1 segment) (RFC 6582 §3.2 step 3)",
            },
        ],
    },
    build: |values, start| Box::new(Reno::new(values, start)),
};

pub(super) struct Reno {
    /// Bytes, with fractions: avoidance adds MSS^2/cwnd per ACK.
    cwnd: f64,
    ssthresh: u64,
    mss: u64,
    /// Credit not yet turned into a segment, where the counting collects.
    collected: u64,
    halves_window: bool,
    slow_start_at_ssthresh: bool,
    exits_to_flight: bool,
}

/// The largest window that a scaled 16-bit field can advertise (RFC 7323 §2.3): no more is ever useful.
const LARGEST: f64 = (1u64 << 30) as f64;

impl Reno {
    /// The window of [`MECHANISM`]'s defaults, for controls that differ in their reactions only.
    pub(super) fn plain(start: Start) -> Reno {
        Reno::new(&MECHANISM.info.defaults(), start)
    }

    /// ssthresh in bytes, at least two segments.
    pub(super) fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(2 * self.mss);
        self.collected = 0;
    }

    /// Lowers cwnd to ssthresh; a smaller one stays.
    pub(super) fn cap(&mut self) {
        self.cwnd = self.cwnd.min(self.ssthresh as f64);
    }

    /// cwnd with its fraction, bytes.
    pub(super) fn exact(&self) -> f64 {
        self.cwnd
    }

    /// Whether cwnd is as large as is of any use.
    pub(super) fn is_full(&self) -> bool {
        self.cwnd >= LARGEST
    }

    /// cwnd in bytes, at most the largest one of use.
    pub(super) fn set(&mut self, bytes: f64) {
        self.cwnd = bytes.min(LARGEST);
    }

    /// Back to one segment.
    pub(super) fn restart(&mut self) {
        self.collected = 0;
        self.cwnd = self.mss as f64;
    }

    fn new(values: &Values, start: Start) -> Reno {
        Reno {
            cwnd: start.window as f64,
            ssthresh: start.ssthresh,
            mss: start.mss,
            collected: 0,
            halves_window: values.word("halve") == "window",
            slow_start_at_ssthresh: values.flag("slow_start_at_ssthresh"),
            exits_to_flight: values.word("exit") == "flight",
        }
    }

    pub(super) fn in_slow_start(&self) -> bool {
        let ssthresh = self.ssthresh as f64;
        self.cwnd < ssthresh || (self.slow_start_at_ssthresh && self.cwnd == ssthresh)
    }

    /// RFC 5681 Eq. 4: half of what was in flight, at least two segments.
    fn lower_ssthresh(&mut self, loss: &LossEvent) {
        let whole = if self.halves_window { loss.window } else { loss.flight };
        self.ssthresh = (whole / 2).max(2 * self.mss);
        self.collected = 0;
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) {
        if ack.acked == 0 || ack.held || ack.phase == Phase::Recovery || self.is_full() {
            return;
        }
        let news = News { acked: ack.acked, segments: ack.segments, mss: self.mss };
        let is_slow_start = self.in_slow_start();
        let regime = match (is_slow_start, ack.phase) {
            (false, _) => Regime::Avoidance,
            (true, Phase::Restart) => Regime::AfterTimeout,
            (true, _) => Regime::SlowStart,
        };
        let credit = counting.credit(&news, regime);
        if is_slow_start && !counting.collects() {
            self.cwnd += credit as f64;
        } else if is_slow_start {
            // What would take the window past ssthresh belongs to avoidance (Linux tcp_reno_cong_avoid), where it is worth
            // a segment at most (RFC 5681 §3.1).
            let room = self.ssthresh.saturating_sub(self.window());
            let taken = credit.min(if room > 0 { room } else { self.mss });
            self.cwnd += taken as f64;
            self.collected = (self.collected + credit - taken).min(self.window());
        } else if counting.collects() {
            self.collected += credit;
            if credit > 0 && self.collected >= self.window() {
                self.collected -= self.window();
                self.cwnd += self.mss as f64;
            }
        } else {
            self.cwnd += self.mss as f64 * credit as f64 / self.cwnd;
        }
    }

    /// RFC 5681 §3.1 has ssthresh "no more than" Eq. 4: FlightSize can be far above a window that was lowered while more
    /// was outstanding, and a loss is no reason to raise it. Two segments are allowed in any case.
    fn on_loss(&mut self, loss: &LossEvent) {
        self.lower_ssthresh(loss);
        self.ssthresh = self.ssthresh.min(self.window()).max(2 * self.mss);
        self.cwnd = self.ssthresh as f64;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.lower_ssthresh(loss);
        self.cwnd = self.mss as f64;
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        // A segment that times out again does not lower ssthresh further (RFC 5681 §3.1).
        if first {
            self.lower_ssthresh(loss);
        }
        self.collected = 0;
        self.cwnd = self.mss as f64;
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.lower_ssthresh(loss);
        self.cwnd = self.cwnd.min(self.ssthresh as f64);
    }

    fn on_idle(&mut self, window: u64) {
        self.collected = 0;
        self.cwnd = self.cwnd.min(window as f64);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        let window = match recovered {
            Recovered::Revised { to, .. } => {
                self.ssthresh = to.ssthresh;
                to.window
            }
            Recovered::Probed { window } => window,
            Recovered::Kept if self.exits_to_flight => self.ssthresh.min(flight.max(self.mss) + self.mss),
            Recovered::Kept => self.ssthresh,
        };
        self.cwnd = window as f64;
    }
}
