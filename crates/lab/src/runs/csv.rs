//! Comma-separated values: metrics of all repetitions, and samples over time of the first repetition.

use csv::{Terminator, Writer, WriterBuilder};
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, FlowOutcome, FlowSample, Outcome, QueueSample, Samples};
use lasthop_wire::LossReason;

/// Writer of CSV lines. Each line ends with a line feed. A field with a comma, quote or line break is quoted (RFC
/// 4180).
struct CsvLines(Writer<Vec<u8>>);

impl CsvLines {
    fn new() -> CsvLines {
        CsvLines(
            WriterBuilder::new().terminator(Terminator::Any(b'\n')).flexible(true).from_writer(Vec::new()),
        )
    }

    fn add<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) {
        // A write to memory cannot fail. The option `flexible` allows lines with different numbers of fields.
        let _ = self.0.write_record(fields);
    }

    fn text(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Returns one CSV line with these fields.
pub fn line<T: AsRef<[u8]>>(fields: impl IntoIterator<Item = T>) -> String {
    let mut lines = CsvLines::new();
    lines.add(fields);
    lines.text()
}

/// Formats a number as a CSV field. The field is empty if the number is undefined.
pub fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

/// Returns the header line of [`rows`]. `before` lists additional leading columns.
pub fn header(before: &[&str]) -> String {
    line(
        before
            .iter()
            .copied()
            .chain(["flow", "run", "seed"])
            .chain(FLOW_METRICS.iter().map(|metric| metric.name)),
    )
}

/// Returns one row for each flow, with all metrics. `before` lists additional leading fields. `run` is the number of
/// the repetition, from 1.
pub fn rows(before: &[&str], run: usize, outcome: &Outcome) -> String {
    let row = |flow: &FlowOutcome| {
        let head = before.iter().map(|field| (*field).to_owned());
        let place = [flow.name.clone(), run.to_string(), outcome.seed.to_string()];
        line(head.chain(place).chain(FLOW_METRICS.iter().map(|metric| number((metric.of)(flow)))))
    };
    outcome.flows.iter().map(row).collect()
}

/// Returns the samples of a run: one row for each instant and TCP flow. Each row also has the queue lengths of all
/// links.
pub fn samples(scenario: &Scenario, samples: &Samples) -> String {
    let mut instants = samples.queues.chunk_by(|one, next| one.time == next.time).peekable();
    let mut names: Vec<String> = ["time_s", "flow"].map(String::from).to_vec();
    names.extend(COLUMNS.iter().map(|column| column.name.to_owned()));
    for queue in instants.peek().copied().unwrap_or_default() {
        let direction = if queue.down { "down" } else { "up" };
        let place = format!("{}.{direction}", scenario.links[queue.link].name);
        names.extend(["queue_packets", "queue_bytes"].map(|what| format!("{place}.{what}")));
        names.extend(queue.average.map(|_| format!("{place}.queue_average_packets")));
        names.push(format!("{place}.lost_packets"));
    }
    let mut lines = CsvLines::new();
    lines.add(&names);
    let mut flows = samples.flows.chunk_by(|one, next| one.time == next.time).peekable();
    for queues in instants {
        match flows.next_if(|flows| flows[0].time == queues[0].time) {
            Some(flows) => flows.iter().for_each(|flow| lines.add(row(scenario, Some(flow), queues))),
            None => lines.add(row(scenario, None, queues)),
        }
    }
    lines.text()
}

fn row(scenario: &Scenario, flow: Option<&FlowSample>, queues: &[QueueSample]) -> Vec<String> {
    let name = flow.map_or(String::new(), |flow| scenario.flows[flow.flow].name.clone());
    let mut fields = vec![queues[0].time.as_secs().to_string(), name];
    fields.extend(COLUMNS.iter().map(|column| number(flow.and_then(column.of))));
    for queue in queues {
        fields.extend([queue.packets.to_string(), queue.bytes.to_string()]);
        fields.extend(queue.average.map(|average| average.to_string()));
        fields.push(queue.lost.total().to_string());
    }
    fields
}

/// Column of the samples.
pub struct SampleColumn {
    /// Name with the unit suffix, such as `cwnd_bytes`.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    of: fn(&FlowSample) -> Option<f64>,
}

impl SampleColumn {
    /// Returns the value of the column in a sample. Returns `None` if the value is undefined.
    pub fn value(&self, flow: &FlowSample) -> Option<f64> {
        (self.of)(flow)
    }
}

/// Columns of a flow's samples.
pub const COLUMNS: &[SampleColumn] = &[
    SampleColumn {
        name: "cwnd_bytes",
        doc: "congestion window, bytes",
        of: |flow| Some(flow.cwnd_bytes as f64),
    },
    SampleColumn {
        name: "cwnd_inflated_bytes",
        doc: "congestion window inflated during recovery by the bytes that have left the network, bytes",
        of: |flow| Some(flow.inflated_bytes as f64),
    },
    SampleColumn {
        name: "ssthresh_bytes",
        doc: "slow start threshold, bytes",
        of: |flow| Some(flow.ssthresh_bytes as f64),
    },
    SampleColumn {
        name: "in_flight_bytes",
        doc: "bytes in flight as the sender counts them",
        of: |flow| Some(flow.in_flight_bytes as f64),
    },
    SampleColumn {
        name: "srtt_ms",
        doc: "smoothed RTT, ms; empty before the first sample",
        of: |flow| flow.srtt_ms,
    },
    SampleColumn { name: "rto_ms", doc: "retransmission timeout, ms", of: |flow| Some(flow.rto_ms) },
    SampleColumn {
        name: "cwnd_r_segments",
        doc: "the receiver's estimate of the sender's window, segments",
        of: |flow| Some(flow.cwnd_r),
    },
    SampleColumn {
        name: "delivered_bytes",
        doc: "payload delivered in order so far, bytes",
        of: |flow| Some(flow.delivered_bytes as f64),
    },
    SampleColumn {
        name: "acks_sent",
        doc: "ACKs sent so far by the receiver",
        of: |flow| Some(flow.acks_sent as f64),
    },
    SampleColumn {
        name: "lost_queue_full",
        doc: "packets of the flow lost so far in full queues",
        of: |flow| lost(flow, LossReason::QueueFull),
    },
    SampleColumn {
        name: "lost_channel",
        doc: "packets of the flow lost so far on the channel",
        of: |flow| lost(flow, LossReason::Channel),
    },
    SampleColumn {
        name: "lost_tag_drop",
        doc: "tagged packets of the flow dropped so far to report that a full queue dropped another packet",
        of: |flow| lost(flow, LossReason::TagDrop),
    },
    SampleColumn {
        name: "lost_discarded",
        doc: "packets of the flow discarded so far by a sending link layer",
        of: |flow| lost(flow, LossReason::Discarded),
    },
    SampleColumn {
        name: "lost_early",
        doc: "packets of the flow dropped so far by RED before the queue was full",
        of: |flow| lost(flow, LossReason::EarlyDrop),
    },
    SampleColumn {
        name: "lost_corrupt",
        doc: "corrupted packets of the flow received so far",
        of: |flow| lost(flow, LossReason::Corrupt),
    },
];

fn lost(flow: &FlowSample, reason: LossReason) -> Option<f64> {
    Some(flow.lost[reason] as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(line(["a", "b,c", "d\"e", "f\rg"]), "a,\"b,c\",\"d\"\"e\",\"f\rg\"\n");
        assert_eq!(number(None), "");
        assert_eq!(number(Some(2.0)), "2");
        assert_eq!(number(Some(f64::INFINITY)), "");
    }
}
