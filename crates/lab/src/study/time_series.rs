//! Figures with time series. Each curve shows one run, sampled over time.

use super::cells::{GridCell, Mode};
use super::columns::is_member;
use super::expression::{Expression, Scope};
use super::figures::curve_kind;
use super::file::{self, Ordered};
use super::measure::with_coordinates;
use super::study::Study;
use super::value::{Coordinates, Texts};
use crate::figure::{Curve, Point};
use crate::runs::csv::COLUMNS;
use lasthop_base::quantity;
use lasthop_scenario::{Problem, Scenario};
use lasthop_sim::{FlowSample, run_probed};
use rayon::prelude::*;

/// Computes the curves of a figure with time series. Fails if the scenario or formula of a curve is invalid, or if a
/// run gets stuck (virtual time no longer advances).
pub fn curves(study: &Study, figure: &file::Figure, seed: u64) -> Result<Vec<Curve>, Problem> {
    figure.curve.par_iter().map(|curve| self::curve(study, figure, curve, seed)).collect()
}

/// Returns the cell (combination of axis values) and the scenario of a separate run for a figure. An axis without a
/// coordinate takes its first value. Fails if the grid is unknown or the scenario is invalid.
pub fn run_at<'a>(
    study: &'a Study,
    figure: &'a file::Figure,
    grid: Option<&'a str>,
    mut coordinates: Coordinates,
    seed: u64,
) -> Result<(GridCell<'a>, Scenario), Problem> {
    let context = ["[figure.", figure.title.as_str()];
    let name = study.grid(grid.or(figure.grid.as_deref()), &context)?;
    let grid = &study.file.grid[name];
    for axis in &grid.axes {
        if let Some(first) = study.file.axis.get(axis).and_then(|about| about.values.first()) {
            coordinates.entry(axis.clone()).or_insert_with(|| first.clone());
        }
    }
    let mode = Mode { quick: true, under_answers: false };
    let cell = GridCell { study, name, grid, coordinates, parts: &[], mode };
    let mut scenario = cell.scenario(seed)?;
    let time = |text: &String| {
        quantity::duration(text)
            .map_err(|why| study.text.problem_near(&context, text, format!("course: {why}")))
    };
    let course = figure.course.as_ref();
    if let Some(duration) = course.and_then(|course| course.duration.as_ref()) {
        scenario.duration = time(duration)?;
    }
    if let Some(sample) = course.and_then(|course| course.sample.as_ref()) {
        scenario.sample = time(sample)?;
    }
    Ok((cell, scenario))
}

fn curve(study: &Study, figure: &file::Figure, curve: &file::Curve, seed: u64) -> Result<Curve, Problem> {
    let context = ["[figure.", figure.title.as_str(), curve.name.as_str()];
    let wrong = |message: String| study.text.problem_near(&context, &curve.name, message);
    let written = curve.column.as_deref().unwrap_or("cwnd_bytes");
    let formula = Expression::parse(written).map_err(|why| wrong(format!("`{written}`: {why}")))?;
    let coordinates = with_coordinates(&Coordinates::new(), &curve.at);
    let (cell, scenario) = run_at(study, figure, curve.grid.as_deref(), coordinates, seed)?;
    let (outcome, samples) = run_probed(&scenario, seed);
    if let Some(stuck) = outcome.stuck {
        return Err(wrong(stuck.message).advise(stuck.help));
    }
    let instants = samples.flows.chunk_by(|one, next| one.time == next.time);
    let value = |flows: &[FlowSample]| {
        let at = InstantScope { flows, scenario: &scenario, groups: &cell.grid.groups };
        Some((flows.first()?.time.as_secs(), formula.value(&at)?))
    };
    let values: Vec<(f64, f64)> = instants.filter_map(value).collect();
    let times = curve.times.unwrap_or(1.0);
    let points = if curve.per_second {
        values
            .windows(2)
            .map(|pair| Point::exact(pair[1].0, times * (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)))
            .collect()
    } else {
        values.iter().map(|(time, value)| Point::exact(*time, times * value)).collect()
    };
    Ok(Curve { name: curve.name.clone(), kind: curve_kind(curve.draw), points })
}

struct InstantScope<'a> {
    flows: &'a [FlowSample],
    scenario: &'a Scenario,
    groups: &'a Ordered<Texts>,
}

impl Scope for InstantScope<'_> {
    fn name(&self, name: &str) -> Option<f64> {
        match self.flows {
            [flow] => COLUMNS.iter().find(|column| column.name == name)?.value(flow),
            _ => None,
        }
    }

    fn flows(&self, of: &Expression, group: Option<&str>) -> Vec<f64> {
        let is_meant =
            |flow: &&[FlowSample]| is_member(self.groups, group, &self.scenario.flows[flow[0].flow].name);
        let each = self.flows.chunks(1).filter(is_meant);
        each.filter_map(|flows| of.value(&InstantScope { flows, ..*self })).collect()
    }
}
