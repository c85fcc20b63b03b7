//! Differences between the runs of two combinations, paired by seed.

use crate::store::{Combination, StoredRun, StoredSweep};
use lasthop_lab::change::PercentChange;
use lasthop_lab::compare::Variation;
use lasthop_lab::runs::summary::{change_value, value};
use lasthop_lab::stats::Estimate;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Difference between a number of a combination and the same number of the baseline.
pub(super) struct Difference {
    absolute: Option<Estimate>,
    pub(super) percent: Option<PercentChange>,
}

impl Difference {
    /// Computes the difference over pairs of runs that have the same seed.
    pub(super) fn of(
        runs: &[StoredRun],
        base: &[StoredRun],
        of: impl Fn(&StoredRun) -> Option<f64>,
    ) -> Difference {
        let known: BTreeMap<u64, f64> = base.iter().filter_map(|run| Some((run.seed, of(run)?))).collect();
        let pair = |run: &StoredRun| Some((of(run)?, *known.get(&run.seed)?));
        let (these, bases): (Vec<f64>, Vec<f64>) = runs.iter().filter_map(pair).unzip();
        let differences: Vec<f64> = these.iter().zip(&bases).map(|(this, base)| this - base).collect();
        Difference { absolute: Estimate::of(&differences), percent: PercentChange::of(&these, &bases) }
    }

    /// Adds the fields `difference` and `difference_percent` to the JSON object of a mean.
    pub(super) fn extend(&self, mean: &mut Value) {
        if mean.is_object() {
            mean["difference"] = self.absolute.as_ref().map_or(Value::Null, value);
            mean["difference_percent"] = self.percent.as_ref().map_or(Value::Null, change_value);
        }
    }
}

/// Returns the baseline of a combination: the combination that has the values of `against`, and the same values as
/// `combination` for all other keys. Returns `None` if `against` is empty, if the combination is its own baseline, or
/// if the sweep has no such combination.
pub fn base<'c>(
    sweep: &StoredSweep,
    all: &'c [Combination],
    combination: &Combination,
    against: &[Variation],
) -> Option<&'c Combination> {
    let mut wanted = combination.x.clone();
    for Variation { path, values } in against {
        let at = sweep.paths.iter().position(|known| known == path)?;
        wanted[at].clone_from(values.first()?);
    }
    all.iter().find(|other| other.x == wanted).filter(|base| base.x != combination.x)
}

/// Returns the values of a baseline as a JSON object. Returns null if `base` is `None`.
pub(super) fn against(sweep: &StoredSweep, base: Option<&Combination>) -> Value {
    base.map_or(Value::Null, |base| {
        let values = sweep.paths.iter().cloned().zip(base.x.iter().map(|value| json!(value)));
        Value::Object(values.collect())
    })
}
