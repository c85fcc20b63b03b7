//! Tables 2 and 3, and from which p_err two ACKs win, beside the paper's.

use super::PAPER;
use super::grid::Grid;
use super::setting::{Acks, Nodes, Setting};
use crate::item::{Item, Verdict};
use crate::papers::published::Published;

/// The points of the sensitivity rows.
pub(super) const SENSITIVITY: [f64; 4] = [0.01, 0.05, 0.1, 0.2];

/// The published goodput.
pub(super) fn published(numbers: &[Published], nodes: Nodes, acks: Acks, p_err: f64) -> Option<f64> {
    let is_it = |one: &&Published| {
        one.item == nodes.item() && one.series == acks.name() && one.coordinate("p_err") == Some(p_err)
    };
    numbers.iter().find(is_it).map(|one| one.value)
}

/// Whether two ACKs lie on the same side of one as in the paper, at each point of the grid that the paper has.
fn same_sides(grid: &Grid, numbers: &[Published]) -> Vec<bool> {
    let side = |at: usize| {
        let p_err = grid.p_errs[at];
        let paper = published(numbers, grid.nodes, Acks::Two, p_err)?
            > published(numbers, grid.nodes, Acks::One, p_err)?;
        let ours = grid.goodput(Acks::Two, at)?.mean > grid.goodput(Acks::One, at)?.mean;
        Some(paper == ours)
    };
    (0..grid.p_errs.len()).filter_map(side).collect()
}

/// Every cell of the table. Where the number does not agree, the shape is that two ACKs win or lose as in the paper.
pub(super) fn items(grid: &Grid, numbers: &[Published]) -> Vec<Item> {
    let same = same_sides(grid, numbers);
    let mut items = Vec::new();
    for acks in Acks::ALL {
        for (at, p_err) in grid.p_errs.iter().enumerate() {
            let Some(measured) = grid.goodput(acks, at) else { continue };
            let item = Item::new(PAPER.name, grid.nodes.item(), acks.name())
                .metric("goodput", "kbit/s")
                .at("p_err", *p_err)
                .measured(Some(measured));
            items.push(match published(numbers, grid.nodes, acks, *p_err) {
                Some(value) => {
                    let holds = same.get(at).copied().unwrap_or(false);
                    item.published(value, 0.05 * value, holds).note(match holds {
                        true => "two ACKs win or lose here as in the paper",
                        false => "here two ACKs do not lie on the paper's side of one",
                    })
                }
                None => item.note("not in the paper: one or two ACKs by the receiver's estimate"),
            });
        }
    }
    items
}

/// From which p_err of the paper's grid two ACKs win.
pub(super) fn crossing(grid: &Grid, numbers: &[Published]) -> Item {
    let name = grid.nodes.crossing();
    let value = numbers.iter().find(|one| one.item == name).map_or(f64::NAN, |one| one.value);
    let of_means = grid.crossing_of_means();
    let series = if grid.nodes == Nodes::One { "1 node" } else { "5 nodes" };
    // By the means of all repetitions, because the interval over few of them is wide: at the same point of the grid it
    // agrees, at a neighbour it has the shape.
    let place = |p_err: f64| grid.p_errs.iter().position(|known| *known == p_err);
    let verdict = match of_means.and_then(place).zip(place(value)).map(|(ours, paper)| ours.abs_diff(paper)) {
        Some(0) => Verdict::Agrees,
        Some(1) => Verdict::Shape,
        _ => Verdict::Differs,
    };
    let item = Item::new(PAPER.name, name, series)
        .metric("p_err from which two ACKs win", "")
        .measured(grid.crossing())
        .published(value, 0.0, false)
        .note(match of_means {
            Some(p_err) => format!(
                "the first p_err of the grid from which two ACKs win at every point: mean over repetitions; by the \
                 means of all repetitions {p_err}"
            ),
            None => "by the means of all repetitions two ACKs do not win at the largest p_err".into(),
        });
    Item { verdict: Some(verdict), ..item }
}

/// What the paper says in words of the simulation.
pub(super) fn claims(one: &Grid, five: &Grid) -> Vec<Item> {
    let share = |grid: &Grid, holds: &dyn Fn(f64) -> bool, wins: bool| {
        let points: Vec<bool> = (0..grid.p_errs.len())
            .filter(|at| holds(grid.p_errs[*at]))
            .filter_map(|at| {
                Some((grid.goodput(Acks::Two, at)?.mean > grid.goodput(Acks::One, at)?.mean) == wins)
            })
            .collect();
        (points.iter().filter(|holds| **holds).count() as f64 / points.len().max(1) as f64, points.len())
    };
    let claim = |name: &str, words: &str, (share, points): (f64, usize)| {
        Item::new(PAPER.name, name, "2 ACKs").claim(words, share, points)
    };
    vec![
        claim("claim-wins-1", "one node: two ACKs win from p_err = 0.05", share(one, &|p| p >= 0.05, true)),
        claim("claim-loses-1", "one node: they lose a little below", share(one, &|p| p < 0.05, false)),
        claim("claim-wins-5", "five nodes: two ACKs win from p_err = 0.1", share(five, &|p| p >= 0.1, true)),
        claim("claim-loses-5", "five nodes: they lose a little below", share(five, &|p| p < 0.1, false)),
    ]
}

/// A row of the sensitivity table.
pub(super) struct Row {
    pub(super) setting: Setting,
    pub(super) one: Grid,
    pub(super) five: Grid,
    pub(super) items: Vec<Item>,
}

impl Row {
    pub(super) fn of(setting: &Setting, one: Grid, five: Grid, numbers: &[Published]) -> Row {
        let mut items = vec![crossing(&one, numbers), crossing(&five, numbers)];
        items.extend(claims(&one, &five));
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), setting.label().into());
        }
        Row { setting: setting.clone(), one, five, items }
    }
}
