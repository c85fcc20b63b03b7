//! Axes of a comparison's figures: one varied key is on the x axis, and the values of the remaining keys are curves.

use super::{Amounts, ComparedCase};
use lasthop_base::quantity;

pub(super) const MAX_CURVES: usize = 8;
/// Smallest ratio of the largest value to the smallest value for which a numeric axis is logarithmic.
const LOG_FROM: f64 = 30.0;

/// Arrangement of the compared cases in a figure: the x axis, and the curves.
pub(super) struct Axis {
    /// Index of the key on the x axis.
    pub key: usize,
    /// Label of the x axis: the key, and the unit if the values have one.
    pub label: String,
    /// Names of the categories. The list is empty for a numeric key.
    pub categories: Vec<String>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Curves, each with a name and points. A point is a pair: position on the x axis, and index of the case. The
    /// points are sorted by ascending x.
    pub curves: Vec<(String, Vec<(f64, usize)>)>,
}

impl Axis {
    /// Selects the key for the x axis. The numeric key with the most values is selected. If no key is numeric, the
    /// first key is selected.
    pub(super) fn of(paths: &[String], cases: &[ComparedCase]) -> Axis {
        let keys = paths.len();
        let values: Vec<Vec<&str>> = (0..keys).map(|key| distinct(cases, key)).collect();
        let numeric = |key: usize| Some((key, numbers(&values[key]).filter(|_| values[key].len() > 1)?));
        // If several numeric keys have the most values, the first of these keys is selected.
        let best = (0..keys)
            .filter_map(numeric)
            .reduce(|best, one| if values[one.0].len() > values[best.0].len() { one } else { best });
        let (key, numbers) = best.map_or((0, None), |(key, numbers)| (key, Some(numbers)));
        let path = paths.get(key).cloned().unwrap_or_default();
        let of_key = values.get(key).map_or(&[][..], |values| values);
        let place = |value: &str| {
            let at = of_key.iter().position(|one| *one == value).unwrap_or(0);
            numbers.as_ref().map_or(at as f64 + 1.0, |(numbers, _)| numbers[at])
        };
        let mut curves: Vec<(String, Vec<(f64, usize)>)> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            let others = case.values.iter().enumerate().filter(|(other, _)| *other != key);
            let name = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
            let point = (case.values.get(key).map_or(1.0, |value| place(value)), index);
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => curves.push((name, vec![point])),
            }
        }
        curves.iter_mut().for_each(|(_, points)| points.sort_by(|one, other| one.0.total_cmp(&other.0)));
        let log = numbers.as_ref().is_some_and(|(numbers, _)| {
            let ends = numbers.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), number| {
                (low.min(*number), high.max(*number))
            });
            ends.0 > 0.0 && ends.1 >= LOG_FROM * ends.0
        });
        let label = match &numbers {
            Some((_, unit)) if !unit.is_empty() => format!("{path}, {unit}"),
            _ => path,
        };
        let categories = match numbers {
            Some(_) => Vec::new(),
            None => of_key.iter().map(|value| (*value).to_owned()).collect(),
        };
        Axis { key, label, categories, log, curves }
    }
}

/// Returns the values of a key without duplicates, in the order of the cases.
fn distinct(cases: &[ComparedCase], key: usize) -> Vec<&str> {
    let mut values: Vec<&str> = Vec::new();
    for value in cases.iter().filter_map(|case| case.values.get(key)) {
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    values
}

/// Converts values to numbers in the unit of the first value that has a unit. Returns `None` unless all values are
/// numbers with units of the same quantity.
fn numbers(values: &[&str]) -> Option<(Vec<f64>, String)> {
    let parts: Option<Vec<(f64, &str)>> = values.iter().map(|value| quantity::split(value).ok()).collect();
    let parts = parts?;
    let unit = parts.iter().map(|(_, unit)| *unit).find(|unit| !unit.is_empty()).unwrap_or("");
    if parts.iter().all(|(number, of)| *of == unit || *number == 0.0) {
        return Some((parts.iter().map(|(number, _)| *number).collect(), unit.to_owned()));
    }
    let amounts = Amounts::of(values)?;
    let one = Amounts::of(&[&format!("1 {unit}")]).filter(|one| one.suffix == amounts.suffix)?.numbers[0];
    Some((amounts.numbers.iter().map(|number| number / one).collect(), unit.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_if_all_have_units_of_one_quantity() {
        let of = |values: &[&str]| numbers(values).map(|(numbers, unit)| format!("{numbers:?} {unit}"));
        assert_eq!(of(&["0", "1%", "2 %"]).as_deref(), Some("[0.0, 1.0, 2.0] %"));
        assert_eq!(of(&["500kbit/s", "2Mbit/s"]).as_deref(), Some("[500.0, 2000.0] kbit/s"));
        assert_eq!(of(&["1s", "250ms"]).as_deref(), Some("[1.0, 0.25] s"));
        assert_eq!(of(&["10packets", "100packets"]).as_deref(), Some("[10.0, 100.0] packets"));
        for words in [&["sack", "reno"][..], &["10ms", "20packets"], &["1Mbit/s", "off"]] {
            assert_eq!(of(words), None, "{words:?}");
        }
    }
}
