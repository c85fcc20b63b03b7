//! First screen of a run in the terminal: a sentence, the most important metrics, and a short table of links.

use super::classes;
use super::completion::COMPLETED;
use super::limits;
use super::links;
use super::number::with_interval;
use super::sizes;
use super::summary::{Row, Rows};
use crate::compare::Quantity;
use crate::document::Table;
use crate::repeat::estimate_by;
use crate::runs::measure;
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, Outcome};

const MAX_ROWS: usize = 10;

/// Metrics of the first screen, in the order of importance. A run shows the metrics that are not zero. A comparison
/// shows the metrics that differ between cases.
pub const METRICS: [&str; 17] = [
    "goodput_kbps",
    COMPLETED,
    "exchange_p50_s",
    "exchange_p95_s",
    "retransmissions",
    "timeouts",
    "smallest_rtt_ms",
    "mean_rtt_ms",
    "lost_queue_full",
    "lost_channel",
    "lost_early",
    "lost_discarded",
    "lost_corrupt",
    "lost_tag_drop",
    "marked",
    "middlebox_sent",
    "acks_lost",
];

/// First screen of a run.
pub struct Glance {
    /// Sentence with the delivered rate, the main limit of the sender, and the busiest link.
    pub sentence: String,
    /// Table with one row for each of at most ten metrics, and the numbers of all flows together.
    pub flows: Table,
    /// Table with one row for each class of flows. `None` unless several classes exist and at least one class has
    /// several flows.
    pub classes: Option<Table>,
    /// Table with completion times for each size class. `None` if the transfers have similar sizes.
    pub sizes: Option<Table>,
    /// Table with the busiest link directions as rows. `None` if no repetition was run.
    pub links: Option<Table>,
    /// Line that states how many metrics are not shown.
    pub more: String,
}

impl Glance {
    /// Returns the first screen of these repetitions.
    pub fn of(scenario: &Scenario, outcomes: &[Outcome]) -> Glance {
        let rows = Rows::of(outcomes);
        let (mut shown, mut zero, mut further): (Vec<Row>, usize, usize) = (Vec::new(), 0, 0);
        for row in METRICS.iter().filter_map(|name| flow_metric(name)).flat_map(|metric| rows.rows(metric)) {
            if row.is_zero && row.name != FLOW_METRICS[0].name {
                zero += 1;
            } else if shown.len() < MAX_ROWS && !row.name.ends_with("_p99_s") {
                shown.push(row);
            } else {
                further += 1;
            }
        }
        let is_elsewhere = |name: &str| !METRICS.contains(&name);
        for row in FLOW_METRICS.iter().filter(|it| is_elsewhere(it.name)).flat_map(|it| rows.rows(it)) {
            if row.is_zero { zero += 1 } else { further += 1 }
        }
        let of_all = rows.aggregates();
        let cells = shown.into_iter().chain(of_all).map(|row| row.cells(false)).collect();
        Glance {
            sentence: sentence(scenario, outcomes, &rows),
            flows: Table { caption: String::new(), columns: rows.columns(false), rows: cells },
            classes: classes::table(outcomes, &[]),
            sizes: sizes::table(&sizes::of_run(outcomes), "class"),
            links: links::glance(outcomes),
            more: more(zero, further),
        }
    }
}

/// Returns a table with one row for each number that the user chose.
pub fn chosen(outcomes: &[Outcome], chosen: &[Quantity]) -> Table {
    let rows = Rows::of(outcomes);
    let cells = chosen.iter().flat_map(|quantity| match quantity {
        Quantity::OfFlow(metric) => rows.rows(metric),
        Quantity::Aggregate(metric) => vec![rows.aggregate(metric)],
    });
    let cells = cells.map(|row| row.cells(false)).collect();
    Table { caption: String::new(), columns: rows.columns(false), rows: cells }
}

fn flow_metric(name: &str) -> Option<&'static lasthop_sim::FlowMetric> {
    FLOW_METRICS.iter().find(|metric| metric.name == name)
}

fn more(zero: usize, further: usize) -> String {
    let zero = (zero > 0).then(|| format!("{zero} more {} 0", if zero == 1 { "is" } else { "are" }));
    let further =
        (further > 0).then(|| format!("{further} more {} left out", if further == 1 { "is" } else { "are" }));
    let counts: Vec<String> = further.into_iter().chain(zero).collect();
    match counts[..] {
        [] => "Meanings: lasthop explain METRIC".to_owned(),
        _ => format!("{}: --all. Meanings: lasthop explain METRIC", counts.join(", ")),
    }
}

/// Returns a sentence such as `bulk delivers 1915 ± 12 kbit/s, limited by cwnd for 98 % of the time; wireless.down is
/// utilised to 99 %.`
fn sentence(scenario: &Scenario, outcomes: &[Outcome], rows: &Rows<'_>) -> String {
    let flows: usize = rows.groups.iter().map(|group| group.flows.len()).sum();
    let goodput = if flows == 1 {
        estimate_by(outcomes, |outcome| outcome.flows.first().map(|flow| flow.goodput_kbps()))
    } else {
        estimate_by(outcomes, measure::total_goodput_kbps)
    };
    let goodput = goodput.map_or_else(|| "nothing".to_owned(), |it| format!("{} kbit/s", with_interval(&it)));
    let delivered = match &rows.groups[..] {
        [only] if flows == 1 => format!("{} delivers {goodput}", only.label),
        _ => format!("{flows} flows deliver {goodput} together"),
    };
    let limited = limits::longest(scenario, outcomes).map_or(String::new(), |(limit, share)| {
        let average = if flows == 1 { "" } else { " on average" };
        format!(", limited by {limit} for {share:.0} % of the time{average}")
    });
    let used = links::busiest_link(outcomes)
        .map_or(String::new(), |(link, used)| format!("; {link} is utilised to {:.0} %", used.mean));
    format!("{delivered}{limited}{used}.")
}
