//! Figures of a paper: our results, with the published points.

use super::computed;
use super::file::{self, Drawn};
use super::measure::View;
use super::published::Published;
use super::reproduce::PaperResults;
use super::rows::{binding, column, coordinates_of, fill_template, selected_cells};
use super::study::{QuantityRef, Study};
use super::time_series;
use super::value::{Coordinates, OneOrMore, Texts, Value};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::DEFAULT;
use lasthop_scenario::Problem;

/// Draws a figure. Fails if the figure needs a separate run and the scenario of this run is invalid.
pub fn figure(
    study: &Study,
    results: &PaperResults<'_>,
    (id, figure): (&str, &file::Figure),
    caption: &str,
    seed: u64,
) -> Result<Figure, Problem> {
    let view = View::of(study, &results.by_grid);
    let drawing = Drawing { study, figure, view };
    let (curves, categories) = match (&figure.by, &figure.course) {
        (Some(by), _) => {
            let coordinates = figure
                .at
                .iter()
                .filter_map(|(axis, pick)| Some((axis.clone(), pick.values().first()?.clone())));
            let (_, scenario) = time_series::run_at(study, figure, None, coordinates.collect(), seed)?;
            (computed::curves(study, by)?(scenario, seed), Vec::new())
        }
        (None, Some(_)) => (time_series::curves(study, figure, seed)?, Vec::new()),
        (None, None) => drawing.curves_over_axis(results),
    };
    let label = figure.x.as_deref().map(|x| axis_label(study, x));
    Ok(Figure {
        id: id.into(),
        title: figure.title.clone(),
        caption: caption.into(),
        x_label: figure.x_label.clone().or(label).unwrap_or_else(|| "time, s".into()),
        y_label: figure.y_label.clone(),
        x_log: figure.x_log,
        y_log: figure.y_log,
        x_categories: categories,
        x_range: None,
        y_bounds: drawing.bounds(),
        source: format!("lasthop reproduce {}", study.file.paper),
        panels: figure.panels,
        bars: false,
        curves,
    })
}

fn axis_label(study: &Study, axis: &str) -> String {
    study.file.axis.get(axis).and_then(|about| about.label.clone()).unwrap_or_else(|| axis.to_owned())
}

struct Drawing<'a> {
    study: &'a Study,
    figure: &'a file::Figure,
    view: View<'a>,
}

impl Drawing<'_> {
    fn bounds(&self) -> Option<[f64; 2]> {
        let own = |curve: &&file::Curve| curve.published.all().is_empty();
        let mut each: Vec<QuantityRef<'_>> =
            self.figure.curve.iter().filter(own).map(|curve| self.quantity_of(curve)).collect();
        if self.figure.curve.is_empty() {
            each.push(self.figure.quantity());
        }
        let each: Option<Vec<[f64; 2]>> =
            each.into_iter().map(|quantity| self.study.bounds(quantity)).collect();
        let wider = |one: [f64; 2], other: [f64; 2]| [one[0].min(other[0]), one[1].max(other[1])];
        each?.into_iter().reduce(wider)
    }

    /// Returns the curves along the axis `x`. Also returns the names of the axis values if these values are not
    /// numbers.
    fn curves_over_axis(&self, results: &PaperResults<'_>) -> (Vec<Curve>, Vec<String>) {
        let Some(x) = self.figure.x.as_deref() else { return (Vec::new(), Vec::new()) };
        let mut curves = if self.figure.curve.is_empty() {
            self.series_curves(self.view, x, DEFAULT, |name| name)
        } else {
            self.explicit_curves(x)
        };
        if let Some(label) = &self.figure.also_under
            && let Some(run) = results.answer_runs.iter().find(|run| run.label == *label)
        {
            let view = View::of(self.study, &run.by_grid);
            let named = |name| format!("{name}, {label}");
            curves.extend(self.series_curves(view, x, &run.label, named));
        }
        let values = self.values(x);
        let is_quantity = values.iter().all(|value| value.number().is_some());
        let names = values.iter().map(Value::to_string).collect();
        (curves, if is_quantity { Vec::new() } else { names })
    }

    fn values(&self, x: &str) -> Vec<Value> {
        let quantity = if self.figure.curve.is_empty() {
            self.figure.quantity()
        } else {
            self.quantity_of(&self.figure.curve[0])
        };
        self.view.results(quantity).map(|results| results.axis(x).to_vec()).unwrap_or_default()
    }

    fn abscissa(&self, x: &str, value: &Value) -> Option<f64> {
        let place = || self.values(x).iter().position(|one| one.same(value)).map(|at| at as f64 + 1.0);
        Some(value.number().or_else(place)? * self.figure.x_times.unwrap_or(1.0))
    }

    /// Returns one curve of our results for each combination of values on the axes other than `x`. The points that the
    /// paper publishes and the points of ns-2 form further curves.
    fn series_curves(
        &self,
        view: View<'_>,
        x: &str,
        reading: &str,
        name: impl Fn(String) -> String,
    ) -> Vec<Curve> {
        let quantity = self.figure.quantity();
        let Some(results) = view.results(quantity) else { return Vec::new() };
        let (cells, axes) = selected_cells(&view, quantity, results, &self.figure.at);
        let others: Vec<String> = axes.into_iter().filter(|axis| axis != x).collect();
        let default: Vec<String> = others.iter().map(|axis| format!("{{{axis}}}")).collect();
        let template = self.figure.series.clone().unwrap_or_else(|| default.join(", "));
        let mut curves: Vec<(String, Vec<Coordinates>)> = Vec::new();
        for coordinates in cells {
            let series = fill_template(&template, &coordinates);
            match curves.iter_mut().find(|(known, _)| *known == series) {
                Some((_, cells)) => cells.push(coordinates),
                None => curves.push((series, vec![coordinates])),
            }
        }
        let mut drawn = Vec::new();
        for (series, cells) in curves {
            let points = cells
                .iter()
                .filter_map(|coordinates| self.point(view, quantity, coordinates, x, 1.0))
                .collect();
            let shown = if series.is_empty() { "ours".to_owned() } else { series.clone() };
            drawn.push(Curve { name: name(shown.clone()), kind: CurveKind::Measured, points });
            let published = match reading {
                DEFAULT => self.published_points(x, &self.figure.published, 1.0, |row, coordinates| {
                    fill_template(&template, coordinates) == series || row.series == series
                }),
                _ => Vec::new(),
            };
            let beside = [
                ("published", CurveKind::Published, published),
                ("ns-2", CurveKind::Other, self.ns2_points(x, reading, &series)),
            ];
            for (whose, kind, points) in beside.into_iter().filter(|(.., points)| !points.is_empty()) {
                drawn.push(Curve { name: format!("{}, {whose}", name(shown.clone())), kind, points });
            }
        }
        drawn
    }

    fn point(
        &self,
        view: View<'_>,
        quantity: QuantityRef<'_>,
        coordinates: &Coordinates,
        x: &str,
        times: f64,
    ) -> Option<Point> {
        let estimate = view.measurement(quantity, coordinates)?.times(times).estimate()?;
        let point = Point::of(self.abscissa(x, coordinates.get(x)?)?, &estimate);
        // A point gets no error bar if all repetitions have the same value.
        let ci95 = point.ci95.filter(|ends| ends[0] < ends[1]);
        Some(Point { ci95, ..point })
    }

    /// Returns the points of the rows of `published.csv` whose item matches `items`. The abscissa of a point is the
    /// row's coordinate in the grid. If the grid has no such coordinate, the abscissa is the coordinate that the file
    /// states.
    fn published_points(
        &self,
        x: &str,
        items: &Texts,
        times: f64,
        is_meant: impl Fn(&Published, &Coordinates) -> bool,
    ) -> Vec<Point> {
        let rows = self.study.published.iter().filter(|row| items.matches(&row.item));
        let placed = rows.map(|row| {
            let coordinates =
                binding(self.study, row).map(|binding| coordinates_of(self.study, binding, row).0);
            (row, coordinates.unwrap_or_default())
        });
        let point = |(row, coordinates): (&Published, Coordinates)| {
            let written = || row.number(column(self.study, x)).map(Value::Number);
            let at = coordinates.get(x).cloned().or_else(written)?;
            Some(Point::exact(self.abscissa(x, &at)?, times * row.value()))
        };
        placed.filter(|(row, coordinates)| is_meant(row, coordinates)).filter_map(point).collect()
    }

    /// Returns the points of ns-2 for the curve `series`, under the answers of the reading.
    fn ns2_points(&self, x: &str, reading: &str, series: &str) -> Vec<Point> {
        let rows = self.study.ns2.iter().filter(|row| self.figure.ns2.matches(&row.item));
        let rows = rows.filter(|row| row.series == series && row.is_under(reading));
        let column = column(self.study, x);
        rows.filter_map(|row| {
            let (_, text) = row.coordinates().find(|(name, _)| *name == column)?;
            let ci95 = row.ci95().filter(|ends| ends[0] < ends[1]);
            Some(Point { x: self.abscissa(x, &Value::read(text))?, y: row.value, ci95 })
        })
        .collect()
    }

    fn quantity_of<'b>(&'b self, curve: &'b file::Curve) -> QuantityRef<'b> {
        let (own, figure) = (curve.quantity(), self.figure.quantity());
        if own.is_named() {
            own.or_grid(figure.grid)
        } else {
            QuantityRef { grid: own.grid.or(figure.grid), ..figure }
        }
    }

    fn explicit_curves(&self, x: &str) -> Vec<Curve> {
        let curve = |curve: &file::Curve| {
            let points = if curve.published.all().is_empty() {
                self.measured_points(curve, x)
            } else {
                self.published_points(x, &curve.published, curve.times.unwrap_or(1.0), |row, _| {
                    curve.filter.matches(row)
                })
            };
            let kind =
                if curve.published.all().is_empty() { curve_kind(curve.draw) } else { CurveKind::Published };
            Curve { name: curve.name.clone(), kind, points }
        };
        self.figure.curve.iter().map(curve).collect()
    }

    fn measured_points(&self, curve: &file::Curve, x: &str) -> Vec<Point> {
        let quantity = self.quantity_of(curve);
        let Some(results) = self.view.results(quantity) else { return Vec::new() };
        let mut at = self.figure.at.clone();
        at.extend(curve.at.iter().map(|(axis, value)| (axis.clone(), OneOrMore(vec![value.clone()]))));
        let (cells, _) = selected_cells(&self.view, quantity, results, &at);
        let times = curve.times.unwrap_or(1.0);
        // If `at` does not fix some axis, the first value of that axis is used.
        let mut seen: Vec<Value> = Vec::new();
        let firsts = cells.iter().filter(|coordinates| {
            let new = coordinates.get(x).is_some_and(|value| !seen.iter().any(|one| one.same(value)));
            seen.extend(coordinates.get(x).filter(|_| new).cloned());
            new
        });
        firsts.filter_map(|coordinates| self.point(self.view, quantity, coordinates, x, times)).collect()
    }
}

/// Returns the kind of a curve that shows our results in this style.
pub fn curve_kind(drawn: Drawn) -> CurveKind {
    match drawn {
        Drawn::Points => CurveKind::Measured,
        Drawn::Line => CurveKind::Line,
        Drawn::Steps => CurveKind::Steps,
    }
}
