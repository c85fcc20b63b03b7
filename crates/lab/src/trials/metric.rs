//! Metrics of the streams in a trial.

use super::StreamOutcome;

/// Metric of one stream, or of several streams together.
#[derive(Clone, Copy, Debug)]
pub struct StreamMetric {
    /// Name in JSON and CSV, with the unit.
    pub name: &'static str,
    /// Table heading, with the unit.
    pub label: &'static str,
    /// Value of the metric over some streams. `None` if the value is undefined.
    pub of: fn(&[StreamOutcome]) -> Option<f64>,
}

/// Sum over the streams of each stream's goodput, kbit/s. A stream's goodput is the number of received bytes divided by
/// the stream's active time.
pub const GOODPUT: StreamMetric = StreamMetric {
    name: "goodput_kbps",
    label: "goodput, kbit/s",
    of: |streams| {
        Some(streams.iter().map(|stream| rate_kbps(stream.received_bytes, stream.active.as_secs())).sum())
    },
};

/// Goodput of all streams together, kbit/s: received bytes of all streams divided by the longest active time.
pub const GOODPUT_TOGETHER: StreamMetric = StreamMetric {
    of: |streams| {
        let seconds = streams.iter().map(|stream| stream.active.as_secs()).fold(0.0, f64::max);
        let bytes = streams.iter().map(|stream| stream.received_bytes).sum();
        (seconds > 0.0).then(|| rate_kbps(bytes, seconds))
    },
    ..GOODPUT
};

/// Number of retransmitted segments, summed over streams.
pub const RETRANSMISSIONS: StreamMetric = StreamMetric {
    name: "retransmissions",
    label: "retransmissions",
    of: |streams| Some(streams.iter().map(|stream| stream.retransmissions as f64).sum()),
};

/// Number of expiries of the retransmission timer, summed over streams. The metric is undefined if any sender does not
/// report this number.
pub const TIMEOUTS: StreamMetric = StreamMetric {
    name: "timeouts",
    label: "timeouts",
    of: |streams| streams.iter().map(|stream| stream.timeouts.map(|count| count as f64)).sum(),
};

/// Smoothed RTT of the sender, ms. Each stream's RTT is averaged over time, and the metric is the mean of these
/// averages over the streams. The metric is undefined if any stream has no RTT.
pub const SRTT: StreamMetric = StreamMetric {
    name: "srtt_ms",
    label: "SRTT, ms",
    of: |streams| {
        let means: Option<Vec<f64>> =
            streams.iter().map(|stream| mean(stream.srtts_ms.iter().map(|(_, srtt)| *srtt))).collect();
        mean(means?.into_iter())
    },
};

/// Completion time of the slowest stream, s. The metric is undefined unless all streams are complete.
pub const COMPLETED: StreamMetric = StreamMetric {
    name: "completed_s",
    label: "completion time, s",
    of: |streams| {
        let seconds = |stream: &StreamOutcome| stream.is_complete.then(|| stream.active.as_secs());
        streams.iter().map(seconds).try_fold(0.0, |most: f64, seconds| Some(most.max(seconds?)))
    },
};

/// Returns a rate in kbit/s. Returns 0 for a stream that was never active.
fn rate_kbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e3 } else { 0.0 }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| values.sum::<f64>() / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Duration, Time};

    fn stream(received_bytes: u64, seconds: u64, is_complete: bool, srtts_ms: &[f64]) -> StreamOutcome {
        StreamOutcome {
            received_bytes,
            active: Duration::from_secs(seconds),
            is_complete,
            retransmissions: 3,
            timeouts: is_complete.then_some(1),
            srtts_ms: srtts_ms.iter().map(|srtt| (Time::ZERO, *srtt)).collect(),
        }
    }

    #[test]
    fn rates_of_streams_of_different_length() {
        let streams = [stream(1000, 2, true, &[]), stream(1000, 8, true, &[])];
        assert_eq!((GOODPUT.of)(&streams), Some(5.0));
        assert_eq!((GOODPUT_TOGETHER.of)(&streams), Some(2.0));
        let never = [stream(0, 0, false, &[])];
        assert_eq!(((GOODPUT.of)(&never), (GOODPUT_TOGETHER.of)(&never)), (Some(0.0), None));
    }

    #[test]
    fn a_mean_of_means_needs_every_stream() {
        // The means over time are 30 ms and 50 ms. The second stream has more samples than the first, but the same
        // weight.
        let both = [stream(1, 1, true, &[20.0, 40.0]), stream(1, 1, true, &[50.0, 50.0, 50.0])];
        assert_eq!((SRTT.of)(&both), Some(40.0));
        assert_eq!((SRTT.of)(&[both[0].clone(), stream(1, 1, true, &[])]), None);
        assert_eq!((SRTT.of)(&[]), None);
    }

    #[test]
    fn completion_is_that_of_the_slowest_if_all_are_complete() {
        let streams = [stream(1, 2, true, &[]), stream(1, 8, true, &[])];
        assert_eq!((COMPLETED.of)(&streams), Some(8.0));
        assert_eq!((COMPLETED.of)(&[streams[0].clone(), stream(1, 9, false, &[])]), None);
        assert_eq!(((RETRANSMISSIONS.of)(&streams), (TIMEOUTS.of)(&streams)), (Some(6.0), Some(2.0)));
        assert_eq!((TIMEOUTS.of)(&[streams[0].clone(), stream(1, 9, false, &[])]), None);
    }
}
