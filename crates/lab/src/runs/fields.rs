//! Descriptions of CSV columns, JSON fields and trace fields. The descriptions are collected from the definitions of
//! the columns and fields.

use super::completion::Completion;
use super::csv::COLUMNS;
use super::{distribution, summary};
use lasthop_scenario::{KeyDescription, ReferenceSection};
use lasthop_sim::trace::{EVENTS, FIELDS};
use lasthop_sim::{FLOW_METRICS, LINK_METRICS, RLC_METRICS};

/// Leading columns of `run --format csv`. In `compare` and `results`, the columns of the varied keys precede these
/// columns.
const FIRST: &[(&str, &str)] = &[
    ("flow", "name of the flow"),
    ("run", "number of the repetition, from 1; `results` has none"),
    ("seed", "seed of the repetition; equal seeds give equal losses"),
];

const OBJECTS: &[(&str, &str)] = &[
    ("flow", "name of the flow; null for all flows together"),
    ("class", "name of a class: the replicas of [flow.NAME] together"),
    ("flows", "number of flows; only for a class, or for all flows together"),
    ("link", "link direction: wireless.down"),
    ("sweep", "number of the sweep in its store; only in the output of `results`"),
    ("x", "varied keys and their values; only in the output of `compare` and `results`"),
    (
        "against",
        "values of the baseline, null for the baseline itself; only in the output of `compare` and `results`",
    ),
    ("mean", "metric: mean over the repetitions in which the metric is defined"),
    ("ci95", "metric: ends of the 95 % interval; null for one repetition"),
    ("runs", "metric: number of repetitions in which the metric is defined"),
    ("completed", "completed_s: number of transfers completed before the run's end"),
    ("transfers", "completed_s: number of transfers"),
    ("p50", "completed_s: median completion time, s; null if too few transfers completed"),
    ("p95", "completed_s: 95th percentile of the completion time, s; null if too few transfers completed"),
    ("p99", "completed_s: 99th percentile of the completion time, s; null if too few transfers completed"),
    (
        "max_follow_up_s",
        "completed_s: longest time for which any transfer was observed, s; a null quantile exceeds this time",
    ),
    (
        "distribution",
        "completed_s: pairs of a time, s, and the share of transfers complete by that time (0 to 1), at steps of \
         0.01; needs two transfers",
    ),
    ("difference", "compare, metric: difference from the baseline, paired by repetition"),
    ("difference_percent", "compare, metric: difference in per cent of the baseline"),
];

/// Columns of samples: the first two columns of each row, then the columns that exist once for each link direction.
const SAMPLES: &[(&str, &str)] = &[
    ("time_s", "virtual time, s"),
    ("flow", "name of the flow"),
    ("LINK.down.queue_packets", "packets waiting; also LINK.up.queue_packets"),
    ("LINK.down.queue_bytes", "bytes waiting"),
    ("LINK.down.queue_average_packets", "RED's average queue length, if the queue has one"),
    ("LINK.down.lost_packets", "packets lost so far in this direction, for any reason"),
];

/// Returns all columns and fields, grouped by output.
pub fn sections() -> Vec<ReferenceSection> {
    let together = summary::AGGREGATE_METRICS.iter().map(|(name, _, doc)| (*name, *doc));
    let samples = SAMPLES.iter().copied().take(2);
    let samples = samples.chain(COLUMNS.iter().map(|column| (column.name, column.doc)));
    vec![
        section(
            "Metrics of flows",
            "Rows of the table, columns of --format csv, fields of --format json.",
            FLOW_METRICS.iter().map(|metric| (metric.name, metric.doc)),
        ),
        section(
            "Rows of completion times",
            "In the tables of `run` and `compare`, for finite transfers. In assertions, write p50(completion), \
             p95(completion).",
            Completion::ROWS.iter().copied(),
        ),
        section("Metrics of several flows together", "In the table and in JSON.", together),
        section("Metrics of links", "For each link direction, in the table and in JSON.", {
            LINK_METRICS.iter().map(|metric| (metric.name, metric.doc))
        }),
        section("Metrics of links with RLC", "In the table and in JSON.", {
            RLC_METRICS.iter().map(|metric| (metric.name, metric.doc))
        }),
        section(
            "CSV: a row per flow and repetition",
            "All metrics of flows follow these columns.",
            FIRST.iter().copied(),
        ),
        section(
            "--completions: a row for each transfer and each request",
            "In `compare`, the columns of the varied keys precede these columns.",
            distribution::COLUMNS.iter().copied(),
        ),
        section("JSON: one object per line", "", OBJECTS.iter().copied()),
        section(
            "--samples: the first repetition over time",
            "",
            samples.chain(SAMPLES.iter().copied().skip(2)),
        ),
        section("--trace: every event of the first repetition, one JSON object per line", "", {
            FIELDS.iter().map(|field| (field.name, field.doc))
        }),
        section("Events of traces", "Values of the field `event`.", {
            EVENTS.iter().map(|event| (event.name, event.doc))
        }),
    ]
}

fn section<'a>(
    title: &str,
    text: &str,
    fields: impl Iterator<Item = (&'a str, &'a str)>,
) -> ReferenceSection {
    let described = |(name, doc): (&str, &str)| KeyDescription {
        name: name.to_owned(),
        path: name.to_owned(),
        takes: String::new(),
        without: String::new(),
        doc: doc.to_owned(),
    };
    ReferenceSection { title: title.to_owned(), text: text.to_owned(), keys: fields.map(described).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::{Repetition, csv};
    use lasthop_scenario::Scenario;
    use lasthop_sim::Observation;

    #[test]
    fn every_column_and_field_is_described() {
        let described: Vec<String> =
            sections().into_iter().flat_map(|section| section.keys).map(|key| key.name).collect();
        let known = |name: &str| described.iter().any(|known| known == name);
        let scenario = Scenario::load("profile=plain,rate=2Mbit/s,rtt=40ms,loss=1%,duration=2s,count=2")
            .expect("a valid scenario");
        let run =
            |seed| Repetition::run(&scenario, seed, Observation { probes: true, ..Observation::default() });
        let (first, second) = (run(1), run(2));
        let samples = csv::samples(&scenario, &first.observations.expect("samples").samples);
        for header in [csv::header(&[]), samples.lines().next().unwrap_or_default().to_owned()] {
            for column in header.trim_end().split(',') {
                let column = column.replace("path.down.", "LINK.down.").replace("path.up.", "LINK.down.");
                assert!(known(&column), "{column}");
            }
        }
        for object in summary::objects(&[first.outcome, second.outcome], &[]) {
            for (name, value) in object.as_object().expect("an object") {
                assert!(known(name), "{name}");
                for inner in value.as_object().into_iter().flat_map(|inner| inner.keys()) {
                    assert!(known(inner), "{name}.{inner}");
                }
            }
        }
    }
}
