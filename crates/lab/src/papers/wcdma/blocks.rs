//! Items and blocks of a chapter from a grid.

use super::grid::{Grid, Of};
use crate::document::{Block, Cell, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::deviation;

/// A figure over a grid.
pub(crate) struct Plot<'a> {
    pub(crate) paper: &'static str,
    /// The item and the anchor.
    pub(crate) item: &'static str,
    pub(crate) title: &'a str,
    pub(crate) caption: &'a str,
    pub(crate) x: (&'static str, &'a str),
    pub(crate) metric: (&'static str, &'static str),
    pub(crate) of: Of,
}

impl Plot<'_> {
    /// Its points, without published numbers.
    pub(crate) fn items(&self, grid: &Grid) -> Vec<Item> {
        let mut items = Vec::new();
        for series in grid.series() {
            for x in grid.xs(series) {
                let estimate = grid.estimate(series, x, self.of);
                let item = Item::new(self.paper, self.item, series)
                    .metric(self.metric.0, self.metric.1)
                    .at(self.x.0, x)
                    .measured(estimate);
                items.push(item);
            }
        }
        items
    }

    /// The picture; `published` are the paper's points by series.
    pub(crate) fn block(&self, grid: &Grid, published: &[(&str, f64, f64)]) -> Block {
        let mut curves: Vec<Curve> = Vec::new();
        for series in grid.series() {
            let points = grid.xs(series).into_iter();
            let points =
                points.filter_map(|x| Some(Point::of(x, &grid.estimate(series, x, self.of)?))).collect();
            curves.push(Curve { name: series.into(), kind: CurveKind::Measured, points });
            let points: Vec<Point> = published
                .iter()
                .filter(|(of, _, _)| *of == series)
                .map(|(_, x, y)| Point::exact(*x, *y))
                .collect();
            if !points.is_empty() {
                curves.push(Curve {
                    name: format!("{series}, published"),
                    kind: CurveKind::Published,
                    points,
                });
            }
        }
        Block::Figure(Figure {
            id: self.item.replace('.', "-"),
            title: self.title.into(),
            caption: self.caption.into(),
            x_label: self.x.1.into(),
            y_label: format!("{}, {}", self.metric.0, self.metric.1),
            x_log: false,
            curves,
        })
    }
}

/// Numbers and claims with a verdict, as a table.
pub(crate) fn verdicts(caption: &str, items: &[&Item]) -> Block {
    let rows = items
        .iter()
        .map(|item| {
            let at: Vec<String> = item.x.iter().map(|(name, value)| format!("{name} {value}")).collect();
            vec![
                Cell::Text(item.item.clone()),
                Cell::Text(item.series.clone()),
                Cell::Text(at.join(", ").replace('"', "")),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Text(unit(item)),
                Cell::Verdict(item.verdict),
                Cell::Text(item.note.clone()),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: caption.into(),
        columns: ["item", "series", "at", "published", "measured", "unit", "verdict", "what"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

/// The unit, or what is counted.
fn unit(item: &Item) -> String {
    match item.series == "claim" {
        true => "of points".into(),
        false if item.unit.is_empty() => item.metric.clone(),
        false => item.unit.clone(),
    }
}

/// The verdicts in a sentence.
pub(crate) fn summary(items: &[Item]) -> String {
    let count = |verdict| headline(items).filter(|item| item.verdict == Some(verdict)).count();
    format!(
        "What we get under the default reading: of {} published numbers and claims {} agree, {} hold in shape but not \
         in number, {} differ. {}",
        headline(items).count(),
        count(Verdict::Agrees),
        count(Verdict::Shape),
        count(Verdict::Differs),
        super::claims::WORDS
    )
}

/// Items with a verdict under the default setting.
pub(crate) fn headline(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().filter(|item| item.verdict.is_some() && !item.item.starts_with("sensitivity-"))
}

/// Contradictions and gaps from a `deviations.toml`.
pub(crate) fn contradictions(text: &str, blocks: &mut Vec<Block>) {
    if let Ok(deviations) = deviation::read(text) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
}

/// An item's number with half its interval.
pub(crate) fn measured(item: &Item) -> Cell {
    match (item.measured, item.ci95) {
        (Some(mean), Some(ci95)) if ci95.iter().all(|end| end.is_finite()) && ci95[0] < ci95[1] => {
            Cell::Number(format!("{} ± {}", number(mean), number((ci95[1] - ci95[0]) / 2.0)))
        }
        (Some(mean), _) => Cell::Number(number(mean)),
        (None, _) => Cell::Empty,
    }
}

/// Three significant digits or so.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        0.0 => "0".into(),
        _ => format!("{value:.3}"),
    }
}
