//! What comes through, millisecond by millisecond, and whether a queue waited behind it.
//!
//! A packet's one-way time less the smallest one is how long it waited: the clocks of the two sides need not agree, only
//! go equally fast. A packet that was sent, and would have been there without waiting, before the one in front of it
//! came, has kept the queue from being empty meanwhile; for the rest of the time until it came the queue was empty.

use crate::message::{Data, Phase};
use lasthop_base::{Duration, Time};

/// Waits are told apart by this, ms, up to so many; longer ones count as the longest.
const LONGEST_WAIT_MS: usize = 20_000;

/// What one side gets of a phase.
#[derive(Debug)]
pub(crate) struct Course {
    from: Time,
    until: Time,
    /// Waits up to this are none.
    jitter: Duration,
    /// The smallest difference of the two clocks, ns.
    base: Option<i128>,
    last: Option<Time>,
    empty: Duration,
    /// How many packets waited so many ms.
    waits: Vec<u64>,
    bytes: Vec<u32>,
    /// The lowest and the highest number in time, and how many came.
    numbers: Option<[u64; 2]>,
    packets: u64,
    is_over: bool,
}

/// What has come of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Bytes, IP headers included, in each millisecond.
    pub bytes: Vec<u32>,
    /// Packets that came.
    pub packets: u64,
    /// Packets that were sent between the first and the last of these and did not come.
    pub lost: u64,
    /// How long nothing waited at the queue, as far as can be told.
    pub empty: Duration,
    /// How long half of the packets waited at least, ms.
    pub wait_ms: u32,
    /// Datagrams for which the receiving machine had no room.
    pub dropped: u32,
}

impl Course {
    /// Of a phase that began at `zero`.
    pub(crate) fn new(zero: Time, phase: &Phase) -> Course {
        let from = zero + Duration::from_millis(phase.warm_ms.into());
        Course {
            from,
            until: from + Duration::from_millis(phase.span_ms.into()),
            jitter: Duration::from_micros(phase.jitter_us.into()),
            base: None,
            last: None,
            empty: Duration::ZERO,
            waits: vec![0; LONGEST_WAIT_MS + 1],
            bytes: vec![0; phase.span_ms as usize],
            numbers: None,
            packets: 0,
            is_over: false,
        }
    }

    /// A packet that keeps the queue full has come; how long it waited.
    pub(crate) fn data(&mut self, at: Time, data: Data, bytes: usize) -> Duration {
        let way = i128::from(at.as_nanos()) - i128::from(data.sent);
        let base = self.base.map_or(way, |base| base.min(way));
        self.base = Some(base);
        let waited = Duration::from_nanos(u64::try_from(way - base).unwrap_or(u64::MAX));
        self.heed(at, waited);
        if self.other(at, bytes) {
            self.packets += 1;
            let [low, high] = self.numbers.unwrap_or([data.packet; 2]);
            self.numbers = Some([low.min(data.packet), high.max(data.packet)]);
            self.waits[((waited.as_nanos() / 1_000_000) as usize).min(LONGEST_WAIT_MS)] += 1;
        }
        waited
    }

    /// Something else has come, which took its share of the link as well; whether in time to count.
    pub(crate) fn other(&mut self, at: Time, bytes: usize) -> bool {
        let is_meant = self.from <= at && at < self.until;
        if is_meant
            && let Some(slot) = self.bytes.get_mut((at.since(self.from).as_nanos() / 1_000_000) as usize)
        {
            *slot = slot.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
        is_meant
    }

    /// How long the queue was empty before a packet that came now and waited so long.
    fn heed(&mut self, at: Time, waited: Duration) {
        let last = self.last.replace(at).unwrap_or(Time::ZERO).max(self.from);
        if at < self.from || self.is_over {
            return;
        }
        let waited = if waited <= self.jitter { Duration::ZERO } else { waited };
        // From when on it waited, within the time that counts.
        let joined = Time::from_nanos(at.as_nanos().saturating_sub(waited.as_nanos())).min(self.until);
        self.empty += joined.since(last);
        self.is_over = at >= self.until;
    }

    /// All that will come has come.
    pub(crate) fn finish(mut self, dropped: u32) -> Recorded {
        if !self.is_over {
            // Nobody knows what waits that never comes.
            self.empty += self.until.since(self.last.unwrap_or(self.from).max(self.from));
        }
        let expected = self.numbers.map_or(0, |[low, high]| (high - low).saturating_add(1));
        let half = self.packets.div_ceil(2);
        let mut count = 0;
        let longer = self.waits.iter().position(|waits| {
            count += waits;
            count >= half
        });
        Recorded {
            bytes: self.bytes,
            packets: self.packets,
            lost: expected.saturating_sub(self.packets),
            empty: self.empty,
            wait_ms: longer.unwrap_or(0) as u32,
            dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASE: Phase = Phase { number: 0, ways: [true, false], warm_ms: 100, span_ms: 1000, jitter_us: 0 };

    fn ms(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// The packets' numbers, when each was sent and when it came, ms; the other clock is an hour ahead, and each takes
    /// 20 ms without waiting.
    fn recorded(packets: &[(u64, u64, u64)]) -> Recorded {
        let mut course = Course::new(Time::ZERO, &PHASE);
        for (packet, sent, at) in packets {
            let sent = 3_600_000_000_000 + sent * 1_000_000;
            course.data(ms(*at), Data { packet: *packet, sent }, 1428);
        }
        course.finish(0)
    }

    #[test]
    fn a_queue_that_always_holds_a_packet_is_never_empty() {
        // One each 10 ms, each after 200 ms, but for the first.
        let packets: Vec<_> =
            [(0, 0, 20)].into_iter().chain((1..140).map(|n| (n, n * 10, 200 + n * 10))).collect();
        let recorded = recorded(&packets);
        assert_eq!((recorded.empty, recorded.lost, recorded.wait_ms), (Duration::ZERO, 0, 180));
        assert_eq!(recorded.packets, 89, "those from 210 ms to 1090 ms");
        assert_eq!(recorded.bytes.iter().map(|it| u64::from(*it)).sum::<u64>(), 89 * 1428);
        assert_eq!((recorded.bytes[110], recorded.bytes[111]), (1428, 0));
    }

    #[test]
    fn without_waiting_the_queue_is_empty_all_the_time() {
        let packets: Vec<_> = (0..140).map(|n| (n, n * 10, 20 + n * 10)).collect();
        assert_eq!(recorded(&packets).empty, Duration::from_millis(1000));
    }

    /// From 500 ms to 800 ms nothing comes. What comes then was sent either before that or 60 ms before it came.
    #[test]
    fn an_outage_is_the_links_if_something_waited_for_its_end() {
        let gap = |sent: u64| {
            let before = (0..31).map(|n| (n, n * 10, 200 + n * 10));
            let packets: Vec<_> = [(0, 0, 20)]
                .into_iter()
                .chain(before)
                .chain([(31, sent, 800)])
                .chain((32..80).map(|n| (n, n * 10 + 300, n * 10 + 490)))
                .collect();
            recorded(&packets).empty.as_nanos() / 1_000_000
        };
        // The first packet to count comes at 200 ms, having been there since 20 ms.
        assert_eq!(gap(310), 0);
        // It waits from 760 ms on.
        assert_eq!(gap(740), 260);
    }

    #[test]
    fn what_never_comes_is_lost_and_counts_as_empty_at_the_end() {
        let some: Vec<_> =
            (0..50).filter(|n| n % 5 != 0 || *n == 0).map(|n| (n, n * 10, 300 + n * 10)).collect();
        let recorded = recorded(&[&[(0, 0, 20)], &some[1..]].concat());
        // Numbers 1 to 49, of which 9 are gone.
        assert_eq!((recorded.packets, recorded.lost), (40, 9));
        // The last comes at 790 ms.
        assert_eq!(recorded.empty, Duration::from_millis(1100 - 790));
    }
}
