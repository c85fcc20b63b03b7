//! What the chapter leaves open: its main claims under every other answer.

use super::claims::{delay_claim, wait_claim};
use super::experiments::{link, transfer, wait};
use super::numbers::{behind_gap, late, packets};
use super::{Effort, PAPER, SCENARIO};
use crate::item::Item;
use crate::papers::wcdma::grid::{Cell, Changes, Grid, Of, completion, recoveries, timeouts};
use crate::progress::Progress;
use lasthop_scenario::Problem;

/// A row of the sensitivity table.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) items: Vec<Item>,
}

impl Row {
    /// An item by the end of its name, series and WT.
    pub(super) fn item(&self, item: &str, series: &str, wt: Option<f64>) -> Option<&Item> {
        self.items.iter().find(|one| {
            one.item.strip_prefix("sensitivity-") == Some(item)
                && one.series == series
                && wt.is_none_or(|wt| one.x.get("wt_ms").and_then(|value| value.as_f64()) == Some(wt))
        })
    }
}

const CHANNEL: &str = "link.wireless.down.channel";

/// Question and answer, and what changes; the first is the default.
const ANSWERS: &[(&str, &[(&str, &str)])] = &[
    ("default: two paths, 5 Hz, status at once", &[]),
    ("status report: 100 ms later", &[("link.wireless.down.arq.status_delay", "100 ms")]),
    ("status report: 300 ms later", &[("link.wireless.down.arq.status_delay", "300 ms")]),
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
    ANSWERS
        .iter()
        .map(|(label, answer)| {
            let is_fading = !answer.iter().any(|(path, _)| *path == CHANNEL);
            let mut base: Changes = link(384.0, 0.059);
            base.retain(|(path, _)| is_fading || !path.starts_with(CHANNEL));
            base.extend(answer.iter().map(|(path, value)| (*path, (*value).to_string())));
            let cells = |more: Changes| {
                let changes = |wt| base.iter().cloned().chain(more.clone()).chain([wait(wt)]).collect();
                WAITS.iter().map(|wt| Cell { series: SERIES.into(), x: *wt, changes: changes(*wt) }).collect()
            };
            let bulk = Grid::run(SCENARIO, cells(Vec::new()), effort.sensitivity_runs, seed, progress)?;
            let transfers =
                Grid::run(SCENARIO, cells(transfer()), 4 * effort.sensitivity_runs, seed, progress)?;
            Ok(row(label, &bulk, &transfers))
        })
        .collect()
}

fn row(label: &str, bulk: &Grid, transfers: &Grid) -> Row {
    let mut items = vec![
        wait_claim(bulk, SERIES, "sensitivity-fig4.7"),
        delay_claim(transfers, SERIES, "sensitivity-fig4.10"),
    ];
    for wt in WAITS {
        for (series, metric, unit, of) in MEASURES {
            items.push(
                Item::new(PAPER.name, "sensitivity-table4.2", series)
                    .metric(metric, unit)
                    .at("wt_ms", wt)
                    .measured(bulk.estimate(SERIES, wt, of)),
            );
        }
        items.push(
            Item::new(PAPER.name, "sensitivity-fig4.10", "delay")
                .metric("completion", "s")
                .at("wt_ms", wt)
                .measured(transfers.estimate(SERIES, wt, completion)),
        );
    }
    let items = items.into_iter().map(|item| item.at("setting", label)).collect();
    Row { label: label.into(), items }
}
