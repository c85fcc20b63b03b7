//! What the columns of CSV and the fields of JSON and of traces mean, from their own definitions.

use super::completion::Completion;
use super::csv::COLUMNS;
use super::{distribution, summary};
use lasthop_scenario::{Described, Section};
use lasthop_sim::trace::{EVENTS, FIELDS};
use lasthop_sim::{LINK_METRICS, METRICS, RLC_METRICS};

/// Columns in front of the metrics of `run --format csv`; `compare` and `results` have the varied keys before them.
const FIRST: &[(&str, &str)] = &[
    ("flow", "the flow's name"),
    ("run", "number of the repetition, from 1; `results` has none"),
    ("seed", "its seed: the same seed means the same losses"),
];

/// Fields of JSON that are no metrics.
const OBJECTS: &[(&str, &str)] = &[
    ("flow", "the flow's name; null for all flows together"),
    ("flows", "of all flows together: how many there are"),
    ("link", "the direction of a link: wireless.down"),
    ("sweep", "results: the number of the sweep in its store"),
    ("x", "compare, results: the varied keys and their values"),
    ("mean", "of a metric: its mean over the repetitions in which it is defined"),
    ("ci95", "of a metric: ends of the 95 % interval; null for one repetition"),
    ("runs", "of a metric: in how many repetitions it is defined"),
    ("completed", "of completed_s: how many transfers were complete before the run's end"),
    ("transfers", "of completed_s: of how many"),
    ("p50", "of completed_s: time in which half of all transfers were complete, s; null if fewer were"),
    ("p95", "the same of 95 %"),
    ("p99", "the same of 99 %"),
    (
        "watched_s",
        "of completed_s: how long the transfer watched longest was watched, s; a quantile that is null is longer",
    ),
    (
        "distribution",
        "of completed_s: pairs of a time, s, and the share complete by then (0 to 1), at hundredths; of two transfers or more",
    ),
    ("difference", "compare, of a metric: to the first case, paired by repetition"),
    ("difference_percent", "compare, of a metric: the same in per cent of the first case's"),
];

/// Columns in front of samples, and those of each direction of each link behind them.
const SAMPLES: &[(&str, &str)] = &[
    ("time_s", "when, virtual time, s"),
    ("flow", "the flow's name"),
    ("LINK.down.queue_packets", "packets that wait; also LINK.up.queue_packets"),
    ("LINK.down.queue_bytes", "bytes that wait"),
    ("LINK.down.queue_average_packets", "RED's average of what waits, where the queue has one"),
    ("LINK.down.lost_packets", "packets lost so far in this direction, by any cause"),
];

/// Every column and field, by where it is printed.
pub fn sections() -> Vec<Section> {
    let together = summary::TOGETHER.iter().map(|(name, _, doc)| (*name, *doc));
    let samples = SAMPLES.iter().copied().take(2);
    let samples = samples.chain(COLUMNS.iter().map(|column| (column.name, column.doc)));
    vec![
        section(
            "Metrics of flows",
            "Rows of the table, columns of --format csv, fields of --format json.",
            METRICS.iter().map(|metric| (metric.name, metric.doc)),
        ),
        section(
            "Rows of completion times",
            "In the tables of `run` and `compare`, for finite transfers; `assert` writes them p50(completion), p95(completion).",
            Completion::ROWS.iter().copied(),
        ),
        section("Metrics of several flows together", "In the table and in JSON.", together),
        section("Metrics of links", "Each direction, in the table and in JSON.", {
            LINK_METRICS.iter().map(|metric| (metric.name, metric.doc))
        }),
        section("Metrics of links with RLC", "In the table and in JSON.", {
            RLC_METRICS.iter().map(|metric| (metric.name, metric.doc))
        }),
        section("CSV: a row per flow and repetition", "Then every metric of flows.", FIRST.iter().copied()),
        section(
            "--completions: a row for each transfer and each request",
            "`compare` has the varied keys before them.",
            distribution::COLUMNS.iter().copied(),
        ),
        section("JSON: an object a line", "", OBJECTS.iter().copied()),
        section(
            "--samples: the first repetition over time",
            "",
            samples.chain(SAMPLES.iter().copied().skip(2)),
        ),
        section("--trace: every event of the first repetition, a JSON object a line", "", {
            FIELDS.iter().map(|field| (field.name, field.doc))
        }),
        section("Events of traces", "Values of the field `event`.", {
            EVENTS.iter().map(|event| (event.name, event.doc))
        }),
    ]
}

fn section<'a>(title: &str, text: &str, fields: impl Iterator<Item = (&'a str, &'a str)>) -> Section {
    let described = |(name, doc): (&str, &str)| Described {
        name: name.to_owned(),
        path: name.to_owned(),
        takes: String::new(),
        without: String::new(),
        doc: doc.to_owned(),
    };
    Section { title: title.to_owned(), text: text.to_owned(), keys: fields.map(described).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::{Repetition, csv};
    use lasthop_scenario::Scenario;
    use lasthop_sim::Watch;

    /// What is printed has nothing that is not described.
    #[test]
    fn every_column_and_field_is_described() {
        let described: Vec<String> =
            sections().into_iter().flat_map(|section| section.keys).map(|key| key.name).collect();
        let known = |name: &str| described.iter().any(|known| known == name);
        let scenario = Scenario::load("profile=plain,rate=2Mbit/s,rtt=40ms,loss=1%,duration=2s,count=2")
            .expect("a valid scenario");
        let run = |seed| Repetition::run(&scenario, seed, Watch { probes: true, ..Watch::default() });
        let (first, second) = (run(1), run(2));
        let samples = csv::samples(&scenario, &first.watched.expect("it was sampled").samples);
        for header in [csv::header(&[]), samples.lines().next().unwrap_or_default().to_owned()] {
            for column in header.trim_end().split(',') {
                let column = column.replace("path.down.", "LINK.down.").replace("path.up.", "LINK.down.");
                assert!(known(&column), "{column}");
            }
        }
        for object in summary::objects(&[first.outcome, second.outcome]) {
            for (name, value) in object.as_object().expect("an object") {
                assert!(known(name), "{name}");
                for inner in value.as_object().into_iter().flat_map(|inner| inner.keys()) {
                    assert!(known(inner), "{name}.{inner}");
                }
            }
        }
    }
}
