//! Formats the results of a reproduction as tables, JSON objects or CSV rows.

use crate::provenance::Provenance;
use crate::table;
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::item::{Item, Verdict};
use lasthop_lab::papers::Reproduction;
use lasthop_lab::runs::csv as fields;
use lasthop_lab::runs::number::{plain, with_interval};
use lasthop_lab::stats::Estimate;
use lasthop_lab::study::tables::distance;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Prefix of the names of items that are computed under a different assumption about a detail that the paper leaves
/// open.
const SENSITIVITY: &str = "sensitivity-";
/// Prefix of the names of items that check a claim of the paper.
const CLAIM: &str = "claim-";
/// Suffix of the names of items that show a gain in kbit/s, in addition to the same gain in another unit.
const IN_OTHER_UNITS: &str = "-kbps";

pub(crate) fn tables(reproduction: &Reproduction) -> String {
    let (sensitivity, items): (Vec<&Item>, Vec<&Item>) =
        reproduction.items.iter().partition(|item| item.item.starts_with(SENSITIVITY));
    let (stated, drawn): (Vec<&Item>, Vec<&Item>) =
        items.into_iter().partition(|item| item.published.is_some() || item.verdict.is_some());
    let curves = grouped(&drawn, |item| [item.item.clone(), item.series.clone(), item.metric.clone()]);
    let tables = [numbers(&reproduction.paper, &stated), summaries(&curves), questions(&sensitivity)];
    let shown: Vec<String> =
        tables.iter().filter(|table| !table.rows.is_empty()).map(|table| table::text(table) + "\n").collect();
    shown.concat()
}

pub(crate) fn json(items: &[Item], provenance: &Provenance<'_>) -> String {
    items.iter().filter_map(|item| provenance.json(item)).map(|line| line + "\n").collect()
}

pub(crate) fn csv_header() -> String {
    fields::line([
        "paper",
        "item",
        "series",
        "x",
        "metric",
        "unit",
        "published",
        "measured",
        "ci95_low",
        "ci95_high",
        "runs",
        "verdict",
        "deviation_pct",
        "margin",
        "ns2",
        "ns2_ci95_low",
        "ns2_ci95_high",
        "reading",
        "cause",
        "experiment",
        "note",
    ])
}

pub(crate) fn csv(items: &[Item]) -> String {
    let row = |item: &Item| {
        fields::line([
            item.paper.clone(),
            item.item.clone(),
            item.series.clone(),
            coordinates(&item.x),
            item.metric.clone(),
            item.unit.clone(),
            fields::number(item.published),
            fields::number(item.measured),
            fields::number(item.ci95.map(|ci95| ci95[0])),
            fields::number(item.ci95.map(|ci95| ci95[1])),
            item.runs.to_string(),
            item.verdict.map_or("", Verdict::name).to_owned(),
            fields::number(item.deviation_pct),
            fields::number(item.margin),
            fields::number(item.ns2),
            fields::number(item.ns2_ci95.map(|ci95| ci95[0])),
            fields::number(item.ns2_ci95.map(|ci95| ci95[1])),
            item.reading.clone(),
            item.cause.clone().unwrap_or_default(),
            item.experiment.clone().unwrap_or_default(),
            item.note.clone(),
        ])
    };
    items.iter().map(row).collect()
}

fn numbers(paper: &str, items: &[&Item]) -> Table {
    let has_ns2 = items.iter().any(|item| item.ns2.is_some());
    let rows = items.iter().map(|item| {
        let unit = if item.unit.is_empty() { String::new() } else { format!(" {}", item.unit) };
        let mut row = vec![
            word(&item.item),
            word(&item.series),
            word(&item.metric),
            word(&coordinates(&item.x)),
            item.published.map_or(Cell::Empty, |published| Cell::Number(plain(published) + &unit)),
            measured(item).map_or(Cell::Empty, |text| Cell::Number(text + &unit)),
            item.deviation_pct
                .filter(|_| item.margin.is_some())
                .map_or(Cell::Empty, |off| Cell::Number(format!("{off:+.1} %"))),
            Cell::Verdict(item.verdict),
            word(&item.note),
        ];
        if has_ns2 {
            row.insert(NS2_AT, ns2(item).map_or(Cell::Empty, |text| Cell::Number(text + &unit)));
        }
        row
    });
    let mut columns =
        vec!["item", "series", "metric", "x", "published", "measured", "off by", "verdict", "note"];
    if has_ns2 {
        columns.insert(NS2_AT, "ns-2");
    }
    table(format!("{paper}: published numbers and claims, compared with ours"), &columns, rows.collect())
}

const NS2_AT: usize = 6;

fn ns2(item: &Item) -> Option<String> {
    measured(&Item { measured: item.ns2, ci95: item.ns2_ci95, ..item.clone() })
}

fn summaries(curves: &[Vec<&Item>]) -> Table {
    let rows = curves.iter().filter_map(|items| {
        let (first, last) = (items.first()?, items.last()?);
        let defined: Vec<f64> = items.iter().filter_map(|item| item.measured).collect();
        let range = match (defined.first(), defined.last()) {
            (Some(first), Some(last)) => {
                format!("{} … {} {}", plain(*first), plain(*last), first_unit(items))
            }
            _ => "undefined".to_owned(),
        };
        Some(vec![
            word(&first.item),
            word(&first.series),
            word(&first.metric),
            Cell::Number(items.len().to_string()),
            word(&format!("{} … {}", coordinates(&first.x), coordinates(&last.x))),
            word(range.trim_end()),
        ])
    });
    table(
        "Curves: first and last point (for every point: --format json, or the report)".into(),
        &["item", "series", "metric", "points", "x", "measured"],
        rows.collect(),
    )
}

fn questions(items: &[&Item]) -> Table {
    let settings = grouped(items, |item| [item.x.get("setting").map_or(String::new(), shown)]);
    let is_claim = |item: &Item| without(&item.item, "").starts_with(CLAIM);
    let mut names: Vec<&str> = Vec::new();
    for item in items.iter().filter(|item| !is_claim(item) && !item.item.ends_with(IN_OTHER_UNITS)) {
        if !names.contains(&item.item.as_str()) {
            names.push(&item.item);
        }
    }
    let rows = settings.iter().filter_map(|group| {
        let label = group.first()?.x.get("setting").map_or(String::new(), shown);
        let mut row = vec![word(&label)];
        row.extend(names.iter().map(|name| {
            let item = group.iter().find(|item| item.item == *name);
            let text = item.and_then(|item| {
                let difference = distance(item).map_or(String::new(), |distance| format!(" ({distance})"));
                Some(format!("{}{difference}", measured(item)?))
            });
            text.map_or(Cell::Empty, Cell::Number)
        }));
        let claims: Vec<&&Item> = group.iter().filter(|item| is_claim(item)).collect();
        let partly = claims.iter().filter(|item| item.measured.is_none_or(|share| share < 1.0));
        let partly: Vec<String> = partly
            .map(|item| format!("{} {}", without(&item.item, CLAIM), distance(item).unwrap_or_default()))
            .collect();
        row.push(word(&format!("{} of {}", claims.len() - partly.len(), claims.len())));
        row.push(word(&partly.join(", ")));
        Some(row)
    });
    let short = |name: &str| {
        let unit = items.iter().find(|item| item.item == name).map_or("", |item| item.unit.as_str());
        format!("{}, {unit}", without(name, "")).trim_end_matches(", ").to_owned()
    };
    let mut columns = vec!["setting".to_owned()];
    columns.extend(names.iter().map(|name| short(name)));
    columns.extend(
        ["claims that hold at all points", "other claims, points at which they hold"].map(String::from),
    );
    Table {
        caption:
            "Open questions of the paper, with one answer changed at a time (in parentheses: difference from the \
             published number, in units of the margin; -1 to +1 is within the margin)"
                .into(),
        columns,
        rows: rows.collect(),
    }
}

/// Returns the name of an item without the prefix `sensitivity-`, and without `beginning` after this prefix.
fn without<'a>(name: &'a str, beginning: &str) -> &'a str {
    let name = name.strip_prefix(SENSITIVITY).unwrap_or(name);
    name.strip_prefix(beginning).unwrap_or(name)
}

/// Groups items by key, in the order of first appearance.
fn grouped<'a, const N: usize>(items: &[&'a Item], key: impl Fn(&Item) -> [String; N]) -> Vec<Vec<&'a Item>> {
    let mut groups: Vec<Vec<&Item>> = Vec::new();
    let mut indices: BTreeMap<[String; N], usize> = BTreeMap::new();
    for item in items {
        let index = *indices.entry(key(item)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[index].push(item);
    }
    groups
}

/// Formats the measured mean with its 95 % interval, for example `1915 ± 12`, or the mean alone.
pub(crate) fn measured(item: &Item) -> Option<String> {
    let mean = item.measured.filter(|mean| mean.is_finite())?;
    Some(match item.ci95 {
        Some([low, high]) if item.is_skewed() => {
            format!("{} ({} to {})", plain(mean), plain(low), plain(high))
        }
        ci95 => with_interval(&Estimate { mean, ci95, runs: item.runs }),
    })
}

/// Formats the coordinates of an item, for example `ber=7e-5, setting=default`.
pub(crate) fn coordinates(x: &Map<String, Value>) -> String {
    let each: Vec<String> = x.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    each.join(", ")
}

/// Formats a JSON value: text without quotes, numbers as short as possible.
fn shown(value: &Value) -> String {
    match (value, value.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(number)) if number != 0.0 && number.abs() < 1e-3 => format!("{number:e}"),
        (_, Some(number)) => number.to_string(),
        (other, None) => other.to_string(),
    }
}

fn first_unit(items: &[&Item]) -> String {
    items.first().map_or(String::new(), |item| item.unit.clone())
}

fn table(caption: String, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    Table { caption, columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows }
}

fn word(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}
