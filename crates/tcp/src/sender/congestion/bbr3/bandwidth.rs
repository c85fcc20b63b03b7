//! Filter of the largest delivery rate in the last two ProbeBW cycles, and detector of a full pipe.

use super::AckSample;
use super::constants::Constants;

/// BBR.max_bw_filter: largest delivery rates of the current and the previous ProbeBW cycle, bytes per second (draft
/// §5.5.5).
#[derive(Default)]
pub(super) struct MaxBandwidth {
    this_cycle: f64,
    last_cycle: f64,
}

impl MaxBandwidth {
    pub(super) fn largest(&self) -> f64 {
        self.this_cycle.max(self.last_cycle)
    }

    pub(super) fn update(&mut self, sample: &AckSample) {
        if sample.rate > 0.0 && (sample.rate >= self.largest() || !sample.app_limited) {
            self.this_cycle = self.this_cycle.max(sample.rate);
        }
    }

    /// Ends a ProbeBW cycle (AdvanceMaxBwFilter). Does nothing if the cycle has no samples.
    pub(super) fn advance(&mut self) {
        if self.this_cycle > 0.0 {
            self.last_cycle = std::mem::take(&mut self.this_cycle);
        }
    }
}

/// Detector of a full pipe: the pipe is full if the delivery rate has stopped growing (draft §5.3.1.2).
#[derive(Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw: delivery rate with which later rates are compared, bytes per second.
    pub(super) reference: f64,
    /// BBR.full_bw_count: number of rounds without enough growth.
    pub(super) flat_rounds: u64,
    /// BBR.full_bw_now: whether the pipe has become full since the last reset of this detector.
    pub(super) is_full: bool,
    /// BBR.full_bw_reached: whether the pipe was full at any time since the connection began.
    pub(super) was_full: bool,
}

impl FullPipe {
    /// Restarts the detection (ResetFullBW). `reference`: rate with which later rates are compared, bytes per second.
    pub(super) fn reset(&mut self, reference: f64) {
        (self.reference, self.flat_rounds, self.is_full) = (reference, 0, false);
    }

    /// Handles the sample of an ACK that begins a round (CheckFullBWReached).
    pub(super) fn update(&mut self, sample: &AckSample, constants: &Constants) {
        if self.is_full || sample.app_limited {
            return;
        }
        if sample.rate >= constants.growth * self.reference {
            return self.reset(sample.rate);
        }
        self.flat_rounds += 1;
        self.is_full = self.flat_rounds >= constants.flat_rounds;
        self.was_full |= self.is_full;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rate: f64, app_limited: bool) -> AckSample {
        AckSample { rate, app_limited, ..AckSample::default() }
    }

    /// Draft §5.5.5: an application-limited rate counts only if it is the largest. A rate counts until the end of the
    /// next ProbeBW cycle.
    #[test]
    fn a_rate_counts_for_two_cycles() {
        let mut bandwidth = MaxBandwidth::default();
        for sample in [of(100.0, false), of(50.0, true), of(120.0, true), of(110.0, false)] {
            bandwidth.update(&sample);
        }
        assert_eq!(bandwidth.largest(), 120.0);
        bandwidth.advance();
        bandwidth.update(&of(10.0, true));
        bandwidth.update(&of(80.0, false));
        assert_eq!(bandwidth.largest(), 120.0);
        bandwidth.advance();
        assert_eq!(bandwidth.largest(), 80.0);
    }
}
