//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::fairness::{FLOWS, FairRow, Shared};
use super::friendliness::{MIXTURES, TABLES};
use super::goodput::Goodput;
use super::questions::THRESHOLD;
use super::sender::Sender;
use super::{PAPER, Row, numbers, prose};
use crate::document::{Block, Cell, Chapter, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::cells::{measured, number, place};
use crate::papers::deviation;
use crate::papers::published::Published;

pub(super) fn chapter(
    items: &[Item],
    [short, long]: [&Goodput; 2],
    fair: &[Shared],
    (rows, fair_rows): (&[Row], &[FairRow]),
) -> Chapter {
    let text = |text: &str| Block::Text(text.to_string());
    let mut blocks = vec![
        text(PAPER.citation),
        text(
            "Claimed: routers that mark every packet while their average queue is long let a sender tell congestion \
             from random errors: a loss told by unmarked duplicate ACKs is answered with Westwood's bandwidth estimate, \
             a mark by halving. The goodput over a lossy last hop is above Reno's, flows of one kind share fairly, and \
             Reno beside W_CW gets close to its fair share.",
        ),
        Block::Text(summary(items)),
        Block::Text(prose::one_kind(items, short)),
        Block::Text(prose::side_by_side(rows)),
        Block::Heading("Claims and numbers".into()),
        claims_table(items),
        Block::Heading("Figures".into()),
        goodput_figure(
            short,
            "fig6",
            "Fig. 6: goodput over the packet loss rate",
            &[Sender::PAPER, Sender::RED].concat(),
            "One flow over Fig. 5's path for 150 s. The paper's own points are not given in numbers; its claim is that \
             W_CW lies above Reno throughout. RED between 5 and 15 packets, dropping or marking (RFC 3168), is what \
             §3.A compares congestion warning with; no numbers either.",
        ),
        text(
            "The paper compares congestion warning with RED and ECN in words only (§3.A). Reno over RED that drops, \
             between averages of 5 and 15 packets, loses 7 to 9 per cent against Reno over full buffers up to a loss \
             rate of 1 per cent; over RED that marks (RFC 3168) it loses less than 1 per cent, and lies above W_CW at \
             every loss rate. From 5 per cent on no queue builds up and all three Renos are one. Fairness does not \
             tell them apart.",
        ),
        fairness_figure(fair),
        friendliness_figure(items, 0),
        friendliness_figure(items, 1),
        Block::Heading("The merits apart".into()),
        Block::Text(prose::merits(short, long)),
        goodput_figure(short, "merits-short", "6 ms, on Reno", &Sender::ALL[..4], "Fig. 5's path."),
        goodput_figure(short, "merits-short-new", "6 ms, on NewReno", &Sender::ALL[4..], "Fig. 5's path."),
        goodput_figure(long, "merits-long", "92 ms, on Reno", &Sender::ALL[..4], "Fig. 8's path, one flow."),
        goodput_figure(
            long,
            "merits-long-new",
            "92 ms, on NewReno",
            &Sender::ALL[4..],
            "Fig. 8's path, one flow.",
        ),
        Block::Heading("The test by marks".into()),
        Block::Text(prose::test(items)),
        test_figure(items),
        Block::Heading("What the open questions decide".into()),
        threshold_figure(rows),
        sensitivity_table(rows),
        fairness_sensitivity_table(fair_rows),
    ];
    if let Ok(deviations) = deviation::read(include_str!("../../../../../papers/saad/deviations.toml")) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
    Chapter { id: PAPER.name.into(), title: "saad: Westwood with congestion warning".into(), blocks }
}

/// The verdicts in a sentence.
fn summary(items: &[Item]) -> String {
    let count = |verdict| headlines(items).filter(|item| item.verdict == Some(verdict)).count();
    format!(
        "What we get under the default reading: of {} published numbers and claims {} agree, {} hold in shape but not \
         in number, {} differ. A claim's number is the share of the points to which it applies at which it holds.",
        headlines(items).count(),
        count(Verdict::Agrees),
        count(Verdict::Shape),
        count(Verdict::Differs),
    )
}

/// Numbers and claims under the default setting.
fn headlines(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().filter(|item| item.verdict.is_some() && !item.item.starts_with("sensitivity-"))
}

fn claims_table(items: &[Item]) -> Block {
    let rows = headlines(items)
        .map(|item| {
            let unit = match (item.unit.as_str(), item.series.as_str()) {
                ("", "claim") => "share of points",
                ("", _) => "index",
                (unit, _) => unit,
            };
            vec![
                Cell::Text(item.item.clone()),
                Cell::Text(item.series.clone()),
                Cell::Text(place(item)),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Text(unit.into()),
                Cell::Verdict(item.verdict),
                Cell::Text(item.note.clone()),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "Published numbers and claims beside ours".into(),
        columns: ["item", "series", "at", "published", "measured", "unit", "verdict", "what"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

fn curve(name: &str, kind: CurveKind, points: Vec<Point>) -> Curve {
    Curve { name: name.into(), kind, points }
}

/// The points of one series of an item.
fn points<'a>(
    items: impl Iterator<Item = &'a Item>,
    x: &str,
    of: impl Fn(&Item) -> Option<Point>,
) -> Vec<Point> {
    let mut points: Vec<Point> = items
        .filter_map(|item| {
            let at = item.x.get(x)?.as_f64()?;
            of(item).map(|point| Point { x: at, ..point })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// Ours, with its interval; the abscissa is set later.
fn ours(item: &Item) -> Option<Point> {
    let ci95 = item.ci95.filter(|ci95| ci95.iter().all(|end| end.is_finite()));
    item.measured.map(|y| Point { x: 0.0, y, ci95 })
}

fn goodput_figure(grid: &Goodput, id: &str, title: &str, senders: &[Sender], caption: &str) -> Block {
    let points = |sender: Sender| {
        let at = |(at, loss): (usize, &f64)| Some(Point::of(100.0 * loss, &grid.goodput(sender, at)?));
        grid.losses.iter().enumerate().filter_map(at).collect()
    };
    Block::Figure(Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x_label: "packet loss rate, %".into(),
        y_label: "goodput, kbit/s".into(),
        x_log: true,
        curves: senders.iter().map(|one| curve(one.name(), CurveKind::Measured, points(*one))).collect(),
        ..Figure::default()
    })
}

fn fairness_figure(fair: &[Shared]) -> Block {
    let mut curves = Vec::new();
    for sender in Sender::PAPER.into_iter().chain(Sender::RED) {
        let measured = fair
            .iter()
            .filter(|one| one.sender == sender && one.flows == FLOWS[0])
            .filter_map(|one| Some(Point::of(one.loss, &one.jain?)))
            .collect();
        let published = numbers()
            .iter()
            .filter(|number| number.item == "table1" && number.series == sender.name())
            .filter(|number| number.coordinate("flows") == Some(FLOWS[0] as f64))
            .filter_map(|number| Some(Point::exact(number.coordinate("loss_percent")?, number.value)))
            .collect();
        curves.push(curve(sender.name(), CurveKind::Measured, measured));
        if !sender.wants_red() {
            curves.push(curve(&format!("{}, published", sender.name()), CurveKind::Published, published));
        }
    }
    Block::Figure(Figure {
        id: "table1".into(),
        title: "Table I: fairness".into(),
        caption: "Jain's index of six flows of one kind on a shared link of 10 Mbit/s; five flows are in the table above."
            .into(),
        x_label: "packet loss rate, %".into(),
        y_label: "Jain's index".into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}

fn friendliness_figure(items: &[Item], at: usize) -> Block {
    let (table, loss) = TABLES[at];
    let mut curves = Vec::new();
    for sender in Sender::PAPER {
        let rows = || items.iter().filter(|item| item.item == table && item.series == sender.name());
        let published = |item: &Item| item.published.map(|y| Point::exact(0.0, y));
        curves.push(curve(sender.name(), CurveKind::Measured, points(rows(), "reno", ours)));
        let name = format!("{}, published", sender.name());
        curves.push(curve(&name, CurveKind::Published, points(rows(), "reno", published)));
    }
    Block::Figure(Figure {
        id: table.into(),
        title: format!("Table {}: Reno beside W_CW, {loss} % loss", if at == 0 { "II" } else { "III" }),
        caption: "Mean goodput per flow of each kind; six flows in all share 2 Mbit/s, 320.5 kbit/s of payload each."
            .into(),
        x_label: "Reno flows of six".into(),
        y_label: "mean goodput per flow, kbit/s".into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}

fn test_figure(items: &[Item]) -> Block {
    let of = |metric: &str| {
        let rows = items.iter().filter(|item| item.item == "mark-test-fig6" && item.metric == metric);
        let percent = points(rows, "loss", ours).into_iter();
        let points = percent.map(|point| Point { x: 100.0 * point.x, ..point }).collect();
        curve(metric, CurveKind::Measured, points)
    };
    Block::Figure(Figure {
        id: "mark-test".into(),
        title: "Accuracy of the test by marks".into(),
        caption: "One W_CW flow on Fig. 5's path. Acc_c ends where no queue overflows any more; the same for Tables II \
                  and III is in the items mark-test-table2 and mark-test-table3."
            .into(),
        x_label: "packet loss rate, %".into(),
        y_label: "share judged right".into(),
        x_log: true,
        curves: vec![of("Acc_w"), of("Acc_c")],
        ..Figure::default()
    })
}

/// The threshold of a row that is the default or changes the threshold alone.
pub(super) fn threshold_of(row: &Row) -> Option<f64> {
    match row.setting.question {
        "" => Some(5.0),
        THRESHOLD => row.setting.answer.split(' ').next()?.parse().ok(),
        _ => None,
    }
}

fn threshold_figure(rows: &[Row]) -> Block {
    let of = |sender: Sender| {
        let mut points: Vec<Point> = rows
            .iter()
            .filter_map(|row| {
                let item = row.items.iter().find(|item| {
                    item.item == "sensitivity-table2"
                        && item.series == sender.name()
                        && item.x.get("reno").and_then(|reno| reno.as_u64()) == Some(3)
                })?;
                Some(Point { x: threshold_of(row)?, ..ours(item)? })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        curve(sender.name(), CurveKind::Measured, points)
    };
    Block::Figure(Figure {
        id: "threshold".into(),
        title: "The marking threshold decides who starves whom".into(),
        caption: "Three Reno and three W_CW flows without errors (published: 151.2 and 254.2 kbit/s). The buffer holds \
                  50 packets: at a threshold of 50 nothing is ever marked."
            .into(),
        x_label: "marking threshold, packets of average queue".into(),
        y_label: "mean goodput per flow, kbit/s".into(),
        x_log: false,
        curves: vec![of(Sender::RENO), of(Sender::W_CW)],
        ..Figure::default()
    })
}

fn sensitivity_table(rows: &[Row]) -> Block {
    const CLAIMS: [(&str, &str); 4] = [
        ("claim-fig6", "W_CW above Reno (Fig. 6)"),
        ("claim-fair-share", "fair share"),
        ("claim-order-0", "W_CW > Reno, 0 %"),
        ("claim-order-0.1", "W_CW > Reno, 0.1 %"),
    ];
    const PUBLISHED: [&str; 6] = ["0.59", "0.59", "0.83", "0.52", "0.64", "0.65"];
    let mut columns = vec!["open question: answer".to_string()];
    for (at, published) in PUBLISHED.iter().enumerate() {
        let ((_, loss), (reno, w_cw)) = (TABLES[at / 3], MIXTURES[at % 3]);
        columns.push(format!("{reno}+{w_cw}, {loss} % ({published})"));
    }
    columns.extend(CLAIMS.map(|(_, words)| words.to_string()));
    let rows = rows
        .iter()
        .map(|row| {
            let mut cells = vec![Cell::Text(row.setting.label())];
            cells.extend(
                row.ratios.iter().map(|ratio| ratio.map_or(Cell::Empty, |one| Cell::Number(number(one)))),
            );
            cells.extend(CLAIMS.map(|(name, _)| Cell::Verdict(row.item(name).and_then(|item| item.verdict))));
            cells
        })
        .collect();
    Block::Table(Table {
        caption: "Mean goodput of Reno over that of W_CW, Reno + W_CW flows (published in brackets), and the claims"
            .into(),
        columns,
        rows,
    })
}

fn fairness_sensitivity_table(rows: &[FairRow]) -> Block {
    let points = rows.first().map_or(&[][..], |row| &row.shared);
    let published = |one: &Shared| {
        let is_it = |number: &&Published| {
            number.item == "table1"
                && number.series == one.sender.name()
                && number.coordinate("flows") == Some(one.flows as f64)
                && number.coordinate("loss_percent") == Some(one.loss)
        };
        numbers().iter().find(is_it).map_or(String::new(), |number| format!(" ({})", number.value))
    };
    let mut columns = vec!["open question: answer".to_string()];
    columns
        .extend(points.iter().map(|one| format!("{}, {} %{}", one.sender.name(), one.loss, published(one))));
    let rows = rows
        .iter()
        .map(|row| {
            let cells = row
                .shared
                .iter()
                .map(|one| one.jain.map_or(Cell::Empty, |jain| Cell::Number(index(jain.mean))));
            std::iter::once(Cell::Text(row.setting.label())).chain(cells).collect()
        })
        .collect();
    Block::Table(Table {
        caption: "Table I with six flows: Jain's index (published in brackets)".into(),
        columns,
        rows,
    })
}

/// Three digits: indices lie between 0.9 and 1.
fn index(value: f64) -> String {
    format!("{value:.3}")
}
