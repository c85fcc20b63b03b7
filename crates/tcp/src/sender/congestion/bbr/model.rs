//! BBR's model of the path: the largest recent delivery rate, the round counter, and the detector of a full pipe.

use super::RateSample;

/// Number of rounds for which a delivery rate counts (BtlBwFilterLen).
const ROUNDS: usize = 10;

#[derive(Default)]
pub(super) struct Bandwidth {
    /// Largest delivery rate of each of the last [`ROUNDS`] rounds, bytes per second.
    of_rounds: [f64; ROUNDS],
    pub(super) largest: f64,
}

impl Bandwidth {
    pub(super) fn begin_round(&mut self, round: u64) {
        self.of_rounds[round as usize % ROUNDS] = 0.0;
    }

    pub(super) fn add(&mut self, round: u64, sample: f64) {
        let place = &mut self.of_rounds[round as usize % ROUNDS];
        *place = place.max(sample);
        self.largest = self.of_rounds.iter().copied().fold(0.0, f64::max);
    }
}

/// Counter of packet-timed rounds. A round ends at the delivery of the first segment that was sent after the start of
/// the round.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    pub(super) ends_at: u64,
    pub(super) total: u64,
}

impl Rounds {
    pub(super) fn advance(&mut self, rate: &RateSample) -> bool {
        self.total = rate.total;
        let begins = rate.prior >= self.ends_at;
        if begins {
            self.ends_at = rate.total;
            self.count += 1;
        }
        begins
    }
}

/// Detector of a full pipe in Startup: the pipe is full after three rounds in which the delivery rate grew by less than
/// 25 % (draft §4.3.2.2).
#[derive(Default)]
pub(super) struct FullPipe {
    reference: f64,
    flat_rounds: u32,
    pub(super) is_full: bool,
}

impl FullPipe {
    pub(super) fn update(&mut self, bandwidth: f64) {
        if self.is_full {
            return;
        }
        if bandwidth >= 1.25 * self.reference {
            (self.reference, self.flat_rounds) = (bandwidth, 0);
        } else {
            self.flat_rounds += 1;
            self.is_full = self.flat_rounds >= 3;
        }
    }

    /// Restarts the detection after a timeout, real or spurious.
    pub(super) fn reset(&mut self) {
        (self.reference, self.flat_rounds) = (0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// Draft §4.3.2.2: the pipe is full after three consecutive rounds in which the delivery rate grew by less than 25
    /// %. A round with growth of 25 % restarts the count.
    #[test]
    fn the_pipe_is_full_after_three_flat_rounds() {
        let mut pipe = FullPipe::default();
        let mut after = |bandwidth| {
            pipe.update(bandwidth);
            pipe.is_full
        };
        assert_eq!([100.0, 200.0, 240.0, 240.0, 250.0].map(&mut after), [false; 5]);
        assert_eq!([300.0, 312.0, 200.0].map(&mut after), [false, false, true]);
        assert!(after(1000.0));
    }

    #[test]
    fn a_rate_counts_for_ten_rounds() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.add(0, 500.0);
        for round in 1..10 {
            bandwidth.begin_round(round);
            bandwidth.add(round, 100.0);
            assert_eq!(bandwidth.largest, 500.0, "{round}");
        }
        bandwidth.begin_round(10);
        bandwidth.add(10, 90.0);
        assert_eq!(bandwidth.largest, 100.0);
    }

    #[test]
    fn rounds_are_counted_by_what_is_delivered() {
        let mut rounds = Rounds::default();
        let mut at = |prior, total| {
            rounds.advance(&RateSample {
                delivered: 1000,
                interval: Duration::from_millis(100),
                reliable: true,
                prior,
                total,
                app_limited: false,
                in_flight: 10_000,
                lost: 0,
                rtt: None,
            })
        };
        let begins = [(0, 1000), (0, 2000), (1000, 3000), (2000, 4000), (3000, 5000)];
        assert_eq!(begins.map(|(prior, total)| at(prior, total)), [true, false, true, false, true]);
    }
}
