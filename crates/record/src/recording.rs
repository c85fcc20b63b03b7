//! What came out of a recording, and whether to trust it.

use crate::course::Recorded;
use crate::outcome::Sent;
use lasthop_base::Duration;

/// A path as it was recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Down and up, as far as they were recorded.
    pub ways: [Option<Way>; 2],
    /// Round trips without load, before the first phase: the shortest, and half of them no longer than this.
    pub rtt: [Duration; 2],
    /// Of so many of them how many came back.
    pub probes: [u32; 2],
    /// Whether what was said of one direction went with the packets of the other.
    pub shares_way: bool,
}

/// One direction.
#[derive(Clone, Debug)]
pub struct Way {
    /// What came.
    pub recorded: Recorded,
    /// What was sent.
    pub sent: Sent,
    /// How far the clocks of both sides went apart meanwhile.
    pub drift: Duration,
}

/// The queue may be empty for this share of the time.
const MOST_EMPTY: f64 = 0.05;
/// So many packets at least say something.
const LEAST_PACKETS: u64 = 100;
/// Clocks may go apart by so much in any case.
const LEAST_DRIFT: Duration = Duration::from_millis(2);

impl Way {
    /// Mean of what came, IP headers included, bit/s.
    pub fn mean_bps(&self) -> f64 {
        let bytes: f64 = self.recorded.bytes.iter().map(|bytes| f64::from(*bytes)).sum();
        bytes * 8e3 / self.recorded.bytes.len().max(1) as f64
    }

    /// For which share of the time the queue was empty.
    pub fn empty_share(&self) -> f64 {
        self.recorded.empty.as_millis() / self.recorded.bytes.len().max(1) as f64
    }

    /// Which share of the packets was lost.
    pub fn lost_share(&self) -> f64 {
        let Recorded { packets, lost, .. } = self.recorded;
        lost as f64 / (lost + packets).max(1) as f64
    }

    /// For which share of the time the sender had leave to send and did not come to it.
    pub fn behind_share(&self) -> f64 {
        self.sent.behind.as_secs() / self.sent.span.as_secs().max(1e-9)
    }

    /// Why it may not be trusted; empty if it may.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let Recorded { packets, dropped, wait_ms, .. } = self.recorded;
        if packets < LEAST_PACKETS {
            complaints.push(format!("only {packets} packets came through"));
        }
        if self.empty_share() > MOST_EMPTY {
            let percent = self.empty_share() * 100.0;
            let why = match self.behind_share() > MOST_EMPTY {
                true => "the sender's processor was the limit: it came too late to send",
                false => "the path was not saturated",
            };
            complaints.push(format!("the queue was empty for {percent:.0} % of the time: {why}"));
        }
        if dropped > 0 {
            complaints.push(format!("the receiving machine was too slow for {dropped} packets"));
        }
        if self.drift > LEAST_DRIFT && self.drift.as_millis() > f64::from(wait_ms) / 4.0 {
            complaints.push(format!(
                "the clocks of both sides went apart by {:.1} ms: how full the queue was is not known",
                self.drift.as_millis()
            ));
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second at 8 Mbit/s.
    fn way() -> Way {
        let recorded = Recorded {
            bytes: vec![1000; 1000],
            packets: 700,
            lost: 300,
            empty: Duration::from_millis(10),
            wait_ms: 100,
            dropped: 0,
        };
        let sent = Sent { packets: 1000, behind: Duration::ZERO, span: Duration::from_secs(1) };
        Way { recorded, sent, drift: Duration::from_millis(1) }
    }

    #[test]
    fn shares_and_means_are_by_time_and_packet() {
        let way = way();
        assert_eq!((way.mean_bps(), way.empty_share(), way.lost_share()), (8e6, 0.01, 0.3));
        assert_eq!(way.complaints(), [""; 0]);
    }

    #[test]
    fn each_doubt_is_said() {
        let said = |change: fn(&mut Way)| {
            let mut way = way();
            change(&mut way);
            way.complaints().join("; ")
        };
        assert!(said(|way| way.recorded.empty = Duration::from_millis(60)).contains("not saturated"));
        let behind = |way: &mut Way| {
            way.recorded.empty = Duration::from_millis(60);
            way.sent.behind = Duration::from_millis(60);
        };
        assert!(said(behind).contains("processor"));
        assert!(said(|way| way.recorded.dropped = 3).contains("too slow for 3"));
        assert!(said(|way| way.drift = Duration::from_millis(30)).contains("went apart by 30.0 ms"));
        assert!(said(|way| way.recorded.packets = 99).contains("only 99"));
    }
}
