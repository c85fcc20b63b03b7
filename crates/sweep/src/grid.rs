//! Points of a sweep. A point is one combination of values.

use crate::digest::Digests;
use lasthop_lab::compare::{Variation, drafts};
use lasthop_lab::digest::key;
use lasthop_scenario::{Draft, Problem, Scenario};
use std::sync::Arc;

/// Grid of a sweep: every combination of the values of some keys.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Title of the scenario.
    pub title: String,
    /// Paths of the keys that have several values, such as `channel.loss`.
    pub paths: Vec<String>,
    /// Combinations of values. The values of the last key vary fastest.
    pub points: Vec<GridPoint>,
}

/// Point of a grid: one combination of values.
#[derive(Clone, Debug)]
pub struct GridPoint {
    /// Value of each key in [`Grid::paths`], in the same order.
    pub values: Vec<String>,
    /// Digest of the scenario (see [`Digests::of`]). Combinations that resolve to the same scenario have the same
    /// digest.
    pub digest: String,
    /// The resolved scenario as TOML.
    pub text: String,
    /// The scenario.
    pub scenario: Arc<Scenario>,
}

impl Grid {
    /// Returns every combination of the values. A key with one value applies to all points and is not in
    /// [`Grid::paths`].
    ///
    /// # Errors
    /// Fails if the scenario does not accept a key or a value.
    pub fn of(draft: &Draft, settings: &[Variation]) -> Result<Grid, Problem> {
        let is_varied: Vec<bool> = settings.iter().map(|setting| setting.values.len() > 1).collect();
        let varied = |values: Vec<String>| -> Vec<String> {
            values.into_iter().zip(&is_varied).filter_map(|(value, varied)| varied.then_some(value)).collect()
        };
        let mut digests = Digests::default();
        let point = |(values, draft): (Vec<String>, Draft)| {
            let (scenario, text) = draft.check_and_show()?;
            Ok(GridPoint {
                values: varied(values),
                digest: digests.of(&scenario),
                text,
                scenario: Arc::new(scenario),
            })
        };
        let points: Vec<GridPoint> =
            drafts(draft, settings)?.into_iter().map(point).collect::<Result<_, Problem>>()?;
        let title = points.first().map_or(String::new(), |point| point.scenario.title.clone());
        let paths = varied(settings.iter().map(|setting| setting.path.clone()).collect());
        Ok(Grid { title, paths, points })
    }

    /// Returns the digest of the grid. The digest covers the title, and the ordered lists of paths, values and points.
    pub fn digest(&self) -> String {
        let mut parts: Vec<&str> = vec![&self.title];
        parts.extend(self.paths.iter().map(String::as_str));
        for point in &self.points {
            parts.extend(point.values.iter().map(String::as_str).chain([point.digest.as_str()]));
        }
        key(&parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=5s";

    fn settings(all: &[(&str, &[&str])]) -> Vec<Variation> {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        all.iter().map(|(path, all)| Variation { path: (*path).to_owned(), values: values(all) }).collect()
    }

    fn grid(all: &[(&str, &[&str])]) -> Grid {
        Grid::of(&Draft::load(PATH).unwrap(), &settings(all)).unwrap()
    }

    #[test]
    fn a_key_with_one_value_is_no_path() {
        let grid = grid(&[
            ("recovery", &["sack", "reno"]),
            ("duration", &["7 s"]),
            ("ack_counting", &["bytes", "packets"]),
        ]);
        assert_eq!(grid.paths, ["recovery", "ack_counting"]);
        let values: Vec<String> = grid.points.iter().map(|point| point.values.join(" ")).collect();
        assert_eq!(values, ["sack bytes", "sack packets", "reno bytes", "reno packets"]);
        assert!(grid.points.iter().all(|point| point.scenario.duration.as_secs() == 7.0));
    }

    #[test]
    fn what_changes_no_run_changes_no_digest() {
        let of = |key: &str, value: &str| grid(&[(key, &[value])]).points[0].digest.clone();
        let same = of("title", "one");
        for (key, value) in [("title", "two"), ("seed", "7"), ("runs", "3"), ("sample", "1 s")] {
            assert_eq!(of(key, value), same, "{key}");
        }
        assert_eq!(of("queue", "20packets"), same);
        for (key, value) in
            [("duration", "6 s"), ("recovery", "reno"), ("loss", "1.5%"), ("queue", "21packets")]
        {
            assert_ne!(of(key, value), same, "{key}");
        }
    }

    #[test]
    fn a_point_reads_back_as_the_same_scenario() {
        for path in lasthop_scenario::ready_paths() {
            let grid = Grid::of(&Draft::load(path).unwrap(), &[]).unwrap();
            let again = Draft::parse(&grid.points[0].text, "store").and_then(|draft| draft.check());
            let again = again.unwrap_or_else(|problem| panic!("{path}: {}", problem.message()));
            assert_eq!(Digests::default().of(&again), grid.points[0].digest, "{path}");
        }
    }
}
