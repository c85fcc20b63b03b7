//! First screen of a comparison: a sentence with the largest difference, and figures of two metrics over the varied key.

use super::axis::{Axis, MOST_CURVES};
use super::{CaseDifference, Comparison, Quantity};
use crate::document::FirstScreen;
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::runs::label;
use crate::runs::measure;
use crate::runs::number::{self, signed, with_interval};
use crate::stats::Estimate;
use lasthop_sim::{FLOW_METRICS, Outcome};

const SECOND: &str = "mean_rtt_ms";

impl Comparison {
    /// The first screen.
    pub fn first_screen(&self) -> FirstScreen {
        let [main, second] = self.drawn();
        let figures = [self.figure(main), self.figure(second)];
        let drawn = figures.into_iter().filter(|it| it.curves.iter().any(|curve| !curve.points.is_empty()));
        FirstScreen { sentence: self.sentence(main), tiles: Vec::new(), figures: drawn.collect() }
    }

    /// Figure of the main metric: the first metric that the user chose, otherwise goodput.
    pub fn main_figure(&self) -> Figure {
        self.figure(self.drawn()[0])
    }

    /// The main metric, and a second metric for the second figure.
    fn drawn(&self) -> [Quantity; 2] {
        let goodput = Quantity::OfFlow(&FLOW_METRICS[0]);
        let main = self.chosen.first().copied().unwrap_or(goodput);
        let other = || if main.name() == SECOND { Some(goodput) } else { Quantity::named(SECOND) };
        [main, self.chosen.get(1).copied().or_else(other).unwrap_or(goodput)]
    }

    fn over_all_flows(&self, case: usize, quantity: Quantity) -> CaseDifference {
        self.compared(case, quantity, None, &|outcome: &Outcome| match quantity {
            Quantity::OfFlow(metric) => measure::of_all_flows(outcome, metric),
            Quantity::Aggregate(_) => quantity.of_all(outcome),
        })
    }

    /// Figure of a metric over the varied keys: bars for names, curves for numbers.
    fn figure(&self, quantity: Quantity) -> Figure {
        let axis = Axis::of(self);
        let point =
            |(x, case): &(f64, usize)| Some(Point::of(*x, &self.over_all_flows(*case, quantity).mean?));
        let only =
            if self.outcomes.first().map_or(0, Vec::len) > 1 { "mean, 95 % interval" } else { "one run" };
        let curve = |(name, places): &(String, Vec<(f64, usize)>)| Curve {
            name: if name.is_empty() { only.to_owned() } else { name.clone() },
            kind: CurveKind::Measured,
            points: places.iter().filter_map(point).collect(),
        };
        let left_out = axis.curves.len().saturating_sub(MOST_CURVES);
        let several = self.cases.iter().any(|case| case.scenario.flows.len() > 1);
        let flows = match (several, quantity.name()) {
            (false, _) => String::new(),
            (true, name) if name == FLOW_METRICS[0].name => "Sum over all flows.".to_owned(),
            (true, _) if matches!(quantity, Quantity::OfFlow(_)) => "Mean over all flows.".to_owned(),
            (true, _) => String::new(),
        };
        let hidden = match left_out {
            0 => String::new(),
            _ => format!("{left_out} further combinations appear only in the table."),
        };
        let (words, _) = label::words(quantity.name());
        Figure {
            id: quantity.name().to_owned(),
            title: format!("{} by {}", capitalised(&words), self.paths.join(" and ")),
            caption: [flows, hidden].join(" ").trim().to_owned(),
            x_label: axis.label.clone(),
            y_label: label::axis(quantity.name()),
            x_log: axis.log,
            bars: !axis.categories.is_empty(),
            curves: axis.curves.iter().take(MOST_CURVES).map(curve).collect(),
            x_categories: axis.categories,
            y_bounds: Some([0.0, f64::INFINITY]),
            ..Figure::default()
        }
    }

    /// `The largest difference in goodput is that of recovery=reno: -198 ± 12 kbit/s, …`.
    fn sentence(&self, quantity: Quantity) -> String {
        let (words, unit) = label::words(quantity.name());
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let all: Vec<CaseDifference> =
            (0..self.cases.len()).map(|case| self.over_all_flows(case, quantity)).collect();
        let known =
            || all.iter().enumerate().filter_map(|(case, it)| Some((case, it, it.difference.as_ref()?)));
        let runs = known().map(|(_, _, difference)| difference.runs).max().unwrap_or(0);
        let is_clear = |ci95: Option<[f64; 2]>| ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        // A difference whose interval excludes 0 precedes a larger one whose interval includes 0.
        let rank = |difference: &Estimate| (is_clear(difference.ci95), difference.mean.abs());
        let largest = known().reduce(|best, one| if rank(one.2) > rank(best.2) { one } else { best });
        let first = self.case_name(0);
        let Some((case, compared, difference)) = largest else {
            let mean = all.first().and_then(|it| it.mean.as_ref()).map(with_interval);
            return match mean {
                Some(mean) => format!("With {first}, {words} is {mean}{unit}."),
                None => format!("No case has a number for {words}."),
            };
        };
        let percent = compared.percent.as_ref().map(|it| format!(", which is {} %", number::change(it)));
        let amount = format!("{}{unit}{}", signed(difference), percent.unwrap_or_default());
        let this = self.case_name(case);
        if difference.mean == 0.0 && known().all(|(_, _, it)| it.mean == 0.0) {
            return format!("No value changes {words}: every repetition gives the same number as {first}.");
        }
        match (runs, is_clear(difference.ci95)) {
            (0 | 1, _) => format!(
                "The largest difference in {words} from {first} is that of {this}: {amount}. Each value ran once, so \
                 there is no interval."
            ),
            (_, true) => format!(
                "The largest difference in {words} from {first} is that of {this}: {amount} (95 % interval, paired by \
                 seed over {runs} repetitions)."
            ),
            (_, false) => format!(
                "No difference in {words} from {first} exceeds its 95 % interval, paired by seed over {runs} \
                 repetitions; the largest is that of {this}: {amount}."
            ),
        }
    }

    /// Values of a case as settings: `recovery=reno, loss=1%`.
    fn case_name(&self, case: usize) -> String {
        let values = self.cases.get(case).map_or(&[][..], |case| &case.values);
        let settings = self.paths.iter().zip(values).map(|(path, value)| format!("{path}={value}"));
        settings.collect::<Vec<_>>().join(", ")
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
