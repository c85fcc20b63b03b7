//! Formulas of a row's own coordinates: nothing is run.

use super::expression::{Expression, Scope};
use super::value::{Place, Value};

struct At<'a>(&'a Place);

impl Scope for At<'_> {
    fn name(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::number)
    }

    fn flows(&self, _: &Expression, _: Option<&str>) -> Vec<f64> {
        Vec::new()
    }
}

/// The formula's value at a place; `None` if it cannot be read or names what the place has not.
pub fn value(formula: &str, place: &Place) -> Option<f64> {
    Expression::parse(formula).ok()?.value(&At(place))
}
