//! Numbers of a paper's results: a metric at a place, or a measure made of such.

use super::expression::Expression;
use super::file::{Comparison, Measure, Ordered, Over};
use super::place;
use super::references::grid_of;
use super::runs::{Frame, Results, with_value};
use super::study::{Asked, Study, Wanted};
use super::value::{Place, Value};
use crate::stats::{Estimate, RatioOfMeans};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A number by repetition: pairs of the same repetition met the same losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// By repetition; `None` where it is undefined.
    pub values: Vec<Option<f64>>,
    /// Where it was found, if that was looked for: axis and value.
    pub found: Option<(String, Value)>,
    /// Whether nothing is random.
    pub is_exact: bool,
    /// A place with its interval, if this is one: then `values` has it alone.
    pub place: Option<Estimate>,
}

impl Sample {
    fn new(values: Vec<Option<f64>>, is_exact: bool) -> Sample {
        Sample { values, found: None, is_exact, place: None }
    }

    /// One that is random.
    pub fn of(values: Vec<Option<f64>>) -> Sample {
        Sample::new(values, false)
    }

    /// A computed number.
    pub fn exactly(value: f64) -> Sample {
        Sample::new(vec![Some(value)], true)
    }

    /// The values that are defined.
    pub fn defined(&self) -> Vec<f64> {
        self.values.iter().flatten().copied().collect()
    }

    /// Their mean.
    pub fn mean(&self) -> Option<f64> {
        self.estimate().map(|estimate| estimate.mean)
    }

    /// Their mean with its interval; a point if nothing is random.
    pub fn estimate(&self) -> Option<Estimate> {
        if let Some(place) = self.place {
            return Some(place);
        }
        let plain = Estimate::of(&self.defined())?;
        Some(if self.is_exact { Estimate { ci95: Some([plain.mean; 2]), ..plain } } else { plain })
    }

    /// A function of this and another number of the same repetition.
    pub fn with(&self, other: &Sample, of: impl Fn(f64, f64) -> f64) -> Sample {
        let pairs = self.values.iter().zip(&other.values);
        let values = pairs.map(|(one, other)| one.zip(*other).map(|(one, other)| of(one, other)));
        let finite = values.map(|value| value.filter(|value| value.is_finite())).collect();
        Sample::new(finite, self.is_exact && other.is_exact)
    }

    /// The first half of the repetitions, and the others; both all of them if there are fewer than two, or nothing is
    /// random.
    fn halves(self) -> (Sample, Sample) {
        let half = self.values.len() / 2;
        if half == 0 || self.is_exact {
            return (self.clone(), self);
        }
        let of = |values: &[Option<f64>]| Sample::new(values.to_vec(), false);
        (of(&self.values[..half]), of(&self.values[half..]))
    }

    /// Times a factor.
    pub fn times(mut self, factor: f64) -> Sample {
        for value in self.values.iter_mut().flatten() {
            *value *= factor;
        }
        // A number times a place is none any more.
        self.place = self.place.filter(|_| factor == 1.0);
        self
    }
}

/// Looks at results.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The paper.
    pub study: &'a Study,
    /// What came out.
    pub frame: &'a Frame,
    /// Where to note what is read.
    pub reads: Option<&'a RefCell<Reads>>,
}

/// Cells that were read: grid and number.
pub type Reads = BTreeSet<(String, usize)>;

impl<'a> View<'a> {
    /// A view of a paper's results.
    pub fn of(study: &'a Study, frame: &'a Frame) -> View<'a> {
        View { study, frame, reads: None }
    }

    /// What a table asks for, at a place; `None` where it was not run or is not defined.
    pub fn sample(&self, asked: Asked<'_>, place: &Place) -> Option<Sample> {
        match self.study.wanted(asked, &[]).ok()? {
            Wanted::Metric { metric, grid } => {
                let results = self.frame.get(grid)?;
                let cell = results.cell(place)?;
                if let Some(reads) = self.reads {
                    reads.borrow_mut().insert((grid.to_owned(), cell));
                }
                Some(Sample::new(results.values(metric, cell)?.to_vec(), results.is_exact))
            }
            Wanted::Measure { measure, .. } => self.measure(measure, asked.grid, place),
        }
    }

    /// The results of the grid that a table asks about.
    pub fn results(&self, asked: Asked<'_>) -> Option<&'a Results> {
        self.frame.get(grid_of(self.study, asked)?)
    }

    fn measure(&self, measure: &Measure, grid: Option<&str>, place: &Place) -> Option<Sample> {
        if let Some(formula) = &measure.formula {
            return Expression::parse(formula).ok()?.value(place).map(Sample::exactly);
        }
        if let Some(by) = &measure.by {
            return super::computed::number(by, place).map(Sample::exactly);
        }
        let asked = measure.asked().or_in(grid);
        // The row's place wins over the measure's own.
        let row = place;
        let mut place = over_laid(&Place::new(), &measure.at);
        place.extend(row.clone());
        let axis = |wanted: &[Over]| {
            let found = measure.over.iter().find(|(_, over)| wanted.contains(over));
            found.map(|(axis, over)| (axis.as_str(), *over))
        };
        let before = axis(&[Over::Sum, Over::Mean]);
        let compared = |place: &Place| self.compared(measure, asked, place, before);
        let found = [Over::Repetitions, Over::Largest, Over::LargestPlace, Over::Crossing];
        let Some((name, over)) = axis(&found) else {
            return compared(&place);
        };
        let values = self.results(asked)?.axis(name);
        match over {
            Over::Repetitions => {
                let means = values.iter().map(|value| compared(&with_value(&place, name, value))?.mean());
                Some(Sample::new(means.collect(), false))
            }
            Over::LargestPlace | Over::Crossing => {
                let along: Option<Vec<Sample>> =
                    values.iter().map(|value| compared(&with_value(&place, name, value))).collect();
                let of = if over == Over::Crossing { place::crossing } else { place::largest };
                Self::place(name, values, &along?, of)
            }
            _ => {
                // The place is chosen on the first half of the repetitions and measured on the others: where the largest
                // of several means is looked for and measured on the same ones, it is biased upwards.
                let samples = values.iter().filter_map(|value| {
                    let (chooses, measured) = compared(&with_value(&place, name, value))?.halves();
                    Some((chooses.mean()?, value, measured))
                });
                let (_, value, sample) = samples.max_by(|(one, ..), (other, ..)| one.total_cmp(other))?;
                Some(Sample { found: Some((name.to_owned(), value.clone())), ..sample })
            }
        }
    }

    /// `at` and `against`, each summed over an axis first if that is wanted.
    fn compared(
        &self,
        measure: &Measure,
        asked: Asked<'_>,
        place: &Place,
        before: Option<(&str, Over)>,
    ) -> Option<Sample> {
        let one = self.gathered(asked, place, before)?;
        let (Some(against), Some(comparison)) = (&measure.against, measure.comparison) else {
            return Some(one);
        };
        let other = self.gathered(asked, &over_laid(place, against), before)?;
        Some(match comparison {
            Comparison::Difference => one.with(&other, |one, other| one - other),
            Comparison::Ratio => one.with(&other, |one, other| one / other),
            Comparison::Change => one.with(&other, |one, other| 100.0 * (one / other - 1.0)),
            Comparison::ChangeOfMeans => change_of_means(&one, &other)?,
        })
    }

    fn gathered(&self, asked: Asked<'_>, place: &Place, before: Option<(&str, Over)>) -> Option<Sample> {
        let Some((axis, over)) = before else { return self.sample(asked, place) };
        let values = self.results(asked)?.axis(axis);
        let samples: Option<Vec<Sample>> =
            values.iter().map(|value| self.sample(asked, &with_value(place, axis, value))).collect();
        let mut samples = samples?.into_iter();
        let first = samples.next()?;
        let count = values.len() as f64;
        let sum = samples.fold(first, |sum, one| sum.with(&one, |sum, one| sum + one));
        Some(if over == Over::Mean { sum.times(1.0 / count) } else { sum })
    }

    /// A place on an axis, looked for in samples along it.
    fn place(axis: &str, values: &[Value], along: &[Sample], of: place::Place) -> Option<Sample> {
        let numbers: Option<Vec<f64>> = values.iter().map(Value::number).collect();
        let (at, estimate) = place::found(&numbers?, along, of)?;
        let found = at.and_then(|at| values.get(at)).map(|value| (axis.to_owned(), value.clone()));
        let is_exact = along.iter().all(|sample| sample.is_exact);
        let sample = Sample::new(vec![Some(estimate.mean)], is_exact);
        Some(Sample { found, place: Some(estimate), ..sample })
    }
}

/// The same place with other values on some axes.
pub fn over_laid(place: &Place, over: &Ordered<Value>) -> Place {
    let mut place = place.clone();
    place.extend(over.iter().map(|(axis, value)| (axis.clone(), value.clone())));
    place
}

/// 100 (mean / mean - 1), each repetition with its part in it, so that the interval is the ratio's.
fn change_of_means(ones: &Sample, others: &Sample) -> Option<Sample> {
    let (one, other) = (ones.with(others, |one, _| one), others.with(ones, |other, _| other));
    let ratio = RatioOfMeans::of(&one.defined(), &other.defined())?;
    Some(one.with(&other, |one, other| ratio.change(one, other)))
}
