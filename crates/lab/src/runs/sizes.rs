//! Completion times and slowdowns of finite transfers, grouped by size. A slowdown is the completion time relative to
//! the time on an idle path.

use super::classes::Class;
use super::completion::Completion;
use crate::document::{Cell, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_sim::{Outcome, TransferOutcome};
use serde_json::{Map, Value, json};

/// Bounds between the size classes, bytes. A transfer whose size equals a bound belongs to the class above the bound.
const BOUNDS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const LABELS: [&str; 5] = ["< 10 KB", "10-100 KB", "0.1-1 MB", "1-10 MB", ">= 10 MB"];

/// Transfers of similar size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeClass {
    /// Position of the class among all classes, by ascending size.
    place: usize,
    /// Completion times, s.
    pub times: Completion,
    /// Distribution of the slowdowns. The field has the type of a distribution of times, but its values are slowdowns,
    /// which have no unit.
    pub slowdowns: Completion,
}

impl SizeClass {
    /// Returns the classes with at least one transfer, by ascending size. Returns an empty list if all transfers are in
    /// one class.
    pub fn all(transfers: &[TransferOutcome]) -> Vec<SizeClass> {
        let place = |it: &TransferOutcome| place_of(it.bytes);
        if transfers.windows(2).all(|pair| place(&pair[0]) == place(&pair[1])) {
            return Vec::new();
        }
        let class = |at: usize| {
            let members = || transfers.iter().filter(move |it| place_of(it.bytes) == at);
            let times = members().map(|it| (it.took_s, it.is_complete)).collect();
            let slowdowns = members().map(|it| (it.slowdown(), it.is_complete)).collect();
            Some(SizeClass {
                place: at,
                times: Completion::of_times(times)?,
                slowdowns: Completion::of_times(slowdowns)?,
            })
        };
        (0..LABELS.len()).filter_map(class).collect()
    }

    /// Returns the smallest size of the class, bytes.
    pub fn from_bytes(&self) -> u64 {
        if self.place == 0 { 0 } else { BOUNDS[self.place - 1] }
    }

    /// Returns the exclusive upper bound of the sizes, bytes. Returns `None` for the class of the largest sizes, which
    /// has no bound.
    pub fn below_bytes(&self) -> Option<u64> {
        BOUNDS.get(self.place).copied()
    }

    /// Returns the range of sizes as text: `10-100 KB`.
    pub fn label(&self) -> &'static str {
        LABELS[self.place]
    }

    /// Returns a JSON object: bounds, counts, and quantiles of the completion time and of the slowdown.
    pub fn object(&self) -> Value {
        let mut object = Map::new();
        object.insert("from_bytes".into(), json!(self.from_bytes()));
        object.insert("below_bytes".into(), json!(self.below_bytes()));
        self.times.insert_quantiles(&mut object);
        let mut slowdown = Map::new();
        self.slowdowns.insert_quantiles(&mut slowdown);
        slowdown.remove("completed");
        slowdown.remove("transfers");
        object.insert("slowdown".into(), Value::Object(slowdown));
        Value::Object(object)
    }
}

fn place_of(bytes: u64) -> usize {
    BOUNDS.iter().filter(|bound| **bound <= bytes).count()
}

/// Transfers with a name, which is the name of a class of flows or of a case of a comparison.
pub type NamedTransfers = (String, Vec<TransferOutcome>);

/// Returns the finite transfers of each class of flows, over all repetitions. A class without finite transfers is
/// omitted.
pub fn of_run(outcomes: &[Outcome]) -> Vec<NamedTransfers> {
    let classes = outcomes.first().map(Class::all).unwrap_or_default();
    let named = classes.into_iter().map(|class| {
        let flows = outcomes.iter().flat_map(|outcome| class.of_outcome(outcome));
        let transfers = flows.flat_map(lasthop_sim::FlowOutcome::transfers).collect::<Vec<_>>();
        (class.name, transfers)
    });
    named.filter(|(_, transfers)| !transfers.is_empty()).collect()
}

/// Returns a table with one row for each range of sizes and each name. `heading` is the heading of the column of names.
/// Returns `None` unless the transfers of at least one name are in several size classes.
pub fn table(named: &[NamedTransfers], heading: &str) -> Option<Table> {
    let classes: Vec<(&str, Vec<SizeClass>)> =
        named.iter().map(|(name, transfers)| (name.as_str(), SizeClass::all(transfers))).collect();
    if classes.iter().all(|(_, classes)| classes.is_empty()) {
        return None;
    }
    let mut rows: Vec<(usize, Vec<Cell>)> = Vec::new();
    for (name, classes) in &classes {
        for class in classes {
            let [(_, half), (_, most), _] = class.times.rows();
            let [(_, half_slowdown), (_, most_slowdown), _] = class.slowdowns.rows();
            let mut row = vec![Cell::Text(class.label().to_owned()), Cell::Text((*name).to_owned())];
            if named.len() == 1 {
                row.truncate(1);
            }
            row.extend([class.times.count(), half, most, half_slowdown, most_slowdown].map(Cell::Number));
            rows.push((class.place, row));
        }
    }
    rows.sort_by_key(|(place, _)| *place);
    let mut columns = vec!["size", heading];
    columns.truncate(if named.len() == 1 { 1 } else { 2 });
    let numbers = ["completed", "p50, s", "p95, s", "slowdown: p50", "slowdown: p95"];
    columns.extend(numbers);
    Some(Table {
        caption: String::new(),
        columns: columns.into_iter().map(str::to_owned).collect(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    })
}

/// Returns a figure of the 95th percentile of the slowdown over the size, with one curve for each name. Returns `None`
/// unless the transfers of at least one name are in several size classes.
pub fn figure(named: &[NamedTransfers]) -> Option<Figure> {
    let curves: Vec<Curve> = named
        .iter()
        .filter_map(|(name, transfers)| {
            let points = SizeClass::all(transfers).into_iter().filter_map(|class| {
                Some(Point::exact(class.place as f64 + 1.0, class.slowdowns.quantiles[1]?))
            });
            let points: Vec<Point> = points.collect();
            (!points.is_empty()).then(|| Curve { name: name.clone(), kind: CurveKind::Measured, points })
        })
        .collect();
    if curves.is_empty() {
        return None;
    }
    Some(Figure {
        id: "slowdown-by-size".into(),
        title: "Slowdown by size".into(),
        caption: "95th percentile of the completion time relative to the time on an idle path, over all repetitions."
            .into(),
        x_label: "size of the transfer".into(),
        y_label: "slowdown, 95th percentile".into(),
        x_categories: LABELS.map(str::to_owned).to_vec(),
        y_log: true,
        y_bounds: Some([0.0, f64::INFINITY]),
        curves,
        ..Figure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(bytes: u64, took_s: f64) -> TransferOutcome {
        TransferOutcome { began_s: 0.0, took_s, is_complete: true, bytes, idle_s: 0.5 }
    }

    /// A transfer whose size equals a bound belongs to the upper class. The median of ten transfers of 1 s to 10 s is 5
    /// s. Each transfer would take 0.5 s on an idle path. The slowdown is therefore twice the completion time in
    /// seconds.
    #[test]
    fn sizes_have_classes() {
        let mut transfers: Vec<TransferOutcome> =
            (1..=10).map(|second| transfer(9_999, f64::from(second))).collect();
        assert_eq!(
            SizeClass::all(&transfers),
            Vec::new(),
            "transfers of a single class must give no classes"
        );
        transfers.extend([transfer(10_000, 3.0), transfer(20_000_000, 40.0)]);
        let classes = SizeClass::all(&transfers);
        let labels: Vec<&str> = classes.iter().map(SizeClass::label).collect();
        assert_eq!(labels, ["< 10 KB", "10-100 KB", ">= 10 MB"]);
        assert_eq!(classes[0].times.quantiles, [Some(5.0), Some(10.0), Some(10.0)]);
        assert_eq!(classes[0].slowdowns.quantiles[0], Some(10.0));
        let object = classes[2].object();
        assert_eq!((&object["from_bytes"], &object["below_bytes"]), (&json!(10_000_000), &Value::Null));
        assert_eq!((&object["p50"], &object["slowdown"]["p50"]), (&json!(40.0), &json!(80.0)));
    }

    #[test]
    fn a_table_has_a_row_for_each_size_and_name() {
        let web = vec![transfer(1_000, 1.0), transfer(200_000, 2.0)];
        let named = vec![("red".to_owned(), web.clone()), ("codel".to_owned(), web)];
        let both = table(&named, "queue").expect("two sizes");
        assert_eq!(both.columns[..3], ["size", "queue", "completed"]);
        let heads: Vec<[String; 2]> =
            both.rows.iter().map(|row| [row[0].text().to_owned(), row[1].text().to_owned()]).collect();
        assert_eq!(heads[0], ["< 10 KB", "red"]);
        assert_eq!(heads[1], ["< 10 KB", "codel"]);
        assert_eq!(heads[2], ["0.1-1 MB", "red"]);
        let one = table(&named[..1], "queue").expect("two sizes");
        assert_eq!(one.columns[..2], ["size", "completed"]);
        let drawn = figure(&named).expect("two sizes");
        assert_eq!(drawn.curves[0].points[1].x, 3.0);
        assert_eq!(drawn.x_categories[2], "0.1-1 MB");
    }
}
