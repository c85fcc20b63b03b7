//! Received bytes per millisecond, and the time for which the queue was empty.
//!
//! The queueing time of a packet is its one-way time minus the smallest one-way time. The clocks of both sides may
//! differ by a constant, but must run at the same speed. Each packet proves that the queue was not empty during the
//! packet's queueing time, which ends with the packet's arrival. For the rest of the time since the previous arrival,
//! the queue counts as empty.

use crate::message::{DataHeader, RecordingPhase};
use lasthop_base::{Duration, Time};

/// Maximum queueing time in the histogram, ms. Longer times count as this maximum.
const MAX_WAIT_MS: usize = 20_000;

#[derive(Debug)]
pub(crate) struct ReceiverLog {
    from: Time,
    until: Time,
    /// A queueing time up to this value counts as zero.
    jitter: Duration,
    /// Smallest one-way time in ns so far, including the offset between the clocks.
    base: Option<i128>,
    last: Option<Time>,
    empty: Duration,
    /// Histogram of queueing times: number of packets for each millisecond.
    waits: Vec<u64>,
    bytes: Vec<u32>,
    /// Lowest packet number and highest packet number within the recording.
    numbers: Option<[u64; 2]>,
    packets: u64,
    is_over: bool,
}

/// Receiver's part of the result of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiverResult {
    /// Bytes received in each millisecond, IP headers included.
    pub bytes: Vec<u32>,
    /// Packets received.
    pub packets: u64,
    /// Packets missing between the lowest and the highest packet number received.
    pub lost: u64,
    /// Estimate of the time for which the queue was empty.
    pub empty: Duration,
    /// Median queueing time, ms.
    pub wait_ms: u32,
    /// Datagrams dropped by the receiver's socket buffer.
    pub dropped: u32,
}

impl ReceiverLog {
    pub(crate) fn new(zero: Time, phase: &RecordingPhase) -> ReceiverLog {
        let from = zero + Duration::from_millis(phase.warm_ms.into());
        ReceiverLog {
            from,
            until: from + Duration::from_millis(phase.span_ms.into()),
            jitter: Duration::from_micros(phase.jitter_us.into()),
            base: None,
            last: None,
            empty: Duration::ZERO,
            waits: vec![0; MAX_WAIT_MS + 1],
            bytes: vec![0; phase.span_ms as usize],
            numbers: None,
            packets: 0,
            is_over: false,
        }
    }

    /// Records a packet that fills the queue; returns its queueing time.
    pub(crate) fn record_data(&mut self, at: Time, data: DataHeader, bytes: usize) -> Duration {
        let one_way = i128::from(at.as_nanos()) - i128::from(data.sent);
        let base = self.base.map_or(one_way, |base| base.min(one_way));
        self.base = Some(base);
        let waited = Duration::from_nanos(u64::try_from(one_way - base).unwrap_or(u64::MAX));
        self.add_empty_time(at, waited);
        if self.count_bytes(at, bytes) {
            self.packets += 1;
            let [low, high] = self.numbers.unwrap_or([data.packet; 2]);
            self.numbers = Some([low.min(data.packet), high.max(data.packet)]);
            self.waits[((waited.as_nanos() / 1_000_000) as usize).min(MAX_WAIT_MS)] += 1;
        }
        waited
    }

    /// Counts the bytes of any packet that arrives over the measured path. Returns whether `at` is within the
    /// recording.
    pub(crate) fn count_bytes(&mut self, at: Time, bytes: usize) -> bool {
        let is_recorded = self.from <= at && at < self.until;
        if is_recorded
            && let Some(slot) = self.bytes.get_mut((at.since(self.from).as_nanos() / 1_000_000) as usize)
        {
            *slot = slot.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
        is_recorded
    }

    /// Adds the time for which the queue was empty before this arrival.
    fn add_empty_time(&mut self, at: Time, waited: Duration) {
        let last = self.last.replace(at).unwrap_or(Time::ZERO).max(self.from);
        if at < self.from || self.is_over {
            return;
        }
        let waited = if waited <= self.jitter { Duration::ZERO } else { waited };
        // Time at which the packet joined the queue, at most the end of the recording.
        let joined = Time::from_nanos(at.as_nanos().saturating_sub(waited.as_nanos())).min(self.until);
        self.empty += joined.since(last);
        self.is_over = at >= self.until;
    }

    pub(crate) fn finish(mut self, dropped: u32) -> ReceiverResult {
        if !self.is_over {
            // After the last arrival, no packet proves that the queue was not empty.
            self.empty += self.until.since(self.last.unwrap_or(self.from).max(self.from));
        }
        let expected = self.numbers.map_or(0, |[low, high]| (high - low).saturating_add(1));
        let half = self.packets.div_ceil(2);
        let mut count = 0;
        let longer = self.waits.iter().position(|waits| {
            count += waits;
            count >= half
        });
        ReceiverResult {
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

    const PHASE: RecordingPhase =
        RecordingPhase { number: 0, directions: [true, false], warm_ms: 100, span_ms: 1000, jitter_us: 0 };

    fn ms(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// Records packets. Each packet is given as its number, its send time in ms and its arrival time in ms. The
    /// sender's clock is 1 h ahead. The one-way time without queueing is 20 ms.
    fn recorded(packets: &[(u64, u64, u64)]) -> ReceiverResult {
        let mut log = ReceiverLog::new(Time::ZERO, &PHASE);
        for (packet, sent, at) in packets {
            let sent = 3_600_000_000_000 + sent * 1_000_000;
            log.record_data(ms(*at), DataHeader { packet: *packet, sent }, 1428);
        }
        log.finish(0)
    }

    #[test]
    fn a_queue_that_always_holds_a_packet_is_never_empty() {
        // A packet is sent every 10 ms. Each packet except the first waits in the queue for 180 ms.
        let packets: Vec<_> =
            [(0, 0, 20)].into_iter().chain((1..140).map(|n| (n, n * 10, 200 + n * 10))).collect();
        let recorded = recorded(&packets);
        assert_eq!((recorded.empty, recorded.lost, recorded.wait_ms), (Duration::ZERO, 0, 180));
        assert_eq!(recorded.packets, 89, "packets that arrive from 210 ms to 1090 ms");
        assert_eq!(recorded.bytes.iter().map(|it| u64::from(*it)).sum::<u64>(), 89 * 1428);
        assert_eq!((recorded.bytes[110], recorded.bytes[111]), (1428, 0));
    }

    #[test]
    fn without_waiting_the_queue_is_empty_all_the_time() {
        let packets: Vec<_> = (0..140).map(|n| (n, n * 10, 20 + n * 10)).collect();
        assert_eq!(recorded(&packets).empty, Duration::from_millis(1000));
    }

    /// After an outage from 500 ms to 800 ms, a packet arrives at 800 ms. This packet was sent at 310 ms in the first
    /// case, and at 740 ms in the second case.
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
        // The packet joined the queue before the outage, so the queue was never empty.
        assert_eq!(gap(310), 0);
        // The packet joined the queue at 760 ms, 40 ms before its arrival. The queue was empty from 500 ms to 760 ms.
        assert_eq!(gap(740), 260);
    }

    #[test]
    fn what_never_comes_is_lost_and_counts_as_empty_at_the_end() {
        let some: Vec<_> =
            (0..50).filter(|n| n % 5 != 0 || *n == 0).map(|n| (n, n * 10, 300 + n * 10)).collect();
        let recorded = recorded(&[&[(0, 0, 20)], &some[1..]].concat());
        // The recording contains numbers 1 to 49, of which 9 are lost.
        assert_eq!((recorded.packets, recorded.lost), (40, 9));
        // The last packet arrives at 790 ms, and the recording ends at 1100 ms.
        assert_eq!(recorded.empty, Duration::from_millis(1100 - 790));
    }
}
