//! Completion times of finite transfers. A transfer that the end of the run cuts off is censored: its time is a lower
//! bound. Censored transfers are not omitted.

use super::distribution;
use super::number::plain;
use super::sizes::SizeClass;
use lasthop_sim::{FlowOutcome, Outcome, TransferOutcome};
use serde_json::{Map, Value, json};

/// Metric of completion times. The mean of this metric exists only if all transfers completed.
pub const COMPLETED: &str = "completed_s";
/// Metric of completion times in which an unfinished transfer counts with its time up to the run's end. The mean of
/// this metric always exists (restricted mean; Royston and Parmar, BMC Med. Res. Methodol. 13:152, 2013).
pub const RESTRICTED: &str = "restricted_completed_s";

const QUANTILES: [(&str, f64); 3] = [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)];

/// Number of completed transfers, and the distribution of completion times.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Number of transfers that completed before the run's end.
    pub completed: usize,
    /// Number of transfers.
    pub transfers: usize,
    /// Median, 95th and 99th percentile of the completion times, s. The percentiles are product-limit estimates (Kaplan
    /// and Meier, J. Am. Stat. Assoc. 53, 1958). An estimate equals the nearest-rank percentile if no transfer was cut
    /// off before the estimated time. `None` if too few transfers completed during the observation.
    pub quantiles: [Option<f64>; 3],
    /// Pairs: a time, s, and the share of transfers that are complete by that time (0 to 1). The list has at most
    /// [`distribution::POINTS`] pairs.
    pub distribution: Vec<[f64; 2]>,
    /// Longest time for which any transfer was observed, s. If a quantile is `None`, the true quantile exceeds this
    /// time.
    pub max_follow_up_s: f64,
    /// Completions for each size class. The list is empty if all transfers have similar sizes.
    pub sizes: Vec<SizeClass>,
}

impl Completion {
    /// Names of the table rows with quantiles, each with its meaning.
    pub const ROWS: [(&str, &str); 3] = [
        ("completed_p50_s", "median completion time, s; > T: too few transfers completed within T"),
        (
            "completed_p95_s",
            "95th percentile of the completion time, s; > T: too few transfers completed within T",
        ),
        (
            "completed_p99_s",
            "99th percentile of the completion time, s; > T: too few transfers completed within T",
        ),
    ];

    /// Returns the completions of the flow with this index, over all repetitions.
    pub fn of_flow(outcomes: &[Outcome], flow: usize) -> Option<Completion> {
        Completion::of(outcomes.iter().filter_map(|outcome| outcome.flows.get(flow)))
    }

    /// Returns the completions of all flows in all repetitions.
    pub fn of_all(outcomes: &[Outcome]) -> Option<Completion> {
        Completion::of(outcomes.iter().flat_map(|outcome| &outcome.flows))
    }

    /// Returns the completions of the finite transfers of these flows. Returns `None` if the flows have no finite
    /// transfer.
    pub fn of<'a>(flows: impl Iterator<Item = &'a FlowOutcome>) -> Option<Completion> {
        let transfers: Vec<TransferOutcome> = flows.flat_map(FlowOutcome::transfers).collect();
        let times = transfers.iter().map(|it| (it.took_s, it.is_complete)).collect();
        Some(Completion { sizes: SizeClass::all(&transfers), ..Completion::of_times(times)? })
    }

    /// Returns the time by which this share of the flows' finite transfers is complete, s. Returns `None` if a smaller
    /// share completed during the observation.
    pub fn quantile_of<'a>(flows: impl Iterator<Item = &'a FlowOutcome>, share: f64) -> Option<f64> {
        let transfers = flows.flat_map(FlowOutcome::transfers);
        let mut times: Vec<(f64, bool)> = transfers.map(|it| (it.took_s, it.is_complete)).collect();
        Completion::sort(&mut times);
        if times.is_empty() { None } else { quantile(&times, share) }
    }

    /// Returns the completions of transfers. Each transfer is given as its observed time, s, and whether it completed.
    /// Returns `None` if `times` is empty.
    pub fn of_times(mut times: Vec<(f64, bool)>) -> Option<Completion> {
        Completion::sort(&mut times);
        let max_follow_up_s = times.last()?.0;
        Some(Completion {
            completed: times.iter().filter(|(_, complete)| *complete).count(),
            transfers: times.len(),
            quantiles: QUANTILES.map(|(_, share)| quantile(&times, share)),
            distribution: distribution::thinned(distribution::completion_curve(&times)),
            max_follow_up_s,
            sizes: Vec::new(),
        })
    }

    /// Sorts transfers by time. At equal times, completed transfers precede transfers that were cut off.
    pub(super) fn sort(times: &mut [(f64, bool)]) {
        times.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    }

    /// Whether all transfers completed.
    pub fn is_whole(&self) -> bool {
        self.completed == self.transfers
    }

    /// Returns the number of completed transfers as text: `7 of 10`.
    pub fn count(&self) -> String {
        format!("{} of {}", self.completed, self.transfers)
    }

    /// Returns the names of the table rows with quantiles, each with the quantile as text: `12.3`, or `> 60` if the
    /// quantile is unknown. The number after `>` is the longest time for which any transfer was observed.
    pub fn rows(&self) -> [(&'static str, String); 3] {
        [0, 1, 2].map(|at| {
            let shown = match self.quantiles[at] {
                Some(seconds) => plain(seconds),
                None => format!("> {}", plain(self.max_follow_up_s)),
            };
            (Completion::ROWS[at].0, shown)
        })
    }

    /// Adds fields to the JSON object of [`COMPLETED`]: counts, quantiles (null if larger than `max_follow_up_s`),
    /// `max_follow_up_s`, the distribution, and the quantiles of each size class (`by_size`).
    pub fn extend(&self, object: &mut Map<String, Value>) {
        self.insert_quantiles(object);
        object.insert("max_follow_up_s".into(), json!(self.max_follow_up_s));
        if self.transfers > 1 {
            object.insert("distribution".into(), json!(self.distribution));
        }
        if !self.sizes.is_empty() {
            let sizes: Vec<Value> = self.sizes.iter().map(SizeClass::object).collect();
            object.insert("by_size".into(), Value::Array(sizes));
        }
    }

    pub(super) fn insert_quantiles(&self, object: &mut Map<String, Value>) {
        object.insert("completed".into(), json!(self.completed));
        object.insert("transfers".into(), json!(self.transfers));
        for ((name, _), seconds) in QUANTILES.iter().zip(self.quantiles) {
            object.insert((*name).into(), json!(seconds));
        }
    }
}

/// Returns the first time at which at least `share` of the transfers are complete. `times` must be sorted.
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
        // Remission times under the drug 6-MP, in weeks; `+` marks censored times (Freireich et al., Blood 21, 1963; a
        // common textbook example). The survival function S(t) falls to 0.690 at 13, 0.627 at 16, 0.538 at 22 and 0.448
        // at 23 weeks. After 23 weeks, S(t) is constant. The median is 23 weeks.
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
