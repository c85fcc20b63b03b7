//! Curves of the newest runs as SVG, drawn as in a report.

use lasthop_charts::courses::{self, Course};
use lasthop_charts::figure::Figure;
use lasthop_charts::plot::Plot;
use lasthop_charts::plot::looks::Looks;
use lasthop_charts::segments::watched;
use lasthop_scenario::Scenario;
use lasthop_sim::Samples;
use serde_json::{Value, json};

const NAMES: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// Goodput, window, round trips, queue and bytes in flight of the pictured flow, for all variants.
pub(crate) fn to_json(variants: &[Option<(Scenario, Samples)>], between_s: Option<[f64; 2]>) -> Value {
    let named = || {
        let pairs = NAMES.into_iter().zip(variants);
        pairs.filter_map(|(name, variant)| {
            variant.as_ref().map(|(scenario, samples)| (name, scenario, samples))
        })
    };
    let of = |(name, scenario, samples): (&str, &Scenario, &Samples)| {
        Course::of(name, &samples.flows, watched(scenario))
    };
    let courses: Vec<Course> = named().map(of).collect();
    let longest = named().map(|(_, scenario, _)| scenario.duration.as_secs()).fold(0.0, f64::max);
    let amounts: Vec<_> = courses.iter().map(|course| (course.name.clone(), course.delivered())).collect();
    let queues = named().filter_map(|(name, scenario, samples)| {
        let hop = scenario.routes.get(watched(scenario))?.there.last()?;
        Some((name.to_owned(), courses::waiting(&samples.queues, hop.link, hop.is_down)))
    });
    let figures = [
        courses::goodput(&amounts, courses::averaged_s(longest)),
        courses::window(&courses),
        courses::round_trips(&courses),
        courses::queue(queues.collect()),
        courses::in_flight(&courses),
    ];
    let figures: Vec<Figure> =
        figures.into_iter().map(|figure| courses::cut(figure, between_s.unwrap_or([0.0, longest]))).collect();
    // Depends on the variants' names only, so that each variant keeps its colour.
    let looks = Looks::of(figures.iter().take(1));
    let chart = |figure: &Figure| {
        let Plot { class, left, below, inner } = Plot::of(figure, &looks).unwrap_or_default();
        json!({ "id": figure.id, "title": figure.title, "caption": figure.caption, "class": class, "left": left,
                "below": below, "inner": inner })
    };
    json!({ "charts": figures.iter().map(chart).collect::<Vec<Value>>() })
}
