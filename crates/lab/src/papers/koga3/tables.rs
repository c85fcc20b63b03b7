//! Tables 3.1 to 3.8 beside ours, and what the chapter says in words.

use super::PAPER;
use super::grid::{Grid, recoveries, timeouts, total, variation};
use super::setting::{Load, Senders, Setting, Variant};
use crate::item::Item;
use crate::papers::published::Published;
use crate::stats::Estimate;
use lasthop_sim::FlowOutcome;

type Of = fn(&[&FlowOutcome]) -> f64;

/// A published number and what we measure for it.
struct Measurement {
    table: &'static str,
    series: &'static str,
    /// Its column: the load, or how the CBR packets are spaced.
    x: (&'static str, &'static str),
    metric: &'static str,
    unit: &'static str,
    measured: Option<Estimate>,
    /// How far from the published number counts as the same; `None`: 5 % of it.
    tolerance: Option<f64>,
    /// Cells of one group are compared: a number that does not agree has the shape if its place in the order of its
    /// group is the paper's.
    group: String,
}

fn measurement(
    grid: &Grid,
    table: &'static str,
    (senders, load): (Senders, Load),
    variant: Option<Variant>,
    (metric, unit, of): (&'static str, &'static str, Of),
) -> Measurement {
    let tolerance = match (unit, variant) {
        ("Mbit/s", Some(variant)) => Some(variant.spread()),
        _ => None,
    };
    Measurement {
        table,
        series: variant.map_or("all", Variant::name),
        x: coordinate(table, load),
        metric,
        unit,
        measured: grid.estimate((senders, load), variant, of),
        tolerance,
        group: format!("{metric} {}", load.name()),
    }
}

/// The name and the value of a table's column.
pub(super) fn coordinate(table: &str, load: Load) -> (&'static str, &'static str) {
    match table {
        "table3.7" | "table3.8" => ("spacing", load.spacing()),
        _ => ("load", load.name()),
    }
}

const THROUGHPUT: (&str, &str, Of) = ("total throughput", "Mbit/s", total);
const VARIATION: (&str, &str, Of) = ("coefficient of variation", "", variation);
const TIMEOUTS: (&str, &str, Of) = ("timeouts per flow", "", timeouts);
const RECOVERIES: (&str, &str, Of) = ("fast recoveries per flow", "", recoveries);

/// The measurements of Tables 3.1 to 3.4.
fn homogeneous(grid: &Grid) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    for (table, load) in [("table3.1", Load::LargeCbr), ("table3.2", Load::MultipleCbr)] {
        for of in [TIMEOUTS, RECOVERIES] {
            for one in Variant::ALL {
                let who = (Senders::All(one), load);
                measurements.push(measurement(grid, table, who, Some(one), of));
            }
        }
    }
    for (table, of) in [("table3.3", THROUGHPUT), ("table3.4", VARIATION)] {
        for load in Load::TABLE {
            for one in Variant::ALL {
                measurements.push(measurement(grid, table, (Senders::All(one), load), Some(one), of));
            }
        }
    }
    measurements
}

/// The measurements of Tables 3.5 to 3.8.
fn mixed_and_jitter(grid: &Grid) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    for (table, of) in [("table3.5", THROUGHPUT), ("table3.6", VARIATION)] {
        for load in Load::TABLE {
            for one in [Some(Variant::Reno), Some(Variant::Sack), None] {
                if one.is_none() && table == "table3.5" {
                    continue;
                }
                measurements.push(measurement(grid, table, (Senders::Mixed, load), one, of));
            }
        }
    }
    for (table, of) in [("table3.7", THROUGHPUT), ("table3.8", VARIATION)] {
        for one in Variant::ALL {
            for load in Load::JITTER {
                measurements.push(measurement(grid, table, (Senders::All(one), load), Some(one), of));
            }
        }
    }
    measurements
}

fn items_of(measurements: &[Measurement], numbers: &[Published]) -> Vec<Item> {
    let published = |measurement: &Measurement| {
        let is_it = |one: &&Published| {
            one.item == measurement.table
                && one.series == measurement.series
                && one.metric == measurement.metric
                && one.word(measurement.x.0) == Some(measurement.x.1)
        };
        numbers.iter().find(is_it).map(|one| one.value)
    };
    let rank = |measurement: &Measurement, of: &dyn Fn(&Measurement) -> Option<f64>| {
        let group = measurements
            .iter()
            .filter(|other| other.table == measurement.table && other.group == measurement.group);
        of(measurement).map(|own| group.filter(|other| of(other).is_some_and(|value| value < own)).count())
    };
    let mean = |measurement: &Measurement| measurement.measured.map(|one| one.mean);
    measurements
        .iter()
        .map(|measurement| {
            let item = Item::new(PAPER.name, measurement.table, measurement.series)
                .metric(measurement.metric, measurement.unit)
                .at(measurement.x.0, measurement.x.1)
                .measured(measurement.measured);
            let Some(value) = published(measurement) else { return item };
            let holds = rank(measurement, &published) == rank(measurement, &mean);
            item.published(value, measurement.tolerance.unwrap_or(0.05 * value), holds).note(match holds {
                true => "its place among the variants is the paper's",
                false => "its place among the variants is not the paper's",
            })
        })
        .collect()
}

/// Whether an item of a table belongs to this variant and load.
pub(super) fn is_at(item: &Item, table: &str, variant: Variant, load: Load) -> bool {
    let (name, value) = coordinate(table, load);
    item.series == variant.name() && item.x.get(name).and_then(|x| x.as_str()) == Some(value)
}

/// All tables.
pub(super) fn items(grid: &Grid, numbers: &[Published]) -> Vec<Item> {
    let mut measurements = homogeneous(grid);
    measurements.extend(mixed_and_jitter(grid));
    items_of(&measurements, numbers)
}

fn mean(grid: &Grid, variant: Variant, load: Load, of: Of) -> Option<f64> {
    grid.estimate((Senders::All(variant), load), Some(variant), of).map(|one| one.mean)
}

fn claim(name: &str, words: &str, points: &[Option<bool>]) -> Item {
    let known: Vec<bool> = points.iter().flatten().copied().collect();
    let share = known.iter().filter(|holds| **holds).count() as f64 / known.len().max(1) as f64;
    Item::new(PAPER.name, name, "").claim(words, share, known.len())
}

/// `one` is less than `other`, where both are known.
fn less(one: Option<f64>, other: Option<f64>) -> Option<bool> {
    Some(one? < other?)
}

/// The claims on Tables 3.1 to 3.4.
fn claims_on_variants(grid: &Grid) -> Vec<Item> {
    let of = |variant, load, of| mean(grid, variant, load, of);
    let [reno, new_reno, sack] = Variant::ALL;
    let order: Vec<Option<bool>> = Load::TABLE
        .into_iter()
        .flat_map(|load| {
            let total = |one| of(one, load, total);
            [less(total(reno), total(new_reno)), less(total(new_reno), total(sack))]
        })
        .collect();
    let worse =
        Variant::ALL.map(|one| less(of(one, Load::MultipleCbr, total), of(one, Load::LargeCbr, total)));
    let loads = [Load::LargeCbr, Load::MultipleCbr];
    let waits: Vec<Option<bool>> = loads
        .into_iter()
        .flat_map(|load| {
            let waits = |one| of(one, load, timeouts);
            [new_reno, sack].map(|one| less(waits(one), waits(reno).map(|value| value / 2.0)))
        })
        .collect();
    let fair: Vec<Option<bool>> = Load::TABLE
        .into_iter()
        .flat_map(|load| {
            let spread = |one| of(one, load, variation);
            [reno, new_reno].map(|one| less(spread(sack), spread(one)))
        })
        .collect();
    vec![
        claim("claim-order", "SACK carries most, then NewReno, then Reno, beside every load", &order),
        claim("claim-multiple", "multiple CBR streams cost more than one large of the same mean", &worse),
        claim(
            "claim-timeouts",
            "NewReno and SACK have much fewer timeouts than Reno (less than half)",
            &waits,
        ),
        claim("claim-fair", "SACK shares most evenly", &fair),
    ]
}

/// The claims on Tables 3.5 to 3.8.
fn claims_on_the_rest(grid: &Grid) -> Vec<Item> {
    let share = Load::TABLE.map(|load| {
        let of = |variant| grid.estimate((Senders::Mixed, load), variant, total).map(|one| one.mean);
        let share = of(Some(Variant::Reno))? / of(None)?;
        Some((0.35..=0.45).contains(&share))
    });
    let jitter = [Load::Fluctuation, Load::Burst];
    let beside =
        |one: Variant, load, of: Of| (mean(grid, one, load, of), mean(grid, one, Load::MultipleCbr, of));
    let totals: Vec<Option<bool>> = [Variant::NewReno, Variant::Sack]
        .into_iter()
        .flat_map(|one| {
            jitter.map(|load| {
                let (with, without) = beside(one, load, total);
                Some((with? - without?).abs() <= one.spread())
            })
        })
        .collect();
    let unfair: Vec<Option<bool>> = Variant::ALL
        .into_iter()
        .flat_map(|one| {
            jitter.map(|load| {
                let (with, without) = beside(one, load, variation);
                less(without, with)
            })
        })
        .collect();
    vec![
        claim("claim-share", "Reno's share beside SACK is about 40 % (35 to 45) under every load", &share),
        claim("claim-jitter-total", "jitter and bursts leave the totals of NewReno and SACK", &totals),
        claim("claim-jitter-fair", "jitter and bursts worsen fairness", &unfair),
    ]
}

/// What the chapter says in words.
pub(super) fn claims(grid: &Grid) -> Vec<Item> {
    let mut items = claims_on_variants(grid);
    items.extend(claims_on_the_rest(grid));
    items
}

/// A row of the sensitivity table: Tables 3.1 to 3.4 and the claims on them under another answer.
pub(super) struct Row {
    pub(super) setting: Setting,
    pub(super) items: Vec<Item>,
}

impl Row {
    pub(super) fn of(setting: &Setting, grid: &Grid, numbers: &[Published]) -> Row {
        let measurements: Vec<Measurement> =
            homogeneous(grid).into_iter().filter(|measurement| measurement.measured.is_some()).collect();
        let mut items = items_of(&measurements, numbers);
        items.extend(claims_on_variants(grid));
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), setting.label().into());
        }
        Row { setting: setting.clone(), items }
    }

    /// The cell of a table with one metric.
    pub(super) fn cell(&self, table: &str, variant: Variant, load: Load) -> Option<&Item> {
        self.items.iter().find(|item| {
            item.item.strip_prefix("sensitivity-") == Some(table) && is_at(item, table, variant, load)
        })
    }

    pub(super) fn claim(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.item.strip_prefix("sensitivity-") == Some(name))
    }
}
