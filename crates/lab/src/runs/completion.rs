//! Completion times of finite transfers. A transfer cut off by the run's end is censored, not left out.

use super::distribution;
use super::number::plain;
use lasthop_sim::{FlowOutcome, Outcome};
use serde_json::{Map, Value, json};

/// Metric of completed transfers: its mean needs all of them to complete.
pub const COMPLETED: &str = "completed_s";
/// Metric that counts unfinished transfers up to the run's end: its mean always exists (restricted mean; Royston and
/// Parmar, BMC Med. Res. Methodol. 13:152, 2013).
pub const RESTRICTED: &str = "restricted_completed_s";

const QUANTILES: [(&str, f64); 3] = [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)];

/// Completed transfers and their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Number of transfers completed before the run's end.
    pub completed: usize,
    /// Number of transfers.
    pub transfers: usize,
    /// Times by which 50, 95 and 99 % of the transfers are complete, s; product-limit estimate (Kaplan and Meier, J.
    /// Am. Stat. Assoc. 53, 1958). Without earlier censoring, the nearest rank. `None` if fewer were seen to
    /// complete.
    pub quantiles: [Option<f64>; 3],
    /// Times, s, with the share complete from then on (0 to 1); at most [`distribution::POINTS`] pairs.
    pub distribution: Vec<[f64; 2]>,
    /// Longest observation of any transfer, s: lower bound of every quantile that is `None`.
    pub max_follow_up_s: f64,
}

impl Completion {
    /// Names and meanings of the quantiles' rows.
    pub const ROWS: [(&str, &str); 3] = [
        ("completed_p50_s", "time in which half of all transfers were complete, s"),
        (
            "completed_p95_s",
            "time in which 95 % of all transfers were complete, s; >: fewer completed before the run's end",
        ),
        (
            "completed_p99_s",
            "time in which 99 % of all transfers were complete, s; >: fewer completed before the run's end",
        ),
    ];

    /// Completions of one flow, by its index in each repetition.
    pub fn of_flow(outcomes: &[Outcome], flow: usize) -> Option<Completion> {
        Completion::of(outcomes.iter().filter_map(|outcome| outcome.flows.get(flow)))
    }

    /// Completions of all flows in all repetitions.
    pub fn of_all(outcomes: &[Outcome]) -> Option<Completion> {
        Completion::of(outcomes.iter().flat_map(|outcome| &outcome.flows))
    }

    /// Completions of these flows' finite transfers; `None` without any.
    pub fn of<'a>(flows: impl Iterator<Item = &'a FlowOutcome>) -> Option<Completion> {
        Completion::of_times(flows.flat_map(FlowOutcome::transfers).collect())
    }

    /// Time by which this share of the flows' finite transfers is complete, s; `None` if fewer were seen to complete.
    pub fn quantile_of<'a>(flows: impl Iterator<Item = &'a FlowOutcome>, share: f64) -> Option<f64> {
        let mut times: Vec<(f64, bool)> = flows.flat_map(FlowOutcome::transfers).collect();
        Completion::sort(&mut times);
        if times.is_empty() { None } else { quantile(&times, share) }
    }

    /// Completions of transfers given as observed time, s, and whether complete; `None` without any.
    pub fn of_times(mut times: Vec<(f64, bool)>) -> Option<Completion> {
        Completion::sort(&mut times);
        let max_follow_up_s = times.last()?.0;
        Some(Completion {
            completed: times.iter().filter(|(_, complete)| *complete).count(),
            transfers: times.len(),
            quantiles: QUANTILES.map(|(_, share)| quantile(&times, share)),
            distribution: distribution::thinned(distribution::completion_curve(&times)),
            max_follow_up_s,
        })
    }

    /// Sorts by time; at equal times completed transfers precede censored ones.
    pub(super) fn sort(times: &mut [(f64, bool)]) {
        times.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    }

    /// Whether no transfer was cut off.
    pub fn is_whole(&self) -> bool {
        self.completed == self.transfers
    }

    /// `7 of 10`.
    pub fn count(&self) -> String {
        format!("{} of {}", self.completed, self.transfers)
    }

    /// Names of the quantiles' rows, each with the value as shown: `12.3`, or `> 60`.
    pub fn rows(&self) -> [(&'static str, String); 3] {
        [0, 1, 2].map(|at| {
            let shown = match self.quantiles[at] {
                Some(seconds) => plain(seconds),
                None => format!("> {}", plain(self.max_follow_up_s)),
            };
            (Completion::ROWS[at].0, shown)
        })
    }

    /// Adds counts, quantiles (null above `max_follow_up_s`), `max_follow_up_s` and the distribution to a [`COMPLETED`] object.
    pub fn extend(&self, object: &mut Map<String, Value>) {
        object.insert("completed".into(), json!(self.completed));
        object.insert("transfers".into(), json!(self.transfers));
        for ((name, _), seconds) in QUANTILES.iter().zip(self.quantiles) {
            object.insert((*name).into(), json!(seconds));
        }
        object.insert("max_follow_up_s".into(), json!(self.max_follow_up_s));
        if self.transfers > 1 {
            object.insert("distribution".into(), json!(self.distribution));
        }
    }
}

/// First time at which the incomplete share is at most `1 - share`; `times` are sorted.
fn quantile(times: &[(f64, bool)], share: f64) -> Option<f64> {
    let mut left = 1.0;
    for (at, (seconds, complete)) in times.iter().enumerate() {
        if *complete {
            let observations = (times.len() - at) as f64;
            left *= (observations - 1.0) / observations;
        }
        if left <= 1.0 - share + 1e-9 {
            return Some(*seconds);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_transfers_that_all_finish_are_order_statistics() {
        let times: Vec<(f64, bool)> = (1..=100).map(|time| (f64::from(time), true)).collect();
        assert_eq!(
            [0.5, 0.95, 0.99].map(|share| quantile(&times, share)),
            [Some(50.0), Some(95.0), Some(99.0)]
        );
        assert_eq!(quantile(&times[..1], 0.99), Some(1.0));
    }

    #[test]
    fn a_quantile_exists_if_so_many_finished() {
        let time = |index: u32| if index < 94 { (f64::from(index) / 2.0, true) } else { (60.0, false) };
        let times: Vec<(f64, bool)> = (0..100).map(time).collect();
        assert_eq!([0.5, 0.95].map(|share| quantile(&times, share)), [Some(24.5), None]);
    }

    #[test]
    fn the_product_limit_of_a_published_example() {
        // Remission under 6-MP, weeks, + censored (Freireich et al., Blood 21, 1963; in every textbook): S(t) falls to
        // 0.690 at 13, 0.627 at 16, 0.538 at 22 and 0.448 at 23 weeks, and no further: the median is 23.
        let weeks = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+";
        let times: Vec<(f64, bool)> = weeks
            .split(' ')
            .map(|one| (one.trim_end_matches('+').parse().unwrap(), !one.ends_with('+')))
            .collect();
        assert_eq!(
            [0.30, 0.37, 0.46, 0.5, 0.95].map(|share| quantile(&times, share)),
            [Some(13.0), Some(16.0), Some(22.0), Some(23.0), None]
        );
    }
}
