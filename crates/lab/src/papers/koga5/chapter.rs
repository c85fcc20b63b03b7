//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::PAPER;
use super::claims::{largest_rtt, mean_rtt};
use super::experiments::Experiments;
use super::questions::Row;
use crate::document::{Block, Cell, Chapter, Table};
use crate::item::Item;
use crate::papers::wcdma::blocks::{self, Plot, measured};
use crate::papers::wcdma::grid::{Grid, goodput, recoveries};

type Which = fn(&Experiments) -> &Grid;

const WT: (&str, &str) = ("wt_ms", "waiting timer WT, ms");
const GOODPUT: (&str, &str) = ("goodput", "kbit/s");

/// The figures, and what each is drawn from.
pub(super) const PLOTS: &[(Plot<'static>, Which)] = &[
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.3",
            title: "Fig. 5.3: frame error rate and waiting timer",
            caption: "384 kbit/s, 15 packets of buffer, NewReno. Mean of runs of 80 s with 95 % intervals; the paper \
                      draws it over the link's rate and gives no numbers.",
            x: WT,
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.fers,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.4",
            title: "Fig. 5.4: packet size and waiting timer",
            caption: "FER 2.6 %; ten packets of window for both sizes.",
            x: WT,
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.sizes,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.5",
            title: "Fig. 5.5: TCP variants",
            caption: "FER 2.6 %.",
            x: WT,
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.variants,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.6",
            title: "Fig. 5.6: advertised window",
            caption: "FER 2.6 %, 15 packets of buffer. The paper's best: 4 packets at 64 kbit/s, 10 at 384 kbit/s.",
            x: ("awnd", "awnd, packets"),
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.windows,
    ),
    (
        Plot {
            paper: PAPER.name,
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
        Plot {
            paper: PAPER.name,
            item: "fig5.7",
            title: "Fig. 5.7: mean RTT",
            caption: "As TCP measures it, one segment at a time.",
            x: WT,
            metric: ("mean RTT", "ms"),
            of: mean_rtt,
        },
        |measured| &measured.fers,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.7-largest",
            title: "Fig. 5.7: largest RTT",
            caption: "The largest of a run, mean of runs.",
            x: WT,
            metric: ("largest RTT", "ms"),
            of: largest_rtt,
        },
        |measured| &measured.fers,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.9",
            title: "Fig. 5.9: a link whose rate changes",
            caption: "384 and 64 kbit/s in turn, 10 s each; FER 2.6 %, 15 packets of buffer.",
            x: WT,
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.changing,
    ),
    (
        Plot {
            paper: PAPER.name,
            item: "fig5.10",
            title: "Fig. 5.10: buffer of the base station",
            caption: "FER 2.6 %, WT 300 ms; constant 384 kbit/s, or changing as in Fig. 5.8; the window adapts.",
            x: ("buffer_packets", "buffer, packets"),
            metric: GOODPUT,
            of: goodput,
        },
        |measured| &measured.buffers,
    ),
];

pub(super) fn chapter(items: &[Item], measured: &Experiments, rows: &[Row]) -> Chapter {
    let text = |text: &str| Block::Text(text.to_string());
    let mut blocks = vec![
        text(PAPER.citation),
        text(
            "Claimed: a receiver that advertises what its radio link can carry, instead of its free buffer, keeps the \
             base station's buffer from overflowing: throughput no longer depends on the waiting timer nor on the TCP \
             variant, round trips are shorter, a buffer of ten packets is enough, and it holds while the link's rate \
             changes.",
        ),
        Block::Text(blocks::summary(items)),
        Block::Heading("Claims and numbers".into()),
        blocks::verdicts(
            "Published numbers and claims beside ours",
            &blocks::headline(items).collect::<Vec<&Item>>(),
        ),
        text(
            "Table 5.1 cannot come out of the stated setting: a window of 11 to 13 packets cannot overflow a buffer of \
             15. The sensitivity rows have it with 10 packets of buffer.",
        ),
        Block::Heading("Figures".into()),
    ];
    for (plot, which) in PLOTS {
        let published: &[(&str, f64, f64)] = match plot.item {
            "table5.1-recoveries" => &TABLE,
            _ => &[],
        };
        blocks.push(plot.block(which(measured), published));
    }
    blocks.push(Block::Heading("What the open questions decide".into()));
    blocks.push(text(
        "FER 2.6 %: each row answers one open question otherwise than the default. Goodput with the free buffer and \
         with the adaptive window at 384 kbit/s, fast recoveries of Table 5.1, and the claims of Figs. 5.3 and 5.9.",
    ));
    blocks.push(sensitivity(rows));
    blocks::contradictions(include_str!("../../../../../papers/koga5/deviations.toml"), &mut blocks);
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

fn sensitivity(rows: &[Row]) -> Block {
    const GOODPUTS: [&str; 4] =
        ["original, WT 300 ms", "original, WT 1000 ms", "adaptive, WT 300 ms", "adaptive, WT 1000 ms"];
    const COUNTS: [&str; 5] = [
        "64 kbit/s, awnd 4",
        "64 kbit/s, awnd 13",
        "384 kbit/s, awnd 10",
        "384 kbit/s, awnd 11",
        "384 kbit/s, awnd 13",
    ];
    let mut columns = vec!["open question: answer".to_string()];
    columns.extend(GOODPUTS.map(|name| format!("{name}, kbit/s")));
    columns.extend(COUNTS.map(|name| format!("recoveries, {name}")));
    columns.extend(
        ["window higher", "changing rate: higher", "adaptive better than constant"].map(String::from),
    );
    let cells = |row: &Row| {
        let number = |item: &str, series: &str| row.item(item, series).map_or(Cell::Empty, measured);
        let verdict =
            |item: &str, series: &str| Cell::Verdict(row.item(item, series).and_then(|item| item.verdict));
        let mut cells = vec![Cell::Text(row.label.into())];
        cells.extend(GOODPUTS.map(|series| number("fig5.3", series)));
        cells.extend(COUNTS.map(|series| number("table5.1", series)));
        cells.push(verdict("fig5.3", "claim"));
        cells.push(verdict("fig5.9", "claim"));
        cells.push(verdict("fig5.9", "claim adaptive"));
        cells
    };
    Block::Table(Table {
        caption: "Goodput, recoveries and claims under each answer".into(),
        columns,
        rows: rows.iter().map(cells).collect(),
    })
}
