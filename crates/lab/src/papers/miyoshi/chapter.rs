//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::course::{APART, Course, JOINING_AT, WINDOWS_AT};
use super::grid::Grid;
use super::setting::{Acks, Nodes};
use super::tables::{Row, published};
use super::ways::{self, Way};
use super::{PAPER, analysis};
use crate::document::{Block, Cell, Chapter, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::cells::{measured, number};
use crate::papers::deviation;
use crate::papers::published::Published;
use lasthop_sim::Samples;

pub(super) fn chapter(
    items: &[Item],
    grids: [&Grid; 2],
    (sensitivity, ways): (&[Row], &[Way]),
    course: &Course,
    numbers: &[Published],
) -> Chapter {
    let text = |text: &str| Block::Text(text.to_string());
    let mut blocks = vec![
        text(PAPER.citation),
        text(
            "Claimed: a wireless terminal that sends every ACK twice while the radio link loses many packets keeps \
             the throughput of an unmodified Reno sender higher, from a packet error probability of 0.05 with one \
             terminal and of 0.1 with five; below, the duplicates cost a little. Two are sufficient.",
        ),
        Block::Text(summary(items)),
        Block::Heading("Claims".into()),
        claims_table(items),
        Block::Heading("Tables".into()),
    ];
    blocks.extend(grids.map(|grid| table(grid, items, numbers)));
    blocks.push(text(
        "The table's link rates are ours: 300 kbit/s on each radio link, 410 kbit/s on the shared wire, segments of \
         100 bytes and 40 of header, set by the rows of p_err = 0. Below them everything is the sender's timer: its \
         smallest value, its back-off and its largest value, none of which the paper gives.",
    ));
    blocks.push(Block::Heading("Figures".into()));
    blocks.extend(grids.map(|grid| goodput_figure(grid, numbers)));
    blocks.push(gain_figure(grids, numbers));
    blocks.extend(analysis::figures().into_iter().map(Block::Figure));
    blocks.push(analysis_table(items));
    blocks.push(joining_figure(course));
    blocks.extend(WINDOWS_AT.iter().zip(&course.windows).enumerate().map(|(at, (p_err, pair))| {
        window_figure(["fig7", "fig8"][at], ["Fig. 7", "Fig. 8"][at], *p_err, pair)
    }));
    blocks.push(Block::Heading("What the open questions decide".into()));
    blocks.push(sensitivity_table(sensitivity));
    blocks.push(Block::Text(tried(sensitivity)));
    blocks.extend(crate::papers::tried::listed(items).map(Block::Table));
    blocks.push(text(
        "Who counts p decides what an adaptive terminal does. Told of all retransmissions it repeats most ACKs at p_err = \
         0.2 and has more than twice the goodput; told of triple duplicate ACKs alone, as §2.3 has it, it hardly repeats \
         any, because most losses there end in timeouts, and does no better than by its own estimate. Counting \
         p_buff changes nothing: in the paper's setting the buffer never overflows, and where a slow uplink with little \
         room drops ACKs the terminal chooses the same to the last ACK.",
    ));
    blocks.push(ways::table(ways));
    if let Ok(deviations) = deviation::read(include_str!("../../../../../papers/miyoshi/deviations.toml")) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
    Chapter { id: PAPER.name.into(), title: "miyoshi: multiple ACKs".into(), blocks }
}

fn is_default(item: &Item) -> bool {
    !item.item.starts_with("sensitivity-") && item.verdict.is_some()
}

fn summary(items: &[Item]) -> String {
    let count =
        |verdict| items.iter().filter(|item| is_default(item) && item.verdict == Some(verdict)).count();
    let tables = ["table2", "table3"].map(|name| {
        let of_table = || items.iter().filter(move |item| item.item == name && item.verdict.is_some());
        let agree = of_table().filter(|item| item.verdict == Some(Verdict::Agrees)).count();
        format!("{agree} of {} cells of {name}", of_table().count())
    });
    format!(
        "What we get under the default reading: of {} published numbers and claims {} agree ({}), {} hold in shape but \
         not in number, {} differ.",
        items.iter().filter(|item| is_default(item)).count(),
        count(Verdict::Agrees),
        tables.join(", "),
        count(Verdict::Shape),
        count(Verdict::Differs),
    )
}

fn claims_table(items: &[Item]) -> Block {
    let is_claim = |item: &&Item| item.item.starts_with("crossing-") || item.item.starts_with("claim-");
    let rows = items
        .iter()
        .filter(is_claim)
        .map(|item| {
            vec![
                Cell::Text(item.item.clone()),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Text(item.metric.clone()),
                Cell::Verdict(item.verdict),
                Cell::Text(item.note.clone()),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "Where two ACKs win".into(),
        columns: ["item", "published", "measured", "what is measured", "verdict", "note"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

fn title(nodes: Nodes) -> &'static str {
    match nodes {
        Nodes::One => "Table 2: one node",
        Nodes::Five => "Table 3: five nodes, sum",
    }
}

fn table(grid: &Grid, items: &[Item], numbers: &[Published]) -> Block {
    let cell = |acks: Acks, p_err: f64| {
        let is_it = |item: &&Item| {
            item.item == grid.nodes.item()
                && item.series == acks.name()
                && item.x.get("p_err").and_then(|x| x.as_f64()) == Some(p_err)
        };
        items.iter().find(is_it)
    };
    let rows = grid.p_errs.iter().map(|p_err| {
        let mut row = vec![Cell::Number(p_err.to_string())];
        for acks in Acks::FIXED {
            let item = cell(acks, *p_err);
            let paper = published(numbers, grid.nodes, acks, *p_err);
            row.push(paper.map_or(Cell::Empty, |value| Cell::Number(number(value))));
            row.push(item.map_or(Cell::Empty, measured));
            row.push(Cell::Verdict(item.and_then(|item| item.verdict)));
        }
        row.push(cell(Acks::Adaptive, *p_err).map_or(Cell::Empty, measured));
        row
    });
    Block::Table(Table {
        caption: format!("{}: goodput, kbit/s", title(grid.nodes)),
        columns: [
            "p_err",
            "1 ACK, published",
            "1 ACK, ours",
            "verdict",
            "2 ACKs, published",
            "2 ACKs, ours",
            "verdict",
            "adaptive, ours",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
    })
}

fn goodput_figure(grid: &Grid, numbers: &[Published]) -> Block {
    let mut curves = Vec::new();
    for acks in Acks::FIXED {
        let log = |value: f64| libm::log10(value.max(1e-3));
        let ours = grid.p_errs.iter().enumerate().filter_map(|(at, p_err)| {
            let one = grid.goodput(acks, at)?;
            let mut point = Point::of(*p_err, &one);
            point.y = log(one.mean);
            point.ci95 = point.ci95.map(|ends| ends.map(log));
            Some(point)
        });
        curves.push(curve(acks.name(), CurveKind::Measured, ours.collect()));
        let paper = grid.p_errs.iter().filter_map(|p_err| {
            published(numbers, grid.nodes, acks, *p_err).map(|value| Point::exact(*p_err, log(value)))
        });
        let name = format!("{}, published", acks.name());
        curves.push(curve(&name, CurveKind::Published, paper.collect()));
    }
    figure(
        grid.nodes.item(),
        title(grid.nodes),
        "Goodput of all nodes together as its decimal logarithm (2 is 100 kbit/s), because it falls by four orders.",
        ["p_err", "log10 of goodput in kbit/s"],
        curves,
    )
}

fn gain_figure(grids: [&Grid; 2], numbers: &[Published]) -> Block {
    let mut curves = Vec::new();
    for grid in grids {
        let name = if grid.nodes == Nodes::One { "one node" } else { "five nodes" };
        let ours = grid
            .p_errs
            .iter()
            .enumerate()
            .filter_map(|(at, p_err)| Some(Point::of(*p_err, &grid.gain(at)?)))
            .collect();
        curves.push(curve(name, CurveKind::Measured, ours));
        let paper = |p_err: f64| {
            let of = |acks| published(numbers, grid.nodes, acks, p_err);
            Some(Point::exact(p_err, 100.0 * (of(Acks::Two)? / of(Acks::One)? - 1.0)))
        };
        let points = grid.p_errs.iter().filter_map(|p_err| paper(*p_err)).collect();
        curves.push(curve(&format!("{name}, published"), CurveKind::Published, points));
    }
    figure(
        "gain",
        "Gain of two ACKs over one",
        "Paired by repetition; the paper's from its tables.",
        ["p_err", "gain of two ACKs, %"],
        curves,
    )
}

fn analysis_table(items: &[Item]) -> Block {
    let ends = items.iter().filter(|item| item.item.ends_with("fig6") && item.verdict.is_some());
    let rows = ends
        .map(|item| {
            let joined = item.x.get("joined").and_then(|joined| joined.as_str()).unwrap_or_default();
            vec![
                Cell::Text(joined.to_string()),
                Cell::Text(item.series.clone()),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                item.measured.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                Cell::Verdict(item.verdict),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "The range of p_err in which two ACKs are best, by how the loss of all n ACKs joins Eq. 5"
            .into(),
        columns: ["joined", "end", "published", "computed", "verdict"].map(String::from).to_vec(),
        rows,
    })
}

fn joining_figure(course: &Course) -> Block {
    let points = |of: fn(&(f64, f64)) -> f64| {
        course.p.iter().enumerate().map(|(at, one)| Point::exact(at as f64, of(one))).collect()
    };
    figure(
        "fig4",
        "Fig. 4: p while flows join",
        &format!(
            "Triple duplicate ACKs per segment sent, by second, at p_err = {JOINING_AT} (not given in the paper) with \
             one ACK; a flow joins every {APART} s. The moving average (7/8 of the new value) follows closely, as \
             the paper says: it hardly smooths. With a window of 20 segments no buffer of 50 Kbyte overflows, so p does \
             not rise with the flows."
        ),
        ["time, s", "p"],
        vec![
            curve("p of each second", CurveKind::Published, points(|one| one.0)),
            curve("moving average", CurveKind::Line, points(|one| one.1)),
        ],
    )
}

fn window_figure(id: &str, name: &str, p_err: f64, pair: &[Samples; 2]) -> Block {
    let steps = |acks: Acks, samples: &Samples| {
        let points =
            samples.flows.iter().map(|one| Point::exact(one.time.as_secs(), one.cwnd_bytes as f64 / 100.0));
        curve(acks.name(), CurveKind::Steps, points.collect())
    };
    let mean = |samples: &Samples| {
        let sum: f64 = samples.flows.iter().map(|one| (one.cwnd_bytes as f64 / 100.0).min(20.0)).sum();
        sum / samples.flows.len().max(1) as f64
    };
    figure(
        id,
        &format!("{name}: cwnd at p_err = {p_err}"),
        &format!(
            "One run of a minute; the window in use is 20 segments at most. Mean of min(cwnd, 20): {:.1} with one ACK, \
             {:.1} with two. The paper: larger with two at 0.1, not at 0.01.",
            mean(&pair[0]),
            mean(&pair[1])
        ),
        ["time, s", "cwnd, segments"],
        vec![steps(Acks::One, &pair[0]), steps(Acks::Two, &pair[1])],
    )
}

fn sensitivity_table(rows: &[Row]) -> Block {
    let gain = |grid: &Grid, p_err: f64| {
        let at = grid.p_errs.iter().position(|known| *known == p_err);
        match at.and_then(|at| grid.gain(at)) {
            Some(gain) => Cell::Number(format!("{:+.0} ± {:.0}", gain.mean, gain.half_width())),
            None => Cell::Empty,
        }
    };
    let goodput = |grid: &Grid, p_err: f64| {
        let at = grid.p_errs.iter().position(|known| *known == p_err);
        at.and_then(|at| grid.goodput(Acks::One, at))
            .map_or(Cell::Empty, |one| Cell::Number(number(one.mean)))
    };
    let crossing = |grid: &Grid| match grid.crossing_of_means() {
        Some(p_err) => Cell::Number(p_err.to_string()),
        None => Cell::Empty,
    };
    let rows = rows
        .iter()
        .map(|row| {
            vec![
                Cell::Text(row.setting.label()),
                goodput(&row.one, 0.1),
                goodput(&row.one, 0.2),
                gain(&row.one, 0.01),
                gain(&row.one, 0.05),
                gain(&row.one, 0.2),
                crossing(&row.one),
                gain(&row.five, 0.05),
                gain(&row.five, 0.2),
                crossing(&row.five),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "Under each answer: goodput with one node and one ACK (published 20.4 and 2.06 kbit/s), the gain of two \
                  ACKs in per cent at some p_err, and from which p_err on two ACKs win (published 0.05 and 0.1; a dash: \
                  not up to 0.2)"
            .into(),
        columns: [
            "open question: answer",
            "1 node, kbit/s at 0.1",
            "at 0.2",
            "gain at 0.01 (-1), %",
            "at 0.05 (+9)",
            "at 0.2 (+42)",
            "from (0.05)",
            "5 nodes, gain at 0.05 (-5), %",
            "at 0.2 (+10)",
            "from (0.1)",
        ]
        .map(String::from)
        .to_vec(),
        rows,
    })
}

/// Under which answers all claims come out.
fn tried(rows: &[Row]) -> String {
    let holds = |row: &&Row| {
        let mut claims = row.items.iter().filter(|item| item.item.contains("claim-"));
        claims.all(|item| item.verdict == Some(Verdict::Agrees))
    };
    let labels: Vec<String> = rows.iter().filter(holds).map(|row| row.setting.label()).collect();
    let under = match labels.is_empty() {
        true => "under none of these answers".to_string(),
        false => format!("under these answers: {}", labels.join("; ")),
    };
    format!(
        "That two ACKs win where much is lost comes out nearly everywhere, and far more strongly than published: the \
         copies bring the third duplicate sooner, so that a window too small for a fast retransmit with one ACK has \
         one with two. That they cost something where little is lost hardly does: without a slow uplink a copy costs \
         nothing, and a single duplicate is forgotten at the next new ACK. All four claims hold {under}."
    )
}

fn curve(name: &str, kind: CurveKind, points: Vec<Point>) -> Curve {
    Curve { name: name.into(), kind, points }
}

fn figure(id: &str, title: &str, caption: &str, [x_label, y_label]: [&str; 2], curves: Vec<Curve>) -> Block {
    Block::Figure(Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x_label: x_label.into(),
        y_label: y_label.into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}
