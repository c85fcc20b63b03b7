//! Rows of a paper's results: published numbers with our measurements, points of figures, and claims.

use super::cells::is_at;
use super::claims;
use super::class::{Class, NumberComparison, PaperRuns, margin_of_place};
use super::file::{self, Binding, Claim, Ordered, Over, Points, Try, Within};
use super::measure::View;
use super::published::Published;
use super::runs::{GridResults, combinations};
use super::selector::SelectableRow;
use super::study::{QuantityRef, ResolvedQuantity, Study};
use super::value::{Coordinates, Pick, Value};
use crate::item::Item;
use serde_json::Map;

/// Returns all rows under one set of answers to open questions.
pub fn all(view: &View<'_>) -> Vec<Item> {
    let study = view.study;
    let numbers = study.published.iter().filter_map(|published| number(view, published));
    let points = study.file.points.iter().flat_map(|points| point_rows(view, points));
    let claims = study.file.claim.iter().filter_map(|claim| claims::row(view, claim));
    numbers.chain(claims).chain(points).collect()
}

/// Returns the rows that an entry `[[try]]` of `study.toml` repeats under an answer.
pub fn under_answer(view: &View<'_>, definition: &Try) -> Vec<Item> {
    let study = view.study;
    let again = study.published.iter().filter(|published| definition.rows.matches(&published.item));
    let numbers = again.filter_map(|published| number(view, published));
    let claims = study.file.claim.iter().filter(|claim| definition.claims.matches(&claim.item));
    let claims = claims.filter_map(|claim| claims::row(view, claim));
    let points = study.file.points.iter().filter(|points| definition.points.matches(&points.item));
    numbers.chain(claims).chain(points.flat_map(|points| point_rows(view, points))).collect()
}

/// Returns the entry `[[published]]` of `study.toml` that defines the quantity that we measure for a published number.
/// Returns `None` if no entry matches.
pub fn binding<'a>(study: &'a Study, published: &Published) -> Option<&'a Binding> {
    study
        .file
        .published
        .iter()
        .find(|binding| binding.rows.matches(&published.item) && binding.filter.matches(published))
}

/// Returns the published number of a row. Names and coordinates must match. If a search along an axis found a position
/// other than the published coordinate, only the names must match.
pub fn published_of<'a>(study: &'a Study, item: &Item) -> Option<&'a Published> {
    let beside = || study.published.iter().filter(|published| published.matches_item(item));
    let is_there = |published: &&Published| {
        published.coordinates().all(|(name, text)| item.has_coordinate(name, &Value::read(text)))
    };
    beside().find(is_there).or_else(|| beside().next())
}

/// Returns the claim to which a row belongs. Returns `None` if the row belongs to no claim.
pub fn claim_of<'a>(study: &'a Study, item: &Item) -> Option<&'a Claim> {
    let [name, series, _] = item.names();
    study
        .file
        .claim
        .iter()
        .find(|claim| item.margin.is_none() && claim.item == name && claim.series == series)
}

/// Returns the coordinates of a published number: first the coordinates in the grid, then the coordinates written in
/// `published.csv`.
pub fn coordinates_of(
    study: &Study,
    binding: &Binding,
    published: &Published,
) -> (Coordinates, Map<String, serde_json::Value>) {
    let read = |(name, text): (&str, &str)| (name.to_owned(), Value::read(text));
    let x = published.coordinates().map(read).map(|(name, value)| (name, value.json())).collect();
    let mut coordinates: Coordinates = published.coordinates().map(read).collect();
    for (axis, about) in &study.file.axis {
        let is_here = |value: &&Value| {
            denoted_coordinates(study, axis, value)
                .iter()
                .all(|(name, value)| published.has_coordinate(name, value))
        };
        if let Some(value) = about.values.iter().find(is_here) {
            coordinates.insert(axis.clone(), value.clone());
        }
    }
    if let Some(axis) = &binding.series_is {
        let values = study.file.axis.get(axis).map(|axis| &axis.values[..]).unwrap_or_default();
        let value = values.iter().find(|value| value.is(&published.series)).cloned();
        coordinates.insert(axis.clone(), value.unwrap_or(Value::Text(published.series.clone())));
    }
    for (axis, value) in &binding.at {
        coordinates.insert(axis.clone(), value.clone());
    }
    (coordinates, x)
}

/// Returns the row of the results for a published number. Returns `None` if the number was not measured.
pub fn number(view: &View<'_>, published: &Published) -> Option<Item> {
    let study = view.study;
    let binding = binding(study, published)?;
    let (coordinates, mut x) = coordinates_of(study, binding, published);
    let measurement = view.measurement(binding.quantity(), &coordinates)?;
    let mut note = format!("published: {}", published.source);
    if let Some((axis, value)) = &measurement.found {
        let column = column(study, axis);
        if let Some(there) = published.coordinates().find(|(name, _)| *name == column) {
            note += &format!("; published at {} {}", there.0, there.1);
        }
        x.insert(column.to_owned(), value.json());
    }
    let item = Item::new(&study.file.paper, published.item.as_str(), published.series.as_str());
    let item =
        Item { x, published: Some(published.value()), ..item.metric(&published.metric, &published.unit) };
    let results = view.results(binding.quantity());
    let length = results.map_or(1, |results| results.length.max(1));
    let paper = PaperRuns {
        is_unknown: study.file.paper_runs == file::PaperRuns::Unknown,
        times_shorter: binding.times_shorter.map_or(1.0, |times| times * f64::from(length)),
        undecidable: binding.undecidable.as_deref(),
    };
    let runs = results.map_or(1, |results| results.runs);
    let margin = margin(view, binding, published);
    let item = Item { margin: Some(margin), ..item.note(note) };
    let class = binding.class;
    let values = measurement.defined();
    let has_own_interval = measurement.is_exact || measurement.place.is_some();
    let estimate = if has_own_interval { measurement.estimate() } else { class.interval(&values) };
    let Some(ours) = estimate.map(|estimate| estimate.within(study.bounds(binding.quantity()))) else {
        return Some(item);
    };
    let mean = ours.mean;
    let n = values.len() as f64;
    let variance = values.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let all = measurement.values.len();
    let comparison = NumberComparison {
        published: published.value(),
        margin,
        class,
        ours: &ours,
        is_exact: measurement.is_exact,
        spread: libm::sqrt(variance),
        of_runs: if values.len() == all { all } else { runs.max(all) },
        paper,
    };
    let noted_verdict = comparison.verdict();
    let note = if noted_verdict.note.is_empty() {
        item.note.clone()
    } else {
        format!("{}; {}", noted_verdict.note, item.note)
    };
    let value = published.value();
    Some(Item {
        verdict: Some(noted_verdict.verdict),
        deviation_pct: (value != 0.0).then(|| 100.0 * (mean - value) / value.abs()),
        chance: noted_verdict.chance,
        ..item.measured(Some(ours)).note(note)
    })
}

/// Returns the values of the axis along which the measure searches for a position. Returns `None` if the measure does
/// not search for a position.
fn values_along(view: &View<'_>, binding: &Binding) -> Option<Vec<f64>> {
    let ResolvedQuantity::Measure { measure, .. } = view.study.resolve(binding.quantity(), &[]).ok()? else {
        return None;
    };
    let (axis, _) =
        measure.over.iter().find(|(_, over)| matches!(over, Over::Crossing | Over::LargestPlace))?;
    view.results(binding.quantity())?.axis(axis).iter().map(Value::number).collect()
}

/// Returns the margin around a published number. The margin is at least half of the last printed digit. This minimum
/// does not apply to a position on an axis, because axis values are exact.
fn margin(view: &View<'_>, binding: &Binding, published: &Published) -> f64 {
    let (class, value) = (binding.class, published.value());
    let within = match &binding.within {
        Some(Within::All(within)) => Some(*within),
        Some(Within::Series(by)) => by.get(&published.series).copied(),
        None => None,
    };
    let is_of_grid = class == Class::Place && within.is_none();
    let of_grid = || margin_of_place(value, &values_along(view, binding)?);
    let printed = || within.unwrap_or_else(|| class.margin(value)).max(published.half_digit());
    is_of_grid.then(of_grid).flatten().unwrap_or_else(printed)
}

/// Returns the name that an axis has in the coordinates of rows.
pub fn column<'a>(study: &'a Study, axis: &'a str) -> &'a str {
    study.file.axis.get(axis).and_then(|about| about.column.as_deref()).unwrap_or(axis)
}

/// Returns the coordinates that an axis value stands for: the axis's entry in `stands_for`, or the value itself if no
/// entry exists.
pub fn denoted_coordinates(study: &Study, axis: &str, value: &Value) -> Vec<(String, Value)> {
    let stands_for = study.file.axis.get(axis).and_then(|about| about.stands_for.get(&value.to_string()));
    match stands_for {
        Some(several) => several.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        None => vec![(column(study, axis).to_owned(), value.clone())],
    }
}

/// Returns the cells of a grid at the coordinates `at`, and the axes whose values differ between these cells. `at`
/// overrides the coordinates that the measure's definition sets. Axes that the measure reduces to one number are
/// omitted.
pub fn selected_cells(
    view: &View<'_>,
    quantity: QuantityRef<'_>,
    results: &GridResults,
    at: &Ordered<Pick>,
) -> (Vec<Coordinates>, Vec<String>) {
    let own = view.study.own_coordinates(quantity);
    let is_own = |coordinates: &Coordinates| {
        own.iter().all(|(axis, value)| at.contains_key(axis) || coordinates.get(axis) == Some(value))
    };
    let over = view.study.reduced_axes(quantity);
    let axes = results.axes.iter().filter(|(axis, _)| !over.contains(&axis.as_str()));
    let axes: Vec<(String, Vec<Value>)> = axes.cloned().collect();
    let combinations =
        combinations(&axes).into_iter().filter(|coordinates| is_at(at, coordinates) && is_own(coordinates));
    let combinations: Vec<Coordinates> = combinations.collect();
    let varies = |axis: &str| {
        let mut values = combinations.iter().filter_map(|coordinates| coordinates.get(axis));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let axes = axes.into_iter().map(|(axis, _)| axis).filter(|axis| varies(axis)).collect();
    (combinations, axes)
}

/// Replaces each `{AXIS}` in a name with the value on that axis.
pub fn fill_template(template: &str, coordinates: &Coordinates) -> String {
    let mut text = template.to_owned();
    for (axis, value) in coordinates {
        text = text.replace(&format!("{{{axis}}}"), &value.to_string());
    }
    text
}

fn point_rows(view: &View<'_>, points: &Points) -> Vec<Item> {
    let study = view.study;
    let Some(results) = view.results(points.quantity()) else { return Vec::new() };
    let (combinations, axes) = selected_cells(view, points.quantity(), results, &points.at);
    let bounds = study.bounds(points.quantity());
    let default = axes.first().map_or(String::new(), |axis| format!("{{{axis}}}"));
    let template = points.series.as_deref().unwrap_or(&default);
    let (metric, unit) = match study.resolve(points.quantity(), &[]) {
        Ok(ResolvedQuantity::Metric { metric, .. }) => {
            (metric, study.file.metric.get(metric).map_or("", |one| &one.unit))
        }
        Ok(ResolvedQuantity::Measure { name, measure }) => (name, &*measure.unit),
        Err(_) => return Vec::new(),
    };
    let row = |coordinates: &Coordinates| {
        let mut item =
            Item::new(&study.file.paper, points.item.as_str(), fill_template(template, coordinates));
        for axis in axes.iter().filter(|axis| !template.contains(&format!("{{{axis}}}"))) {
            for (name, value) in denoted_coordinates(study, axis, &coordinates[axis]) {
                item = item.at(&name, value.json());
            }
        }
        let estimate =
            view.measurement(points.quantity(), coordinates).and_then(|measurement| measurement.estimate());
        let estimate = estimate.map(|estimate| estimate.within(bounds));
        let note = if estimate.is_none() { "undefined: no repetition has a value" } else { &points.note };
        item.metric(metric, unit).measured(estimate).note(note)
    };
    combinations.iter().map(row).collect()
}
