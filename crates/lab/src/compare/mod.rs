//! Comparison of variants of a scenario, repetition by repetition. In each repetition, all variants have the same
//! random losses.
//!
//! * `quantity`: numbers that can be compared.
//! * `table`: means and differences, as a table and as JSON.
//! * `completions`: completion times.
//! * `rows`: all repetitions as CSV.
//! * `baseline`: the case with which each case is compared.
//! * `document`: the report of a comparison.
//! * `first_screen`: first sentence and main figures of the report.
//! * `axis`: axes of the main figures.
//! * `amounts`: values of a varied key as numbers in a base unit.

mod amounts;
mod axis;
mod baseline;
mod completions;
mod document;
mod first_screen;
mod quantity;
mod rows;
mod table;

pub use amounts::Amounts;
pub use baseline::{Baseline, BaselineProblem};
pub use document::FirstRunRecord;
pub use quantity::Quantity;

use crate::change::PercentChange;
use crate::in_order::InOrder;
use crate::repeat::{estimate_by, seed_of};
use crate::runs::classes::{class_of, is_named};
use crate::runs::clock::VirtualClock;
use crate::runs::completion::{COMPLETED, RESTRICTED};
use crate::runs::random::Determinism;
use crate::runs::{Repetition, measure, sequence, summary};
use crate::stats::Estimate;
use lasthop_scenario::{Draft, Problem, Scenario};
use lasthop_sim::{Observation, Outcome};
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// A scenario key to vary, and its values.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Path of the key, such as `recovery` or `link.wireless.down.rate`.
    pub path: String,
    /// Values of the key, at least one.
    pub values: Vec<String>,
}

/// One of the scenarios that are compared.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    /// Values of the varied keys, in the order of the variations.
    pub values: Vec<String>,
    /// The scenario.
    pub scenario: Scenario,
}

/// Returns all combinations of the values as cases. The last key varies fastest. Fails if the scenario rejects a value.
pub fn cases(draft: &Draft, variations: &[Variation]) -> Result<Vec<ComparedCase>, Problem> {
    let drafts = drafts(draft, variations)?.into_iter();
    drafts.map(|(values, draft)| Ok(ComparedCase { values, scenario: draft.check()? })).collect()
}

/// Returns all combinations before validation, each with its values. Fails if the scenario lacks a varied key.
pub fn drafts(draft: &Draft, variations: &[Variation]) -> Result<Vec<(Vec<String>, Draft)>, Problem> {
    let mut drafts = vec![(Vec::new(), draft.clone())];
    for variation in variations {
        let mut next = Vec::new();
        for (values, draft) in &drafts {
            for value in &variation.values {
                let mut draft = draft.clone();
                draft.set(&variation.path, value)?;
                next.push((values.iter().cloned().chain([value.clone()]).collect(), draft));
            }
        }
        drafts = next;
    }
    Ok(drafts)
}

/// Compared cases, which are variants of a scenario, and the outcomes of their runs.
pub struct Comparison {
    /// Paths of the varied keys.
    pub paths: Vec<String>,
    /// Compared cases.
    pub cases: Arc<[ComparedCase]>,
    baseline: Baseline,
    chosen: Vec<Quantity>,
    /// Flow or class to which tables, figures and JSON objects are limited. `None` selects all flows.
    only: Option<String>,
    /// Outcomes of each case, one for each repetition.
    pub outcomes: Vec<Vec<Outcome>>,
    /// Number of outcomes for which [`Comparison::next_index`] has returned the index.
    assigned: usize,
}

impl Comparison {
    /// Returns a comparison without outcomes. `chosen` lists the numbers that the user wants to compare; an empty list
    /// selects the defaults.
    pub fn new(paths: Vec<String>, cases: Vec<ComparedCase>, chosen: Vec<Quantity>) -> Comparison {
        let outcomes = cases.iter().map(|_| Vec::new()).collect();
        let baseline = Baseline::of(&paths, &cases);
        Comparison { paths, cases: cases.into(), baseline, chosen, only: None, outcomes, assigned: 0 }
    }

    /// Limits tables, figures and JSON objects to the flow or class of this name.
    ///
    /// # Errors
    /// Fails if a case has no flow or class of this name. The error is a list of the classes of that case.
    pub fn set_flow(&mut self, name: &str) -> Result<(), String> {
        for case in &*self.cases {
            let names = || case.scenario.flows.iter().map(|flow| flow.name.as_str());
            if !names().any(|flow| is_named(flow, name)) {
                let mut classes: Vec<&str> = names().map(class_of).collect();
                classes.dedup();
                return Err(classes.join(", "));
            }
        }
        self.only = Some(name.to_owned());
        Ok(())
    }

    /// Returns the baselines of all cases.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// Sets the baseline to the values of `against`, one value for each named key. At the remaining keys, the baseline
    /// has the same value as the compared case. Fails if a key does not vary or if no case has the requested value.
    pub fn set_baseline(&mut self, against: &[Variation]) -> Result<(), BaselineProblem> {
        self.baseline = Baseline::against(&self.paths, &self.cases, against)?;
        Ok(())
    }

    /// Starts to run every case `runs` times with the seeds `seed`, `seed + 1` …, on `threads` threads (`None`: one
    /// thread for each core). All cases of a repetition start before the next repetition. If `is_drawn`, the first
    /// repetition of the first `MAX_CASES` cases is sampled for figures. Fails if the system provides no thread.
    pub fn begin(
        &self,
        runs: u32,
        seed: u64,
        is_drawn: bool,
        threads: Option<usize>,
    ) -> io::Result<InOrder<Repetition>> {
        let (cases, count) = (self.cases.clone(), self.cases.len() * runs as usize);
        let drawn = if is_drawn { cases.len().min(document::MAX_CASES) } else { 0 };
        let durations = cases.iter().map(|case| case.scenario.duration).cycle().take(count);
        let clock = Arc::new(VirtualClock::of(durations));
        let shown = clock.clone();
        let work = InOrder::begin(count, threads, move |at| {
            let (run, case) = (at / cases.len(), at % cases.len());
            let mut observation = Observation { probes: at < drawn, ..Observation::default() };
            if at < drawn {
                observation.observers = sequence::recorders(&cases[case].scenario, drawn, 1);
            }
            Repetition::run_by(&clock, &cases[case].scenario, seed_of(seed, run as u32), observation)
        })?;
        Ok(work.with_clock(shown))
    }

    /// Returns two numbers for the next outcome: the index of its case, and the number of its repetition (from 1).
    /// Outcomes arrive in the order in which their runs start.
    pub fn next_index(&mut self) -> (usize, usize) {
        let index = (self.assigned % self.cases.len(), self.assigned / self.cases.len() + 1);
        self.assigned += 1;
        index
    }

    /// Stores the next outcome of a case.
    pub fn push(&mut self, case: usize, outcome: Outcome) {
        self.outcomes[case].push(outcome);
    }

    /// Discards each repetition that did not finish in all cases. Returns the number of remaining repetitions.
    pub fn truncate_to_complete(&mut self) -> usize {
        let whole = self.outcomes.last().map_or(0, Vec::len);
        self.outcomes.iter_mut().for_each(|outcomes| outcomes.truncate(whole));
        whole
    }

    /// Keeps only the first repetition if no case has randomness, because all repetitions are then equal.
    pub fn truncate_to_independent(&mut self, determinism: &Determinism) {
        for outcomes in &mut self.outcomes {
            outcomes.truncate(determinism.independent(outcomes).len());
        }
    }

    /// Returns the mean of a number in a case, and the difference from the case's baseline. The number covers all
    /// flows, or the flow or class `flow`.
    fn compared(
        &self,
        case: usize,
        quantity: Quantity,
        flow: Option<&str>,
        of: &dyn Fn(&Outcome) -> Option<f64>,
    ) -> CaseDifference {
        self.compared_with(self.baseline.base(case), case, quantity, flow, of)
    }

    /// Does the same as [`Comparison::compared`], but the difference is from the case `base`.
    fn compared_with(
        &self,
        base: usize,
        case: usize,
        quantity: Quantity,
        flow: Option<&str>,
        of: &dyn Fn(&Outcome) -> Option<f64>,
    ) -> CaseDifference {
        let is_whole = |case| self.completion(case, flow).is_none_or(|it| it.is_whole());
        if quantity.name() == COMPLETED && !is_whole(case) {
            return CaseDifference { mean: None, difference: None, percent: None };
        }
        let mean = estimate_by(&self.outcomes[case], of);
        if case == base || (quantity.name() == COMPLETED && !is_whole(base)) {
            return CaseDifference { mean, difference: None, percent: None };
        }
        let pair = |(this, first): (&Outcome, &Outcome)| match quantity.name() {
            RESTRICTED => {
                Some((measure::restricted_s(this, first, flow)?, measure::restricted_s(first, this, flow)?))
            }
            _ => Some((of(this)?, of(first)?)),
        };
        let (these, firsts): (Vec<f64>, Vec<f64>) =
            self.outcomes[case].iter().zip(&self.outcomes[base]).filter_map(pair).unzip();
        let differences: Vec<f64> = these.iter().zip(&firsts).map(|(this, first)| this - first).collect();
        CaseDifference {
            mean,
            difference: Estimate::of(&differences),
            percent: PercentChange::of(&these, &firsts),
        }
    }

    /// Whether a number in any case differs from the number in the first case, in any repetition.
    fn differs(&self, of: &dyn Fn(&Outcome) -> Option<f64>) -> bool {
        self.outcomes
            .iter()
            .any(|outcomes| outcomes.iter().zip(&self.outcomes[0]).any(|(this, first)| of(this) != of(first)))
    }

    fn has_several_flows(&self) -> bool {
        self.cases.iter().any(|case| case.scenario.flows.len() > 1)
    }
}

struct CaseDifference {
    mean: Option<Estimate>,
    /// Difference from the baseline case in each repetition, averaged over the repetitions.
    difference: Option<Estimate>,
    /// Change of the mean relative to the baseline case, %. `None` if the mean of the baseline case is zero.
    percent: Option<PercentChange>,
}

impl CaseDifference {
    fn value(&self) -> Value {
        let Some(mean) = &self.mean else { return Value::Null };
        let mut value = summary::value(mean);
        value["difference"] = self.difference.as_ref().map_or(Value::Null, summary::value);
        value["difference_percent"] = self.percent.as_ref().map_or(Value::Null, summary::change_value);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_order::NextResult;
    use lasthop_sim::{FLOW_METRICS, FlowOutcome};
    use lasthop_wire::LossReason;
    use serde_json::json;
    use std::time::Duration;

    const GOODPUT: Quantity = Quantity::OfFlow(&FLOW_METRICS[0]);

    pub(super) fn comparison(paths: &[&str], values: &[&[&str]]) -> Comparison {
        let draft =
            Draft::load("profile=plain,rate=2Mbit/s,rtt=40ms,queue=20packets,loss=2%,duration=5s").unwrap();
        let variations: Vec<Variation> = paths
            .iter()
            .zip(values)
            .map(|(path, values)| Variation {
                path: (*path).to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            })
            .collect();
        finished(&draft, &variations, 3)
    }

    fn finished(draft: &Draft, variations: &[Variation], runs: u32) -> Comparison {
        let paths = variations.iter().map(|variation| variation.path.clone()).collect();
        let mut comparison = Comparison::new(paths, cases(draft, variations).unwrap(), Vec::new());
        let mut work = comparison.begin(runs, 1, false, None).unwrap();
        loop {
            match work.next_within(Duration::from_secs(1)) {
                NextResult::Item(repetition) => {
                    let (case, _) = comparison.next_index();
                    comparison.push(case, repetition.outcome);
                }
                NextResult::NotYet => {}
                NextResult::End => return comparison,
            }
        }
    }

    /// If the user cancels between two cases of a repetition, only the complete repetitions remain.
    #[test]
    fn repetitions_are_whole() {
        let mut comparison = comparison(&["recovery"], &[&["sack", "reno"]]);
        let seeds = |comparison: &Comparison| -> Vec<Vec<u64>> {
            let of = |outcomes: &Vec<Outcome>| outcomes.iter().map(|outcome| outcome.seed).collect();
            comparison.outcomes.iter().map(of).collect()
        };
        assert_eq!(seeds(&comparison), [[1, 2, 3], [1, 2, 3]]);
        comparison.outcomes[1].pop();
        assert_eq!(comparison.truncate_to_complete(), 2);
        assert_eq!(seeds(&comparison), [[1, 2], [1, 2]]);
    }

    #[test]
    fn combinations_are_in_order() {
        let comparison =
            comparison(&["recovery", "ack_counting"], &[&["sack", "reno"], &["bytes", "packets"]]);
        let values: Vec<String> = comparison.cases.iter().map(|case| case.values.join(" ")).collect();
        assert_eq!(values, ["sack bytes", "sack packets", "reno bytes", "reno packets"]);
    }

    #[test]
    fn equal_values_differ_by_exactly_nothing() {
        let comparison = comparison(&["recovery"], &[&["sack", "sack"]]);
        assert_eq!(
            comparison.table().rows.len(),
            2,
            "the table has only goodput, because no metric differs between equal cases"
        );
        let compared = comparison.compared(1, GOODPUT, None, &measure::total_goodput_kbps);
        let difference = compared.difference.unwrap();
        assert_eq!((difference.mean, difference.ci95), (0.0, Some([0.0, 0.0])));
        assert_eq!(compared.percent.unwrap().percent, 0.0);
    }

    #[test]
    fn a_difference_in_per_cent_needs_something_to_compare_with() {
        let comparison = comparison(&["path.down.channel"], &[&["none", "{kind=\"iid\", loss=0.05}"]]);
        let of = |outcome: &Outcome| Some(outcome.flows.iter().map(lost).sum());
        let compared = comparison.compared(1, GOODPUT, None, &of);
        assert!(compared.difference.unwrap().mean > 0.0);
        assert_eq!(compared.percent, None);
    }

    #[test]
    fn transfers_that_are_cut_off_are_compared_too() {
        // A transfer of 1 MB in 5 s needs 1.6 Mbit/s. With a loss rate of 1 %, many transfers do not finish. Without
        // loss, all transfers finish.
        let mut draft =
            Draft::load("profile=plain,rate=2Mbit/s,rtt=40ms,queue=20packets,duration=5s").unwrap();
        draft.set("flow.bulk.transfer", "1 MB").unwrap();
        let channels = ["none", "{kind=\"iid\", loss=0.01}", "{kind=\"iid\", loss=0.3}"];
        let variation = Variation {
            path: "path.down.channel".to_owned(),
            values: channels.iter().map(|value| (*value).to_owned()).collect(),
        };
        let comparison = finished(&draft, &[variation], 8);
        let objects = comparison.objects();
        let [whole, some, none] = &objects[..] else { panic!("{objects:?}") };
        assert_eq!(
            (&whole["completed_s"]["completed"], &whole["completed_s"]["transfers"]),
            (&json!(8), &json!(8))
        );
        assert!(
            (whole["completed_s"]["p99"].as_f64().unwrap() - whole["completed_s"]["mean"].as_f64().unwrap())
                .abs()
                < 1e-9
        );
        let completed = some["completed_s"]["completed"].as_u64().unwrap();
        assert!(completed > 0 && completed < 8, "{some}");
        assert_eq!((&some["completed_s"]["mean"], &some["completed_s"]["p99"]), (&Value::Null, &Value::Null));
        assert_eq!(
            none["completed_s"]["completed"], 0,
            "`completed_s` is an object even if no transfer completed"
        );
        assert_eq!(none["completed_s"]["max_follow_up_s"], 5.0);
        // All eight pairs of repetitions count. In the restricted mean, an unfinished transfer counts with its time up
        // to the run's end.
        for case in [some, none] {
            assert_eq!(case["restricted_completed_s"]["difference"]["runs"], 8);
            assert_eq!(case["completed_s"].get("difference"), None);
        }
        let difference = none["restricted_completed_s"]["difference"]["mean"].as_f64().unwrap();
        assert!((difference - (5.0 - whole["completed_s"]["mean"].as_f64().unwrap())).abs() < 1e-9);
        let rows: Vec<String> = comparison
            .table()
            .rows
            .iter()
            .map(|row| row[0].text().to_owned() + " " + row[2].text())
            .collect();
        for expected in ["completed 8 of 8", "completed 0 of 8", "completed_p50_s > 5", "completed_p99_s > 5"]
        {
            assert!(rows.contains(&expected.to_owned()), "{expected}: {rows:?}");
        }
        assert!(
            !rows.iter().any(|row| row.starts_with("completed_s ")),
            "the table must have no mean over completed transfers only"
        );
        assert!(
            comparison.notes()[0].starts_with(&format!("{} of 24 transfers", 16 - completed)),
            "{:?}",
            comparison.notes()
        );
    }

    fn lost(flow: &FlowOutcome) -> f64 {
        flow.account.lost[LossReason::Channel] as f64
    }
}
