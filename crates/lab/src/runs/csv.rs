//! Comma-separated values: every repetition, and the samples of the first.

use csv::{Terminator, Writer, WriterBuilder};
use lasthop_scenario::Scenario;
use lasthop_sim::{FlowOutcome, FlowSample, METRICS, Outcome, QueueSample, Samples};
use lasthop_wire::LossReason;

/// Lines under way, each ended by a line feed; fields that hold a comma, a quote or a line's end are quoted (RFC 4180).
struct Lines(Writer<Vec<u8>>);

impl Lines {
    fn new() -> Lines {
        Lines(WriterBuilder::new().terminator(Terminator::Any(b'\n')).flexible(true).from_writer(Vec::new()))
    }

    fn add<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) {
        // Memory takes everything, and lines may differ in length: nothing can fail.
        let _ = self.0.write_record(fields);
    }

    fn text(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// One line.
pub fn line<T: AsRef<[u8]>>(fields: impl IntoIterator<Item = T>) -> String {
    let mut lines = Lines::new();
    lines.add(fields);
    lines.text()
}

/// A number, or nothing where it is undefined.
pub fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

/// One row per flow and repetition with every metric; `before` are further columns in front.
pub fn header(before: &[&str]) -> String {
    line(
        before.iter().copied().chain(["flow", "run", "seed"]).chain(METRICS.iter().map(|metric| metric.name)),
    )
}

/// The rows of a repetition; `run` is its number, from 1.
pub fn rows(before: &[&str], run: usize, outcome: &Outcome) -> String {
    let row = |flow: &FlowOutcome| {
        let head = before.iter().map(|field| (*field).to_owned());
        let place = [flow.name.clone(), run.to_string(), outcome.seed.to_string()];
        line(head.chain(place).chain(METRICS.iter().map(|metric| number((metric.of)(flow)))))
    };
    outcome.flows.iter().map(row).collect()
}

/// The samples of a run: one row per instant and TCP flow, with the queues of all links beside it.
pub fn samples(scenario: &Scenario, samples: &Samples) -> String {
    let mut instants = samples.queues.chunk_by(|one, next| one.time == next.time).peekable();
    let mut names: Vec<String> = ["time_s", "flow"].map(String::from).to_vec();
    names.extend(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for queue in instants.peek().copied().unwrap_or_default() {
        let direction = if queue.down { "down" } else { "up" };
        let place = format!("{}.{direction}", scenario.links[queue.link].name);
        names.extend(["queue_packets", "queue_bytes"].map(|what| format!("{place}.{what}")));
        names.extend(queue.average.map(|_| format!("{place}.queue_average_packets")));
        names.push(format!("{place}.lost_packets"));
    }
    let mut lines = Lines::new();
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
    fields.extend(COLUMNS.iter().map(|(_, of)| number(flow.and_then(of))));
    for queue in queues {
        fields.extend([queue.packets.to_string(), queue.bytes.to_string()]);
        fields.extend(queue.average.map(|average| average.to_string()));
        fields.push(queue.lost.iter().sum::<u64>().to_string());
    }
    fields
}

type Column = (&'static str, fn(&FlowSample) -> Option<f64>);

/// What is sampled of a flow.
const COLUMNS: &[Column] = &[
    ("cwnd_bytes", |flow| Some(flow.cwnd_bytes as f64)),
    ("cwnd_inflated_bytes", |flow| Some(flow.inflated_bytes as f64)),
    ("ssthresh_bytes", |flow| Some(flow.ssthresh_bytes as f64)),
    ("in_flight_bytes", |flow| Some(flow.in_flight_bytes as f64)),
    ("srtt_ms", |flow| flow.srtt_ms),
    ("rto_ms", |flow| Some(flow.rto_ms)),
    ("cwnd_r_segments", |flow| Some(flow.cwnd_r)),
    ("delivered_bytes", |flow| Some(flow.delivered_bytes as f64)),
    ("acks_sent", |flow| Some(flow.acks_sent as f64)),
    ("lost_queue_full", |flow| lost(flow, LossReason::QueueFull)),
    ("lost_channel", |flow| lost(flow, LossReason::Channel)),
    ("lost_notice", |flow| lost(flow, LossReason::Notice)),
    ("lost_discarded", |flow| lost(flow, LossReason::Discarded)),
    ("lost_early", |flow| lost(flow, LossReason::EarlyDrop)),
];

fn lost(flow: &FlowSample, reason: LossReason) -> Option<f64> {
    Some(flow.lost[reason as usize] as f64)
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
