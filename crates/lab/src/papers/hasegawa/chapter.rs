//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::claims::LOW_WORDS;
use super::episode::{BER, Episode};
use super::fairness::Mixture;
use super::grid::Grid;
use super::points::metric;
use super::questions::ACK_COUNTING;
use super::setting::Receiver;
use super::{PAPER, Row, gains};
use crate::document::{Block, Cell, Chapter, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::cells::{measured, number};
use crate::papers::deviation;
use crate::stats::Estimate;
use lasthop_sim::Samples;

pub(super) fn chapter(
    items: &[Item],
    grid: &Grid,
    sensitivity: &[Row],
    fairness: &[Mixture],
    episode: &Episode,
) -> Chapter {
    let text = |text: &str| Block::Text(text.to_string());
    let mut blocks = vec![
        text(PAPER.citation),
        text(
            "Claimed: a receiver that answers wireless losses with split acknowledgements raises the throughput of \
             an unmodified SACK sender by up to 94 % on a UMTS-like path (10 Mbit/s and 45 ms of wire; 2 Mbit/s down \
             and 384 kbit/s up on the air, bit errors, three link-layer repeats, 50 packets of buffer).",
        ),
        Block::Text(summary(items)),
        Block::Heading("Claims and numbers".into()),
        claims_table(items),
        Block::Heading("Figures".into()),
        over_ber(
            grid,
            "fig7",
            "Fig. 7: goodput",
            "goodput, kbit/s",
            "goodput_kbps",
            &Receiver::ALL,
            "Payload delivered in order per second, mean of repetitions of 1000 s with 95 % intervals. The paper's \
             own points are not given in numbers; its largest gains are in the table above.",
        ),
        gain_figure(grid),
        over_ber(
            grid,
            "fig8",
            "Fig. 8: ACK rate",
            "ACKs sent, 1/s",
            "acks_per_s",
            &Receiver::ALL,
            "ACKs that the receiver sends per second.",
        ),
        over_ber(
            grid,
            "fig9w",
            "Fig. 9: accuracy for wireless losses",
            "Acc_w, share",
            "accuracy_wireless",
            &Receiver::SPLITTING,
            "Share of wireless losses judged wireless (Eq. 6).",
        ),
        over_ber(
            grid,
            "fig9c",
            "Fig. 9: accuracy for congestion losses",
            "Acc_c, share",
            "accuracy_congestion",
            &Receiver::SPLITTING,
            "Share of congestion losses judged congestion (Eq. 7).",
        ),
        congestion_origin(grid),
        window_figure(episode),
        queue_figure(episode),
        Block::Heading("Fairness".into()),
        fairness_table(fairness),
        Block::Heading("What the open questions decide".into()),
        text(
            "Each row answers one open question otherwise than the default; the gains are the largest over all bit \
             error rates, in per cent over SACK under the same setting, with 95 % intervals.",
        ),
        sensitivity_table(sensitivity),
        Block::Heading("What is left today".into()),
        Block::Text(today(sensitivity)),
    ];
    if let Ok(deviations) = deviation::read(include_str!("../../../../../papers/hasegawa/deviations.toml")) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
    Chapter { id: PAPER.name.into(), title: "hasegawa: receiver-based ACK splitting".into(), blocks }
}

/// Figures over the bit error rate count it in units of 1e-5.
const BER_SCALE: f64 = 1e5;
const BER_LABEL: &str = "bit error rate, 1e-5";

/// The verdicts in a sentence.
fn summary(items: &[Item]) -> String {
    let count =
        |verdict| items.iter().filter(|item| is_headline(item) && item.verdict == Some(verdict)).count();
    let total = items.iter().filter(|item| is_headline(item) && item.verdict.is_some()).count();
    format!(
        "What we get under the default reading: of {total} published numbers and claims {} agree, {} hold in shape \
         but not in number, {} differ. {}",
        count(Verdict::Agrees),
        count(Verdict::Shape),
        count(Verdict::Differs),
        LOW_WORDS
    )
}

/// Numbers and claims under the default setting.
fn is_headline(item: &Item) -> bool {
    ["gain-", "claim-", "fairness-"].iter().any(|prefix| item.item.starts_with(prefix))
}

fn claims_table(items: &[Item]) -> Block {
    let rows = items
        .iter()
        .filter(|item| is_headline(item) && !item.item.starts_with("fairness-"))
        .map(|item| {
            let ber = item.x.get("ber").map_or(Cell::Empty, |ber| Cell::Number(ber.to_string()));
            let unit = if item.unit.is_empty() { "share of points".into() } else { item.unit.clone() };
            vec![
                Cell::Text(item.item.clone()),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Text(unit),
                ber,
                Cell::Verdict(item.verdict),
                Cell::Text(item.note.clone()),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "Published numbers and claims beside ours".into(),
        columns: ["item", "published", "measured", "unit", "at BER", "verdict", "what"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

fn curve(name: &str, points: Vec<Point>) -> Curve {
    Curve { name: name.into(), kind: CurveKind::Measured, points }
}

fn over_ber(
    grid: &Grid,
    id: &str,
    title: &str,
    y_label: &str,
    of: &str,
    receivers: &[Receiver],
    caption: &str,
) -> Block {
    let points = |receiver: Receiver| {
        grid.bers
            .iter()
            .enumerate()
            .filter_map(|(at, ber)| {
                Some(Point::of(BER_SCALE * ber, &grid.estimate(receiver, at, metric(of))?))
            })
            .collect()
    };
    Block::Figure(Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x_label: BER_LABEL.into(),
        y_label: y_label.into(),
        x_log: false,
        curves: receivers.iter().map(|one| curve(one.name(), points(*one))).collect(),
        ..Figure::default()
    })
}

fn gain_figure(grid: &Grid) -> Block {
    let points = |receiver| {
        grid.bers
            .iter()
            .enumerate()
            .filter_map(|(at, ber)| Some(Point::of(BER_SCALE * ber, &gains::gain(grid, receiver, at, true)?)))
            .collect()
    };
    let mut curves: Vec<Curve> =
        Receiver::SPLITTING.iter().map(|one| curve(one.name(), points(*one))).collect();
    curves.push(Curve {
        name: "mac, published largest gain".into(),
        kind: CurveKind::Published,
        points: vec![Point::exact(BER_SCALE * 7e-5, 94.0)],
    });
    Block::Figure(Figure {
        id: "gain".into(),
        title: "Gain over SACK".into(),
        caption:
            "Goodput over that of plain SACK in the same repetition (same losses), less one. The paper gives \
                  the place of mac's largest gain only (jtcp: 61 %, rtt: 90 %, without a bit error rate)."
                .into(),
        x_label: BER_LABEL.into(),
        y_label: "gain over SACK, %".into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}

fn congestion_origin(grid: &Grid) -> Block {
    let mean =
        |receiver, at, name| grid.estimate(receiver, at, metric(name)).map_or(0.0, |one: Estimate| one.mean);
    let points = |receiver: Receiver, later: bool| {
        let value = |at| {
            let early = mean(receiver, at, "lost_overshoot");
            if later { mean(receiver, at, "lost_queue_full") - early } else { early }
        };
        grid.bers.iter().enumerate().map(|(at, ber)| Point::exact(BER_SCALE * ber, value(at))).collect()
    };
    Block::Figure(Figure {
        id: "congestion-origin".into(),
        title: "Where congestion losses come from".into(),
        caption: "Packets lost to the full buffer per run of 1000 s: in slow start's initial overshoot (sent before \
                  the first loss was noticed), or later."
            .into(),
        x_label: BER_LABEL.into(),
        y_label: "packets lost in the queue per run".into(),
        x_log: false,
        curves: vec![
            curve("sack, initial overshoot", points(Receiver::Sack, false)),
            curve("sack, later", points(Receiver::Sack, true)),
            curve("mac, later", points(Receiver::Mac, true)),
            curve("jtcp, later", points(Receiver::Jtcp, true)),
            curve("rtt, later", points(Receiver::Rtt, true)),
        ],
        ..Figure::default()
    })
}

fn window_figure(episode: &Episode) -> Block {
    let steps = |name: &str, samples: &Samples| Curve {
        name: name.into(),
        kind: CurveKind::Steps,
        points: samples
            .flows
            .iter()
            .map(|sample| Point::exact(sample.time.as_secs(), sample.cwnd_bytes as f64 / 1000.0))
            .collect(),
    };
    let estimate = Curve {
        name: "mac: the receiver's cwnd_r".into(),
        kind: CurveKind::Line,
        points: episode
            .split
            .flows
            .iter()
            .map(|sample| Point::exact(sample.time.as_secs(), sample.cwnd_r))
            .collect(),
    };
    Block::Figure(Figure {
        id: "cwnd".into(),
        title: "Figs. 1 and 4: cwnd against time".into(),
        caption: format!(
            "One run at BER {BER:e} with the same losses on the air for both: after each wireless loss plain SACK \
             climbs by one segment per RTT, splitting climbs back at once."
        ),
        x_label: "time, s".into(),
        y_label: "cwnd, segments".into(),
        x_log: false,
        curves: vec![steps("sack", &episode.plain), steps("mac", &episode.split), estimate],
        ..Figure::default()
    })
}

fn queue_figure(episode: &Episode) -> Block {
    let by_packet = |name: &str, value: &dyn Fn(usize) -> f64| Curve {
        name: name.into(),
        kind: CurveKind::Steps,
        points: (0..episode.packets.len()).map(|at| Point::exact(at as f64 + 1.0, value(at))).collect(),
    };
    let packets = &episode.packets;
    let drained = |at: usize| match at {
        0 => 0.0,
        at => f64::from(packets[at - 1].s_queue.saturating_sub(packets[at].r_queue)),
    };
    Block::Figure(Figure {
        id: "fig5".into(),
        title: "Fig. 5: the uplink queue in one episode".into(),
        caption: "By data packet: ACKs waiting before (r_queue) and after (s_queue) its own ACKs join, how many left \
                  since the packet before (dQ, Eq. 4), and how many it was given (ACK_i, Eq. 5)."
            .into(),
        x_label: "data packet of the episode".into(),
        y_label: "ACKs".into(),
        x_log: false,
        curves: vec![
            by_packet("r_queue", &|at| f64::from(packets[at].r_queue)),
            by_packet("s_queue", &|at| f64::from(packets[at].s_queue)),
            by_packet("dQ", &drained),
            by_packet("ACK_i", &|at| f64::from(packets[at].acks)),
        ],
        ..Figure::default()
    })
}

fn fairness_table(mixtures: &[Mixture]) -> Block {
    let cell = |estimate: &Option<Estimate>| match estimate {
        Some(estimate) => Cell::Number(format!("{:.3} ± {:.3}", estimate.mean, estimate.half_width())),
        None => Cell::Empty,
    };
    Block::Table(Table {
        caption: "Splitting receivers beside plain ones on a congested wire of 1 Mbit/s per flow".into(),
        columns: [
            "judge",
            "bit error rate",
            "flows",
            "Jain's index",
            "splitting / plain, ratio of mean goodputs",
        ]
        .map(String::from)
        .to_vec(),
        rows: mixtures
            .iter()
            .map(|one| {
                vec![
                    Cell::Text(one.judge.into()),
                    Cell::Number(one.ber.to_string()),
                    Cell::Text(format!("{0} + {0}", one.each)),
                    cell(&one.jain),
                    cell(&one.ratio),
                ]
            })
            .collect(),
    })
}

fn sensitivity_table(rows: &[Row]) -> Block {
    const GAINS: [&str; 3] = ["gain-mac", "gain-jtcp", "gain-rtt"];
    const CLAIMS: [(&str, &str); 6] = [
        ("claim-mac-rtt", "mac >= rtt"),
        ("claim-rtt-jtcp", "rtt > jtcp"),
        ("claim-jtcp-sack", "jtcp > sack"),
        ("claim-above-sack", "all >= sack"),
        ("claim-accuracy", "Acc_w rtt > jtcp"),
        ("claim-jtcp-acks", "jtcp most ACKs"),
    ];
    let mut columns = vec!["open question: answer".to_string()];
    columns.extend(["mac (94), %", "jtcp (61), %", "rtt (90), %"].map(String::from));
    columns.extend(CLAIMS.map(|(_, words)| words.to_string()));
    let rows = rows
        .iter()
        .map(|row| {
            let mut cells = vec![Cell::Text(row.setting.label())];
            cells.extend(GAINS.map(|name| row.item(name).map_or(Cell::Empty, measured)));
            cells.extend(CLAIMS.map(|(name, _)| Cell::Verdict(row.item(name).and_then(|item| item.verdict))));
            cells
        })
        .collect();
    Block::Table(Table {
        caption: "Largest gains and claims under each answer (published in brackets)".into(),
        columns,
        rows,
    })
}

fn today(rows: &[Row]) -> String {
    let gain =
        |row: &Row| row.item("gain-mac").and_then(|item| item.measured).map_or("undefined".into(), number);
    let mut sentences: Vec<String> = rows
        .iter()
        .filter(|row| row.setting.question == ACK_COUNTING)
        .map(|row| format!("counting {}: {} %", row.setting.answer, gain(row)))
        .collect();
    sentences.insert(
        0,
        format!(
            "counting per ACK (RFC 2581, the paper): {} %",
            rows.first().map_or("undefined".into(), gain)
        ),
    );
    format!(
        "Splitting feeds a sender that counts ACKs. mac's largest gain over SACK by what the sender counts: {}. Linux \
         has counted whole packets since 2.2.",
        sentences.join("; ")
    )
}
