//! Sample report with every kind of block, and with texts that need escaping.

use lasthop_lab::document::{Block, Cell, Chapter, Document, Table};
use lasthop_lab::figure::{Curve, CurveKind, Figure, Point};
use lasthop_lab::item::Verdict;
use lasthop_lab::overview::{Distance, Forest, ForestRow, Matrix, MatrixCell, MatrixRow, VerdictCounts};

/// Anchors of the figures in this file, each with the labels of its x axis and y axis.
pub const FIGURES: [(&str, &str, &str); 7] = [
    ("first-fig7", "bit error rate", "goodput (kbit/s)"),
    ("first-fig8", "mean burst (packets)", "gain (%)"),
    ("first-long", "time (s)", "RTT & queue <raw> (ms)"),
    ("second-fig7", "time (s)", "congestion window (bytes)"),
    (
        "second-names",
        "number of parallel connections that share the access link (connections)",
        "fairness index",
    ),
    ("second-tables", "flows of the other kind, of six", "share of the link"),
    ("second-panels", "time (s)", "congestion window (bytes)"),
];

pub fn document() -> Document {
    Document {
        title: "Samples: a < b & \"c\"".to_string(),
        introduction: "What was published beside what we measure.\n\nA second paragraph, with <script>alert(1)</script> in it."
            .to_string(),
        chapters: vec![overview(), first(), second()],
        ..Document::default()
    }
}

fn overview() -> Chapter {
    let cell = |agrees, shape, inconclusive, differs, anchor: &str| MatrixCell {
        counts: VerdictCounts { agrees, shape, undecidable: 0, inconclusive, differs },
        anchor: anchor.to_string(),
    };
    let row = |title: &str, anchor: &str, sentence: &str, cells| MatrixRow {
        title: title.to_string(),
        anchor: anchor.to_string(),
        sentence: sentence.to_string(),
        cells,
    };
    let matrix = Matrix {
        caption: "How the claims come out".to_string(),
        themes: ["the cure helps", "order of the cures", "mechanism", "fairness", "tables"]
            .map(String::from)
            .to_vec(),
        rows: vec![
            row(
                "First <paper>",
                "first",
                "Splitting helps as much as printed; who gains most is another one.",
                vec![
                    cell(12, 0, 0, 0, "first-fig7"),
                    cell(3, 1, 0, 2, "first-Numbers"),
                    cell(0, 0, 0, 0, ""),
                    cell(4, 0, 5, 0, ""),
                    cell(7, 2, 0, 0, "first"),
                ],
            ),
            row("Second", "second", "", vec![cell(1, 0, 0, 0, "second-fig7")]),
        ],
    };
    let number = |label: &str, default: Option<[f64; 3]>, best: Option<[f64; 3]>| {
        let distance = |[margins, low, high]: [f64; 3]| Distance { margins, ci95: Some([low, high]) };
        ForestRow {
            label: label.to_string(),
            anchor: "first-fig7".to_string(),
            default: default.map(distance),
            best: best.map(distance),
        }
    };
    let mut rows = vec![
        number("first: largest gain of <split>", Some([0.44, -0.1, 1.0]), None),
        number("first: goodput without errors", Some([-0.05, -0.06, -0.04]), None),
        number("second: Table 2, p_err = 0.3", Some([-3.2, -3.9, -2.5]), Some([-0.6, -1.4, 0.2])),
        number(
            "second: Table 3, a sum that is far away from what was printed there",
            Some([17.0, 15.0, 19.0]),
            Some([2.1, -1.0, 5.2]),
        ),
        number("second: never defined", None, None),
        number("second: below", Some([-6.0, -7.0, -3.0]), None),
    ];
    rows.extend((7..=43).map(|index| number(&format!("number {index}"), Some([0.1, -0.5, 0.7]), None)));
    Chapter {
        id: "overview".to_string(),
        title: "Overview".to_string(),
        blocks: vec![
            Block::Matrix(matrix),
            Block::Forest(Forest { caption: "How far the numbers are".to_string(), rows }),
        ],
    }
}

fn first() -> Chapter {
    Chapter {
        id: "first".to_string(),
        title: "First paper: ACKs split & copied over links with p < 1".to_string(),
        blocks: vec![
            Block::Heading("Numbers".to_string()),
            Block::Text("Published numbers beside ours.".to_string()),
            Block::Table(numbers()),
            Block::Heading("Figures".to_string()),
            Block::Figure(goodput()),
            Block::Figure(gain()),
            Block::Figure(long()),
        ],
    }
}

fn second() -> Chapter {
    Chapter {
        id: "second".to_string(),
        title: "Second paper".to_string(),
        blocks: vec![
            Block::Figure(window()),
            Block::Figure(many()),
            Block::Table(wide()),
            Block::Figure(tables()),
            Block::Figure(Figure { id: "panels".to_string(), panels: true, ..window() }),
        ],
    }
}

fn goodput() -> Figure {
    let rates = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4];
    let measured = |name: &str, drop: f64| Curve {
        name: name.to_string(),
        kind: CurveKind::Measured,
        points: rates
            .iter()
            .map(|&rate| {
                let y = 1900.0 / (1.0 + drop * rate * 1e5);
                Point { x: rate, y, ci95: Some([y * 0.94, y * 1.05]) }
            })
            .collect(),
    };
    let published = |name: &str, values: [f64; 4]| Curve {
        name: name.to_string(),
        kind: CurveKind::Published,
        points: [1e-6, 1e-5, 2e-5, 1e-4].into_iter().zip(values).map(|(x, y)| Point::exact(x, y)).collect(),
    };
    Figure {
        id: "fig7".to_string(),
        title: "Goodput over the bit error rate".to_string(),
        caption:
            "Splitting ACKs keeps the goodput up to 2e-5; the paper says \"about twice Reno's\" at p < 1e-4."
                .to_string(),
        x_label: FIGURES[0].1.to_string(),
        y_label: FIGURES[0].2.to_string(),
        x_log: true,
        curves: vec![
            measured("Reno", 1.0),
            measured("NewReno, delayed ACKs", 0.6),
            measured("split <4> & SACK", 0.25),
            published("Reno", [1880.0, 970.0, 600.0, 190.0]),
            published("split <4> & SACK, paper", [1700.0, 1450.0, 1400.0, 480.0]),
            published("upper bound", [1950.0, 1940.0, 1930.0, 1800.0]),
        ],
        source: "lasthop reproduce first --quick".to_string(),
        ..Figure::default()
    }
}

fn gain() -> Figure {
    let points = (0..120).map(|index| {
        let x = f64::from(index) / 4.0;
        let y = 40.0 * (x / 6.0).sin() + x;
        Point { x, y, ci95: (!(50..55).contains(&index)).then_some([y - 4.0 - x / 5.0, y + 5.0]) }
    });
    let mut flat =
        Curve { name: "one run".to_string(), kind: CurveKind::Measured, points: points.clone().collect() };
    for point in &mut flat.points {
        *point = Point::exact(point.x, 20.0 - point.y / 3.0);
    }
    Figure {
        id: "fig8".to_string(),
        title: "Gain over the mean burst".to_string(),
        caption: String::new(),
        x_label: FIGURES[1].1.to_string(),
        y_label: FIGURES[1].2.to_string(),
        x_log: false,
        curves: vec![
            Curve { name: "gain".to_string(), kind: CurveKind::Measured, points: points.collect() },
            flat,
        ],
        ..Figure::default()
    }
}

fn long() -> Figure {
    let series = |name: &str, base: f64| Curve {
        name: name.to_string(),
        kind: CurveKind::Line,
        points: (0..100_000u32)
            .map(|index| {
                let noise = f64::from(index.wrapping_mul(2_654_435_761) >> 20) / 4096.0;
                let spike = if index == 43_210 { 400.0 } else { 0.0 };
                Point::exact(f64::from(index) * 1e-3, base + 30.0 * noise + spike)
            })
            .collect(),
    };
    Figure {
        id: "long".to_string(),
        title: "Round trips, packet by packet".to_string(),
        caption: "A hundred seconds.".to_string(),
        x_label: FIGURES[2].1.to_string(),
        y_label: FIGURES[2].2.to_string(),
        x_log: false,
        curves: vec![series("RTT", 120.0), series("queueing", 10.0)],
        ..Figure::default()
    }
}

/// Returns a figure with steps. The figure in the first chapter has the same id.
fn window() -> Figure {
    let saw = |name: &str, kind, period: u32, step: f64| Curve {
        name: name.to_string(),
        kind,
        points: (0..200)
            .map(|index| {
                Point::exact(f64::from(index) * 0.25, 1460.0 * (2.0 + step * f64::from(index % period)))
            })
            .collect(),
    };
    Figure {
        id: "fig7".to_string(),
        title: "Congestion window".to_string(),
        caption: "Two flows.".to_string(),
        x_label: FIGURES[3].1.to_string(),
        y_label: FIGURES[3].2.to_string(),
        x_log: false,
        curves: vec![saw("flow 1", CurveKind::Steps, 37, 1.0), saw("flow 2", CurveKind::Steps, 61, 0.5)],
        ..Figure::default()
    }
}

fn many() -> Figure {
    let curves = (1..=9).map(|index| Curve {
        name: format!("mechanism number {index}"),
        kind: CurveKind::Measured,
        points: (1..=8)
            .map(|x| {
                let y = 1.0 - f64::from(x * index) * 0.009;
                Point { x: f64::from(x), y, ci95: Some([y - 0.01, y + 0.01]) }
            })
            .collect(),
    });
    Figure {
        id: "names".to_string(),
        title: "Nine mechanisms".to_string(),
        caption: "Colours run out; markers and dashes do not.".to_string(),
        x_label: FIGURES[4].1.to_string(),
        y_label: FIGURES[4].2.to_string(),
        x_log: false,
        curves: curves.collect(),
        ..Figure::default()
    }
}

/// Returns a figure with a categorical axis. The figure has shares with intervals that exceed 1.
fn tables() -> Figure {
    let shares = |name: &str, kind, values: [f64; 3], half: f64| Curve {
        name: name.to_string(),
        kind,
        points: (1..=3u8)
            .zip(values)
            .map(|(x, y)| Point { x: f64::from(x), y, ci95: (half > 0.0).then_some([y - half, y + half]) })
            .collect(),
    };
    Figure {
        id: "tables".to_string(),
        title: "Shares, as printed".to_string(),
        caption: "Three columns of a table.".to_string(),
        x_label: FIGURES[5].1.to_string(),
        y_label: FIGURES[5].2.to_string(),
        x_categories: ["2.5 flows", "5 flows, shielded from the others", "7.5 flows"]
            .map(String::from)
            .to_vec(),
        y_bounds: Some([0.0, 1.0]),
        curves: vec![
            shares("flow 2", CurveKind::Measured, [0.9, 0.55, 0.12], 0.2),
            shares("flow 2, published", CurveKind::Published, [0.85, 0.5, 0.2], 0.0),
            shares("flow 3", CurveKind::Measured, [0.1, 0.45, 0.88], 0.05),
        ],
        ..Figure::default()
    }
}

fn numbers() -> Table {
    let row = |item: &str, published: &str, measured: &str, verdict, note: &str| {
        vec![
            Cell::Text(item.to_string()),
            if published.is_empty() { Cell::Empty } else { Cell::Number(published.to_string()) },
            Cell::Number(measured.to_string()),
            Cell::Verdict(verdict),
            Cell::Text(note.to_string()),
        ]
    };
    Table {
        caption: "Numbers & claims".to_string(),
        columns: ["item", "published (kbit/s)", "measured (kbit/s)", "verdict", "note"]
            .map(String::from)
            .to_vec(),
        rows: vec![
            row("gain-mac", "1910", "1915 ± 12", Some(Verdict::Agrees), ""),
            row("gain-split <4>", "1450", "1290 ± 31", Some(Verdict::Shape), "higher than Reno's"),
            row(
                "timeouts",
                "12",
                "48.2 ± 3.1",
                Some(Verdict::Differs),
                "The paper's timer has a granularity of half a second, which its text does not say & its code does.",
            ),
            row("rare", "3", "2.9 ± 4.1", Some(Verdict::Inconclusive), ""),
            row("fig7, no number", "", "970 ± 25", None, ""),
        ],
    }
}

fn wide() -> Table {
    let rates = (1..=14).map(|index| format!("{index}e-5"));
    Table {
        caption: "Goodput (kbit/s) over the bit error rate".to_string(),
        columns: std::iter::once("mechanism".to_string()).chain(rates).collect(),
        rows: ["Reno", "NewReno", "SACK", "Westwood"]
            .iter()
            .map(|name| {
                let numbers = (1..=14).map(|index| Cell::Number(format!("{} ± {index}", 2000 / index)));
                std::iter::once(Cell::Text((*name).to_string())).chain(numbers).collect()
            })
            .collect(),
    }
}
