//! Metric under two conditions in the same repetitions: the mean under each condition, and the change.

use crate::change::PercentChange;
use crate::document::Cell;
use crate::runs::number::{change, with_interval};
use crate::runs::summary::{change_value, value};
use crate::stats::Estimate;
use serde_json::{Map, Value};

/// Means of a metric under two conditions, with their 95 % intervals, and the change between the means. Values are
/// paired by repetition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Paired {
    /// Mean under each condition. `None` if the metric is undefined in any repetition of that condition.
    pub means: [Option<Estimate>; 2],
    /// Change from the first condition to the second condition.
    pub change: Option<PercentChange>,
}

impl Paired {
    /// Computes the two means. `values` holds the values of each condition, one for each repetition. A condition with a
    /// missing value has no mean.
    pub fn of(values: [impl Iterator<Item = Option<f64>>; 2]) -> Paired {
        let [first, second] =
            values.map(|condition| condition.collect::<Option<Vec<f64>>>().unwrap_or_default());
        Paired {
            means: [Estimate::of(&first), Estimate::of(&second)],
            change: PercentChange::of(&second, &first),
        }
    }

    /// Whether the means of both conditions are missing.
    pub fn is_empty(&self) -> bool {
        self.means == [None, None]
    }

    /// Returns a JSON object with the two means and the change, %. `names` are the names of these three fields.
    pub(super) fn object(&self, names: [&str; 3]) -> Value {
        let [first, second] = self.means.map(|mean| mean.map_or(Value::Null, |it| value(&it)));
        let changed = self.change.map_or(Value::Null, |it| change_value(&it));
        let pairs = names.into_iter().zip([first, second, changed]);
        Value::Object(pairs.map(|(name, value)| (name.to_owned(), value)).collect::<Map<String, Value>>())
    }

    pub(super) fn cells(&self) -> [Cell; 3] {
        let [first, second] =
            self.means.map(|mean| mean.map_or(Cell::Empty, |it| Cell::Number(with_interval(&it))));
        [first, second, self.change.map_or(Cell::Empty, |it| Cell::Number(change(&it)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_is_from_the_first_way_to_the_second() {
        let paired = Paired::of([[2.0, 4.0], [3.0, 6.0]].map(|condition| condition.into_iter().map(Some)));
        let [first, second] = paired.means.map(|mean| mean.expect("two values").mean);
        assert_eq!((first, second), (3.0, 4.5));
        let change = paired.change.expect("a base above zero");
        assert!((change.percent - 50.0).abs() < 1e-9);
        assert!(change.ci95.is_some_and(|[low, high]| (high - low).abs() < 1e-9));
    }

    #[test]
    fn a_repetition_without_the_number_leaves_its_way_without_a_mean() {
        let paired = Paired::of([vec![Some(1.0), None], vec![Some(1.0), Some(2.0)]].map(Vec::into_iter));
        assert!(paired.means[0].is_none() && paired.means[1].is_some() && paired.change.is_none());
        assert!(!paired.is_empty() && Paired::of([[None], [None]].map(IntoIterator::into_iter)).is_empty());
    }
}
