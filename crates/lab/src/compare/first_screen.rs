//! First screen of a comparison: a sentence that states the largest difference, and figures of two metrics over the
//! varied key.

use super::axis::{Axis, MAX_CURVES};
use super::{CaseDifference, ComparedCase, Comparison, Quantity};
use crate::document::FirstScreen;
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::runs::classes::class_of;
use crate::runs::label;
use crate::runs::measure;
use crate::runs::number::{self, signed, with_interval};
use crate::stats::Estimate;
use lasthop_sim::{FLOW_METRICS, Outcome};

/// Default metric of the second figure.
const SECOND: &str = "mean_rtt_ms";

impl Comparison {
    /// Returns the first screen.
    pub fn first_screen(&self) -> FirstScreen {
        let [main, second] = self.drawn();
        let figures = [self.figure(main), self.figure(second)];
        let drawn = figures.into_iter().filter(|it| it.curves.iter().any(|curve| !curve.points.is_empty()));
        FirstScreen { sentence: self.sentence(main), tiles: Vec::new(), figures: drawn.collect() }
    }

    /// Returns the figure of the main metric. The main metric is the first metric that the user chose, by default
    /// goodput.
    pub fn main_figure(&self) -> Figure {
        self.figure(self.drawn()[0])
    }

    /// Returns the main metric, and the metric of the second figure.
    fn drawn(&self) -> [Quantity; 2] {
        let goodput = Quantity::OfFlow(&FLOW_METRICS[0]);
        let main = self.chosen.first().copied().unwrap_or(goodput);
        let other = || if main.name() == SECOND { Some(goodput) } else { Quantity::named(SECOND) };
        [main, self.chosen.get(1).copied().or_else(other).unwrap_or(goodput)]
    }

    /// Returns the value of `quantity` over all flows in `case`, and its difference from the value in `base`. If the
    /// user chose a flow, only that flow counts.
    fn over_all_flows(&self, base: usize, case: usize, quantity: Quantity) -> CaseDifference {
        let only = self.only.as_deref();
        self.compared_with(base, case, quantity, only, &|outcome: &Outcome| match (only, quantity) {
            (Some(flow), _) => quantity.of_flow(outcome, flow),
            (None, Quantity::OfFlow(metric)) => measure::of_all_flows(outcome, metric),
            (None, Quantity::Aggregate(_)) => quantity.of_all(outcome),
        })
    }

    /// Returns the classes of flows (all replicas of a flow) that get one curve each. Returns an empty list if all
    /// flows share one curve. Classes get curves if all cases have the same 2 to `MAX_CURVES` classes, and at least one
    /// class has several flows.
    fn drawn_classes(&self, quantity: Quantity) -> Vec<&str> {
        fn of(case: &ComparedCase) -> Vec<&str> {
            let mut classes: Vec<&str> =
                case.scenario.flows.iter().map(|flow| class_of(&flow.name)).collect();
            classes.dedup();
            classes
        }
        let classes = self.cases.first().map_or(Vec::new(), of);
        let is_drawn = self.only.is_none()
            && matches!(quantity, Quantity::OfFlow(_))
            && (2..=MAX_CURVES).contains(&classes.len())
            && self.cases.iter().all(|case| case.scenario.flows.len() > classes.len() && of(case) == classes);
        if is_drawn { classes } else { Vec::new() }
    }

    /// Returns the figure of a metric over the varied keys. If the key on the x axis has numbers as values, the figure
    /// has curves. Otherwise the figure has bars.
    fn figure(&self, quantity: Quantity) -> Figure {
        let axis = Axis::of(&self.paths, &self.cases);
        let classes = if axis.curves.len() == 1 { self.drawn_classes(quantity) } else { Vec::new() };
        let point = |(x, case): &(f64, usize)| {
            Some(Point::of(*x, &self.over_all_flows(*case, *case, quantity).mean?))
        };
        let of_class = |class: &str| Curve {
            name: class.to_owned(),
            kind: CurveKind::Measured,
            points: axis.curves[0]
                .1
                .iter()
                .filter_map(|(x, case)| {
                    let value = |outcome: &Outcome| quantity.of_flow(outcome, class);
                    let compared = self.compared_with(*case, *case, quantity, Some(class), &value);
                    Some(Point::of(*x, &compared.mean?))
                })
                .collect(),
        };
        let only =
            if self.outcomes.first().map_or(0, Vec::len) > 1 { "mean, 95 % interval" } else { "one run" };
        let curve = |(name, places): &(String, Vec<(f64, usize)>)| Curve {
            name: if name.is_empty() { only.to_owned() } else { name.clone() },
            kind: CurveKind::Measured,
            points: places.iter().filter_map(point).collect(),
        };
        let left_out = axis.curves.len().saturating_sub(MAX_CURVES);
        let several = self.cases.iter().any(|case| case.scenario.flows.len() > 1);
        let flows = match (several, quantity.name()) {
            _ if self.only.is_some() => format!("Only `{}`.", self.only.as_deref().unwrap_or_default()),
            _ if !classes.is_empty() => "Mean over the flows of each class.".to_owned(),
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
            title: match &self.only {
                Some(flow) => {
                    format!("{} of {flow} by {}", capitalised(&words), self.paths.join(" and "))
                }
                None => format!("{} by {}", capitalised(&words), self.paths.join(" and ")),
            },
            caption: [flows, hidden].join(" ").trim().to_owned(),
            x_label: axis.label.clone(),
            y_label: match &self.only {
                Some(flow) => format!("{flow}: {}", label::axis(quantity.name())),
                None => label::axis(quantity.name()),
            },
            x_log: axis.log,
            bars: !axis.categories.is_empty(),
            curves: match &classes[..] {
                [] => axis.curves.iter().take(MAX_CURVES).map(curve).collect(),
                classes => classes.iter().map(|class| of_class(class)).collect(),
            },
            x_categories: axis.categories,
            y_bounds: Some([0.0, f64::INFINITY]),
            ..Figure::default()
        }
    }

    /// Returns a sentence such as `The largest difference in goodput from recovery=sack is that of recovery=reno: -198
    /// ± 12 kbit/s, …`. Each case is compared with its baseline.
    fn sentence(&self, quantity: Quantity) -> String {
        let (words, unit) = label::words(quantity.name());
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let compared =
            |(case, base): (usize, &usize)| (*base, case, self.over_all_flows(*base, case, quantity));
        let all: Vec<(usize, usize, CaseDifference)> =
            self.baseline.bases().iter().enumerate().map(compared).collect();
        let known =
            || all.iter().filter_map(|(base, case, it)| Some((*base, *case, it, it.difference.as_ref()?)));
        let is_clear = |one: &Estimate| one.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        // A difference whose interval excludes 0 ranks above every difference whose interval includes 0.
        let rank = |one: &Estimate| (is_clear(one), one.mean.abs());
        let largest = known().reduce(|best, one| if rank(one.3) > rank(best.3) { one } else { best });
        let Some((base, case, compared, difference)) = largest else {
            let mean = self.over_all_flows(0, 0, quantity).mean;
            return match mean {
                Some(mean) => {
                    format!(
                        "With {}, {words} is {}{unit}.",
                        self.case_name(0, &all_keys),
                        with_interval(&mean)
                    )
                }
                None => format!("No case has a number for {words}."),
            };
        };
        let shared: Vec<usize> = (0..self.paths.len()).filter(|key| !self.baseline.is_fixed(*key)).collect();
        let is_shared = |key: usize| shared.contains(&key);
        let [first, this] = [base, case].map(|case| self.case_name(case, &|key| !is_shared(key)));
        let (at, equal) = if shared.is_empty() {
            (String::new(), String::new())
        } else {
            let keys: Vec<&str> = shared.iter().map(|key| self.paths[*key].as_str()).collect();
            (
                format!("At {}, the", self.case_name(case, &is_shared)),
                format!("At equal {}, no", keys.join(", ")),
            )
        };
        let begin = |given: String, other: &str| if given.is_empty() { other.to_owned() } else { given };
        let (the, no) = (begin(at, "The"), begin(equal, "No"));
        if known()
            .all(|(.., it)| it.mean == 0.0 && it.ci95.is_none_or(|[low, high]| low == 0.0 && high == 0.0))
        {
            return format!("{no} value changes {words}: every repetition gives the same number as {first}.");
        }
        let percent = compared.percent.as_ref().map(|it| format!(", which is {} %", number::change(it)));
        let amount = format!("{}{unit}{}", signed(difference), percent.unwrap_or_default());
        let paired = format!("95 % interval, paired by seed over {} repetitions", difference.runs);
        match (difference.runs, is_clear(difference)) {
            (0 | 1, _) => format!(
                "{the} largest difference in {words} from {first} is that of {this}: {amount}. Each value ran once, so \
                 there is no interval."
            ),
            (_, true) => {
                format!(
                    "{the} largest difference in {words} from {first} is that of {this}: {amount} ({paired})."
                )
            }
            (_, false) => format!(
                "{no} difference in {words} from {first} exceeds its interval ({paired}). The largest is that of {this}: \
                 {amount}."
            ),
        }
    }

    /// Returns the settings of a case for the keys that `is_named` selects: `recovery=reno, loss=1%`.
    fn case_name(&self, case: usize, is_named: &dyn Fn(usize) -> bool) -> String {
        let values = self.cases.get(case).map_or(&[][..], |case| &case.values);
        let named = self.paths.iter().zip(values).enumerate().filter(|(key, _)| is_named(*key));
        named.map(|(_, (path, value))| format!("{path}={value}")).collect::<Vec<_>>().join(", ")
    }
}

fn all_keys(_: usize) -> bool {
    true
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::super::{Variation, cases};
    use super::*;
    use crate::repeat::estimate_by;

    #[test]
    fn the_numeric_key_is_the_axis_and_the_other_key_names_the_curves() {
        let comparison = comparison(
            &["recovery", "path.down.rate"],
            &[&["sack", "reno"], &["2Mbit/s", "500kbit/s", "1Mbit/s"]],
        );
        let screen = comparison.first_screen();
        let [goodput, rtt] = &screen.figures[..] else { panic!("two figures") };
        assert_eq!((&*goodput.x_label, &*goodput.y_label), ("path.down.rate, Mbit/s", "goodput, kbit/s"));
        assert_eq!(rtt.y_label, "mean RTT, ms");
        let names: Vec<&str> = goodput.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!((names, goodput.bars), (vec!["sack", "reno"], false));
        let xs: Vec<f64> = goodput.curves[1].points.iter().map(|point| point.x).collect();
        assert_eq!(xs, [0.5, 1.0, 2.0]);
        // Case 4 is reno at 500 kbit/s: cases count from 0, and the last key varies fastest.
        let expected = estimate_by(&comparison.outcomes[4], measure::total_goodput_kbps).unwrap();
        let point = goodput.curves[1].points[0];
        assert!((point.y - expected.mean).abs() < 1e-9 * expected.mean && point.ci95 == expected.ci95);
        assert!(screen.sentence.contains("recovery=reno: "), "{}", screen.sentence);
        assert!(screen.sentence.contains("paired by seed over 3 repetitions"), "{}", screen.sentence);
    }

    /// If one key varies, each class of flows has its own curve with the mean over the flows of the class. After
    /// `set_flow`, the figure has only one curve.
    #[test]
    fn classes_have_curves_of_their_own() {
        let text = "duration = \"5 s\"\n[link.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Mbit/s\"\n\
                    one_way_delay = \"10 ms\"\n[flow.many]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n\
                    start_spread = \"1 s\"\n[flow.one]\nfrom = \"a\"\nto = \"b\"\n";
        let draft = lasthop_scenario::Draft::parse(text, "classes").unwrap();
        let key = "path.down.queue";
        let values = ["50 packets", "fq_codel"].map(String::from).to_vec();
        let cases = cases(&draft, &[Variation { path: key.to_owned(), values }]).unwrap();
        let mut comparison = Comparison::new(vec![key.to_owned()], cases, Vec::new());
        for case in 0..2 {
            let scenario = &comparison.cases[case].scenario;
            comparison.outcomes[case] = (1..4).map(|seed| lasthop_sim::run(scenario, seed)).collect();
        }
        let figure = comparison.main_figure();
        let names: Vec<&str> = figure.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!((names, figure.bars), (vec!["many", "one"], true));
        let mean = |outcome: &Outcome| {
            let kbps = |flow: usize| outcome.flows[flow].goodput_kbps();
            Some((kbps(0) + kbps(1)) / 2.0)
        };
        let expected = estimate_by(&comparison.outcomes[1], mean).unwrap();
        let point = figure.curves[0].points[1];
        assert!((point.y - expected.mean).abs() < 1e-9 * expected.mean && point.ci95 == expected.ci95);
        comparison.set_flow("one").unwrap();
        assert_eq!(comparison.main_figure().curves.len(), 1);
    }

    #[test]
    fn names_are_bars_and_the_largest_difference_has_its_interval() {
        let channels = ["none", "{kind=\"iid\", loss=0.2}"];
        let comparison = comparison(&["path.down.channel"], &[&channels]);
        let figure = comparison.main_figure();
        assert_eq!((figure.bars, &figure.x_categories[..]), (true, &channels.map(String::from)[..]));
        let sentence = comparison.first_screen().sentence;
        let begin = "The largest difference in goodput from path.down.channel=none is that of \
                     path.down.channel={kind=\"iid\", loss=0.2}: -";
        assert!(sentence.starts_with(begin) && sentence.contains(" kbit/s, which is -"), "{sentence}");
    }

    #[test]
    fn equal_values_and_single_values_are_no_difference() {
        let of = |values: &[&str]| comparison(&["recovery"], &[values]).first_screen().sentence;
        let same = "No value changes goodput: every repetition gives the same number as recovery=sack.";
        assert_eq!(of(&["sack", "sack"]), same);
        assert!(of(&["sack"]).starts_with("With recovery=sack, goodput is "));
    }
}
