//! JTCP: queue growth over the last window of packets indicates congestion (hasegawa §2.2 and §3.2.2, Eq. 1).

use super::{Build, Cause, Gap, LossDiscriminator, Observation};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Duration, Info, Mechanism, Need, Parameter, Stream, Time, Unit};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "jtcp",
        summary: "treats a loss as congestion if the jitter ratio Jr over the last window exceeds k/w (JTCP)",
        source: "hasegawa §3.2.2, Eq. 1; Wu and Chen, JSAC 22(4) 2004",
        parameters: &[
            Parameter {
                name: "k",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("1"),
                doc: "control parameter: values below 1 attribute more losses to congestion, values above 1 fewer",
            },
            Parameter {
                name: "newest",
                unit: Unit::Word(&["before_gap", "after_gap"]),
                default: Some("before_gap"),
                doc: "newest packet of the comparison: n-1 as in Eq. 1, or the first packet after the gap",
            },
        ],
        needs: &[Need::Timestamps],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Jtcp {
            k: values.number("k"),
            uses_newest: values.word("newest") == "after_gap",
            arrivals: VecDeque::new(),
        })
    },
};

struct Jtcp {
    k: f64,
    uses_newest: bool,
    arrivals: VecDeque<PacketTimes>,
}

#[derive(Clone, Copy)]
struct PacketTimes {
    start: u64,
    received: Time,
    sent: Time,
}

/// Number of packets whose times are stored. The number exceeds every window in the scenarios.
const REMEMBERED: usize = 4096;

impl LossDiscriminator for Jtcp {
    fn observe(&mut self, observation: &Observation) {
        let Some(sent) = observation.sent else { return };
        if self.arrivals.len() == REMEMBERED {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(PacketTimes {
            start: observation.range.start,
            received: observation.now,
            sent,
        });
    }

    fn discriminate(&mut self, gap: &Gap, path: &PathEstimate, _: &mut Stream) -> Cause {
        let window = libm::round(path.cwnd_r).max(1.0);
        match self.jitter_ratio(gap, window as u64) {
            Some(ratio) if ratio > self.k / window => Cause::Congestion,
            _ => Cause::Wireless,
        }
    }

    fn needs_estimate(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

impl Jtcp {
    /// Returns the jitter ratio Jr (Eq. 1) of two received packets. The newer packet is the last packet before the gap
    /// (n-1), or the first packet after the gap if `uses_newest`. The older packet is the packet nearest to n-w,
    /// `window` segments before the gap. Returns `None` if these packets do not exist or arrived at the same time.
    fn jitter_ratio(&self, gap: &Gap, window: u64) -> Option<f64> {
        let below = self.arrivals.partition_point(|arrival| arrival.start < gap.range.start);
        let newest = if self.uses_newest {
            self.arrivals.back()?
        } else {
            self.arrivals.get(below.checked_sub(1)?)?
        };
        let wanted = gap.range.start.saturating_sub(window * gap.segment);
        let oldest = self.nearest(wanted)?;
        let received = newest.received.since(oldest.received);
        let sent = newest.sent.since(oldest.sent);
        if received == Duration::ZERO {
            return None;
        }
        Some((received.as_secs() - sent.as_secs()) / received.as_secs())
    }

    fn nearest(&self, wanted: u64) -> Option<PacketTimes> {
        let behind = self.arrivals.partition_point(|arrival| arrival.start < wanted);
        let above = self.arrivals.get(behind).copied();
        let below = behind.checked_sub(1).and_then(|index| self.arrivals.get(index).copied());
        match (below, above) {
            (Some(below), Some(above)) if wanted - below.start < above.start - wanted => Some(below),
            (below, above) => above.or(below),
        }
    }
}
