//! `--until`: repetitions until means are exact enough, by the same rule as a sweep's points.

use super::run::Repetitions;
use crate::finished::Onward;
use crate::values;
use clap::Args;
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::random::Repeats;
use lasthop_lab::stats::Estimate;
use lasthop_scenario::Scenario;
use lasthop_sim::{METRICS, Outcome};
use lasthop_sweep::rule::{MOST, Precision};

/// How exact means are to be.
#[derive(Args, Clone)]
pub(crate) struct Exactness {
    /// Repeat until half of the 95 % interval of every --metric is within so much of its mean (10 runs or more; with --runs at
    /// most so many, else 10000)
    #[arg(long, value_name = "2%", value_parser = values::precision)]
    until: Option<Precision>,
    /// What --until looks at: goodput_kbps,timeouts; once or more. By default goodput. Of several flows the mean
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity, requires = "until")]
    metric: Vec<Quantity>,
}

impl Exactness {
    /// Whether a rule says how often.
    pub(crate) fn is_asked(&self) -> bool {
        self.until.is_some()
    }

    /// How many repetitions at most.
    pub(crate) fn runs(&self, asked: &Repetitions, scenario: &Scenario, repeats: &Repeats) -> u32 {
        match self.until {
            None => asked.runs(scenario, repeats),
            Some(_) => repeats.worth_running(asked.most().unwrap_or(MOST)),
        }
    }

    /// Nothing seen yet.
    pub(crate) fn looking(&self) -> Looking {
        let quantities = match self.metric.is_empty() {
            true => vec![Quantity::OfFlow(&METRICS[0])],
            false => self.metric.clone(),
        };
        let values = vec![Vec::new(); quantities.len()];
        Looking { precision: self.until, quantities, values, next: Precision::next_look(0) }
    }
}

/// What is known so far, in the order of repetitions: how many there are does not depend on threads.
pub(crate) struct Looking {
    precision: Option<Precision>,
    quantities: Vec<Quantity>,
    values: Vec<Vec<Option<f64>>>,
    /// After how many it looks next.
    next: u32,
}

impl Looking {
    /// A further repetition.
    pub(crate) fn take(&mut self, outcome: &Outcome) {
        if self.precision.is_some() {
            for (values, quantity) in self.values.iter_mut().zip(&self.quantities) {
                values.push(quantity.of_all(outcome));
            }
        }
    }

    /// Whether there are to be more, of `most`.
    pub(crate) fn wants(&mut self, most: u32) -> Onward {
        let Some(precision) = self.precision else { return Onward::All };
        let done = self.values[0].len() as u32;
        if done < self.next {
            return Onward::Expect(u64::from(self.expected(precision).clamp(self.next.min(most), most)));
        }
        self.next = Precision::next_look(self.next);
        match self.values.iter().all(|values| precision.is_reached(values)) {
            true => Onward::Enough,
            false => Onward::Expect(u64::from(self.expected(precision).clamp(self.next.min(most), most))),
        }
    }

    fn expected(&self, precision: Precision) -> u32 {
        self.values.iter().map(|values| precision.expected(values)).max().unwrap_or(0)
    }

    /// A line for each number that is not so exact after all repetitions.
    pub(crate) fn notes(&self, runs: usize, repeats: &Repeats) -> Vec<String> {
        // Where nothing is random one is exact.
        let Some(precision) = self.precision.filter(|_| repeats.note().is_none()) else { return Vec::new() };
        let inexact =
            self.values.iter().zip(&self.quantities).filter(|(values, _)| !precision.is_reached(values));
        inexact
            .map(|(values, quantity)| {
                let known: Vec<f64> = values.iter().flatten().copied().collect();
                let half = Estimate::of(&known).map(|it| 100.0 * it.half_width() / it.mean.abs());
                let half = half.filter(|half| half.is_finite()).map_or(String::new(), |half| {
                    format!(": half of its interval is {half:.2} % of its mean")
                });
                format!(
                    "note: {} is not as exact as --until asks for after {runs} runs{half}",
                    quantity.name()
                )
            })
            .collect()
    }
}
