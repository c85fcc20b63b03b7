//! Numbers computed from the results of a paper's runs: metrics (numbers of one run) at given coordinates, and measures
//! (numbers of a whole grid).

use super::axis_place;
use super::expression::Expression;
use super::file::{Comparison, Measure, Ordered, Over};
use super::references::grid_of;
use super::runs::{GridResults, ResultsByGrid, with_value};
use super::study::{QuantityRef, ResolvedQuantity, Study};
use super::value::{Coordinates, Value};
use crate::stats::{Estimate, RatioOfMeans};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Values of a quantity, one for each repetition. In all measurements, repetitions with the same index have the same
/// random losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Values in the order of the repetitions. A value is `None` if it is undefined.
    pub values: Vec<Option<f64>>,
    /// Axis and axis value that a search along an axis has found, such as the axis value with the largest mean.
    pub found: Option<(String, Value)>,
    /// Whether the scenario has no randomness. If so, the interval is a single point.
    pub is_exact: bool,
    /// Position with its interval, if the number is a position on an axis. `values` then holds only the position.
    pub place: Option<Estimate>,
}

impl Measurement {
    fn new(values: Vec<Option<f64>>, is_exact: bool) -> Measurement {
        Measurement { values, found: None, is_exact, place: None }
    }

    /// Returns a measurement from repetitions with randomness.
    pub fn of(values: Vec<Option<f64>>) -> Measurement {
        Measurement::new(values, false)
    }

    /// Returns the measurement of a computed number, which has no randomness.
    pub fn exactly(value: f64) -> Measurement {
        Measurement::new(vec![Some(value)], true)
    }

    /// Returns the defined values.
    pub fn defined(&self) -> Vec<f64> {
        self.values.iter().flatten().copied().collect()
    }

    /// Returns the mean of the defined values.
    pub fn mean(&self) -> Option<f64> {
        self.estimate().map(|estimate| estimate.mean)
    }

    /// Returns the mean with its interval. If `is_exact`, the interval is a single point.
    pub fn estimate(&self) -> Option<Estimate> {
        if let Some(place) = self.place {
            return Some(place);
        }
        let plain = Estimate::of(&self.defined())?;
        Some(if self.is_exact { Estimate { ci95: Some([plain.mean; 2]), ..plain } } else { plain })
    }

    /// Applies `of` to this number and to the number `other`, in each repetition that the two measurements have in
    /// common.
    pub fn with(&self, other: &Measurement, of: impl Fn(f64, f64) -> f64) -> Measurement {
        let pairs = self.values.iter().zip(&other.values);
        let values = pairs.map(|(one, other)| one.zip(*other).map(|(one, other)| of(one, other)));
        let finite = values.map(|value| value.filter(|value| value.is_finite())).collect();
        Measurement::new(finite, self.is_exact && other.is_exact)
    }

    /// Returns the first and the second half of the repetitions. If fewer than two repetitions exist or nothing is
    /// random, each half contains all repetitions.
    fn halves(self) -> (Measurement, Measurement) {
        let half = self.values.len() / 2;
        if half == 0 || self.is_exact {
            return (self.clone(), self);
        }
        let of = |values: &[Option<f64>]| Measurement::new(values.to_vec(), false);
        (of(&self.values[..half]), of(&self.values[half..]))
    }

    /// Multiplies all values by a factor. Removes the position `place` unless the factor is 1, because a position
    /// cannot be scaled.
    pub fn times(mut self, factor: f64) -> Measurement {
        for value in self.values.iter_mut().flatten() {
            *value *= factor;
        }
        self.place = self.place.filter(|_| factor == 1.0);
        self
    }
}

/// Access to a paper's results under one set of answers to the paper's open questions.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The paper.
    pub study: &'a Study,
    /// Results of each grid.
    pub by_grid: &'a ResultsByGrid,
    /// Record of the cells from which numbers are read. `None` if no record is needed.
    pub read_cells: Option<&'a RefCell<ReadCells>>,
}

/// Cells that were read: name of the grid, and index of the cell.
pub type ReadCells = BTreeSet<(String, usize)>;

impl<'a> View<'a> {
    /// Returns a view that does not record the cells from which numbers are read.
    pub fn of(study: &'a Study, by_grid: &'a ResultsByGrid) -> View<'a> {
        View { study, by_grid, read_cells: None }
    }

    /// Returns the values of a metric or measure at some coordinates. Returns `None` if the cell was not run or the
    /// number is undefined.
    pub fn measurement(&self, quantity: QuantityRef<'_>, coordinates: &Coordinates) -> Option<Measurement> {
        match self.study.resolve(quantity, &[]).ok()? {
            ResolvedQuantity::Metric { metric, grid } => {
                let results = self.by_grid.get(grid)?;
                let cell = results.cell(coordinates)?;
                if let Some(read_cells) = self.read_cells {
                    read_cells.borrow_mut().insert((grid.to_owned(), cell));
                }
                Some(Measurement::new(results.values(metric, cell)?.to_vec(), results.is_exact))
            }
            ResolvedQuantity::Measure { measure, .. } => self.measure(measure, quantity.grid, coordinates),
        }
    }

    /// Returns the results of the grid to which a metric or measure belongs.
    pub fn results(&self, quantity: QuantityRef<'_>) -> Option<&'a GridResults> {
        self.by_grid.get(grid_of(self.study, quantity)?)
    }

    fn measure(
        &self,
        measure: &Measure,
        grid: Option<&str>,
        coordinates: &Coordinates,
    ) -> Option<Measurement> {
        if let Some(formula) = &measure.formula {
            return Expression::parse(formula).ok()?.value(coordinates).map(Measurement::exactly);
        }
        if let Some(by) = &measure.by {
            return super::computed::number(by, coordinates).map(Measurement::exactly);
        }
        let quantity = measure.quantity().or_grid(grid);
        let row = coordinates;
        let mut coordinates = with_coordinates(&Coordinates::new(), &measure.at);
        coordinates.extend(row.clone());
        let axis = |wanted: &[Over]| {
            let found = measure.over.iter().find(|(_, over)| wanted.contains(over));
            found.map(|(axis, over)| (axis.as_str(), *over))
        };
        let before = axis(&[Over::Sum, Over::Mean]);
        let compared = |coordinates: &Coordinates| self.compared(measure, quantity, coordinates, before);
        let found = [Over::Repetitions, Over::Largest, Over::LargestPlace, Over::Crossing];
        let Some((name, over)) = axis(&found) else {
            return compared(&coordinates);
        };
        let values = self.results(quantity)?.axis(name);
        match over {
            Over::Repetitions => {
                let means =
                    values.iter().map(|value| compared(&with_value(&coordinates, name, value))?.mean());
                Some(Measurement::new(means.collect(), false))
            }
            Over::LargestPlace | Over::Crossing => {
                let along: Option<Vec<Measurement>> =
                    values.iter().map(|value| compared(&with_value(&coordinates, name, value))).collect();
                let of = if over == Over::Crossing { axis_place::crossing } else { axis_place::largest };
                Self::place(name, values, &along?, of)
            }
            _ => {
                // The largest of several measured means is biased upwards. Therefore, one half of the repetitions
                // selects the axis value with the largest mean. Only the remaining half is used for the number at this
                // axis value.
                let measurements = values.iter().filter_map(|value| {
                    let (chooses, measured) = compared(&with_value(&coordinates, name, value))?.halves();
                    Some((chooses.mean()?, value, measured))
                });
                let (_, value, measurement) =
                    measurements.max_by(|(one, ..), (other, ..)| one.total_cmp(other))?;
                Some(Measurement { found: Some((name.to_owned(), value.clone())), ..measurement })
            }
        }
    }

    fn compared(
        &self,
        measure: &Measure,
        quantity: QuantityRef<'_>,
        coordinates: &Coordinates,
        before: Option<(&str, Over)>,
    ) -> Option<Measurement> {
        let one = self.reduced(quantity, coordinates, before)?;
        let (Some(against), Some(comparison)) = (&measure.against, measure.comparison) else {
            return Some(one);
        };
        let other = self.reduced(quantity, &with_coordinates(coordinates, against), before)?;
        Some(match comparison {
            Comparison::Difference => one.with(&other, |one, other| one - other),
            Comparison::Ratio => one.with(&other, |one, other| one / other),
            Comparison::Change => one.with(&other, |one, other| 100.0 * (one / other - 1.0)),
            Comparison::ChangeOfMeans => change_of_means(&one, &other)?,
        })
    }

    fn reduced(
        &self,
        quantity: QuantityRef<'_>,
        coordinates: &Coordinates,
        before: Option<(&str, Over)>,
    ) -> Option<Measurement> {
        let Some((axis, over)) = before else { return self.measurement(quantity, coordinates) };
        let values = self.results(quantity)?.axis(axis);
        let measurements: Option<Vec<Measurement>> = values
            .iter()
            .map(|value| self.measurement(quantity, &with_value(coordinates, axis, value)))
            .collect();
        let mut measurements = measurements?.into_iter();
        let first = measurements.next()?;
        let count = values.len() as f64;
        let sum = measurements.fold(first, |sum, one| sum.with(&one, |sum, one| sum + one));
        Some(if over == Over::Mean { sum.times(1.0 / count) } else { sum })
    }

    fn place(
        axis: &str,
        values: &[Value],
        along: &[Measurement],
        of: axis_place::PlaceSearch,
    ) -> Option<Measurement> {
        let numbers: Option<Vec<f64>> = values.iter().map(Value::number).collect();
        let (at, estimate) = axis_place::found(&numbers?, along, of)?;
        let found = at.and_then(|at| values.get(at)).map(|value| (axis.to_owned(), value.clone()));
        let is_exact = along.iter().all(|measurement| measurement.is_exact);
        let measurement = Measurement::new(vec![Some(estimate.mean)], is_exact);
        Some(Measurement { found, place: Some(estimate), ..measurement })
    }
}

/// Returns a copy of the coordinates, in which the values of `over` replace or extend the axis values.
pub fn with_coordinates(coordinates: &Coordinates, over: &Ordered<Value>) -> Coordinates {
    let mut coordinates = coordinates.clone();
    coordinates.extend(over.iter().map(|(axis, value)| (axis.clone(), value.clone())));
    coordinates
}

/// Computes the change of a mean, %: 100 (mean of `ones` / mean of `others` - 1). The result has one value for each
/// repetition: the repetition's term of the ratio after linearisation. The mean of these values is the change. The
/// interval of this mean is the interval of the change.
fn change_of_means(ones: &Measurement, others: &Measurement) -> Option<Measurement> {
    let (one, other) = (ones.with(others, |one, _| one), others.with(ones, |other, _| other));
    let ratio = RatioOfMeans::of(&one.defined(), &other.defined())?;
    Some(one.with(&other, |one, other| ratio.change(one, other)))
}
