//! Without the agent and with it, side by side.

use crate::sender::Sender;
use crate::table;
use lasthop_emu::trial::{Outcome, Progress};
use lasthop_lab::change::Change;
use lasthop_lab::document::{Block, Cell, Chapter, Document, Table};
use lasthop_lab::figure::{Curve, CurveKind, Figure, Point};
use lasthop_lab::runs::csv;
use lasthop_lab::runs::number::{self, with_interval};
use lasthop_lab::runs::summary::{change_value, value};
use lasthop_lab::stats::Estimate;
use lasthop_scenario::Scenario;
use serde_json::{Map, Value, json};

/// A sender's repetitions: each without the agent, then with it.
pub(super) struct Results {
    pub(super) sender: Sender,
    pub(super) pairs: Vec<[Outcome; 2]>,
    /// Repetitions that were not in time.
    pub(super) thrown_away: u32,
}

/// What was measured.
pub(super) struct Shown<'a> {
    pub(super) scenario: &'a Scenario,
    /// What the agent did.
    pub(super) words: &'a str,
    pub(super) runs: u32,
}

/// A number of one repetition; all streams together.
struct Metric {
    /// In JSON and CSV, with the unit.
    name: &'static str,
    /// In tables, with the unit.
    label: &'static str,
    of: fn(&[Progress]) -> Option<f64>,
}

const METRICS: [Metric; 4] = [
    Metric {
        name: "goodput_kbps",
        label: "goodput, kbit/s",
        of: |all| Some(all.iter().map(Progress::goodput_kbps).sum()),
    },
    Metric { name: "srtt_ms", label: "SRTT, ms", of: mean_srtt },
    Metric {
        name: "retransmissions",
        label: "segments sent again",
        of: |all| Some(all.iter().map(|stream| stream.retransmissions as f64).sum()),
    },
    Metric { name: "completed_s", label: "completed after, s", of: completed },
];

/// The mean of the streams' means over time.
fn mean_srtt(all: &[Progress]) -> Option<f64> {
    let means: Option<Vec<f64>> = all.iter().map(Progress::srtt_ms).collect();
    means.filter(|means| !means.is_empty()).map(|means| means.iter().sum::<f64>() / means.len() as f64)
}

/// How long the slowest stream took, if all are complete.
fn completed(all: &[Progress]) -> Option<f64> {
    let seconds = |stream: &Progress| stream.is_complete.then(|| stream.active.as_secs());
    all.iter().map(seconds).try_fold(0.0, |most: f64, seconds| Some(most.max(seconds?)))
}

impl Results {
    /// By repetition, without and with the agent; empty if one of them has no such number.
    fn values(&self, metric: &Metric) -> [Vec<f64>; 2] {
        [0, 1].map(|way| {
            let all: Option<Vec<f64>> =
                self.pairs.iter().map(|pair| (metric.of)(&pair[way].streams)).collect();
            all.unwrap_or_default()
        })
    }

    /// `None` if nobody has such a number.
    fn row(&self, metric: &Metric) -> Option<Vec<Cell>> {
        let [without, with] = self.values(metric);
        let estimate =
            |values: &[f64]| Estimate::of(values).map_or(Cell::Empty, |it| Cell::Number(with_interval(&it)));
        let change = Change::of(&with, &without);
        (!(without.is_empty() && with.is_empty())).then(|| {
            vec![
                Cell::Text(self.sender.to_string()),
                Cell::Text(metric.label.to_owned()),
                estimate(&without),
                estimate(&with),
                change.map_or(Cell::Empty, |it| Cell::Number(number::change(&it))),
            ]
        })
    }

    /// One object.
    pub(super) fn object(&self) -> Value {
        let mut object = Map::new();
        object.insert("sender".into(), json!(self.sender.to_string()));
        for metric in &METRICS {
            let [without, with] = self.values(metric);
            let of = |estimate: Option<Estimate>| estimate.map_or(Value::Null, |it| value(&it));
            let changed = |change: Option<Change>| change.map_or(Value::Null, |it| change_value(&it));
            let numbers = json!({
                "without": of(Estimate::of(&without)),
                "with": of(Estimate::of(&with)),
                "change_percent": changed(Change::of(&with, &without)),
            });
            object.insert(metric.name.into(), numbers);
        }
        object.insert("thrown_away".into(), json!(self.thrown_away));
        Value::Object(object)
    }

    /// The first repetition's round-trip times.
    fn round_trips(&self, number: usize) -> Option<Figure> {
        let ways = ["without the agent", "with it"];
        let curve = |name: &str, outcome: &Outcome| {
            let points = outcome.streams.first()?.srtts_ms.iter();
            let points = points.map(|(time, srtt)| Point::exact(time.as_secs(), *srtt)).collect();
            Some(Curve { name: name.to_owned(), kind: CurveKind::Line, points })
        };
        let pair = self.pairs.first()?;
        Some(Figure {
            id: format!("srtt-{number}"),
            title: format!("{}: round-trip time", self.sender),
            caption: "The sender's smoothed round-trip time in the first repetition (its first stream)."
                .to_owned(),
            x_label: "time, s".to_owned(),
            y_label: "SRTT, ms".to_owned(),
            x_log: false,
            curves: ways.iter().zip(pair).filter_map(|(name, outcome)| curve(name, outcome)).collect(),
        })
    }
}

const COLUMNS: [&str; 5] = ["sender", "metric", "without", "with the agent", "change, %"];

fn rows(all: &[Results]) -> Table {
    let rows = all.iter().flat_map(|results| METRICS.iter().filter_map(|metric| results.row(metric)));
    Table { caption: String::new(), columns: COLUMNS.map(str::to_owned).to_vec(), rows: rows.collect() }
}

fn how(shown: &Shown<'_>) -> String {
    format!(
        "{} runs of {} without and with the agent ({}); means ± half of the 95 % interval, changes paired by seed; \
         SRTT is the sender's, its mean over time, the beginning included",
        shown.runs, shown.scenario.duration, shown.words
    )
}

/// For people.
pub(super) fn text(shown: &Shown<'_>, all: &[Results]) -> String {
    let again: Vec<String> = all
        .iter()
        .filter(|results| results.thrown_away > 0)
        .map(|results| {
            format!("{}: {} pairs were not in time and ran again\n", results.sender, results.thrown_away)
        })
        .collect();
    format!("{}\n{}\n\n{}{}", shown.scenario.title, how(shown), table::text(&rows(all)), again.concat())
}

/// One row per sender, repetition and way.
pub(super) fn csv(all: &[Results]) -> String {
    let names = ["sender", "run", "agent"].into_iter().chain(METRICS.iter().map(|metric| metric.name));
    let mut text = csv::line(names);
    for results in all {
        for (run, pair) in results.pairs.iter().enumerate() {
            for (has_agent, outcome) in [false, true].iter().zip(pair) {
                let mut fields =
                    vec![results.sender.to_string(), (run + 1).to_string(), has_agent.to_string()];
                fields.extend(METRICS.iter().map(|metric| csv::number((metric.of)(&outcome.streams))));
                text.push_str(&csv::line(fields));
            }
        }
    }
    text
}

/// The report.
pub(super) fn document(shown: &Shown<'_>, all: &[Results]) -> Document {
    let mut blocks = vec![Block::Text(format!("{}.", how(shown))), Block::Table(rows(all))];
    blocks
        .extend(all.iter().enumerate().filter_map(|(number, it)| it.round_trips(number)).map(Block::Figure));
    Document {
        title: format!("{}: what the agent does", shown.scenario.title),
        introduction:
            "Real senders over an emulated path to this kernel's receiver, whose ACKs the agent changes or \
                       leaves alone."
                .to_owned(),
        chapters: vec![Chapter { id: "measured".to_owned(), title: "What came out".to_owned(), blocks }],
    }
}
