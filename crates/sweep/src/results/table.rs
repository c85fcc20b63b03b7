//! Output of results as a table. The table has a row for each combination and flow, and a column for each quantity.

use super::difference::Difference;
use super::{ResultSelection, completion, flow_names, has_several_flows};
use crate::store::{Combination, StoredRun, StoredSweep};
use lasthop_lab::compare::Quantity;
use lasthop_lab::document::{Cell, Table};
use lasthop_lab::runs::classes::{class_of, is_named};
use lasthop_lab::runs::completion::{COMPLETED, RESTRICTED};
use lasthop_lab::runs::number::{self, with_interval};
use lasthop_lab::runs::summary::AGGREGATE_METRICS;
use lasthop_lab::stats::Estimate;
use lasthop_sim::FLOW_METRICS;

/// Largest number of flows for which the table has a row for each flow. With more flows, the table has a row for each
/// class. A class consists of the replicas of one flow.
const MAX_TABLE_FLOWS: usize = 4;
/// Largest number of classes for which the table has a row for each class. With more classes, the table has only means
/// over flows.
const MAX_TABLE_CLASSES: usize = 8;

/// Table under construction.
pub struct TableRows {
    paths: Vec<String>,
    selection: ResultSelection,
    /// Whether any combination has several flows. If so, the table has a column for the flow.
    has_several_flows: bool,
    rows: Vec<TableRow>,
    quantities: Vec<Quantity>,
}

struct TableRow {
    x: Vec<String>,
    flow: String,
    runs: usize,
    /// Cells of each quantity: the mean, and the difference from the baseline in per cent.
    cells: Vec<[Option<String>; 2]>,
}

impl TableRows {
    /// Returns an empty table.
    pub fn of(sweep: &StoredSweep, selection: &ResultSelection) -> TableRows {
        let quantities = if selection.quantities.is_empty() {
            std::iter::once(Quantity::OfFlow(&FLOW_METRICS[0]))
                .chain(AGGREGATE_METRICS.iter().map(Quantity::Aggregate))
                .collect()
        } else {
            selection.quantities.clone()
        };
        let (paths, selection) = (sweep.paths.clone(), selection.clone());
        TableRows { paths, selection, has_several_flows: false, rows: Vec::new(), quantities }
    }

    /// Returns the names of the quantities that the table needs.
    pub fn names(&self) -> Vec<&'static str> {
        self.quantities.iter().map(|quantity| quantity.name()).chain([COMPLETED, RESTRICTED]).collect()
    }

    /// Adds the rows of a combination, which may have no runs. `base` holds the runs of the combination's baseline. All
    /// runs must contain the metrics that [`TableRows::names`] lists.
    pub fn add(&mut self, combination: &Combination, runs: &[StoredRun], base: Option<&[StoredRun]>) {
        let several = has_several_flows(runs);
        self.has_several_flows |= several;
        let names = flow_names(runs);
        let shown: Vec<String> = self.shown(&names).into_iter().map(str::to_owned).collect();
        for name in &shown {
            self.push(combination, runs, base, Some(name));
        }
        if names.is_empty() || (several && self.selection.flow.is_none()) {
            self.push(combination, runs, base, None);
        }
    }

    /// Returns the flows or classes that have rows. If the user chose a flow or class, returns only this flow or class.
    /// If the scenario has too many flows, returns the classes.
    fn shown<'n>(&'n self, names: &[&'n str]) -> Vec<&'n str> {
        if let Some(chosen) = self.selection.flow.as_deref() {
            let is_known = names.iter().any(|name| is_named(name, chosen));
            return if is_known { vec![chosen] } else { Vec::new() };
        }
        if names.len() <= MAX_TABLE_FLOWS {
            return names.to_vec();
        }
        let mut classes: Vec<&str> = names.iter().map(|name| class_of(name)).collect();
        classes.dedup();
        if (2..=MAX_TABLE_CLASSES).contains(&classes.len()) { classes } else { Vec::new() }
    }

    fn push(
        &mut self,
        combination: &Combination,
        runs: &[StoredRun],
        base: Option<&[StoredRun]>,
        flow: Option<&str>,
    ) {
        let is_whole = completion(runs, flow).is_none_or(|it| it.is_whole());
        let cell = |quantity: &Quantity| {
            // If some transfers did not finish, a mean over the finished transfers would be misleading. The cell then
            // shows the number of finished transfers instead.
            if quantity.name() == COMPLETED && !is_whole {
                return [completion(runs, flow).map(|it| it.count()), None];
            }
            let of = |run: &StoredRun| match (flow, quantity) {
                (Some(flow), Quantity::OfFlow(metric)) => run.of_flow(flow, metric.name),
                // A number of all flows together, such as fairness, has no value for a single flow.
                (Some(_), Quantity::Aggregate(_)) if run.flows().count() > 1 => None,
                (_, quantity) => run.of_all(*quantity),
            };
            let values: Vec<f64> = runs.iter().filter_map(of).collect();
            let difference = base.and_then(|base| Difference::of(runs, base, of).percent);
            [
                Estimate::of(&values).map(|estimate| with_interval(&estimate)),
                difference.map(|percent| number::change(&percent)),
            ]
        };
        let cells = self.quantities.iter().map(cell).collect();
        let name = flow.map_or_else(|| "mean".to_owned(), str::to_owned);
        self.rows.push(TableRow { x: combination.x.clone(), flow: name, runs: runs.len(), cells });
    }

    /// Returns the finished table.
    pub fn table(self) -> Table {
        // If no combination has several flows, numbers of all flows together are shown only if the user chose
        // quantities.
        let is_shown = |quantity: &Quantity| {
            let is_together = matches!(quantity, Quantity::Aggregate(_));
            self.has_several_flows || !is_together || !self.selection.quantities.is_empty()
        };
        let shown: Vec<bool> = self.quantities.iter().map(is_shown).collect();
        let mut columns = self.paths.clone();
        columns.extend(self.has_several_flows.then(|| "flow".to_owned()));
        columns.push("runs".to_owned());
        let numbers = self.quantities.iter().zip(&shown).filter(|(_, shown)| **shown);
        let has_differences = !self.selection.against.is_empty();
        for (quantity, _) in numbers {
            columns.push(quantity.name().to_owned());
            columns.extend(has_differences.then(|| "difference, %".to_owned()));
        }
        let row = |TableRow { x, flow, runs, cells }: TableRow| {
            let mut row: Vec<Cell> = x.into_iter().map(Cell::Text).collect();
            row.extend(self.has_several_flows.then_some(Cell::Text(flow)));
            row.push(Cell::Number(runs.to_string()));
            let cells = cells.into_iter().zip(&shown).filter(|(_, shown)| **shown);
            let cell = |text: Option<String>| text.map_or(Cell::Empty, Cell::Number);
            for ([mean, difference], _) in cells {
                row.push(cell(mean));
                row.extend(has_differences.then(|| cell(difference)));
            }
            row
        };
        Table { caption: String::new(), columns, rows: self.rows.into_iter().map(row).collect() }
    }
}
