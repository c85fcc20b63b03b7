//! What has become of a stream of bytes, whoever carried it.

use crate::figure::{Curve, CurveKind, Point};
use lasthop_base::{Duration, Time};
use lasthop_sim::{FlowOutcome, Samples};

/// A stream from one application to another, when it is over.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamOutcome {
    /// Bytes that the receiver's application got, in order.
    pub received_bytes: u64,
    /// From its start to its end, or the trial's.
    pub active: Duration,
    /// Whether all of it arrived.
    pub is_complete: bool,
    /// Segments that its sender sent again.
    pub retransmissions: u64,
    /// Expiries of its retransmission timer; `None` where the sender does not tell.
    pub timeouts: Option<u64>,
    /// The sender's smoothed RTT by time, ms, since the first was measured.
    pub srtts_ms: Vec<(Time, f64)>,
}

impl StreamOutcome {
    /// The same of a simulated flow, which began at `start`, by its place in the scenario.
    pub fn simulated(outcome: &FlowOutcome, flow: usize, start: Time, samples: &Samples) -> StreamOutcome {
        let active = Duration::from_secs_f64(outcome.active_s);
        let its = samples.flows.iter().filter(|it| it.flow == flow && it.time <= start + active);
        StreamOutcome {
            received_bytes: outcome.delivered_bytes,
            active,
            is_complete: outcome.account.completed.is_some(),
            retransmissions: outcome.source.retransmitted,
            timeouts: Some(outcome.source.timeouts),
            srtts_ms: its.filter_map(|sample| Some((sample.time, sample.srtt_ms?))).collect(),
        }
    }

    /// Its round-trip times against time.
    pub(super) fn srtt_curve(&self, name: &str) -> Curve {
        let points = self.srtts_ms.iter().map(|(time, srtt)| Point::exact(time.as_secs(), *srtt));
        Curve { name: name.to_owned(), kind: CurveKind::Line, points: points.collect() }
    }
}
