//! Outcome of a simulated or real byte stream.

use crate::figure::{Curve, CurveKind, Point};
use lasthop_base::{Duration, Time};
use lasthop_sim::{FlowOutcome, Samples};

/// Stream between two applications, after its end or the end of the trial.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamOutcome {
    /// Bytes delivered in order to the receiving application.
    pub received_bytes: u64,
    /// Time from the stream's start to its end, or to the end of the trial.
    pub active: Duration,
    /// Whether all bytes of the stream arrived.
    pub is_complete: bool,
    /// Number of retransmitted segments.
    pub retransmissions: u64,
    /// Number of expiries of the retransmission timer. `None` if the sender does not report this number.
    pub timeouts: Option<u64>,
    /// Pairs: a time, and the sender's smoothed RTT at that time, ms. The first pair is at the first RTT measurement.
    pub srtts_ms: Vec<(Time, f64)>,
}

impl StreamOutcome {
    /// Returns the outcome of a simulated flow. `flow` is the index of the flow in the scenario, and `start` is its
    /// start time.
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

    pub(super) fn srtt_curve(&self, name: &str) -> Curve {
        let points = self.srtts_ms.iter().map(|(time, srtt)| Point::exact(time.as_secs(), *srtt));
        Curve { name: name.to_owned(), kind: CurveKind::Line, points: points.collect() }
    }
}
