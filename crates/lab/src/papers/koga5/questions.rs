//! What the chapter leaves open: its main claims under every other answer.

use super::claims;
use super::experiments::{adaptive, awnd, changing, original, slow, wait};
use super::{CHANGING, Effort, PAPER, SCENARIO};
use crate::item::Item;
use crate::papers::wcdma::claims::{Tally, above, not_below};
use crate::papers::wcdma::grid::{Cell, Changes, Grid, goodput, recoveries};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// A row of the sensitivity table.
pub(super) struct Row {
    pub(super) label: &'static str,
    pub(super) items: Vec<Item>,
}

impl Row {
    /// An item by the end of its name and its series.
    pub(super) fn item(&self, item: &str, series: &str) -> Option<&Item> {
        self.items
            .iter()
            .find(|one| one.item.strip_prefix("sensitivity-") == Some(item) && one.series == series)
    }
}

const CHANNEL: &str = "link.wireless.down.channel";
const LOSS: (&str, &str) = ("link.wireless.down.channel.loss", "0.026");

/// Question and answer, and what changes; the first is the default.
const ANSWERS: &[(&str, &[(&str, &str)])] = &[
    ("default", &[]),
    ("base station: 10 packets", &[("link.wireless.down.queue", "10 packets")]),
    ("base station: holds packets until they are sent once", &[("link.wireless.down.arq.holds", "unsent")]),
    ("an overflowing packet has no number", &[("link.wireless.down.arq.number_overflow", "false")]),
    ("status report: 100 ms later", &[("link.wireless.down.arq.status_delay", "100 ms")]),
    ("status report: 300 ms later", &[("link.wireless.down.arq.status_delay", "300 ms")]),
    ("fading: independent blocks", &[(CHANNEL, "iid"), LOSS]),
    ("fading: one path, 5 Hz", &[("link.wireless.down.channel.paths", "1")]),
    ("fading: two paths, 1 Hz", &[("link.wireless.down.channel.doppler_hz", "1")]),
    (
        "fading: two states, bursts of 3 blocks",
        &[
            (CHANNEL, "two_state"),
            ("link.wireless.down.channel.mean_loss", "0.026"),
            ("link.wireless.down.channel.mean_burst", "3"),
        ],
    ),
    ("smallest RTO: 200 ms", &[("flow.bulk.sender.min_rto", "200 ms")]),
    ("delayed ACKs", &[("flow.bulk.receiver.timing", "delayed")]),
];

/// Answers about the adaptive window alone: its changes, and the label.
const EDGES: &[(&str, &[(&str, &str)])] = &[
    ("awnd falls: its right edge moves left", &[("flow.bulk.receiver.window.edge", "shrinks")]),
    ("awnd from Eq. 5.2 as printed", &[("flow.bulk.receiver.window.formula", "eq5.2")]),
];

fn owned(answer: &[(&'static str, &'static str)]) -> Changes {
    answer.iter().map(|(path, value)| (*path, (*value).to_string())).collect()
}

pub(super) fn run(effort: &Effort, seed: u64, progress: &dyn Progress) -> Result<Vec<Row>, Problem> {
    let mut rows = Vec::new();
    for (label, answer) in ANSWERS {
        rows.push(row(label, &owned(answer), &Vec::new(), effort, seed, progress)?);
    }
    for (label, answer) in EDGES {
        rows.push(row(label, &Vec::new(), &owned(answer), effort, seed, progress)?);
    }
    Ok(rows)
}

/// Measures one row: `all` changes every receiver's scenario, `window` the adaptive one's.
fn row(
    label: &'static str,
    all: &Changes,
    window: &Changes,
    effort: &Effort,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Row, Problem> {
    let with = |mut cells: Vec<Cell>| {
        for cell in &mut cells {
            cell.changes.extend(all.iter().cloned());
            if cell.series.ends_with("adaptive") {
                cell.changes.extend(window.iter().cloned());
            }
        }
        cells
    };
    let runs = effort.sensitivity_runs;
    let mut over_wait = Vec::new();
    for (name, receiver) in [("original", original()), ("adaptive", adaptive())] {
        for millis in [300.0, 1000.0] {
            let changes = receiver.iter().cloned().chain([wait(millis)]).collect();
            over_wait.push(Cell { series: name.into(), x: millis, changes });
        }
    }
    let constant = Grid::run(SCENARIO, with(over_wait), runs, seed, progress)?;
    let mut few = Vec::new();
    for (series, rate, millis) in [("64 kbit/s", slow(), 1000.0), ("384 kbit/s", Vec::new(), 300.0)] {
        for packets in [4.0, 10.0, 11.0, 13.0] {
            let changes = rate.iter().cloned().chain(awnd(packets)).chain([wait(millis)]).collect();
            few.push(Cell { series: series.into(), x: packets, changes });
        }
    }
    let windows = Grid::run(SCENARIO, with(few), runs, seed, progress)?;
    let cells = changing().into_iter().filter(|cell| cell.x == 300.0 || cell.x == 1000.0).collect();
    let changing = Grid::run(CHANGING, with(cells), runs, seed, progress)?;

    let mut items = Vec::new();
    let mut higher = Tally::default();
    for wt in [300.0, 1000.0] {
        higher.note(not_below(&constant, ("adaptive", wt), ("original", wt), goodput));
    }
    higher.note(above(&constant, ("adaptive", 1000.0), ("original", 1000.0), goodput));
    items.push(higher.item(
        PAPER.name,
        "sensitivity-fig5.3",
        "with the window throughput is higher (FER 2.6 %)",
    ));
    items.extend(
        claims::changing(&changing, "sensitivity-fig5.9").into_iter().zip(["claim", "claim adaptive"]).map(
            |(mut item, series)| {
                item.series = series.into();
                item
            },
        ),
    );
    for (series, grid) in [("original", &constant), ("adaptive", &constant)] {
        for wt in [300.0, 1000.0] {
            items.push(
                Item::new(PAPER.name, "sensitivity-fig5.3", format!("{series}, WT {wt} ms"))
                    .metric("goodput", "kbit/s")
                    .at("wt_ms", wt)
                    .measured(grid.estimate(series, wt, goodput)),
            );
        }
    }
    for (series, packets) in [
        ("64 kbit/s", 4.0),
        ("64 kbit/s", 13.0),
        ("384 kbit/s", 10.0),
        ("384 kbit/s", 11.0),
        ("384 kbit/s", 13.0),
    ] {
        items.push(
            Item::new(PAPER.name, "sensitivity-table5.1", format!("{series}, awnd {packets}"))
                .metric("recoveries", "")
                .at("awnd", packets)
                .measured(windows.estimate(series, packets, recoveries)),
        );
    }
    let items = items.into_iter().map(|item| item.at("setting", label)).collect();
    Ok(Row { label, items })
}
