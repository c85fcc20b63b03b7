//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::PAPER;
use super::claims::{base_queue, mobile_queue};
use super::experiments::{Experiments, LEVELS};
use super::numbers::{behind_gap, late};
use crate::document::{Block, Cell, Chapter, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::Item;
use crate::papers::wcdma::blocks::{self, Plot, Plots, WT};
use crate::papers::wcdma::grid::{Grid, completion};
use crate::papers::wcdma::row::Row;
use lasthop_sim::Samples;

/// The figures, and what each is drawn from.
pub(super) const PLOTS: &Plots<Experiments> = &[
    (
        Plot::goodput(
            "fig4.3",
            "Fig. 4.3: largest number of retransmissions",
            ("retransmissions", "most retransmissions of a PDU"),
            "64 kbit/s, packets of 512 bytes, out-of-order delivery. Mean of runs of 80 s with 95 % intervals; \
                      the paper's points are not given in numbers.",
        ),
        |measured| &measured.retransmissions,
    ),
    (
        Plot::goodput(
            "fig4.4",
            "Fig. 4.4: packet size",
            ("segment_bytes", "packet, bytes"),
            "64 kbit/s, at most five retransmissions, out-of-order delivery.",
        ),
        |measured| &measured.sizes,
    ),
    (
        Plot::goodput(
            "fig4.5",
            "Fig. 4.5: bandwidth of the link",
            ("rate_kbps", "bandwidth, kbit/s"),
            "Packets of 1500 bytes, out-of-order delivery, the three frame error rates of each bandwidth.",
        ),
        |measured| &measured.rates,
    ),
    (
        Plot::goodput(
            "fig4.7",
            "Fig. 4.7: waiting timer",
            WT,
            "384 kbit/s, packets of 1500 bytes. Published: Table 4.2's packets as kbit/s.",
        ),
        |measured| &measured.wait,
    ),
    (
        Plot::over_wait(
            "fig4.8",
            "Fig. 4.8: largest queue at the mobile station",
            ("largest queue", "packets"),
            mobile_queue,
            "Whole packets that wait for earlier ones.",
        ),
        |measured| &measured.wait,
    ),
    (
        Plot::over_wait(
            "fig4.9",
            "Fig. 4.9: largest queue at the base station",
            ("largest queue", "packets"),
            base_queue,
            "Packets not yet acknowledged by the mobile station's link layer.",
        ),
        |measured| &measured.wait,
    ),
    (
        Plot::over_wait(
            "fig4.10",
            "Fig. 4.10: transfer of 500 kbyte",
            ("completion", "s"),
            completion,
            "From the connection's opening to the last byte, mean of transfers with different error patterns.",
        ),
        |measured| &measured.transfers,
    ),
    (
        Plot::over_wait(
            "fig4.12",
            "Fig. 4.12: transfer of 500 kbyte by packet size",
            ("completion", "s"),
            completion,
            "FER 5.9 %.",
        ),
        |measured| &measured.transfer_sizes,
    ),
];

/// Table 4.2's packets of 1500 bytes in 80 s, kbit/s by WT in ms.
const TABLE: [(&str, f64, f64); 7] = [
    ("FER 5.9 %", 0.0, 1199.0 * 0.15),
    ("FER 5.9 %", 150.0, 1596.0 * 0.15),
    ("FER 5.9 %", 300.0, 1700.0 * 0.15),
    ("FER 5.9 %", 600.0, 1831.0 * 0.15),
    ("FER 5.9 %", 1500.0, 1981.0 * 0.15),
    ("FER 5.9 %", 2000.0, 2085.0 * 0.15),
    ("FER 5.9 %", 3000.0, 2085.0 * 0.15),
];

pub(super) fn chapter(
    items: &[Item],
    measured: &Experiments,
    rows: &[Row],
    windows: &[(f64, Samples)],
) -> Chapter {
    let mut blocks = blocks::opening(
        PAPER.citation,
        "Claimed: the link layer's selective repeat delivers packets out of order, TCP takes that for loss, and the \
         faster the radio link the more it costs (160 of 384 kbit/s at FER 5.9 %); a timer that holds packets back \
         until the earlier ones are there repairs it, at the price of larger queues and, where packets are \
         discarded, of longer transfers.",
        items,
    );
    blocks.push(Block::Heading("Figures".into()));
    blocks.extend(blocks::figures(PLOTS, measured, |item| match item {
        "fig4.5" => &[(LEVELS[2], 384.0, 160.0)],
        "fig4.7" => &TABLE,
        _ => &[],
    }));
    blocks.push(disorder(&measured.wait));
    blocks.push(window_figure(windows));
    blocks.extend(blocks::closing(
        "384 kbit/s, FER 5.9 %, packets of 1500 bytes: each row answers one open question otherwise than the default. \
         Packets and recoveries in 80 s at WT 0, 300 and 2000 ms (published: 1199, 1700, 2085 and 67, 34, 0), the \
         seconds that 500 kbyte take, and whether throughput and delay grow with WT. Then the claims of Figs. 4.5 and \
         4.12: a faster link gains less, 1500 bytes take longer than 1024, no size is faster than 1024.",
        sensitivity(rows),
        include_str!("../../../../../papers/koga4/deviations.toml"),
    ));
    Chapter {
        id: PAPER.name.into(),
        title: "koga4: out-of-order delivery by the link layer's repeats".into(),
        blocks,
    }
}

/// Both readings of "out of order" over WT.
fn disorder(wait: &Grid) -> Block {
    let series = "FER 5.9 %";
    let curve = |name: &str, of| Curve {
        name: name.into(),
        kind: CurveKind::Measured,
        points: wait
            .xs(series)
            .into_iter()
            .filter_map(|x| Some(Point::of(x, &wait.estimate(series, x, of)?)))
            .collect(),
    };
    let published =
        [(0.0, 15.2), (150.0, 3.1), (300.0, 1.3), (600.0, 0.5), (1500.0, 0.1), (2000.0, 0.0), (3000.0, 0.0)];
    Block::Figure(Figure {
        id: "disorder".into(),
        title: "Table 4.2: packets out of order".into(),
        caption: "384 kbit/s, FER 5.9 %: handed up after a later packet (late), or while an earlier one was missing \
                  (behind a gap). The table does not say which it counts."
            .into(),
        x_label: WT.1.into(),
        y_label: "share of packets, %".into(),
        x_log: false,
        curves: vec![
            curve("late", late),
            curve("behind a gap", behind_gap),
            Curve {
                name: "late or behind a gap, published".into(),
                kind: CurveKind::Published,
                points: published.map(|(x, y)| Point::exact(x, y)).to_vec(),
            },
        ],
        ..Figure::default()
    })
}

fn window_figure(windows: &[(f64, Samples)]) -> Block {
    let curve = |(wt, samples): &(f64, Samples)| Curve {
        name: format!("WT {wt} ms"),
        kind: CurveKind::Steps,
        points: samples
            .flows
            .iter()
            .map(|sample| Point::exact(sample.time.as_secs(), sample.cwnd_bytes as f64 / 1500.0))
            .collect(),
    };
    Block::Figure(Figure {
        id: "fig4-6".into(),
        title: "Figs. 4.6 and 4.11: cwnd against time".into(),
        caption: "One run each at FER 5.9 % over the same channel: without the timer the window is cut again and again; \
                  with a long one it grows without a loss, because nothing is lost (the paper's Fig. 4.11 has a fast \
                  recovery and a timeout at WT 2000 ms, its Table 4.2 has neither)."
            .into(),
        x_label: "time, s".into(),
        y_label: "cwnd, segments".into(),
        x_log: false,
        curves: windows.iter().map(curve).collect(),
        ..Figure::default()
    })
}

fn sensitivity(rows: &[Row]) -> Table {
    const NUMBERS: [(&str, &str, &str, f64, &str); 9] = [
        ("table4.2", "total packets", "packets", 0.0, "packets, WT 0"),
        ("table4.2", "total packets", "packets", 300.0, "WT 300"),
        ("table4.2", "total packets", "packets", 2000.0, "WT 2000"),
        ("table4.2", "TCP fast recoveries", "recoveries", 0.0, "recoveries, WT 0"),
        ("table4.2", "TCP fast recoveries", "recoveries", 300.0, "WT 300"),
        ("table4.2", "TCP timeouts", "timeouts", 2000.0, "timeouts, WT 2000"),
        ("table4.2", "out of order: late", "share", 0.0, "late, WT 0, %"),
        ("fig4.10", "delay", "completion", 0.0, "500 kbyte, WT 0, s"),
        ("fig4.10", "delay", "completion", 3000.0, "WT 3000, s"),
    ];
    const CLAIMS: [(&str, &str, &str); 5] = [
        ("fig4.7", "claim", "throughput grows"),
        ("fig4.10", "claim", "delay grows"),
        ("fig4.5", "claim", "faster gains less"),
        ("fig4.12", "claim", "1500 slower"),
        ("fig4.12", "claim: best size", "1024 best"),
    ];
    let mut columns = vec!["open question: answer".to_string()];
    columns.extend(NUMBERS.map(|(.., heading)| heading.to_string()));
    columns.extend(CLAIMS.map(|(.., heading)| heading.to_string()));
    let cells = |row: &Row| {
        let mut cells = vec![Cell::Text(row.label.clone())];
        cells.extend(
            NUMBERS.map(|(item, series, metric, wt, _)| row.number(item, series, metric, ("wt_ms", wt))),
        );
        cells.extend(CLAIMS.map(|(item, series, _)| row.verdict(item, series)));
        cells
    };
    Table {
        caption: "Table 4.2 and the claims under each answer".into(),
        columns,
        rows: rows.iter().map(cells).collect(),
    }
}
