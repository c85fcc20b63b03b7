//! Metrics that each grid must measure. The metrics are collected from the published numbers, points, claims and
//! figures of `study.toml`. The collection also checks that every name in `study.toml` exists.

use super::claims;
use super::computed::NUMBERS;
use super::expression::{Expression, NameRef};
use super::file::{Condition, Curve, Than};
use super::study::{QuantityRef, ResolvedQuantity, Study};
use super::value::Value;
use crate::runs::csv::COLUMNS;
use lasthop_scenario::Problem;
use std::collections::{BTreeMap, BTreeSet};

type MetricsByGrid = BTreeMap<String, BTreeSet<String>>;

/// Collects the metrics of each grid. Fails if a name does not exist.
pub fn measured(study: &Study) -> Result<MetricsByGrid, Problem> {
    let mut measured = MetricsByGrid::new();
    let file = &study.file;
    let axes = || file.axis.keys().map(String::as_str);
    for (name, grid) in &file.grid {
        let heading = format!("[grid.{name}]");
        grid.axes.iter().try_for_each(|axis| study.known(&[&heading], "axis", axis, axes()))?;
        if !grid.computed && grid.runs.full == 0 && grid.runs.questions == 0 {
            return Err(study
                .text
                .problem_near(&[&heading], "axes", format!("the grid `{name}` has no runs"))
                .advise("write runs = { full = 10, quick = 3 }, or computed = true"));
        }
    }
    for (name, measure) in &file.measure {
        let heading = format!("[measure.{name}]");
        if let Some(by) = &measure.by {
            study.known(&[&heading], "computation", by, NUMBERS.iter().map(|(name, _)| *name))?;
        }
        if measure.against.is_some() != measure.comparison.is_some() {
            let word = if measure.against.is_some() { "against" } else { "as" };
            return Err(study.text.problem_near(
                &[&heading],
                word,
                "`against` and `as` are only valid together",
            ));
        }
        if !measure.is_computed() {
            note(study, measure.quantity(), &[&heading], &mut measured)?;
        }
    }
    for binding in &file.published {
        let context = ["[[published]]", binding.rows.all().first().map_or("", String::as_str)];
        note(study, binding.quantity(), &context, &mut measured)?;
        binding.series_is.iter().try_for_each(|axis| study.known(&context, "axis", axis, axes()))?;
    }
    for points in &file.points {
        note(study, points.quantity(), &["[[points]]", &points.item], &mut measured)?;
    }
    for claim in &file.claim {
        for condition in &claim.holds.0 {
            let context = ["[[claim]]", &claim.item];
            note(study, condition.quantity(), &context, &mut measured)?;
            along_axes(study, condition, &context)?;
            if let Some(Than::Quantity(other)) = &condition.than
                && other.quantity().is_named()
            {
                note(study, other.quantity().or_grid(condition.grid.as_deref()), &context, &mut measured)?;
            }
        }
    }
    for (name, figure) in &file.figure {
        let heading = format!("[figure.{name}]");
        if figure.quantity().is_named() {
            note(study, figure.quantity(), &[&heading], &mut measured)?;
        }
        for curve in &figure.curve {
            if figure.course.is_some() {
                sampled(study, curve, &[&heading, &curve.name])?;
            }
            if curve.quantity().is_named() {
                let quantity = curve.quantity().or_grid(figure.grid.as_deref());
                note(study, quantity, &[&heading, &curve.name], &mut measured)?;
            }
        }
    }
    Ok(measured)
}

/// Checks that the axes of a condition belong to its grid. Also checks that each axis has the values that the condition
/// names.
fn along_axes(study: &Study, condition: &Condition, context: &[&str]) -> Result<(), Problem> {
    for (name, pick) in &condition.at {
        let Some(axis) = study.file.axis.get(name) else { continue };
        let lists =
            [Some(&axis.values), axis.quick.as_ref(), axis.questions.as_ref(), axis.quick_questions.as_ref()];
        let known = || lists.iter().copied().flatten().flatten();
        if let Some(value) = pick.values().iter().find(|value| !known().any(|one| one.same(value))) {
            let words: Vec<String> = axis.values.iter().map(Value::to_string).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            return Err(study.unknown(context, &format!("value of `{name}`"), &value.to_string(), &words));
        }
    }
    let Some(grid) = grid_of(study, condition.quantity()).and_then(|name| study.file.grid.get(name)) else {
        return Ok(());
    };
    let written = condition.at_each.all().iter().chain(&condition.along);
    for (written, (axis, wrong)) in written.flat_map(|one| claims::axes(one).map(move |axis| (one, axis))) {
        study.known(context, "axis", axis, grid.axes.iter().map(String::as_str))?;
        if let Some(wrong) = wrong {
            let message = format!("`{written}`: `{wrong}` is not a number");
            return Err(study.text.problem_near(context, written, message));
        }
    }
    Ok(())
}

pub fn grid_of<'a>(study: &'a Study, quantity: QuantityRef<'a>) -> Option<&'a str> {
    match study.resolve(quantity, &[]).ok()? {
        ResolvedQuantity::Metric { grid, .. } => Some(grid),
        ResolvedQuantity::Measure { measure, .. } if measure.is_computed() => measure.grid.as_deref(),
        ResolvedQuantity::Measure { measure, .. } => {
            grid_of(study, measure.quantity().or_grid(quantity.grid))
        }
    }
}

/// Checks that the formula of a time series uses only columns of the samples.
fn sampled(study: &Study, curve: &Curve, context: &[&str]) -> Result<(), Problem> {
    let Some(written) = &curve.column else { return Ok(()) };
    let formula = Expression::parse(written)
        .map_err(|why| study.text.problem_near(context, written, format!("`{written}`: {why}")))?;
    let mut result = Ok(());
    formula.each_name(&mut |named| {
        if let (NameRef::Column { name, .. }, Ok(())) = (named, &result) {
            let columns = COLUMNS.iter().map(|column| column.name);
            result = study.known(context, "sampled column", name, columns);
        }
    });
    result
}

fn note(
    study: &Study,
    quantity: QuantityRef<'_>,
    context: &[&str],
    into: &mut MetricsByGrid,
) -> Result<(), Problem> {
    match study.resolve(quantity, context)? {
        ResolvedQuantity::Metric { metric, grid } => {
            into.entry(grid.to_owned()).or_default().insert(metric.to_owned());
            Ok(())
        }
        ResolvedQuantity::Measure { measure, name } => {
            if measure.is_computed() {
                Ok(())
            } else {
                note(study, measure.quantity().or_grid(quantity.grid), &[&format!("[measure.{name}]")], into)
            }
        }
    }
}
