//! What is Rust: real computations that papers name by `by = "…"`, one short list.

pub(crate) mod hasegawa_episode;
pub(crate) mod miyoshi_losses;
pub(crate) mod miyoshi_model;

use super::study::Study;
use super::value::Place;
use crate::figure::Curve;
use lasthop_engine::Observer;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{Watch, run_watched};
use std::any::Any;

/// A number at a place.
pub type Number = fn(&Place) -> Option<f64>;
/// Curves of a picture, from a run of its own with a seed.
pub type Curves = fn(Scenario, u64) -> Vec<Curve>;

/// Numbers.
pub const NUMBERS: &[(&str, Number)] = &[
    ("miyoshi::loss", miyoshi_model::loss_at),
    ("miyoshi::throughput", miyoshi_model::throughput_at),
    ("miyoshi::throughput_as_printed", miyoshi_model::throughput_as_printed_at),
    ("miyoshi::two_best_from", miyoshi_model::two_best_from),
    ("miyoshi::two_best_to", miyoshi_model::two_best_to),
];
/// Curves.
pub const CURVES: &[(&str, Curves)] =
    &[("hasegawa::episode", hasegawa_episode::curves), ("miyoshi::losses", miyoshi_losses::curves)];

/// A number; `None` if there is no such computation, or it is undefined there.
pub fn number(name: &str, place: &Place) -> Option<f64> {
    NUMBERS.iter().find(|(known, _)| *known == name).and_then(|(_, of)| of(place))
}

/// The computation of curves.
///
/// # Errors
/// If there is none of this name.
pub fn curves(study: &Study, name: &str) -> Result<Curves, Problem> {
    let known: Vec<&str> = CURVES.iter().map(|(name, _)| *name).collect();
    let found = CURVES.iter().find(|(known, _)| *known == name);
    found.map(|(_, of)| *of).ok_or_else(|| study.unknown(&["by"], "computation", name, &known))
}

/// An observer's numbers of a run.
fn watched<T: Observer + Default + 'static>(scenario: &Scenario, seed: u64) -> T {
    let watch = Watch { observers: vec![Box::new(T::default())], ..Watch::default() };
    let (_, _, observers) = run_watched(scenario, seed, watch);
    let seen = observers.into_iter().find_map(|one| (one as Box<dyn Any>).downcast::<T>().ok());
    seen.map(|one| *one).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data first: what is Rust must be few, and known.
    #[test]
    fn the_list_is_short() {
        assert_eq!((NUMBERS.len(), CURVES.len()), (5, 2));
    }
}
