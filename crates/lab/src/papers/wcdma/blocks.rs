//! Items and blocks of a chapter from a grid, and how both chapters begin and end.

use super::grid::{Grid, Of, goodput};
use crate::document::{Block, Cell, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::cells::{measured, number, place};
use crate::papers::deviation;

/// The waiting timer as an abscissa.
pub(crate) const WT: (&str, &str) = ("wt_ms", "waiting timer WT, ms");

/// A figure over a grid.
pub(crate) struct Plot {
    /// The item and the anchor.
    pub(crate) item: &'static str,
    pub(crate) title: &'static str,
    pub(crate) caption: &'static str,
    pub(crate) x: (&'static str, &'static str),
    pub(crate) metric: (&'static str, &'static str),
    pub(crate) of: Of,
}

/// Figures, and what of a chapter's measurements each is drawn from.
pub(crate) type Plots<M> = [(Plot, fn(&M) -> &Grid)];

/// The points of all figures, without published numbers.
pub(crate) fn points<M>(paper: &str, plots: &Plots<M>, measured: &M) -> Vec<Item> {
    plots.iter().flat_map(|(plot, grid)| plot.items(paper, grid(measured))).collect()
}

/// All figures; `published` gives the paper's points by series for an item.
pub(crate) fn figures<M>(
    plots: &Plots<M>,
    measured: &M,
    published: fn(&str) -> &'static [(&'static str, f64, f64)],
) -> Vec<Block> {
    plots.iter().map(|(plot, grid)| plot.block(grid(measured), published(plot.item))).collect()
}

impl Plot {
    /// Goodput over something.
    pub(crate) const fn goodput(
        item: &'static str,
        title: &'static str,
        x: (&'static str, &'static str),
        caption: &'static str,
    ) -> Plot {
        Plot { item, title, caption, x, metric: ("goodput", "kbit/s"), of: goodput }
    }

    /// Something else over the waiting timer.
    pub(crate) const fn over_wait(
        item: &'static str,
        title: &'static str,
        metric: (&'static str, &'static str),
        of: Of,
        caption: &'static str,
    ) -> Plot {
        Plot { item, title, caption, x: WT, metric, of }
    }

    fn items(&self, paper: &str, grid: &Grid) -> Vec<Item> {
        let mut items = Vec::new();
        for series in grid.series() {
            for x in grid.xs(series) {
                let estimate = grid.estimate(series, x, self.of);
                let item = Item::new(paper, self.item, series)
                    .metric(self.metric.0, self.metric.1)
                    .at(self.x.0, x)
                    .measured(estimate);
                items.push(item);
            }
        }
        items
    }

    /// The picture; `published` are the paper's points by series.
    fn block(&self, grid: &Grid, published: &[(&str, f64, f64)]) -> Block {
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
            ..Figure::default()
        })
    }
}

/// Numbers and claims with a verdict, as a table.
fn verdicts(items: &[Item]) -> Block {
    let rows = headline(items)
        .map(|item| {
            vec![
                Cell::Text(item.item.clone()),
                Cell::Text(item.series.clone()),
                Cell::Text(place(item)),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Text(unit(item)),
                Cell::Verdict(item.verdict),
                Cell::Text(item.note.clone()),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "Published numbers and claims beside ours".into(),
        columns: ["item", "series", "at", "published", "measured", "unit", "verdict", "what"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

/// The unit, or what is counted.
fn unit(item: &Item) -> String {
    match item.series.starts_with("claim") {
        true => "share of points".into(),
        false if item.unit.is_empty() => item.metric.clone(),
        false => item.unit.clone(),
    }
}

/// The verdicts in a sentence.
fn summary(items: &[Item]) -> String {
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
fn headline(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().filter(|item| item.verdict.is_some() && !item.item.starts_with("sensitivity-"))
}

/// How a chapter begins: what it is about, what was claimed, and what comes out.
pub(crate) fn opening(citation: &str, claimed: &str, items: &[Item]) -> Vec<Block> {
    vec![
        Block::Text(citation.into()),
        Block::Text(claimed.into()),
        Block::Text(summary(items)),
        Block::Heading("Claims and numbers".into()),
        verdicts(items),
    ]
}

/// How it ends: what the open questions decide, and the contradictions of its `deviations.toml`.
pub(crate) fn closing(questions: &str, sensitivity: Table, deviations: &str) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading("What the open questions decide".into()),
        Block::Text(questions.into()),
        Block::Table(sensitivity),
    ];
    if let Ok(deviations) = deviation::read(deviations) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
    blocks
}
