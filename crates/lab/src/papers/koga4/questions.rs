//! What the chapter leaves open: its main claims under every other answer.

use super::claims::{delay_claim, share_claim, size_claims, wait_claim};
use super::experiments::{link, point, rates, transfer, transfer_sizes, wait};
use super::numbers::{behind_gap, late, packets};
use super::{Effort, PAPER, SCENARIO};
use crate::item::Item;
use crate::papers::wcdma::grid::{Changes, Grid, GridPoint, Of, completion, recoveries, timeouts};
use crate::papers::wcdma::row::Row;
use crate::progress::Progress;
use lasthop_scenario::Problem;

const CHANNEL: &str = "link.wireless.down.channel";

/// Question and answer, and what changes; the first is the default.
const ANSWERS: &[(&str, &[(&str, &str)])] = &[
    ("default: two paths, 5 Hz, status at once", &[]),
    ("status report: 100 ms later", &[("link.wireless.down.arq.status_delay", "100 ms")]),
    ("status report: 300 ms later", &[("link.wireless.down.arq.status_delay", "300 ms")]),
    (
        "status report: polls and status PDUs, error-free",
        &[("link.wireless.up.arq", "rlc"), ("link.wireless.down.arq.status", "polled")],
    ),
    ("fading: independent blocks", &[(CHANNEL, "iid"), ("link.wireless.down.channel.loss", "0.059")]),
    (
        "fading: two states, bursts of 3 blocks",
        &[
            (CHANNEL, "two_state"),
            ("link.wireless.down.channel.mean_loss", "0.059"),
            ("link.wireless.down.channel.mean_burst", "3"),
        ],
    ),
    ("fading: one path, 5 Hz", &[("link.wireless.down.channel.paths", "1")]),
    ("fading: two paths, 1 Hz", &[("link.wireless.down.channel.doppler_hz", "1")]),
    ("fading: two paths, 0.2 Hz", &[("link.wireless.down.channel.doppler_hz", "0.2")]),
    (
        "fading: two paths, 0.2 Hz; discard not announced",
        &[("link.wireless.down.channel.doppler_hz", "0.2"), ("link.wireless.down.arq.announce", "false")],
    ),
    (
        "fading: independent PDUs, destroyed apart",
        &[
            (CHANNEL, "iid"),
            ("link.wireless.down.channel.loss", "0.059"),
            ("link.wireless.down.arq.loses", "pdu"),
        ],
    ),
    ("concatenation", &[("link.wireless.down.arq.concatenate", "true")]),
    ("discard: not announced", &[("link.wireless.down.arq.announce", "false")]),
    ("discard: after 3 s", &[("link.wireless.down.arq.discard", "timer")]),
    ("discard: never", &[("link.wireless.down.arq.discard", "never")]),
    ("smallest RTO: 200 ms", &[("flow.bulk.sender.min_rto", "200 ms")]),
    ("delayed ACKs", &[("flow.bulk.receiver.timing", "delayed")]),
    ("recovery: SACK", &[("flow.bulk.sack", "true"), ("flow.bulk.sender.recovery", "sack")]),
    (
        "awnd: 20 packets (ns-2's default)",
        &[("flow.bulk.receiver.window", "buffer"), ("flow.bulk.receiver.window.size", "30000 bytes")],
    ),
];

const WAITS: [f64; 4] = [0.0, 300.0, 2000.0, 3000.0];
/// WT at which packet sizes are compared, ms.
const SIZES_AT: [f64; 2] = [0.0, 2000.0];
const SERIES: &str = "FER 5.9 %";
/// What of Table 4.2 is measured under every answer: series, metric, unit, number.
const MEASURES: [(&str, &str, &str, Of); 5] = [
    ("total packets", "packets", "", packets),
    ("out of order: late", "share", "%", late),
    ("out of order: behind a gap", "share", "%", behind_gap),
    ("TCP timeouts", "timeouts", "", timeouts),
    ("TCP fast recoveries", "recoveries", "", recoveries),
];

pub(super) fn run(effort: &Effort, seed: u64, progress: &dyn Progress) -> Result<Vec<Row>, Problem> {
    let transfers = 4 * effort.sensitivity_runs;
    ANSWERS
        .iter()
        .map(|(label, answer)| {
            let grid = |points, runs| Grid::run(SCENARIO, under(answer, points), runs, seed, progress);
            let over_wait = |more: &Changes| {
                let changes = |wt| more.iter().cloned().chain([wait(wt)]).collect();
                WAITS.map(|wt| point(SERIES.into(), wt, link(384.0, 0.059), changes(wt))).into()
            };
            let measured = Measured {
                bulk: grid(over_wait(&Vec::new()), effort.sensitivity_runs)?,
                transfers: grid(over_wait(&transfer()), transfers)?,
                rates: grid(rates(), effort.sensitivity_runs)?,
                sizes: grid(transfer_sizes(&SIZES_AT), transfers)?,
            };
            Ok(Row::new(label, items(&measured)))
        })
        .collect()
}

/// The points under an answer; another channel has the frame error rate that each point states.
fn under(answer: &[(&'static str, &str)], mut points: Vec<GridPoint>) -> Vec<GridPoint> {
    let is_fading = !answer.iter().any(|(path, _)| *path == CHANNEL);
    for point in &mut points {
        let loss =
            point.changes.iter().find(|(path, _)| path.starts_with(CHANNEL)).map(|(_, fer)| fer.clone());
        point.changes.retain(|(path, _)| is_fading || !path.starts_with(CHANNEL));
        point.changes.extend(answer.iter().map(|(path, value)| match (&loss, path.ends_with("loss")) {
            (Some(fer), true) => (*path, fer.clone()),
            _ => (*path, (*value).to_string()),
        }));
    }
    points
}

/// What is measured under an answer.
struct Measured {
    bulk: Grid,
    transfers: Grid,
    rates: Grid,
    sizes: Grid,
}

fn items(measured: &Measured) -> Vec<Item> {
    let mut items = vec![
        wait_claim(&measured.bulk, SERIES),
        delay_claim(&measured.transfers, SERIES),
        share_claim(&measured.rates),
    ];
    items.extend(size_claims(&measured.sizes));
    for wt in WAITS {
        for (series, metric, unit, of) in MEASURES {
            items.push(
                Item::new(PAPER.name, "table4.2", series)
                    .metric(metric, unit)
                    .at("wt_ms", wt)
                    .measured(measured.bulk.estimate(SERIES, wt, of)),
            );
        }
        items.push(
            Item::new(PAPER.name, "fig4.10", "delay")
                .metric("completion", "s")
                .at("wt_ms", wt)
                .measured(measured.transfers.estimate(SERIES, wt, completion)),
        );
    }
    items
}
