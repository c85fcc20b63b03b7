//! Result of a recording and its validity.

use crate::phase_result::SenderResult;
use crate::receiver_log::ReceiverResult;
use lasthop_base::Duration;

/// A recorded path.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Results of the downlink and of the uplink; `None` if not recorded.
    pub directions: [Option<DirectionResult>; 2],
    /// Minimum and median RTT without load, measured before the first phase.
    pub rtt: [Duration; 2],
    /// Number of RTT probes sent, and number of RTT probes answered.
    pub probes: [u32; 2],
    /// Whether reports about one direction shared the path with data of the opposite direction.
    pub shares_path: bool,
}

/// Result of one direction.
#[derive(Clone, Debug)]
pub struct DirectionResult {
    /// Receiver's part of the result.
    pub recorded: ReceiverResult,
    /// Sender's part of the result.
    pub sent: SenderResult,
    /// Change of the offset between the clocks of both sides during the phase.
    pub drift: Duration,
}

/// Maximum share of time with an empty queue in a valid recording.
const MAX_EMPTY: f64 = 0.05;
const MIN_PACKETS: u64 = 100;
/// Largest drift of the clocks that is allowed in a phase of any length.
const MIN_DRIFT: Duration = Duration::from_millis(2);

impl DirectionResult {
    /// Mean rate in bit/s at which bytes were received, IP headers included.
    pub fn mean_bps(&self) -> f64 {
        let bytes: f64 = self.recorded.bytes.iter().map(|bytes| f64::from(*bytes)).sum();
        bytes * 8e3 / self.recorded.bytes.len().max(1) as f64
    }

    /// Share of time with an empty queue.
    pub fn empty_share(&self) -> f64 {
        self.recorded.empty.as_millis() / self.recorded.bytes.len().max(1) as f64
    }

    /// Share of packets lost.
    pub fn lost_share(&self) -> f64 {
        let ReceiverResult { packets, lost, .. } = self.recorded;
        lost as f64 / (lost + packets).max(1) as f64
    }

    /// Share of time for which the sender was allowed to send but its process did not run.
    pub fn behind_share(&self) -> f64 {
        self.sent.behind.as_secs() / self.sent.span.as_secs().max(1e-9)
    }

    /// Reasons to distrust the recording; empty if valid.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let ReceiverResult { packets, dropped, wait_ms, .. } = self.recorded;
        if packets < MIN_PACKETS {
            complaints.push(format!("only {packets} packets arrived"));
        }
        if self.empty_share() > MAX_EMPTY {
            let percent = self.empty_share() * 100.0;
            let why = if self.behind_share() > MAX_EMPTY {
                "the sender's processor was the limit, not the path"
            } else {
                "the path was not saturated"
            };
            complaints.push(format!("the queue was empty for {percent:.0} % of the time: {why}"));
        }
        if dropped > 0 {
            complaints.push(format!(
                "the receiving machine was too slow for {dropped} packets (socket buffer full)"
            ));
        }
        if self.drift > MIN_DRIFT && self.drift.as_millis() > f64::from(wait_ms) / 4.0 {
            complaints.push(format!(
                "the clocks of both sides drifted by {:.1} ms: the queueing time is unknown",
                self.drift.as_millis()
            ));
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recording of 1 s at 8 Mbit/s.
    fn direction() -> DirectionResult {
        let recorded = ReceiverResult {
            bytes: vec![1000; 1000],
            packets: 700,
            lost: 300,
            empty: Duration::from_millis(10),
            wait_ms: 100,
            dropped: 0,
        };
        let sent = SenderResult { packets: 1000, behind: Duration::ZERO, span: Duration::from_secs(1) };
        DirectionResult { recorded, sent, drift: Duration::from_millis(1) }
    }

    #[test]
    fn shares_and_means_are_by_time_and_packet() {
        let direction = direction();
        assert_eq!((direction.mean_bps(), direction.empty_share(), direction.lost_share()), (8e6, 0.01, 0.3));
        assert_eq!(direction.complaints(), [""; 0]);
    }

    #[test]
    fn each_doubt_is_said() {
        let complaint = |change: fn(&mut DirectionResult)| {
            let mut direction = direction();
            change(&mut direction);
            direction.complaints().join("; ")
        };
        assert!(
            complaint(|direction| direction.recorded.empty = Duration::from_millis(60))
                .contains("not saturated")
        );
        let behind = |direction: &mut DirectionResult| {
            direction.recorded.empty = Duration::from_millis(60);
            direction.sent.behind = Duration::from_millis(60);
        };
        assert!(complaint(behind).contains("processor"));
        assert!(complaint(|direction| direction.recorded.dropped = 3).contains("too slow for 3"));
        assert!(
            complaint(|direction| direction.drift = Duration::from_millis(30)).contains("drifted by 30.0 ms")
        );
        assert!(complaint(|direction| direction.recorded.packets = 99).contains("only 99"));
    }
}
