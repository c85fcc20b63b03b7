//! The adaptive terminal by how it learns p and p_buff (§2.3).

use super::PAPER;
use super::grid::Grid;
use super::setting::{Acks, Nodes, Setting};
use crate::document::{Block, Cell, Table};
use crate::item::Item;
use crate::papers::cells::number;

/// One way: the outcomes with one node and with five.
pub(super) struct Way {
    pub(super) setting: Setting,
    pub(super) grids: [Grid; 2],
}

impl Way {
    /// Goodput and ACKs per segment at each point; the paper has no numbers for them.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for grid in &self.grids {
            for (at, p_err) in grid.p_errs.iter().enumerate() {
                let item = |metric: &str, unit: &str| {
                    Item::new(PAPER.name, "sensitivity-adaptive", "adaptive")
                        .metric(metric, unit)
                        .at("p_err", *p_err)
                        .at("nodes", grid.nodes.count())
                        .at("setting", self.setting.label())
                };
                let goodput = grid.goodput(Acks::Adaptive, at);
                items.push(item("goodput", "kbit/s").measured(goodput));
                let acks = grid.acks_per_segment(Acks::Adaptive, at);
                items.push(item("ACKs per segment received", "").measured(acks));
            }
        }
        items
    }
}

/// The adaptive terminal by how it learns p.
pub(super) fn table(ways: &[Way]) -> Block {
    let cell = |grid: &Grid, at: usize| {
        let goodput = grid.goodput(Acks::Adaptive, at).map(|one| number(one.mean));
        let acks = grid.acks_per_segment(Acks::Adaptive, at).map(|one| number(one.mean));
        match goodput.zip(acks) {
            Some((goodput, acks)) => Cell::Number(format!("{goodput}; {acks}")),
            None => Cell::Empty,
        }
    };
    let mut columns = vec!["open question: answer".to_string()];
    for grid in ways.first().iter().flat_map(|way| &way.grids) {
        let nodes = if grid.nodes == Nodes::One { "1 node" } else { "5 nodes" };
        columns.extend(grid.p_errs.iter().map(|p_err| format!("{nodes}, p_err {p_err}")));
    }
    let rows = ways
        .iter()
        .map(|way| {
            let mut cells = vec![Cell::Text(way.setting.label())];
            for grid in &way.grids {
                cells.extend((0..grid.p_errs.len()).map(|at| cell(grid, at)));
            }
            cells
        })
        .collect();
    Block::Table(Table {
        caption: "How the adaptive terminal learns p and p_buff: goodput, kbit/s, and ACKs per segment received (1: \
                  never two, 2: always)"
            .into(),
        columns,
        rows,
    })
}
