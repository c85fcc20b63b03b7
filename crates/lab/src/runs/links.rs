//! Tables and JSON objects of links: traffic in each direction, and counters of RLC.

use super::number::with_interval;
use super::summary::value;
use crate::document::{Cell, Table};
use crate::repeat::estimate_by;
use crate::stats::Estimate;
use lasthop_sim::{LINK_METRICS, LinkMetric, LinkOutcome, Outcome, RLC_METRICS};
use serde_json::{Map, Value, json};

/// Largest number of link directions in a table. If the links have more directions, the table shows the busiest
/// directions.
const MAX_COLUMNS: usize = 4;

type LinkValue<'a> = &'a dyn Fn(&LinkOutcome, usize) -> Option<f64>;

/// Returns tables with metrics as rows and link directions as columns. The first table shows the traffic. If any link
/// has RLC, the second table shows the RLC counters.
pub fn tables(outcomes: &[Outcome]) -> Vec<Table> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let (all, busiest) = (directions(first).len(), busiest(outcomes));
    let caption = if all > busiest.len() {
        format!("Links: the {} busiest of {all} directions", busiest.len())
    } else {
        "Links".to_owned()
    };
    let mut carried = Vec::new();
    for metric in LINK_METRICS {
        let of: LinkValue<'_> = &|link, side| (metric.of)(&link.traffic[side]);
        let numbers = of_each(outcomes, &busiest, of);
        // The sum of losses is always shown. The losses for a single reason are shown only if they are above 0 in some
        // direction.
        let is_reason = metric.name.starts_with("lost_") && metric.name != "lost_packets";
        if !is_reason || numbers.iter().flatten().any(|number| number.mean > 0.0) {
            carried.push((metric.name, metric.doc, numbers));
        }
    }
    let mut tables = vec![table(caption, &busiest, carried)];
    let with_rlc: Vec<DirectionColumn> =
        directions(first).into_iter().filter(|it| first.links[it.link].rlc[it.side].is_some()).collect();
    if !with_rlc.is_empty() {
        let mut counted = Vec::new();
        for metric in RLC_METRICS {
            let of: LinkValue<'_> = &|link, side| link.rlc[side].as_ref().and_then(metric.of);
            counted.push((metric.name, metric.doc, of_each(outcomes, &with_rlc, of)));
        }
        tables.push(table("Links with RLC".to_owned(), &with_rlc, counted));
    }
    tables
}

/// Returns a short table with link directions as rows. The caption is empty if the table has all directions.
pub fn glance(outcomes: &[Outcome]) -> Option<Table> {
    let first = outcomes.first()?;
    let (all, busiest) = (directions(first).len(), busiest(outcomes));
    let columns = std::iter::once("link").chain(GLANCE.iter().map(|(heading, _)| *heading));
    let cells = |direction: &DirectionColumn| {
        let numbers = GLANCE.iter().map(|(_, name)| {
            let metric = metric(name)?;
            direction.estimate(outcomes, |link, side| (metric.of)(&link.traffic[side]))
        });
        let numbers = numbers.map(|number| number.map_or(Cell::Empty, |it| Cell::Number(with_interval(&it))));
        std::iter::once(Cell::Text(direction.name.clone())).chain(numbers).collect()
    };
    let caption = if all > busiest.len() {
        format!("The {} busiest of {all} link directions", busiest.len())
    } else {
        String::new()
    };
    Some(Table {
        caption,
        columns: columns.map(String::from).collect(),
        rows: busiest.iter().map(cells).collect(),
    })
}

/// Returns the name and the utilisation, %, of the link direction with the highest utilisation.
pub fn busiest_link(outcomes: &[Outcome]) -> Option<(String, Estimate)> {
    let used = |direction: DirectionColumn| {
        let share = |link: &LinkOutcome, side: usize| (metric("utilisation_pct")?.of)(&link.traffic[side]);
        Some((direction.estimate(outcomes, share)?, direction.name))
    };
    let all = directions(outcomes.first()?).into_iter().filter_map(used);
    // If several directions have the highest utilisation, the first of these directions is selected.
    let (used, name) = all.reduce(|best, one| if one.0.mean > best.0.mean { one } else { best })?;
    Some((name, used))
}

/// Columns of the short table: heading, and name of the metric.
const GLANCE: [(&str, &str); 5] = [
    (CARRIED, "carried_kbps"),
    ("used, %", "utilisation_pct"),
    ("excess delay: mean, ms", "excess_delay_mean_ms"),
    ("excess delay: p95, ms", "excess_delay_p95_ms"),
    ("lost packets", "lost_packets"),
];

/// Heading of the carried rate's column. A narrow terminal may omit this column because the carried rate follows from
/// the utilisation.
pub const CARRIED: &str = "carried, kbit/s";

fn metric(name: &str) -> Option<&'static LinkMetric> {
    LINK_METRICS.iter().find(|metric| metric.name == name)
}

/// Returns one JSON object for each link direction. The field `link` names the direction, such as `wireless.down`.
pub fn objects(outcomes: &[Outcome]) -> Vec<Value> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let object = |direction: &DirectionColumn| {
        let shown = |of: LinkValue<'_>| direction.estimate(outcomes, of).map_or(Value::Null, |it| value(&it));
        let mut object = Map::new();
        object.insert("link".into(), json!(direction.name));
        for metric in LINK_METRICS {
            object.insert(metric.name.into(), shown(&|link, side| (metric.of)(&link.traffic[side])));
        }
        if first.links[direction.link].rlc[direction.side].is_some() {
            for metric in RLC_METRICS {
                object.insert(
                    metric.name.into(),
                    shown(&|link, side| link.rlc[side].as_ref().and_then(metric.of)),
                );
            }
        }
        Value::Object(object)
    };
    directions(first).iter().map(object).collect()
}

struct DirectionColumn {
    name: String,
    link: usize,
    side: usize,
}

impl DirectionColumn {
    fn estimate(
        &self,
        outcomes: &[Outcome],
        of: impl Fn(&LinkOutcome, usize) -> Option<f64>,
    ) -> Option<Estimate> {
        estimate_by(outcomes, |outcome| of(outcome.links.get(self.link)?, self.side))
    }
}

fn directions(outcome: &Outcome) -> Vec<DirectionColumn> {
    let sides = |(link, one): (usize, &LinkOutcome)| {
        [(0, "down"), (1, "up")].map(|(side, name)| DirectionColumn {
            name: format!("{}.{name}", one.name),
            link,
            side,
        })
    };
    outcome.links.iter().enumerate().flat_map(sides).collect()
}

fn busiest(outcomes: &[Outcome]) -> Vec<DirectionColumn> {
    let mut ranked: Vec<(f64, usize, DirectionColumn)> = outcomes
        .first()
        .map_or(Vec::new(), directions)
        .into_iter()
        .enumerate()
        .map(|(place, it)| {
            let share = |link: &LinkOutcome, side: usize| {
                let traffic = &link.traffic[side];
                Some(traffic.carried_bytes as f64 / traffic.capacity_bytes.max(1.0))
            };
            (it.estimate(outcomes, share).map_or(0.0, |used| used.mean), place, it)
        })
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    ranked.truncate(MAX_COLUMNS);
    ranked.sort_by_key(|(_, place, _)| *place);
    ranked.into_iter().map(|(_, _, direction)| direction).collect()
}

fn of_each(outcomes: &[Outcome], directions: &[DirectionColumn], of: LinkValue<'_>) -> Vec<Option<Estimate>> {
    directions.iter().map(|direction| direction.estimate(outcomes, of)).collect()
}

/// Returns a table with one row for each metric: name, one number for each direction, and description. Rows without any
/// number are omitted.
fn table(
    caption: String,
    directions: &[DirectionColumn],
    rows: Vec<(&str, &str, Vec<Option<Estimate>>)>,
) -> Table {
    let word = |text: &str| Cell::Text(text.to_owned());
    let names = directions.iter().map(|direction| direction.name.clone());
    let columns = std::iter::once("metric".to_owned()).chain(names).chain(["meaning".to_owned()]).collect();
    let shown = rows.into_iter().filter(|(_, _, numbers)| numbers.iter().any(Option::is_some));
    let rows = shown.map(|(name, doc, numbers)| {
        let cells = numbers
            .iter()
            .map(|number| number.as_ref().map_or(Cell::Empty, |it| Cell::Number(with_interval(it))));
        std::iter::once(word(name)).chain(cells).chain([word(doc)]).collect()
    });
    Table { caption, columns, rows: rows.collect() }
}
