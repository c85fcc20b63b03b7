//! ACK aggregation: bytes acknowledged in bursts beyond the bandwidth-delay product (BBR.extra_acked, draft §5.5.9).

use lasthop_base::Time;

/// State of BBR.extra_acked_filter and of its measurement interval.
pub(super) struct Aggregation {
    /// Largest excess over the expected bytes in each round, bytes (BBR.extra_acked_filter).
    of_rounds: Vec<u64>,
    round: u64,
    since: Option<Time>,
    delivered: u64,
    /// BBR.extra_acked, bytes.
    pub(super) extra: u64,
}

impl Aggregation {
    pub(super) fn over(rounds: u64) -> Aggregation {
        Aggregation { of_rounds: vec![0; rounds as usize], round: 0, since: None, delivered: 0, extra: 0 }
    }

    /// Sets the start of the measurement interval when sending restarts after idle time.
    pub(super) fn begin(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// Handles an ACK that delivers `delivered` bytes (UpdateACKAggregation). `bandwidth`: bytes per second.
    /// `all_rounds`: whether `extra` is the maximum over all rounds of the filter, instead of the last round's value.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        bandwidth: f64,
        cwnd: u64,
        round: u64,
        all_rounds: bool,
    ) {
        let mut expected = self.since.map_or(0.0, |since| bandwidth * now.since(since).as_secs());
        if self.delivered as f64 <= expected {
            (self.delivered, self.since) = (0, Some(now));
            expected = 0.0;
        }
        self.delivered += delivered;
        let excess = ((self.delivered as f64 - expected).max(0.0) as u64).min(cwnd);
        let slots = self.of_rounds.len() as u64;
        for passed in (self.round + 1..=round).rev().take(slots as usize) {
            self.of_rounds[(passed % slots) as usize] = 0;
        }
        self.round = round;
        let place = &mut self.of_rounds[(round % slots) as usize];
        *place = excess.max(*place);
        self.extra = if all_rounds { self.of_rounds.iter().copied().max().unwrap_or(0) } else { *place };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    /// The link delivers 1 MB/s in bursts of 30 kB every 30 ms. The excess of 30 kB counts for ten rounds, or for one
    /// round if `all_rounds` is `false` (as in Startup).
    #[test]
    fn lumps_count_for_ten_rounds() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut aggregation = Aggregation::over(10);
        for lump in 0..10 {
            aggregation.on_ack(at(30 * lump), 30_000, 1e6, 200_000, lump, true);
        }
        assert_eq!(aggregation.extra, 30_000);
        aggregation.on_ack(at(400), 1000, 1e6, 200_000, 10, false);
        assert_eq!(aggregation.extra, 1000);
        aggregation.on_ack(at(402), 1000, 1e6, 200_000, 11, true);
        assert_eq!(aggregation.extra, 30_000);
        for round in 12..=19 {
            aggregation.on_ack(at(400 + 2 * round), 1000, 1e6, 200_000, round, true);
        }
        assert_eq!(aggregation.extra, 1000);
    }
}
