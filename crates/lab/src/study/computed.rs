//! What is Rust: real computations that papers name by `by = "…"`, one short list.

use super::study::Study;
use super::value::Place;
use crate::figure::Curve;
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// A number at a place.
pub type Number = fn(&toml::Table, &Place) -> Option<f64>;
/// Curves of a picture, from a run of its own.
pub type Curves = fn(&Study, &toml::Table, u64, &dyn Progress) -> Result<Vec<Curve>, Problem>;

/// Numbers.
pub const NUMBERS: &[(&str, Number)] = &[];
/// Curves.
pub const CURVES: &[(&str, Curves)] = &[];

/// A number; `None` if there is no such computation, or it is undefined there.
pub fn number(name: &str, with: &toml::Table, place: &Place) -> Option<f64> {
    NUMBERS.iter().find(|(known, _)| *known == name).and_then(|(_, of)| of(with, place))
}

/// Curves.
///
/// # Errors
/// If there is no such computation; or what its run says.
pub fn curves(
    study: &Study,
    name: &str,
    with: &toml::Table,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Curve>, Problem> {
    let known: Vec<&str> = CURVES.iter().map(|(name, _)| *name).collect();
    match CURVES.iter().find(|(known, _)| *known == name) {
        Some((_, of)) => of(study, with, seed, progress),
        None => Err(study.unknown(&["by"], "computation", name, &known)),
    }
}
