//! What the chapter leaves open: its main claims under every other answer.

use super::experiments::{self, adaptive, buffers, changing, original, wait, windows};
use super::{CHANGING, Effort, PAPER, SCENARIO, claims, numbers};
use crate::item::Item;
use crate::papers::wcdma::claims::{Tally, above, not_below};
use crate::papers::wcdma::grid::{Changes, Grid, GridPoint, goodput};
use crate::papers::wcdma::row::Row;
use crate::progress::Progress;
use lasthop_scenario::Problem;

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
    let answers = ANSWERS.iter().map(|(label, answer)| (*label, owned(answer), Changes::new()));
    let edges = EDGES.iter().map(|(label, answer)| (*label, Changes::new(), owned(answer)));
    answers
        .chain(edges)
        .map(|(label, all, window)| {
            let grid = |text, points| {
                Grid::run(text, under(&all, &window, points), effort.sensitivity_runs, seed, progress)
            };
            let mut buffers = grid(SCENARIO, few_buffers("constant"))?;
            buffers.join(grid(CHANGING, few_buffers("changing"))?);
            let measured = Measured {
                over_wait: grid(SCENARIO, over_wait())?,
                sizes: grid(SCENARIO, sizes())?,
                windows: grid(SCENARIO, few_windows())?,
                changing: grid(
                    CHANGING,
                    changing().into_iter().filter(|point| WAITS.contains(&point.x)).collect(),
                )?,
                buffers,
            };
            Ok(Row::new(label, items(&measured)))
        })
        .collect()
}

/// The points under an answer: `all` changes every receiver's scenario, `window` the adaptive one's. What a point is about
/// comes last.
fn under(all: &Changes, window: &Changes, mut points: Vec<GridPoint>) -> Vec<GridPoint> {
    for point in &mut points {
        point.changes.splice(0..0, all.iter().cloned());
        if point.series.ends_with("adaptive") || point.series.starts_with("proposed") {
            point.changes.extend(window.iter().cloned());
        }
    }
    points
}

const WAITS: [f64; 2] = [300.0, 1000.0];

/// The free buffer and the adaptive window.
fn over_wait() -> Vec<GridPoint> {
    let mut points = Vec::new();
    for (name, receiver) in [("original", original()), ("adaptive", adaptive())] {
        for millis in WAITS {
            let changes = receiver.iter().cloned().chain([wait(millis)]).collect();
            points.push(GridPoint { series: name.into(), x: millis, changes });
        }
    }
    points
}

/// Plain TCP over WT, by packet size.
fn sizes() -> Vec<GridPoint> {
    let mut points = Vec::new();
    for bytes in [1500, 512] {
        for millis in experiments::WAITS {
            let size = ("flow.bulk.segment", format!("{bytes} bytes"));
            let changes = original().into_iter().chain([size, wait(millis)]).collect();
            points.push(GridPoint { series: format!("original, {bytes} bytes"), x: millis, changes });
        }
    }
    points
}

/// Table 5.1's.
fn few_windows() -> Vec<GridPoint> {
    let published = |point: &GridPoint| {
        let is_in_table = point.series.starts_with("64 ") || point.series.ends_with("WT 300 ms");
        is_in_table && (3.0..=13.0).contains(&point.x)
    };
    windows().into_iter().filter(published).collect()
}

fn few_buffers(link: &str) -> Vec<GridPoint> {
    buffers(link).into_iter().filter(|point| point.x == 10.0 || point.x == 30.0).collect()
}

/// What is measured under an answer.
struct Measured {
    over_wait: Grid,
    sizes: Grid,
    windows: Grid,
    changing: Grid,
    buffers: Grid,
}

fn items(measured: &Measured) -> Vec<Item> {
    let over_wait = &measured.over_wait;
    let mut higher = Tally::default();
    for wt in WAITS {
        higher.note(not_below(over_wait, ("adaptive", wt), ("original", wt), goodput));
    }
    higher.note(above(over_wait, ("adaptive", 1000.0), ("original", 1000.0), goodput));
    let mut items =
        vec![higher.item(PAPER.name, "fig5.3", "with the window throughput is higher (FER 2.6 %)")];
    items.extend(claims::best_waits(&measured.sizes));
    items.extend(claims::changing(&measured.changing));
    items.push(claims::without(&measured.buffers));
    for series in ["original", "adaptive"] {
        for wt in WAITS {
            items.push(
                Item::new(PAPER.name, "fig5.3", series)
                    .metric("goodput", "kbit/s")
                    .at("wt_ms", wt)
                    .measured(over_wait.estimate(series, wt, goodput)),
            );
        }
    }
    items.extend(numbers::table(&measured.windows));
    items
}
