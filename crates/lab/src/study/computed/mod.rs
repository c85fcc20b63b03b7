//! What is Rust: real computations that papers name by `by = "…"`, one short list.

pub(crate) mod hasegawa_episode;
pub(crate) mod miyoshi_losses;
pub(crate) mod miyoshi_model;

use super::cells::{Cell, Mode};
use super::study::Study;
use super::value::{Place, Value};
use crate::figure::Curve;
use crate::progress::Progress;
use lasthop_scenario::{Problem, Scenario};

/// A number at a place.
pub type Number = fn(&toml::Table, &Place) -> Option<f64>;
/// Curves of a picture, from a run of its own.
pub type Curves = fn(&Study, &toml::Table, u64, &dyn Progress) -> Result<Vec<Curve>, Problem>;

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

/// What a computation is told.
struct With<'a> {
    study: &'a Study,
    name: &'a str,
    table: &'a toml::Table,
}

impl With<'_> {
    /// A parameter.
    fn number(&self, key: &str) -> Result<f64, Problem> {
        let value = self.table.get(key).cloned().and_then(|value| value.try_into::<Value>().ok());
        let number =
            value.and_then(|value| value.number()).filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.wrong(format!("`{}` wants `{key}`, a number from 0 on", self.name)))
    }

    /// The scenario of a cell: `grid`, and `at` with a value for each of its axes.
    fn scenario(&self, seed: u64) -> Result<Scenario, Problem> {
        let named = self.table.get("grid").and_then(toml::Value::as_str);
        let name = self.study.grid(named, &[self.name])?;
        let grid = &self.study.file.grid[name];
        let at = self.table.get("at").and_then(toml::Value::as_table);
        let value = |axis: &String| {
            let value =
                at.and_then(|at| at.get(axis)).cloned().and_then(|value| value.try_into::<Value>().ok());
            let missing = || self.wrong(format!("`{}` wants the cell: `at` lacks `{axis}`", self.name));
            Ok((axis.clone(), value.ok_or_else(missing)?))
        };
        let place = grid.axes.iter().map(value).collect::<Result<Place, Problem>>()?;
        let mode = Mode { quick: true, tries: false };
        Cell { study: self.study, name, grid, place, parts: &[], mode }.scenario(seed)
    }

    fn wrong(&self, message: String) -> Problem {
        self.study
            .text
            .about(&[self.name], "with", message)
            .advise("write with = { grid = \"…\", at = { AXIS = VALUE }, … }")
    }
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
