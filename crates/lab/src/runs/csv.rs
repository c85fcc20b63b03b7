//! Comma-separated values: every repetition, and the samples of the first.

use lasthop_scenario::Scenario;
use lasthop_sim::{FlowOutcome, FlowSample, METRICS, Outcome, QueueSample, Samples};
use lasthop_wire::LossReason;
use std::fmt::Write;

/// One line: fields that hold a comma, a quote or a line's end are quoted (RFC 4180).
pub fn line<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|field| quoted(field.as_ref())).collect();
    fields.join(",") + "\n"
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
    let mut text = String::from("time_s,flow");
    COLUMNS.iter().for_each(|(name, _)| write!(text, ",{name}").unwrap_or_default());
    for link in &scenario.links {
        for direction in ["down", "up"] {
            let name = |unit| quoted(&format!("{}.{direction}.queue_{unit}", link.name));
            let lost = quoted(&format!("{}.{direction}.lost_packets", link.name));
            write!(text, ",{},{},{lost}", name("packets"), name("bytes")).unwrap_or_default();
        }
    }
    text.push('\n');
    let queues = samples.queues.chunk_by(|one, next| one.time == next.time);
    let mut flows = samples.flows.chunk_by(|one, next| one.time == next.time).peekable();
    for queues in queues {
        let time = queues[0].time;
        match flows.next_if(|flows| flows[0].time == time) {
            Some(flows) => flows.iter().for_each(|flow| row(scenario, Some(flow), queues, &mut text)),
            None => row(scenario, None, queues, &mut text),
        }
    }
    text
}

fn row(scenario: &Scenario, flow: Option<&FlowSample>, queues: &[QueueSample], text: &mut String) {
    let name = flow.map_or(String::new(), |flow| quoted(&scenario.flows[flow.flow].name));
    write!(text, "{},{name}", queues[0].time.as_secs()).unwrap_or_default();
    for (_, of) in COLUMNS {
        write!(text, ",{}", number(flow.and_then(of))).unwrap_or_default();
    }
    for queue in queues {
        write!(text, ",{},{},{}", queue.packets, queue.bytes, queue.lost.iter().sum::<u64>())
            .unwrap_or_default();
    }
    text.push('\n');
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

fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(line(["a", "b,c", "d\"e"]), "a,\"b,c\",\"d\"\"e\"\n");
        assert_eq!(number(None), "");
        assert_eq!(number(Some(2.0)), "2");
        assert_eq!(number(Some(f64::INFINITY)), "");
    }
}
