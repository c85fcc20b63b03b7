//! Output of all repetitions of a comparison as comma-separated values.

use super::{ComparedCase, Comparison, Quantity};
use crate::runs::csv::{line, number};
use crate::runs::distribution;
use lasthop_sim::{FlowOutcome, Outcome};

impl Comparison {
    /// Returns the column names of [`Comparison::rows`].
    pub fn header(&self) -> String {
        let names = self.quantities().into_iter().map(|quantity| quantity.name());
        line(self.paths.iter().map(String::as_str).chain(["flow", "run", "seed"]).chain(names))
    }

    /// Returns one row for each flow of a repetition. The values of the varied keys are the first columns. `run` is the
    /// number of the repetition, from 1. A number of all flows together, such as fairness, is repeated in each row.
    pub fn rows(&self, case: usize, run: usize, outcome: &Outcome) -> String {
        let quantities = self.quantities();
        let row = |flow: &FlowOutcome| {
            let values = quantities.iter().map(|quantity| {
                number(match quantity {
                    Quantity::OfFlow(_) => quantity.of(flow),
                    Quantity::Aggregate(_) => quantity.of_all(outcome),
                })
            });
            line(place(&self.cases[case], &flow.name, run, outcome).into_iter().chain(values))
        };
        outcome.flows.iter().map(row).collect()
    }

    /// Returns the column names of [`Comparison::samples`].
    pub fn samples_header(&self) -> String {
        let columns = ["flow", "run", "seed", "metric", "value"];
        line(self.paths.iter().map(String::as_str).chain(columns))
    }

    /// Returns one row for each flow and each metric of a repetition: values of the varied keys, flow, repetition,
    /// seed, metric and value. An undefined metric has no row. For a metric of all flows together, such as fairness,
    /// the column `flow` is empty.
    pub fn samples(&self, case: usize, run: usize, outcome: &Outcome) -> String {
        let case = &self.cases[case];
        let row = |quantity: Quantity, flow: &str, value: Option<f64>| {
            let what = [quantity.name().to_owned(), number(Some(value?))];
            Some(line(place(case, flow, run, outcome).into_iter().chain(what)))
        };
        let mut text = String::new();
        for quantity in self.sampled() {
            match quantity {
                Quantity::OfFlow(_) => text.extend(
                    outcome.flows.iter().filter_map(|flow| row(quantity, &flow.name, quantity.of(flow))),
                ),
                Quantity::Aggregate(_) => text.extend(row(quantity, "", quantity.of_all(outcome))),
            }
        }
        text
    }

    /// Returns the column names of [`Comparison::completions_rows`].
    pub fn completions_header(&self) -> String {
        distribution::header(&self.paths.iter().map(String::as_str).collect::<Vec<&str>>())
    }

    /// Returns one row for each transfer and each request of a repetition. The values of the varied keys are the first
    /// columns.
    pub fn completions_rows(&self, case: usize, run: usize, outcome: &Outcome) -> String {
        let values: Vec<&str> = self.cases[case].values.iter().map(String::as_str).collect();
        distribution::rows(&values, run, outcome)
    }

    /// Returns the metrics that become columns: the metrics that the user has chosen, or all metrics of flows if the
    /// user has chosen none.
    fn quantities(&self) -> Vec<Quantity> {
        if self.chosen.is_empty() {
            Quantity::all().filter(|quantity| matches!(quantity, Quantity::OfFlow(_))).collect()
        } else {
            self.chosen.clone()
        }
    }

    fn sampled(&self) -> Vec<Quantity> {
        if self.chosen.is_empty() && self.has_several_flows() {
            Quantity::all().collect()
        } else {
            self.quantities()
        }
    }
}

fn place(case: &ComparedCase, flow: &str, run: usize, outcome: &Outcome) -> Vec<String> {
    let place = [flow.to_owned(), run.to_string(), outcome.seed.to_string()];
    case.values.iter().cloned().chain(place).collect()
}
