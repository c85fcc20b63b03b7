//! Charts of the newest runs as SVG. The charts look like the figures of a report.

use lasthop_charts::figure::Figure;
use lasthop_charts::plot::Plot;
use lasthop_charts::plot::looks::Looks;
use lasthop_charts::segments::observed_flow;
use lasthop_charts::time_series::{self, FlowSeries};
use lasthop_scenario::Scenario;
use lasthop_sim::Samples;
use serde_json::{Value, json};

const NAMES: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// Returns the charts of goodput, window, RTT, queue and bytes in flight. Each chart has a curve for each variant
/// (scenario A, B, …), which shows the variant's observed flow.
pub(crate) fn to_json(variants: &[Option<(Scenario, Samples)>], between_s: Option<[f64; 2]>) -> Value {
    let named = || {
        let pairs = NAMES.into_iter().zip(variants);
        pairs.filter_map(|(name, variant)| {
            variant.as_ref().map(|(scenario, samples)| (name, scenario, samples))
        })
    };
    let of = |(name, scenario, samples): (&str, &Scenario, &Samples)| {
        FlowSeries::of(name, &samples.flows, observed_flow(scenario))
    };
    let flow_series: Vec<FlowSeries> = named().map(of).collect();
    let longest = named().map(|(_, scenario, _)| scenario.duration.as_secs()).fold(0.0, f64::max);
    let amounts: Vec<_> =
        flow_series.iter().map(|series| (series.name.clone(), series.delivered())).collect();
    let queues = named().filter_map(|(name, scenario, samples)| {
        let hop = scenario.routes.get(observed_flow(scenario))?.there.last()?;
        Some((name.to_owned(), time_series::waiting(&samples.queues, hop.link, hop.is_down)))
    });
    let figures = [
        time_series::goodput(&amounts, time_series::averaged_s(longest)),
        time_series::window(&flow_series),
        time_series::round_trips(&flow_series),
        time_series::queue(queues.collect()),
        time_series::in_flight(&flow_series),
    ];
    let figures: Vec<Figure> = figures
        .into_iter()
        .map(|figure| time_series::cut(figure, between_s.unwrap_or([0.0, longest])))
        .collect();
    // The name of a variant determines its colour and line style. Each variant therefore looks the same in all charts.
    let looks = Looks::of(figures.iter().take(1));
    let chart = |figure: &Figure| {
        let Plot { class, left, below, inner } = Plot::of(figure, &looks).unwrap_or_default();
        json!({ "id": figure.id, "title": figure.title, "caption": figure.caption, "class": class, "left": left,
                "below": below, "inner": inner })
    };
    json!({ "charts": figures.iter().map(chart).collect::<Vec<Value>>() })
}
