//! The points of Figs. 7, 8 and 9. The paper gives no numbers for them.

use super::PAPER;
use super::grid::Grid;
use super::setting::Receiver;
use crate::item::Item;
use lasthop_sim::{METRICS, Metric};

/// A figure over the bit error rate.
pub(super) struct Plot {
    pub(super) item: &'static str,
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    /// The run's metric behind it.
    pub(super) of: &'static str,
    pub(super) receivers: &'static [Receiver],
}

pub(super) const PLOTS: &[Plot] = &[
    Plot { item: "fig7", metric: "goodput", unit: "kbit/s", of: "goodput_kbps", receivers: &Receiver::ALL },
    Plot { item: "fig8", metric: "ack_rate", unit: "1/s", of: "acks_per_s", receivers: &Receiver::ALL },
    Plot {
        item: "fig9",
        metric: "accuracy_wireless",
        unit: "",
        of: "accuracy_wireless",
        receivers: &Receiver::SPLITTING,
    },
    Plot {
        item: "fig9",
        metric: "accuracy_congestion",
        unit: "",
        of: "accuracy_congestion",
        receivers: &Receiver::SPLITTING,
    },
];

/// The run's metric of this name.
pub(super) fn metric(name: &str) -> &'static Metric {
    METRICS.iter().find(|metric| metric.name == name).unwrap_or(&METRICS[0])
}

/// All points of all figures.
pub(super) fn items(grid: &Grid) -> Vec<Item> {
    let mut items = Vec::new();
    for plot in PLOTS {
        for receiver in plot.receivers {
            for (at, ber) in grid.bers.iter().enumerate() {
                let estimate = grid.estimate(*receiver, at, metric(plot.of));
                let item = Item::new(PAPER.name, plot.item, receiver.name())
                    .metric(plot.metric, plot.unit)
                    .at("ber", *ber)
                    .measured(estimate);
                items.push(match estimate {
                    Some(_) => item,
                    None => item.note("undefined: no such loss occurred"),
                });
            }
        }
    }
    items
}
