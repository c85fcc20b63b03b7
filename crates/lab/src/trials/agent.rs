//! Trials of the agent: real senders send over an emulated path to this kernel's receiver, without and with the agent.

use super::metric::{COMPLETED, GOODPUT, RETRANSMISSIONS, SRTT, StreamMetric};
use super::paired::Paired;
use super::stream::StreamOutcome;
use crate::document::{Block, Cell, Chapter, Document, Table};
use crate::figure::Figure;
use crate::runs::csv;
use lasthop_base::Duration;
use serde_json::{Map, Value, json};

/// Results of all repetitions with one sender.
#[derive(Clone, Debug)]
pub struct AgentResults {
    /// Name of the TCP sender.
    pub sender: String,
    /// Streams of each repetition: first without the agent, then with the agent.
    pub pairs: Vec<[Vec<StreamOutcome>; 2]>,
    /// Number of repetitions that were discarded because the emulation delivered packets too late (compared with real
    /// time).
    pub late_runs: u32,
}

/// Set-up of the measurement, for headings and reports.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Title of the scenario.
    pub title: &'a str,
    /// Duration of a repetition.
    pub duration: Duration,
    /// Description of the agent's actions.
    pub agent_actions: &'a str,
    /// Number of repetitions.
    pub runs: u32,
}

const NAMES: [&str; 3] = ["without", "with", "change_percent"];
const METRICS: [StreamMetric; 4] = [GOODPUT, SRTT, RETRANSMISSIONS, COMPLETED];

impl AgentResults {
    fn paired(&self, metric: &StreamMetric) -> Paired {
        Paired::of([0, 1].map(|condition| self.pairs.iter().map(move |pair| (metric.of)(&pair[condition]))))
    }

    /// Returns the table row of a metric. Returns `None` if the metric has no mean under either condition.
    fn row(&self, metric: &StreamMetric) -> Option<Vec<Cell>> {
        let paired = self.paired(metric);
        let names = [Cell::Text(self.sender.clone()), Cell::Text(metric.label.to_owned())];
        (!paired.is_empty()).then(|| names.into_iter().chain(paired.cells()).collect())
    }

    /// Returns the results of the sender as a JSON object.
    pub fn object(&self) -> Value {
        let mut object = Map::new();
        object.insert("sender".into(), json!(self.sender));
        for metric in &METRICS {
            object.insert(metric.name.into(), self.paired(metric).object(NAMES));
        }
        object.insert("thrown_away".into(), json!(self.late_runs));
        Value::Object(object)
    }

    fn round_trips(&self, number: usize) -> Option<Figure> {
        let conditions = ["without the agent", "with the agent"].into_iter().zip(self.pairs.first()?);
        Some(Figure {
            id: format!("srtt-{number}"),
            title: format!("{}: round-trip time", self.sender),
            caption: "The sender's smoothed round-trip time in the first stream of the first repetition."
                .to_owned(),
            x_label: "time, s".to_owned(),
            y_label: "SRTT, ms".to_owned(),
            x_log: false,
            curves: conditions
                .filter_map(|(name, streams)| Some(streams.first()?.srtt_curve(name)))
                .collect(),
            ..Figure::default()
        })
    }
}

const COLUMNS: [&str; 5] = ["sender", "metric", "without", "with the agent", "change, %"];

/// Returns a table with one row for each sender and metric.
pub fn table(all: &[AgentResults]) -> Table {
    let rows = all.iter().flat_map(|results| METRICS.iter().filter_map(|metric| results.row(metric)));
    Table { caption: String::new(), columns: COLUMNS.map(str::to_owned).to_vec(), rows: rows.collect() }
}

fn description(setup: &Setup<'_>) -> String {
    format!(
        "{} runs of {} without and with the agent ({}); means ± half of the 95 % interval, changes paired by seed; \
         SRTT: smoothed RTT of the sender, averaged over the whole time, including the start",
        setup.runs, setup.duration, setup.agent_actions
    )
}

/// Returns the heading that is printed above the table.
pub fn heading(setup: &Setup<'_>) -> String {
    format!("{}\n{}\n\n", setup.title, description(setup))
}

/// Returns the notes that are printed below the table.
pub fn notes(all: &[AgentResults]) -> String {
    let again = all.iter().filter(|results| results.late_runs > 0);
    let note = |results: &AgentResults| {
        format!(
            "{}: {} pairs of runs were late compared with real time and were repeated\n",
            results.sender, results.late_runs
        )
    };
    again.map(note).collect()
}

/// Returns CSV with a header, and one row for each sender, repetition and condition. The condition is without or with
/// the agent.
pub fn csv(all: &[AgentResults]) -> String {
    let names = ["sender", "run", "agent"].into_iter().chain(METRICS.iter().map(|metric| metric.name));
    let mut text = csv::line(names);
    for results in all {
        for (run, pair) in results.pairs.iter().enumerate() {
            for (has_agent, streams) in [false, true].iter().zip(pair) {
                let mut fields = vec![results.sender.clone(), (run + 1).to_string(), has_agent.to_string()];
                fields.extend(METRICS.iter().map(|metric| csv::number((metric.of)(streams))));
                text.push_str(&csv::line(fields));
            }
        }
    }
    text
}

/// Returns the report of the measurement.
pub fn document(setup: &Setup<'_>, all: &[AgentResults]) -> Document {
    let mut blocks = vec![Block::Text(format!("{}.", description(setup))), Block::Table(table(all))];
    blocks
        .extend(all.iter().enumerate().filter_map(|(number, it)| it.round_trips(number)).map(Block::Figure));
    Document {
        title: format!("{}: effect of the agent", setup.title),
        introduction:
            "Real senders send over an emulated path to this kernel's receiver, without the agent and with the agent \
             changing the ACKs."
                .to_owned(),
        chapters: vec![Chapter { id: "measured".to_owned(), title: "Results".to_owned(), blocks }],
        ..Document::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn streams(received_bytes: u64, srtt_ms: f64) -> Vec<StreamOutcome> {
        vec![StreamOutcome {
            received_bytes,
            active: Duration::from_secs(8),
            is_complete: false,
            retransmissions: 0,
            timeouts: Some(0),
            srtts_ms: vec![(Time::ZERO, srtt_ms)],
        }]
    }

    #[test]
    fn numbers_that_nobody_has_have_no_row() {
        let pairs = vec![[streams(8000, 300.0), streams(8000, 60.0)]; 2];
        let results = AgentResults { sender: "kernel, cubic".into(), pairs, late_runs: 1 };
        let table = table(std::slice::from_ref(&results));
        let labels: Vec<&str> = table.rows.iter().map(|row| row[1].text()).collect();
        assert_eq!(
            labels,
            ["goodput, kbit/s", "SRTT, ms", "retransmissions"],
            "the table must have no completion time, because no stream is complete"
        );
        let object = results.object();
        assert_eq!(object["goodput_kbps"]["without"]["mean"], json!(8.0));
        assert_eq!(object["srtt_ms"]["change_percent"]["mean"], json!(-80.0));
        assert_eq!(object["completed_s"]["with"], Value::Null);
        assert_eq!(csv(&[results]).lines().count(), 1 + 2 * 2);
    }
}
