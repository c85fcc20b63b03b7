//! Completion times of finite transfers in a comparison, including transfers that the end of the run cuts off.

use super::Comparison;
use super::table::Subject;
use crate::document::Cell;
use crate::runs::classes::is_named;
use crate::runs::completion::{Completion, RESTRICTED};

impl Comparison {
    /// Returns the notes that are printed below the table.
    pub fn notes(&self) -> Vec<String> {
        let completions =
            || (0..self.cases.len()).filter_map(|case| self.completion(case, self.only.as_deref()));
        let of = |number: fn(&Completion) -> usize| completions().map(|it| number(&it)).sum::<usize>();
        let (completed, transfers) = (of(|it| it.completed), of(|it| it.transfers));
        let note = format!(
            "{} of {transfers} transfers were cut off by the run's end. {RESTRICTED} counts the \
             time of such a transfer up to the run's end (restricted mean: Royston and Parmar 2013). \
             No pair of repetitions is left out. \
             Quantiles treat these transfers as censored.",
            transfers - completed
        );
        if completed < transfers { vec![note] } else { Vec::new() }
    }

    /// Returns the completions of a case's finite transfers. If `flow` is a name, only the flow or class of this name
    /// counts.
    pub(super) fn completion(&self, case: usize, flow: Option<&str>) -> Option<Completion> {
        let flows = self.outcomes[case].iter().flat_map(|outcome| &outcome.flows);
        Completion::of(flows.filter(|it| flow.is_none_or(|name| is_named(&it.name, name))))
    }

    pub(super) fn is_whole(&self) -> bool {
        (0..self.cases.len())
            .filter_map(|case| self.completion(case, self.only.as_deref()))
            .all(|it| it.is_whole())
    }

    /// Returns table rows with the number of completed transfers and the quantiles of completion times.
    pub(super) fn completion_rows(&self, subject: &Subject<'_>) -> Vec<Vec<Cell>> {
        let all =
            || (0..self.cases.len()).filter_map(|case| Some((case, self.completion(case, subject.flow)?)));
        let mut rows: Vec<Vec<Cell>> = all()
            .map(|(case, it)| self.cells("completed", subject, case, [Some(it.count()), None, None]))
            .collect();
        for at in 0..Completion::ROWS.len() {
            rows.extend(all().map(|(case, it)| {
                let (name, shown) = &it.rows()[at];
                self.cells(name, subject, case, [Some(shown.clone()), None, None])
            }));
        }
        rows
    }
}
