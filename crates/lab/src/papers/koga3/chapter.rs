//! The report's chapter: what was claimed, what we get, the figures, the sensitivity, the contradictions.

use super::PAPER;
use super::course::Course;
use super::setting::{Load, Variant};
use super::tables::{Row, is_at};
use crate::document::{Block, Cell, Chapter, Table};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::{Item, Verdict};
use crate::papers::cells::{measured, number};
use crate::papers::deviation;
use crate::papers::published::Published;

const TABLES: [(&str, &str); 8] = [
    ("table3.1", "Table 3.1: timeouts and fast recoveries per flow, large CBR"),
    ("table3.2", "Table 3.2: timeouts and fast recoveries per flow, multiple CBR"),
    ("table3.3", "Table 3.3: total TCP throughput"),
    ("table3.4", "Table 3.4: coefficient of variation of the flows' throughput (0 is a fair share)"),
    ("table3.5", "Table 3.5: ten Reno beside ten SACK, total throughput"),
    ("table3.6", "Table 3.6: ten Reno beside ten SACK, coefficient of variation"),
    ("table3.7", "Table 3.7: spacing of the CBR packets, total throughput"),
    ("table3.8", "Table 3.8: spacing of the CBR packets, coefficient of variation"),
];

pub(super) fn chapter(
    items: &[Item],
    sensitivity: &[Row],
    courses: &[Course],
    numbers: &[Published],
) -> Chapter {
    let text = |text: &str| Block::Text(text.to_string());
    let mut blocks = vec![
        text(PAPER.citation),
        text(
            "Claimed: where twenty TCP flows share a link of 100 Mbit/s with CBR traffic that has priority behind a CBQ \
             gateway (30 Mbit/s for CBR, 70 for TCP, 200 packets of buffer each), SACK uses the changing bandwidth \
             best and most fairly, NewReno next, and Reno loses most, through timeouts; many small CBR streams cost \
             more than one large one of the same mean.",
        ),
        Block::Text(summary(items)),
        Block::Heading("Claims".into()),
        claims_table(items),
        Block::Heading("Tables".into()),
        text(
            "Throughputs agree if they lie within the interval or within the paper's own spread: its two rows of the \
             same experiment (multiple CBR in Table 3.3, hard shaper in Table 3.7) differ by 1.4, 0.6 and 0.2 Mbit/s for \
             Reno, NewReno and SACK. Counts and variations: within the interval or 5 %. A number that does not \
             agree has the shape if its place among the variants is the paper's.",
        ),
    ];
    blocks.extend(TABLES.iter().map(|(name, caption)| table(items, name, caption)));
    blocks.push(Block::Heading("Figures".into()));
    blocks.push(throughput_figure(items, numbers));
    blocks.extend(
        courses.iter().flat_map(|course| [course_figure(course, false), course_figure(course, true)]),
    );
    blocks.push(Block::Heading("What the open questions decide".into()));
    blocks.push(sensitivity_table(sensitivity));
    blocks.push(Block::Text(tried(sensitivity)));
    blocks.extend(crate::papers::tried::listed(items).map(Block::Table));
    if let Ok(deviations) = deviation::read(include_str!("../../../../../papers/koga3/deviations.toml")) {
        blocks.push(Block::Heading("Contradictions and gaps".into()));
        blocks.push(deviation::table(&deviations));
    }
    Chapter { id: PAPER.name.into(), title: "koga, chapter 3: TCP beside priority traffic".into(), blocks }
}

fn is_default(item: &Item) -> bool {
    !item.item.starts_with("sensitivity-") && item.verdict.is_some()
}

fn summary(items: &[Item]) -> String {
    let count = |verdict, claims: bool| {
        let chosen =
            items.iter().filter(|item| is_default(item) && item.item.starts_with("claim-") == claims);
        chosen.filter(|item| item.verdict == Some(verdict)).count()
    };
    let of = |claims| {
        format!(
            "{} agree, {} have the shape, {} differ",
            count(Verdict::Agrees, claims),
            count(Verdict::Shape, claims),
            count(Verdict::Differs, claims)
        )
    };
    format!(
        "What we get under the default reading: of the published numbers {}; of the claims {}.",
        of(false),
        of(true)
    )
}

fn claims_table(items: &[Item]) -> Block {
    let rows = items
        .iter()
        .filter(|item| item.item.starts_with("claim-"))
        .map(|item| {
            vec![
                Cell::Text(item.item.clone()),
                Cell::Text(item.note.clone()),
                measured(item),
                Cell::Number(item.runs.to_string()),
                Cell::Verdict(item.verdict),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: "What the chapter says in words".into(),
        columns: ["item", "claim", "share of comparisons in which it holds", "comparisons", "verdict"]
            .map(String::from)
            .to_vec(),
        rows,
    })
}

fn table(items: &[Item], name: &str, caption: &str) -> Block {
    let rows = items
        .iter()
        .filter(|item| item.item == name)
        .map(|item| {
            let unit = if item.unit.is_empty() { String::new() } else { format!(", {}", item.unit) };
            let x: Vec<&str> = item.x.values().filter_map(|x| x.as_str()).collect();
            vec![
                Cell::Text(item.series.clone()),
                Cell::Text(x.join(", ")),
                Cell::Text(format!("{}{unit}", item.metric)),
                item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
                measured(item),
                Cell::Verdict(item.verdict),
            ]
        })
        .collect();
    Block::Table(Table {
        caption: caption.into(),
        columns: ["senders", "CBR", "metric", "published", "ours", "verdict"].map(String::from).to_vec(),
        rows,
    })
}

fn throughput_figure(items: &[Item], numbers: &[Published]) -> Block {
    let mut curves = Vec::new();
    for variant in Variant::ALL {
        let ours = Load::TABLE.iter().enumerate().filter_map(|(at, load)| {
            let item = items
                .iter()
                .find(|item| item.item == "table3.3" && is_at(item, "table3.3", variant, *load))?;
            let ci95 = item.ci95.filter(|ends| ends.iter().all(|end| end.is_finite()));
            Some(Point { x: at as f64 + 1.0, y: item.measured?, ci95 })
        });
        let paper = Load::TABLE.iter().enumerate().filter_map(|(at, load)| {
            let one = numbers.iter().find(|one| {
                one.item == "table3.3"
                    && one.series == variant.name()
                    && one.word("load") == Some(load.name())
            })?;
            Some(Point::exact(at as f64 + 1.0, one.value))
        });
        let curve = |name: String, kind, points| Curve { name, kind, points };
        curves.push(curve(variant.name().into(), CurveKind::Measured, ours.collect()));
        curves.push(curve(format!("{}, published", variant.name()), CurveKind::Published, paper.collect()));
    }
    Block::Figure(Figure {
        id: "table3-3".into(),
        title: "Table 3.3: total TCP throughput".into(),
        caption: "1: TCP only on 82 Mbit/s; 2: large CBR; 3: multiple CBR. Each leaves 82 Mbit/s on average."
            .into(),
        x_label: "experiment".into(),
        y_label: "throughput, Mbit/s".into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}

fn course_figure(course: &Course, mixed: bool) -> Block {
    let (first, homogeneous) = match course.load {
        Load::TcpOnly => ("3.11", "Figs. 3.2 to 3.4"),
        Load::LargeCbr => ("3.12", "Figs. 3.5 to 3.7"),
        _ => ("3.13", "Figs. 3.8 to 3.10"),
    };
    let curves = course
        .curves
        .iter()
        .filter(|(name, _)| name.contains("beside") == mixed)
        .map(|(name, points)| Curve { name: name.clone(), kind: CurveKind::Line, points: points.clone() })
        .collect();
    let (figures, who) = match mixed {
        true => (format!("Fig. {first}"), "ten Reno beside ten SACK"),
        false => (homogeneous.to_string(), "twenty of a kind"),
    };
    Block::Figure(Figure {
        id: format!("course-{}-{}", if mixed { "mixed" } else { "alike" }, first.replace('.', "-")),
        title: format!("{figures}: {}, {who}", course.load.name()),
        caption: "Total TCP throughput of one run by half second; the paper gives no numbers.".into(),
        x_label: "time, s".into(),
        y_label: "throughput, Mbit/s".into(),
        x_log: false,
        curves,
        ..Figure::default()
    })
}

const CLAIMS: [(&str, &str); 4] = [
    ("claim-order", "SACK > NewReno > Reno"),
    ("claim-multiple", "multiple cost more"),
    ("claim-timeouts", "Reno times out most"),
    ("claim-fair", "SACK most even"),
];

fn sensitivity_table(rows: &[Row]) -> Block {
    let mut columns = vec!["open question: answer".to_string()];
    let mut shown = Vec::new();
    for load in [Load::LargeCbr, Load::MultipleCbr] {
        for variant in Variant::ALL {
            shown.push((variant, load));
            columns.push(format!("{}, {}, Mbit/s", load.name(), variant.name()));
        }
    }
    columns.push("timeouts, Reno (5.4)".into());
    columns.extend(CLAIMS.map(|(_, words)| words.to_string()));
    let rows = rows
        .iter()
        .map(|row| {
            let mut cells = vec![Cell::Text(row.setting.label())];
            let mean = |item: Option<&Item>| {
                item.and_then(|item| item.measured).map_or(Cell::Empty, |mean| Cell::Number(number(mean)))
            };
            cells.extend(shown.iter().map(|(variant, load)| mean(row.cell("table3.3", *variant, *load))));
            cells.push(mean(row.cell("table3.2", Variant::Reno, Load::MultipleCbr)));
            cells
                .extend(CLAIMS.map(|(name, _)| Cell::Verdict(row.claim(name).and_then(|item| item.verdict))));
            cells
        })
        .collect();
    Block::Table(Table {
        caption: "Under each answer: total throughput (published, large CBR: 76.9, 78.2, 80.8; multiple CBR: 73.6, 76.9, \
                  80.3), Reno's timeouts per flow beside multiple CBR, and the claims"
            .into(),
        columns,
        rows,
    })
}

/// Under which answers all claims on the variants come out.
fn tried(rows: &[Row]) -> String {
    let holds =
        |row: &&Row, name: &str| row.claim(name).is_some_and(|item| item.verdict == Some(Verdict::Agrees));
    let labels = |chosen: Vec<&Row>| {
        let labels: Vec<String> = chosen.iter().map(|row| row.setting.label()).collect();
        labels.join("; ")
    };
    let sentences = CLAIMS.map(|(name, words)| {
        let known = || rows.iter().filter(|row| row.claim(name).is_some_and(|item| item.verdict.is_some()));
        let (yes, no): (Vec<&Row>, Vec<&Row>) = known().partition(|row| holds(row, name));
        match (yes.len(), no.len()) {
            (0, _) => format!("{words}: under none of these answers."),
            (_, 0) => format!("{words}: under all of them."),
            (held, failed) if held > failed => format!("{words}: under all but {}.", labels(no)),
            _ => format!("{words}: only under {}.", labels(yes)),
        }
    });
    format!("Where the claims hold without exception. {}", sentences.join(" "))
}
