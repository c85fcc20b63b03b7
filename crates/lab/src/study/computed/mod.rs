//! Rust functions that a paper selects with the key `by`.

pub(crate) mod hasegawa_episode;
pub(crate) mod miyoshi_losses;
pub(crate) mod miyoshi_model;

use super::study::Study;
use super::value::Coordinates;
use crate::figure::Curve;
use lasthop_engine::Observer;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{Observation, run_observed};
use std::any::Any;

/// Function that computes a number at some coordinates.
pub type NumberComputation = fn(&Coordinates) -> Option<f64>;
/// Function that computes the curves of a picture. The function runs this scenario with this seed.
pub type CurveComputation = fn(Scenario, u64) -> Vec<Curve>;

/// Functions that compute a number, each with its name. The key `by` of a study selects the name.
pub const NUMBERS: &[(&str, NumberComputation)] = &[
    ("miyoshi::loss", miyoshi_model::loss_at),
    ("miyoshi::throughput", miyoshi_model::throughput_at),
    ("miyoshi::throughput_as_printed", miyoshi_model::throughput_as_printed_at),
    ("miyoshi::two_best_from", miyoshi_model::two_best_from),
    ("miyoshi::two_best_to", miyoshi_model::two_best_to),
];
/// Functions that compute curves, each with its name. The key `by` of a study selects the name.
pub const CURVES: &[(&str, CurveComputation)] =
    &[("hasegawa::episode", hasegawa_episode::curves), ("miyoshi::losses", miyoshi_losses::curves)];

/// Returns the number that the computation `name` gives at these coordinates. Returns `None` if the name is unknown or
/// the number is undefined.
pub fn number(name: &str, coordinates: &Coordinates) -> Option<f64> {
    NUMBERS.iter().find(|(known, _)| *known == name).and_then(|(_, of)| of(coordinates))
}

/// Returns the computation of curves with this name. Fails if the name is unknown.
pub fn curves(study: &Study, name: &str) -> Result<CurveComputation, Problem> {
    let known: Vec<&str> = CURVES.iter().map(|(name, _)| *name).collect();
    let found = CURVES.iter().find(|(known, _)| *known == name);
    found.map(|(_, of)| *of).ok_or_else(|| study.unknown(&["by"], "computation", name, &known))
}

fn observed<T: Observer + Default + 'static>(scenario: &Scenario, seed: u64) -> T {
    let observation = Observation { observers: vec![Box::new(T::default())], ..Observation::default() };
    let (_, _, observers) = run_observed(scenario, seed, observation);
    let seen = observers.into_iter().find_map(|one| (one as Box<dyn Any>).downcast::<T>().ok());
    seen.map(|one| *one).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_short() {
        assert_eq!((NUMBERS.len(), CURVES.len()), (5, 2));
    }
}
