//! Reward of a step: goodput minus delay minus loss.

use super::Interval;

/// Weights of the reward:
///
/// `goodput * goodput_bps / capacity_bps - delay * max(mean_rtt_s / base_rtt_s - 1, 0) - loss * lost_share`
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weights {
    /// Weight of the goodput as a share of the path's rate.
    pub goodput: f64,
    /// Weight of the queueing delay as a multiple of the base RTT.
    pub delay: f64,
    /// Weight of the share of lost bytes.
    pub loss: f64,
}

impl Weights {
    /// Returns the reward of a step with these measurements.
    pub fn reward(&self, interval: &Interval) -> f64 {
        let goodput = interval.goodput_bps / interval.capacity_bps.max(1.0);
        let delay = (interval.mean_rtt_s / interval.base_rtt_s.max(1e-9) - 1.0).max(0.0);
        self.goodput * goodput - self.delay * delay - self.loss * interval.lost_share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 of 10 Mbit/s, an RTT of 75 ms instead of 60 ms, 10 % loss: 0.8 - 2 * 0.25 - 0.5 * 0.1.
    #[test]
    fn the_reward_is_the_formula() {
        let weights = Weights { goodput: 1.0, delay: 2.0, loss: 0.5 };
        let interval = Interval {
            goodput_bps: 8e6,
            capacity_bps: 10e6,
            mean_rtt_s: 0.075,
            base_rtt_s: 0.060,
            lost_share: 0.1,
            ..Interval::default()
        };
        assert!((weights.reward(&interval) - 0.25).abs() < 1e-12);
    }

    /// An RTT sample may be below the base RTT if the path's links have delays that the base RTT overestimates.
    #[test]
    fn a_short_rtt_is_no_merit() {
        let weights = Weights { goodput: 0.0, delay: 1.0, loss: 0.0 };
        let interval = Interval { mean_rtt_s: 0.05, base_rtt_s: 0.06, ..Interval::default() };
        assert_eq!(weights.reward(&interval), 0.0);
    }
}
