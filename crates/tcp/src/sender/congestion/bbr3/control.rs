//! Outputs of the model: pacing rate, send quantum and cwnd (draft §5.6).

use super::{Bbr3, Bbr3State};
use lasthop_base::Duration;

/// Largest send quantum, bytes.
const LARGEST_QUANTUM: u64 = 64_000;
/// Largest window that TCP can advertise, bytes (RFC 7323 §2.3).
pub(super) const LARGEST: u64 = 1 << 30;

impl Bbr3 {
    /// BBR.bw, bytes per second: the largest recent delivery rate, limited by the short-term bound.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bw
    }

    pub(super) fn fewest(&self) -> u64 {
        self.constants.fewest * self.mss
    }

    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Startup => self.constants.startup_gain,
            Bbr3State::Drain => self.constants.drain_gain,
            Bbr3State::Down => self.constants.down_gain,
            Bbr3State::Up => self.constants.up_gain,
            Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Up => self.constants.up_window_gain,
            Bbr3State::ProbeRtt => self.constants.probe_rtt_gain,
            _ => self.constants.window_gain,
        }
    }

    /// BDPMultiple: `gain` bandwidth-delay products, bytes.
    pub(super) fn product(&self, bandwidth: f64, gain: f64) -> u64 {
        match self.rtt.smallest {
            Some((rtt, _)) => (gain * bandwidth * rtt.as_secs()) as u64,
            None => self.initial_window,
        }
    }

    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> u64 {
        self.with_budget(self.product(bandwidth, gain))
    }

    /// Raises a window to at least three send quanta, the budget for segmentation offload (QuantizationBudget). Adds
    /// two segments in ProbeBW_UP.
    fn with_budget(&self, window: u64) -> u64 {
        let window = window.max(3 * self.quantum).max(self.fewest());
        if self.state == Bbr3State::Up { window + 2 * self.mss } else { window }
    }

    /// TargetInflight: the bandwidth-delay product or cwnd, whichever is smaller, bytes.
    pub(super) fn target_inflight(&self) -> u64 {
        self.product(self.bandwidth(), 1.0).min(self.cwnd)
    }

    /// Sets the first pacing rate (InitPacingRate): Startup's gain times the initial window per RTT. Without an RTT
    /// sample, 1 ms replaces the RTT.
    pub(super) fn open_pacing(&mut self, srtt: Option<Duration>) {
        let rtt = srtt.map_or(0.001, Duration::as_secs).max(1e-9);
        self.has_rtt = srtt.is_some();
        self.rate = Some(self.constants.startup_gain * self.initial_window as f64 / rtt);
    }

    /// Sets the pacing rate to `gain` times the bandwidth (SetPacingRateWithGain). Until the pipe is full for the first
    /// time, the rate never falls.
    pub(super) fn pace(&mut self, gain: f64) {
        let rate = gain * self.bandwidth() * (1.0 - self.constants.margin);
        if rate > 0.0 && (self.pipe.was_full || self.rate.is_none_or(|known| rate > known)) {
            self.rate = Some(rate);
        }
    }

    /// Sets the send quantum (SetSendQuantum). The send quantum only affects cwnd, because the sender paces each
    /// segment separately.
    pub(super) fn set_quantum(&mut self) {
        let of_a_millisecond = (self.rate.unwrap_or(0.0) / 1000.0) as u64;
        self.quantum = of_a_millisecond.min(LARGEST_QUANTUM).max(2 * self.mss);
    }

    pub(super) fn set_window(&mut self, newly_acked: u64) {
        let most = self.with_budget(
            self.product(self.bandwidth(), self.window_gain()).saturating_add(self.aggregation.extra),
        );
        if self.pipe.was_full {
            self.cwnd = (self.cwnd + newly_acked).min(most);
        } else if self.cwnd < most || self.rounds.delivered < self.initial_window {
            self.cwnd += newly_acked;
        }
        self.cwnd = self.cwnd.clamp(self.fewest(), LARGEST);
        if self.state == Bbr3State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        self.bound_window();
    }

    fn bound_window(&mut self) {
        let long_term = match self.state {
            Bbr3State::Down | Bbr3State::Refill | Bbr3State::Up => self.long_term,
            Bbr3State::Cruise | Bbr3State::ProbeRtt => self.long_term_with_headroom(),
            Bbr3State::Startup | Bbr3State::Drain => u64::MAX,
        };
        self.cwnd = self.cwnd.min(long_term.min(self.short.inflight).max(self.fewest()));
    }
}
