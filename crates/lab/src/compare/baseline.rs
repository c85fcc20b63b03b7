//! Baseline of each compared case: the case from which differences are computed. The baseline has fixed values at some
//! of the varied keys. At the remaining keys, the baseline has the same values as the compared case.

use super::axis::Axis;
use super::{ComparedCase, Variation};
use lasthop_scenario::nearest;
use std::collections::BTreeMap;

/// Baselines of all cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Keys whose value the baseline fixes: index of the varied key, and the fixed value. At the remaining keys, the
    /// baseline has the same value as the compared case.
    fixed: Vec<(usize, String)>,
    /// Index of each case's baseline.
    bases: Vec<usize>,
}

/// Error in a requested baseline: a key does not vary, or no case has the requested value.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineProblem {
    /// Description of the error.
    pub message: String,
    /// Hint that helps to correct the request.
    pub help: String,
}

impl Baseline {
    /// Returns the default baseline. At the key on the x axis of the figures, the baseline has the same value as the
    /// compared case. At each remaining key, the baseline has the key's first value. If only one key varies, the first
    /// case is the baseline of all cases.
    pub(super) fn of(paths: &[String], cases: &[ComparedCase]) -> Baseline {
        let kept = if paths.len() > 1 { Some(Axis::of(paths, cases).key) } else { None };
        let Some(first) = cases.first() else { return Baseline { fixed: Vec::new(), bases: Vec::new() } };
        let fixed = first.values.iter().cloned().enumerate().filter(|(key, _)| Some(*key) != kept);
        Baseline::fixed(fixed.collect(), cases)
    }

    /// Returns the baseline with the values of `against`, which has one value for each key. Fails if a key does not
    /// vary or if no case has the requested value.
    pub(super) fn against(
        paths: &[String],
        cases: &[ComparedCase],
        against: &[Variation],
    ) -> Result<Baseline, BaselineProblem> {
        let fixed: Result<Vec<(usize, String)>, BaselineProblem> =
            against.iter().map(|wanted| find(paths, cases, wanted)).collect();
        Ok(Baseline::fixed(fixed?, cases))
    }

    fn fixed(fixed: Vec<(usize, String)>, cases: &[ComparedCase]) -> Baseline {
        let mut known: BTreeMap<&[String], usize> = BTreeMap::new();
        for (index, case) in cases.iter().enumerate() {
            known.entry(&case.values).or_insert(index);
        }
        let base = |case: &ComparedCase| {
            let mut wanted = case.values.clone();
            for (key, value) in &fixed {
                wanted[*key].clone_from(value);
            }
            // The lookup succeeds because the cases are all combinations of the values.
            known.get(wanted.as_slice()).copied().unwrap_or(0)
        };
        let bases = cases.iter().map(base).collect();
        Baseline { fixed, bases }
    }

    /// Returns the index of the baseline of a case.
    pub fn base(&self, case: usize) -> usize {
        self.bases[case]
    }

    /// Returns the index of each case's baseline.
    pub fn bases(&self) -> &[usize] {
        &self.bases
    }

    pub(super) fn is_fixed(&self, key: usize) -> bool {
        self.fixed.iter().any(|(fixed, _)| *fixed == key)
    }

    /// Describes the baseline: `the first row`, `congestion=reno` or `congestion=reno at the same loss`.
    pub fn words(&self, paths: &[String]) -> String {
        if self.bases.iter().all(|base| *base == 0) {
            return "the first row".to_owned();
        }
        let fixed = self.fixed.iter().map(|(key, value)| format!("{}={value}", paths[*key]));
        let kept: Vec<&str> =
            (0..paths.len()).filter(|key| !self.is_fixed(*key)).map(|key| paths[key].as_str()).collect();
        let same = if kept.is_empty() { String::new() } else { format!(" at the same {}", kept.join(", ")) };
        fixed.collect::<Vec<String>>().join(", ") + &same
    }
}

fn find(
    paths: &[String],
    cases: &[ComparedCase],
    wanted: &Variation,
) -> Result<(usize, String), BaselineProblem> {
    let Some(key) = paths.iter().position(|path| *path == wanted.path) else {
        let message = format!("`{}` does not vary", wanted.path);
        return Err(BaselineProblem { message, help: format!("varied keys: {}", paths.join(", ")) });
    };
    let mut known: Vec<&str> = Vec::new();
    for case in cases {
        if !known.contains(&case.values[key].as_str()) {
            known.push(&case.values[key]);
        }
    }
    match &wanted.values[..] {
        [value] if known.contains(&value.as_str()) => Ok((key, value.clone())),
        [value] => {
            let meant = nearest(value, known.iter().copied())
                .map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
            let message = format!("`{}` has no value {value}", wanted.path);
            Err(BaselineProblem { message, help: format!("{meant}values: {}", known.join(", ")) })
        }
        values => Err(BaselineProblem {
            message: format!("the baseline has {} values of `{}`", values.len(), wanted.path),
            help: format!("give one value: {}={}", wanted.path, known.first().unwrap_or(&"")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::*;

    const LOSSES: [&str; 3] = ["0.1%", "1%", "3%"];
    const CONTROLS: [&str; 2] = ["reno", "cubic"];

    fn against(pairs: &[(&str, &str)]) -> Vec<Variation> {
        let one = |(path, value): &(&str, &str)| Variation {
            path: (*path).to_owned(),
            values: vec![(*value).to_owned()],
        };
        pairs.iter().map(one).collect()
    }

    /// The comparison has six cases. In order of their indices, the cases are 0.1 % reno, 0.1 % cubic, 1 % reno, 1 %
    /// cubic, 3 % reno, and 3 % cubic.
    #[test]
    fn a_case_is_compared_at_equal_values_of_the_numeric_key() {
        let comparison = comparison(&["channel.loss", "congestion"], &[&LOSSES, &CONTROLS]);
        let baseline = comparison.baseline();
        assert_eq!(baseline.bases(), [0, 0, 2, 2, 4, 4]);
        assert_eq!(baseline.words(&comparison.paths), "congestion=reno at the same channel.loss");
    }

    #[test]
    fn one_key_is_compared_with_its_first_value() {
        let comparison = comparison(&["channel.loss"], &[&LOSSES]);
        assert_eq!(comparison.baseline().bases(), [0, 0, 0]);
        assert_eq!(comparison.baseline().words(&comparison.paths), "the first row");
    }

    #[test]
    fn the_user_chooses_any_value_of_any_key() {
        let mut comparison = comparison(&["channel.loss", "congestion"], &[&LOSSES, &CONTROLS]);
        let mut bases = |pairs: &[(&str, &str)]| {
            comparison.set_baseline(&against(pairs)).unwrap();
            let words = comparison.baseline().words(&comparison.paths);
            (comparison.baseline().bases().to_vec(), words)
        };
        assert_eq!(
            bases(&[("congestion", "cubic")]),
            (vec![1, 1, 3, 3, 5, 5], "congestion=cubic at the same channel.loss".to_owned())
        );
        assert_eq!(
            bases(&[("channel.loss", "1%")]),
            (vec![2, 3, 2, 3, 2, 3], "channel.loss=1% at the same congestion".to_owned())
        );
        assert_eq!(
            bases(&[("congestion", "cubic"), ("channel.loss", "3%")]),
            (vec![5; 6], "congestion=cubic, channel.loss=3%".to_owned())
        );
    }

    #[test]
    fn a_wrong_baseline_is_reported() {
        let mut comparison = comparison(&["channel.loss", "congestion"], &[&LOSSES, &CONTROLS]);
        let mut problem = |path: &str, value: &str| comparison.set_baseline(&against(&[(path, value)]));
        let expected = |message: &str, help: &str| {
            Err(BaselineProblem { message: message.to_owned(), help: help.to_owned() })
        };
        assert_eq!(
            problem("rate", "1Mbit/s"),
            expected("`rate` does not vary", "varied keys: channel.loss, congestion")
        );
        assert_eq!(
            problem("congestion", "cubik"),
            expected("`congestion` has no value cubik", "did you mean `cubic`? values: reno, cubic")
        );
    }
}
