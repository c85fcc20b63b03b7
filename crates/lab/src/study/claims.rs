//! Claims: statements in words, usually the paper's, tested at points. A point is a combination of axis values.

use super::claim_verdict::{self, MARGIN, PointTest};
use super::file::{Claim, Condition, Quantity, Relation, Than};
use super::measure::{Measurement, View};
use super::runs::{combinations, with_value};
use super::study::ResolvedQuantity;
use super::value::{Coordinates, Value};
use crate::item::Item;

/// Returns the result row of a claim. Returns `None` if no point of the claim was run.
pub fn row(view: &View<'_>, claim: &Claim) -> Option<Item> {
    let mut points = Vec::new();
    let mut value = None;
    for condition in &claim.holds.0 {
        let test = ConditionTest { view, condition };
        for coordinates in test.combinations()? {
            value =
                value.or_else(|| test.measurement(&coordinates).and_then(|measurement| measurement.mean()));
            points.extend(test.at(&coordinates));
        }
    }
    let verdict = claim_verdict::verdict(&points)?;
    let holds = points.iter().filter(|point| point.holds).count();
    let share = holds as f64 / points.len() as f64;
    let shown = value.map_or("undefined".into(), crate::papers::cells::number);
    let words = claim.words.replace("{value}", &shown);
    let item = Item::new(&view.study.file.paper, claim.item.as_str(), claim.series.as_str());
    Some(item.with_claim(&words, share, points.len(), verdict))
}

struct ConditionTest<'a> {
    view: &'a View<'a>,
    condition: &'a Condition,
}

impl ConditionTest<'_> {
    fn combinations(&self) -> Option<Vec<Coordinates>> {
        let mut axes = Vec::new();
        for written in self.condition.at_each.all() {
            let (axis, only) = split(written);
            let values = self.view.results(self.condition.quantity())?.axis(axis);
            let kept: Vec<Value> = values.iter().filter(|value| meets_all(&only, value)).cloned().collect();
            axes.push((axis.to_owned(), kept));
        }
        Some(combinations(&axes))
    }

    /// Returns the tests at these coordinates. If the condition's key `at` lists several values of an axis, the
    /// condition must hold for all combinations of the listed values.
    fn at(&self, coordinates: &Coordinates) -> Vec<PointTest> {
        if !self.is_run() {
            return Vec::new();
        }
        let several: Vec<(String, Vec<Value>)> = self
            .condition
            .at
            .iter()
            .map(|(axis, pick)| (axis.clone(), self.run(axis, pick.values())))
            .collect();
        let each: Vec<Vec<PointTest>> = combinations(&several)
            .into_iter()
            .map(|more| {
                coordinates.iter().map(|(axis, value)| (axis.clone(), value.clone())).chain(more).collect()
            })
            .map(|coordinates: Coordinates| self.tests_at(&coordinates))
            .collect();
        let along = each.first().map_or(0, Vec::len);
        (0..along)
            .filter_map(|at| {
                let all: Vec<PointTest> = each.iter().filter_map(|points| points.get(at).copied()).collect();
                PointTest::all(&all)
            })
            .collect()
    }

    fn run(&self, axis: &str, values: &[Value]) -> Vec<Value> {
        let run = self
            .view
            .results(self.condition.quantity())
            .map(|results| results.axis(axis))
            .unwrap_or_default();
        if run.is_empty() {
            values.to_vec()
        } else {
            values.iter().filter(|value| run.iter().any(|one| one.same(value))).cloned().collect()
        }
    }

    /// Whether the runs that the condition needs were made: its grid, and the axis values of its reference. Runs under
    /// an answer to an open question may omit axis values.
    fn is_run(&self) -> bool {
        let quantity = self.condition.quantity();
        let wanted = self.view.study.resolve(quantity, &[]);
        let is_computed =
            matches!(wanted, Ok(ResolvedQuantity::Measure { measure, .. }) if measure.is_computed());
        if !is_computed && self.view.results(quantity).is_none() {
            return false;
        }
        let Some(Than::Quantity(other)) = &self.condition.than else { return true };
        other.quantity().is_named()
            || other.at.iter().all(|(axis, pick)| !self.run(axis, pick.values()).is_empty())
    }

    fn measurement(&self, coordinates: &Coordinates) -> Option<Measurement> {
        let mut full = coordinates.clone();
        for (axis, pick) in &self.condition.at {
            if let [one] = pick.values() {
                full.insert(axis.clone(), one.clone());
            }
        }
        self.view.measurement(self.condition.quantity(), &full)
    }

    /// Returns the tests at these coordinates. For the relations `grows` and `falls`, the list has one test for each
    /// step along the axis, and one test that compares the two ends. For any other relation, the list has one test.
    fn tests_at(&self, coordinates: &Coordinates) -> Vec<PointTest> {
        let points = match self.condition.is {
            Relation::Grows | Relation::Falls => self.steps(coordinates),
            Relation::HigherAtEnd | Relation::LowerAtEnd => self.ends(coordinates).map(|point| vec![point]),
            Relation::SmallestAt => self.smallest(coordinates).map(|point| vec![point]),
            Relation::Alike => self.alike(coordinates).map(|point| vec![point]),
            _ => self.single_test(coordinates).map(|point| vec![point]),
        };
        points.unwrap_or_else(|| vec![PointTest::known(self.condition.undefined_holds)])
    }

    fn single_test(&self, coordinates: &Coordinates) -> Option<PointTest> {
        let condition = self.condition;
        let ours = self.view.measurement(condition.quantity(), coordinates)?;
        if condition.is == Relation::Zero {
            let values = ours.defined();
            return (!values.is_empty()).then(|| PointTest::known(values.iter().all(|value| *value == 0.0)));
        }
        if let (Relation::Between, Some(Than::Range([from, to]))) = (condition.is, &condition.than) {
            let (low, high) = (above(&ours, *from, false)?, above(&ours.times(-1.0), -to, false)?);
            return Some(low.and(high));
        }
        let (difference, base) = match &condition.than {
            Some(Than::Quantity(other)) => {
                let other = self.reference(other, coordinates)?;
                let base = other.mean()?;
                (ours.with(&other, |one, other| one - other), base)
            }
            Some(Than::Number(number)) => (shifted(ours, *number), *number),
            _ => (ours, 0.0),
        };
        let margin = MARGIN * base.abs();
        Some(match condition.is {
            Relation::Above => above(&difference, 0.0, true)?,
            Relation::Below => above(&difference.times(-1.0), 0.0, true)?,
            Relation::AtLeast => above(&difference, -margin, false)?,
            Relation::AtMost => above(&difference.times(-1.0), -margin, false)?,
            Relation::Within => {
                let by = condition.by.unwrap_or(MARGIN) * base.abs();
                let low = above(&difference, -by, false)?;
                low.and(above(&difference.times(-1.0), -by, false)?)
            }
            _ => return None,
        })
    }

    fn reference(&self, other: &Quantity, coordinates: &Coordinates) -> Option<Measurement> {
        let mut there = coordinates.clone();
        for (axis, pick) in &other.at {
            there.insert(axis.clone(), pick.values().first()?.clone());
        }
        let own = self.condition.quantity();
        let quantity = if other.quantity().is_named() { other.quantity().or_grid(own.grid) } else { own };
        let measurement = self.view.measurement(quantity, &there)?;
        Some(measurement.times(other.times.unwrap_or(1.0)))
    }

    fn along(&self, coordinates: &Coordinates) -> Option<Vec<(Value, Measurement)>> {
        let (axis, only) = split(self.condition.along.as_deref()?);
        let values = self.view.results(self.condition.quantity())?.axis(axis);
        let kept = values.iter().filter(|value| meets_all(&only, value));
        let of = |value: &Value| {
            let measurement =
                self.view.measurement(self.condition.quantity(), &with_value(coordinates, axis, value));
            Some((value.clone(), measurement.filter(|measurement| measurement.mean().is_some())?))
        };
        let found: Vec<(Value, Measurement)> = kept.filter_map(of).collect();
        (!found.is_empty()).then_some(found)
    }

    fn steps(&self, coordinates: &Coordinates) -> Option<Vec<PointTest>> {
        let measurements = self.along(coordinates)?;
        let sign = if self.condition.is == Relation::Falls { -1.0 } else { 1.0 };
        let mut points = Vec::new();
        for pair in measurements.windows(2) {
            let margin = MARGIN * pair[0].1.mean()?.abs();
            let step = pair[1].1.with(&pair[0].1, |now, before| sign * (now - before));
            points.push(above(&step, -margin, false)?);
        }
        points.push(end(&measurements, sign)?);
        Some(points)
    }

    fn ends(&self, coordinates: &Coordinates) -> Option<PointTest> {
        let sign = if self.condition.is == Relation::LowerAtEnd { -1.0 } else { 1.0 };
        end(&self.along(coordinates)?, sign)
    }

    /// Tests whether the number at the axis value `than` is the smallest along the axis. Numbers that are smaller by at
    /// most [`MARGIN`] are tolerated.
    fn smallest(&self, coordinates: &Coordinates) -> Option<PointTest> {
        let measurements = self.along(coordinates)?;
        let Some(Than::Number(number)) = self.condition.than else { return None };
        let there = Value::Number(number);
        let (_, best) = measurements.iter().find(|(value, _)| value.same(&there))?;
        let margin = MARGIN * best.mean()?.abs();
        let others = measurements.iter().filter(|(value, _)| !value.same(&there));
        let points: Option<Vec<PointTest>> = others
            .map(|(_, other)| above(&other.with(best, |other, best| other - best), -margin, false))
            .collect();
        PointTest::all(&points?)
    }

    /// Tests whether all numbers along the axis are alike. They are alike if no number is below the largest number by
    /// more than the share `by`.
    fn alike(&self, coordinates: &Coordinates) -> Option<PointTest> {
        let measurements = self.along(coordinates)?;
        let kept = 1.0 - self.condition.by.unwrap_or(MARGIN);
        let mean = |measurement: &Measurement| measurement.mean().unwrap_or(f64::NEG_INFINITY);
        let (_, largest) =
            measurements.iter().max_by(|(_, one), (_, other)| mean(one).total_cmp(&mean(other)))?;
        let points: Option<Vec<PointTest>> = measurements
            .iter()
            .map(|(_, one)| above(&one.with(largest, |one, largest| one - kept * largest), 0.0, false))
            .collect();
        PointTest::all(&points?)
    }
}

fn end(measurements: &[(Value, Measurement)], sign: f64) -> Option<PointTest> {
    let ((_, first), (_, last)) = (measurements.first()?, measurements.last()?);
    above(&last.with(first, |last, first| sign * (last - first)), 0.0, true)
}

fn above(measurement: &Measurement, least: f64, strictly: bool) -> Option<PointTest> {
    PointTest::above(&measurement.defined(), least, strictly, measurement.is_exact)
}

fn shifted(mut measurement: Measurement, by: f64) -> Measurement {
    for value in measurement.values.iter_mut().flatten() {
        *value -= by;
    }
    measurement
}

/// Splits the text of a condition into the axis and the bounds on the axis values. Examples: `ber >= 5e-5`, `awnd >= 4
/// and awnd <= 13`.
fn split(written: &str) -> (&str, Vec<AxisBound>) {
    let bounds = parts(written).filter_map(|(_, bound)| bound.and_then(Result::ok)).collect();
    (parts(written).next().map_or("", |(axis, _)| axis), bounds)
}

/// Returns the axes of a condition. If the bound on an axis is not a number, the axis is paired with the text of the
/// bound. Otherwise, the axis is paired with `None`.
pub(super) fn axes(written: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    parts(written).map(|(axis, bound)| (axis, bound.and_then(Result::err)))
}

fn parts(written: &str) -> impl Iterator<Item = (&str, Option<Result<AxisBound, &str>>)> {
    written.split(" and ").map(|part| {
        let signed = SIGNS.iter().find_map(|(sign, of)| Some((part.split_once(sign)?, *of)));
        let Some(((axis, number), of)) = signed else { return (part.trim(), None) };
        let bound = number.trim().parse().map(|number| AxisBound { of, number });
        (axis.trim(), Some(bound.map_err(|_| number.trim())))
    })
}

fn meets_all(bounds: &[AxisBound], value: &Value) -> bool {
    bounds.iter().all(|bound| bound.is_met_by(value))
}

type Test = fn(f64, f64) -> bool;

const SIGNS: &[(&str, Test)] = &[
    (">=", |value, bound| value >= bound * (1.0 - 1e-9)),
    ("<=", |value, bound| value <= bound * (1.0 + 1e-9)),
    (">", |value, bound| value > bound * (1.0 + 1e-9)),
    ("<", |value, bound| value < bound * (1.0 - 1e-9)),
];

#[derive(Clone, Copy)]
struct AxisBound {
    of: Test,
    number: f64,
}

impl AxisBound {
    fn is_met_by(&self, value: &Value) -> bool {
        value.number().is_some_and(|value| (self.of)(value, self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_between_two_numbers() {
        let kept = |written: &str| {
            let (axis, bounds) = split(written);
            let values = [3.0, 4.0, 10.0, 13.0, 15.0].map(Value::Number);
            let kept: Vec<String> =
                values.iter().filter(|value| meets_all(&bounds, value)).map(Value::to_string).collect();
            (axis.to_owned(), kept.join(" "))
        };
        let of = |kept: &str| ("awnd".to_owned(), kept.to_owned());
        assert_eq!(kept("awnd"), of("3 4 10 13 15"));
        assert_eq!(kept("awnd >= 4"), of("4 10 13 15"));
        assert_eq!(kept("awnd > 3 and awnd <= 13"), of("4 10 13"));
        assert_eq!(kept("awnd < 3"), of(""));
        assert!(!meets_all(&split("link > 1").1, &Value::Text("64 kbit/s".into())));
    }
}
