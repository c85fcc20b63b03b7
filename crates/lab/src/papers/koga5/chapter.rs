//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::PAPER;
use super::claims::{largest_rtt, mean_rtt};
use super::experiments::Experiments;
use crate::document::{Block, Cell, Chapter, Table};
use crate::item::Item;
use crate::papers::wcdma::blocks::{self, Plot, Plots, WT};
use crate::papers::wcdma::grid::recoveries;
use crate::papers::wcdma::row::Row;

/// The figures, and what each is drawn from.
pub(super) const PLOTS: &Plots<Experiments> = &[
    (
        Plot::goodput(
            "fig5.3",
            "Fig. 5.3: frame error rate and waiting timer",
            WT,
            "384 kbit/s, 15 packets of buffer, NewReno. Mean of runs of 80 s with 95 % intervals; the paper \
                      draws it over the link's rate and gives no numbers.",
        ),
        |measured| &measured.fers,
    ),
    (
        Plot::goodput(
            "fig5.4",
            "Fig. 5.4: packet size and waiting timer",
            WT,
            "FER 2.6 %; ten packets of window for both sizes.",
        ),
        |measured| &measured.sizes,
    ),
    (Plot::goodput("fig5.5", "Fig. 5.5: TCP variants", WT, "FER 2.6 %."), |measured| &measured.variants),
    (
        Plot::goodput(
            "fig5.6",
            "Fig. 5.6: advertised window",
            ("awnd", "awnd, packets"),
            "FER 2.6 %, 15 packets of buffer. The paper's best: 4 packets at 64 kbit/s, 10 at 384 kbit/s.",
        ),
        |measured| &measured.windows,
    ),
    (
        Plot {
            item: "table5.1-recoveries",
            title: "Table 5.1: fast recoveries over the advertised window",
            caption: "The paper has none up to 4 packets at 64 kbit/s and 10 at 384 kbit/s. With 15 packets of buffer \
                      nothing can overflow up to a window of 15.",
            x: ("awnd", "awnd, packets"),
            metric: ("recoveries", "in 80 s"),
            of: recoveries,
        },
        |measured| &measured.windows,
    ),
    (
        Plot::over_wait(
            "fig5.7",
            "Fig. 5.7: mean RTT",
            ("mean RTT", "ms"),
            mean_rtt,
            "As TCP measures it, one segment at a time.",
        ),
        |measured| &measured.fers,
    ),
    (
        Plot::over_wait(
            "fig5.7-largest",
            "Fig. 5.7: largest RTT",
            ("largest RTT", "ms"),
            largest_rtt,
            "The largest of a run, mean of runs.",
        ),
        |measured| &measured.fers,
    ),
    (
        Plot::goodput(
            "fig5.9",
            "Fig. 5.9: a link whose rate changes",
            WT,
            "384 and 64 kbit/s in turn, 10 s each; FER 2.6 %, 15 packets of buffer.",
        ),
        |measured| &measured.changing,
    ),
    (
        Plot::goodput(
            "fig5.10",
            "Fig. 5.10: buffer of the base station",
            ("buffer_packets", "buffer, packets"),
            "FER 2.6 %, WT 300 ms; constant 384 kbit/s, or changing as in Fig. 5.8; the window adapts.",
        ),
        |measured| &measured.buffers,
    ),
];

pub(super) fn chapter(items: &[Item], measured: &Experiments, rows: &[Row]) -> Chapter {
    let mut blocks = blocks::opening(
        PAPER.citation,
        "Claimed: a receiver that advertises what its radio link can carry, instead of its free buffer, keeps the \
         base station's buffer from overflowing: throughput no longer depends on the waiting timer nor on the TCP \
         variant, round trips are shorter, a buffer of ten packets is enough, and it holds while the link's rate \
         changes.",
        items,
    );
    blocks.push(Block::Text(
        "Table 5.1 cannot come out of the stated setting: a window of 11 to 13 packets cannot overflow a buffer of 15."
            .into(),
    ));
    blocks.push(Block::Heading("Figures".into()));
    blocks.extend(blocks::figures(PLOTS, measured, |item| match item {
        "table5.1-recoveries" => &TABLE,
        _ => &[],
    }));
    blocks.extend(blocks::closing(
        "FER 2.6 %: each row answers one open question otherwise than the default. Goodput with the free buffer and \
         with the adaptive window at 384 kbit/s, fast recoveries of Table 5.1, and the claims of Figs. 5.3, 5.4 (best \
         WT), 5.9 and 5.10 (plain TCP needs more buffer).",
        sensitivity(rows),
        include_str!("../../../../../papers/koga5/deviations.toml"),
    ));
    Chapter {
        id: PAPER.name.into(),
        title: "koga5: the receiver's window from link-layer information".into(),
        blocks,
    }
}

/// Table 5.1's retransmissions by duplicate ACKs.
const TABLE: [(&str, f64, f64); 22] = {
    const SLOW: &str = "64 kbit/s, WT 1000 ms";
    const FAST: &str = "384 kbit/s, WT 300 ms";
    [
        (SLOW, 3.0, 0.0),
        (SLOW, 4.0, 0.0),
        (SLOW, 5.0, 2.0),
        (SLOW, 6.0, 4.0),
        (SLOW, 7.0, 12.0),
        (SLOW, 8.0, 13.0),
        (SLOW, 9.0, 13.0),
        (SLOW, 10.0, 13.0),
        (SLOW, 11.0, 13.0),
        (SLOW, 12.0, 13.0),
        (SLOW, 13.0, 13.0),
        (FAST, 3.0, 0.0),
        (FAST, 4.0, 0.0),
        (FAST, 5.0, 0.0),
        (FAST, 6.0, 0.0),
        (FAST, 7.0, 0.0),
        (FAST, 8.0, 0.0),
        (FAST, 9.0, 0.0),
        (FAST, 10.0, 0.0),
        (FAST, 11.0, 19.0),
        (FAST, 12.0, 27.0),
        (FAST, 13.0, 27.0),
    ]
};

fn sensitivity(rows: &[Row]) -> Table {
    const GOODPUTS: [(&str, f64); 4] =
        [("original", 300.0), ("original", 1000.0), ("adaptive", 300.0), ("adaptive", 1000.0)];
    const COUNTS: [(&str, f64); 5] = [
        ("64 kbit/s", 4.0),
        ("64 kbit/s", 13.0),
        ("384 kbit/s", 10.0),
        ("384 kbit/s", 11.0),
        ("384 kbit/s", 13.0),
    ];
    const CLAIMS: [(&str, &str, &str); 6] = [
        ("fig5.3", "claim", "window higher"),
        ("fig5.4", "claim: 1500 bytes", "best WT 300 ms"),
        ("fig5.4", "claim: 512 bytes", "512 bytes: 100 ms"),
        ("fig5.9", "claim", "changing rate: higher"),
        ("fig5.9", "claim: adaptive", "adaptive better than constant"),
        ("fig5.10", "claim: without", "plain TCP needs more buffer"),
    ];
    let mut columns = vec!["open question: answer".to_string()];
    columns.extend(GOODPUTS.map(|(name, wt)| format!("{name}, WT {wt} ms, kbit/s")));
    columns.extend(COUNTS.map(|(name, awnd)| format!("recoveries, {name}, awnd {awnd}")));
    columns.extend(CLAIMS.map(|(.., heading)| heading.to_string()));
    let cells = |row: &Row| {
        let mut cells = vec![Cell::Text(row.label.clone())];
        cells.extend(GOODPUTS.map(|(series, wt)| row.number("fig5.3", series, "goodput", ("wt_ms", wt))));
        let recoveries = |(series, awnd)| row.number("table5.1", series, "by duplicate ACKs", ("awnd", awnd));
        cells.extend(COUNTS.map(recoveries));
        cells.extend(CLAIMS.map(|(item, series, _)| row.verdict(item, series)));
        cells
    };
    Table {
        caption: "Goodput, recoveries and claims under each answer".into(),
        columns,
        rows: rows.iter().map(cells).collect(),
    }
}
