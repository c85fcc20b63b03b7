//! ACK aggregation (Cardwell et al., IETF 102, 2018): bytes acknowledged in bursts beyond the bandwidth-delay product.
//! Radio links and receivers cause bursts because they delay ACKs. cwnd grows by these bytes, so that the sender does
//! not stall between bursts.

use lasthop_base::{Duration, Time};

/// Number of rounds in each of the two entries of `largest`. An excess therefore counts for five to ten rounds.
const ROUNDS: u32 = 5;
/// Upper limit of the allowance: the bytes sent at the estimated bandwidth in this time.
const LONGEST: Duration = Duration::from_millis(100);
/// Upper limit of the segments acknowledged in a measurement interval. An ACK that reaches the limit starts a new
/// interval.
const MAX_SEGMENTS: u64 = 1 << 20;

#[derive(Default)]
pub(super) struct Aggregation {
    /// Largest excess of acknowledged over expected bytes, in the current and in the previous [`ROUNDS`] rounds.
    largest: [u64; 2],
    rounds: u32,
    /// Start of the measurement interval.
    since: Option<Time>,
    /// Bytes acknowledged since the start of the interval.
    acked: u64,
}

impl Aggregation {
    pub(super) fn start_anew(&mut self, now: Time) {
        (self.since, self.acked) = (Some(now), 0);
    }

    /// Handles an ACK that delivers `delivered` bytes. `bandwidth`: estimate, bytes per second. `begins`: whether the
    /// ACK begins a round.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        bandwidth: f64,
        cwnd: u64,
        mss: u64,
        begins: bool,
    ) {
        if begins {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.largest = [0, self.largest[0]];
            }
        }
        let mut expected = self.since.map_or(0.0, |since| bandwidth * now.since(since).as_secs());
        if self.acked as f64 <= expected || self.acked + delivered >= MAX_SEGMENTS * mss {
            self.start_anew(now);
            expected = 0.0;
        }
        self.acked += delivered;
        let excess = (self.acked as f64 - expected).max(0.0) as u64;
        self.largest[0] = self.largest[0].max(excess.min(cwnd));
    }

    /// Bytes allowed in flight in addition to the bandwidth-delay product.
    pub(super) fn allowance(&self, bandwidth: f64) -> u64 {
        let believed = (bandwidth * LONGEST.as_secs()) as u64;
        self.largest[0].max(self.largest[1]).min(believed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link delivers 1 MB/s in bursts of 30 kB every 30 ms. Each burst is an excess of 30 kB over the bytes
    /// expected by then. The excess counts for at most ten rounds.
    #[test]
    fn lumps_are_allowed_for_and_forgotten() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut aggregation = Aggregation::default();
        for lump in 1..=10 {
            aggregation.on_ack(at(30 * lump), 30_000, 1e6, 200_000, 1000, true);
        }
        assert_eq!(aggregation.allowance(1e6), 30_000);
        // The allowance is at most the bytes sent in 100 ms at the estimated bandwidth: 10 kB at 0.1 MB/s.
        assert_eq!(aggregation.allowance(1e5), 10_000);
        for round in 0..10 {
            for ack in 0..30 {
                aggregation.on_ack(at(1000 + 30 * round + ack), 1000, 1e6, 200_000, 1000, ack == 0);
            }
        }
        assert!(aggregation.allowance(1e6) <= 2000, "{}", aggregation.allowance(1e6));
    }
}
