//! How many more bytes than the bandwidth accounts for are acknowledged at once, where radio links or receivers hold ACKs
//! back: so much more may be in flight, or the sender stalls between them ("ACK aggregation", Cardwell et al., IETF 102, 2018).

use lasthop_base::{Duration, Time};

/// Rounds for which each of the two memories counts, in turn: an excess is known for five to ten rounds.
const ROUNDS: u32 = 5;
/// An excess of more than what the bandwidth delivers in this time is not believed.
const LONGEST: Duration = Duration::from_millis(100);
/// An epoch does not count more segments than this.
const MOST_SEGMENTS: u64 = 1 << 20;

/// The largest excess of late.
#[derive(Default)]
pub(super) struct Aggregation {
    /// Bytes, of this stretch of rounds and the one before it.
    largest: [u64; 2],
    rounds: u32,
    /// When the ACKs ran ahead of the bandwidth, and bytes acknowledged since.
    since: Option<Time>,
    acked: u64,
}

impl Aggregation {
    /// After idle time nothing is ahead.
    pub(super) fn start_anew(&mut self, now: Time) {
        (self.since, self.acked) = (Some(now), 0);
    }

    /// An ACK delivers so many bytes, `bandwidth` is in bytes per second. `begins`: a round begins with it.
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
        if self.acked as f64 <= expected || self.acked + delivered >= MOST_SEGMENTS * mss {
            self.start_anew(now);
            expected = 0.0;
        }
        self.acked += delivered;
        let excess = (self.acked as f64 - expected).max(0.0) as u64;
        self.largest[0] = self.largest[0].max(excess.min(cwnd));
    }

    /// Bytes that may be in flight beyond what the bandwidth-delay product says.
    pub(super) fn allowance(&self, bandwidth: f64) -> u64 {
        let believed = (bandwidth * LONGEST.as_secs()) as u64;
        self.largest[0].max(self.largest[1]).min(believed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 MB/s, acknowledged in lumps of 30 kB every 30 ms: each lump is 30 kB ahead of the bandwidth at first, and the
    /// allowance forgets it when lumps end, after ten rounds at the latest.
    #[test]
    fn lumps_are_allowed_for_and_forgotten() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut aggregation = Aggregation::default();
        for lump in 1..=10 {
            aggregation.on_ack(at(30 * lump), 30_000, 1e6, 200_000, 1000, true);
        }
        assert_eq!(aggregation.allowance(1e6), 30_000);
        // No more than 100 ms of a slower path is believed.
        assert_eq!(aggregation.allowance(1e5), 10_000);
        for round in 0..10 {
            for ack in 0..30 {
                aggregation.on_ack(at(1000 + 30 * round + ack), 1000, 1e6, 200_000, 1000, ack == 0);
            }
        }
        assert!(aggregation.allowance(1e6) <= 2000, "{}", aggregation.allowance(1e6));
    }
}
