//! What came out of simulation and emulation, side by side.

use super::case::Case;
use lasthop_emu::trial::{Outcome, Progress};
use lasthop_lab::change::Change;
use lasthop_lab::document::{Block, Cell, Chapter, Document, Table};
use lasthop_lab::figure::{Curve, CurveKind, Figure, Point};
use lasthop_lab::runs::csv;
use lasthop_lab::runs::number::{change, with_interval};
use lasthop_lab::runs::summary::{change_value, value};
use lasthop_lab::stats::Estimate;
use serde_json::{Map, Value, json};

/// One repetition, both ways.
pub(super) struct Pair {
    pub(super) seed: u64,
    pub(super) simulated: Option<Vec<Progress>>,
    pub(super) emulated: Outcome,
}

/// All repetitions of a case.
pub(super) struct Results {
    pub(super) case: Case,
    pub(super) pairs: Vec<Pair>,
    /// Repetitions that were not in time.
    pub(super) thrown_away: u32,
}

/// A number that is compared.
struct Metric {
    /// Name in JSON and CSV, with the unit.
    name: &'static str,
    of_one: fn(&Progress) -> Option<f64>,
    /// Of all flows together, if that means something.
    of_all: fn(&[Progress]) -> Option<f64>,
}

const GOODPUT: Metric = Metric {
    name: "goodput_kbps",
    of_one: |flow| Some(flow.goodput_kbps()),
    // Over the time of the flow that had most.
    of_all: |flows| {
        let seconds = flows.iter().map(|flow| flow.active.as_secs()).fold(0.0, f64::max);
        let bytes: u64 = flows.iter().map(|flow| flow.received).sum();
        (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / 1e3)
    },
};
const RETRANSMISSIONS: Metric = Metric {
    name: "retransmissions",
    of_one: |flow| Some(flow.retransmissions as f64),
    of_all: |flows| Some(flows.iter().map(|flow| flow.retransmissions as f64).sum()),
};
const SRTT: Metric = Metric { name: "srtt_ms", of_one: Progress::srtt_ms, of_all: |_| None };
const METRICS: [Metric; 3] = [GOODPUT, RETRANSMISSIONS, SRTT];

/// Which flows a row is about.
#[derive(Clone, Copy)]
enum Of {
    One(usize),
    All,
}

impl Results {
    /// Every flow, and all of them together if there are several.
    fn rows(&self) -> Vec<(String, Of)> {
        let mut rows: Vec<(String, Of)> =
            self.case.names().enumerate().map(|(flow, name)| (name.to_owned(), Of::One(flow))).collect();
        if rows.len() > 1 {
            rows.push(("all".to_owned(), Of::All));
        }
        rows
    }

    /// By repetition; empty if one of them has no such number.
    fn simulated(&self, metric: &Metric, of: Of) -> Vec<f64> {
        let one = |pair: &Pair| number(metric, of, pair.simulated.as_ref()?);
        self.pairs.iter().map(one).collect::<Option<Vec<f64>>>().unwrap_or_default()
    }

    /// The same.
    fn emulated(&self, metric: &Metric, of: Of) -> Vec<f64> {
        let one = |pair: &Pair| number(metric, of, &pair.emulated.streams);
        self.pairs.iter().map(one).collect::<Option<Vec<f64>>>().unwrap_or_default()
    }

    fn row(&self, name: &str, of: Of) -> Vec<Cell> {
        let (ours, theirs) = (self.simulated(&GOODPUT, of), self.emulated(&GOODPUT, of));
        let both = |metric: &Metric| {
            let mean =
                |values: Vec<f64>| Estimate::of(&values).map_or("–".to_owned(), |it| rounded(it.mean));
            let text = format!("{} / {}", mean(self.simulated(metric, of)), mean(self.emulated(metric, of)));
            if text == "– / –" { Cell::Empty } else { Cell::Number(text) }
        };
        let estimate =
            |values: &[f64]| Estimate::of(values).map_or(Cell::Empty, |it| Cell::Number(with_interval(&it)));
        vec![
            Cell::Text(self.case.sender.to_string()),
            Cell::Text(name.to_owned()),
            estimate(&ours),
            estimate(&theirs),
            Change::of(&theirs, &ours).map_or(Cell::Empty, |it| Cell::Number(change(&it))),
            both(&RETRANSMISSIONS),
            both(&SRTT),
        ]
    }

    /// The first repetition's round-trip times, a figure for each flow.
    fn round_trips(&self, number: usize) -> Vec<Figure> {
        let Some(pair) = self.pairs.first() else { return Vec::new() };
        let figure = |(flow, name): (usize, &str)| {
            let ways =
                [("simulated", pair.simulated.as_deref()), ("emulated", Some(&pair.emulated.streams[..]))];
            let curves = ways.into_iter().filter_map(|(way, flows)| {
                let points = flows?[flow].srtts_ms.iter();
                let points = points.map(|(time, srtt)| Point::exact(time.as_secs(), *srtt)).collect();
                Some(Curve { name: way.to_owned(), kind: CurveKind::Line, points })
            });
            Figure {
                id: format!("srtt-{number}-{flow}"),
                title: format!("{}, {name}: round-trip time", self.case.sender),
                caption: format!(
                    "The sender's smoothed round-trip time in the repetition of seed {}.",
                    pair.seed
                ),
                x_label: "time, s".to_owned(),
                y_label: "SRTT, ms".to_owned(),
                x_log: false,
                curves: curves.collect(),
            }
        };
        self.case.names().enumerate().map(figure).collect()
    }

    /// An object for each flow; if there are several, a last one for all of them, whose `flow` is null.
    pub(super) fn objects(&self) -> Vec<Value> {
        let object = |(name, of): (String, Of)| {
            let mut object = Map::new();
            object.insert("sender".into(), json!(self.case.sender.to_string()));
            object.insert("flow".into(), if matches!(of, Of::All) { Value::Null } else { json!(name) });
            for metric in &METRICS {
                let (ours, theirs) = (self.simulated(metric, of), self.emulated(metric, of));
                let of = |estimate: Option<Estimate>| estimate.map_or(Value::Null, |it| value(&it));
                let changed = |change: Option<Change>| change.map_or(Value::Null, |it| change_value(&it));
                let numbers = json!({
                    "simulated": of(Estimate::of(&ours)),
                    "emulated": of(Estimate::of(&theirs)),
                    "difference_percent": changed(Change::of(&theirs, &ours)),
                });
                object.insert(metric.name.into(), numbers);
            }
            object.insert("thrown_away".into(), json!(self.thrown_away));
            object.insert("kernel_not_told".into(), json!(self.case.untold));
            Value::Object(object)
        };
        self.rows().into_iter().map(object).collect()
    }
}

fn number(metric: &Metric, of: Of, flows: &[Progress]) -> Option<f64> {
    match of {
        Of::One(flow) => (metric.of_one)(&flows[flow]),
        Of::All => (metric.of_all)(flows),
    }
}

/// Three digits, no more than one behind the point.
fn rounded(mean: f64) -> String {
    if mean < 100.0 { format!("{mean:.1}") } else { format!("{mean:.0}") }
}

/// Columns, with units.
const COLUMNS: [&str; 7] =
    ["TCP", "flow", "simulated, kbit/s", "emulated, kbit/s", "difference, %", "sent again", "SRTT, ms"];

/// A row for each sender and flow.
pub(super) fn table(all: &[Results]) -> Table {
    let rows =
        all.iter().flat_map(|results| results.rows().into_iter().map(|(name, of)| results.row(&name, of)));
    Table { caption: String::new(), columns: COLUMNS.map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// The report: the table, what must be known of it, and the first repetition by time.
pub(super) fn document(all: &[Results]) -> Document {
    let mut blocks = vec![Block::Text(how(all)), Block::Table(table(all))];
    blocks
        .extend(notes(all).lines().filter(|line| !line.is_empty()).map(|line| Block::Text(line.to_owned())));
    let figures = all.iter().enumerate().flat_map(|(number, results)| results.round_trips(number));
    blocks.extend(figures.map(Block::Figure));
    Document {
        title: format!("{}: simulated and emulated", title(all)),
        introduction:
            "The same scenario in virtual time, and in real time with real TCP over the same links."
                .to_owned(),
        chapters: vec![Chapter { id: "compared".to_owned(), title: "What came out".to_owned(), blocks }],
    }
}

fn title(all: &[Results]) -> &str {
    all.first().map_or("", |first| &first.case.scenario.title)
}

/// What ran, above the table.
pub(super) fn heading(all: &[Results]) -> String {
    format!("{}\n{}\n\n", title(all), how(all))
}

fn how(all: &[Results]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let (scenario, runs) = (&first.case.scenario, first.pairs.len());
    let seeds = format!("seeds from {}", first.pairs.first().map_or(0, |pair| pair.seed));
    format!(
        "{runs} runs of {} each, {seeds}; goodput as means ± half of the 95 % interval, differences of the means paired by seed; \
         \"sent again\" and SRTT: simulated / emulated",
        scenario.duration
    )
}

/// What must be known of the comparison, below the table.
pub(super) fn notes(all: &[Results]) -> String {
    let mut notes = Vec::new();
    for results in all {
        let who = &results.case.sender;
        if !results.case.is_simulated {
            notes.push(format!("{who}: the simulator has no such congestion control"));
        }
        for untold in &results.case.untold {
            notes.push(format!("{who}: cannot be told {untold}"));
        }
        if results.thrown_away > 0 {
            notes.push(format!("{who}: {} runs were not in time and ran again", results.thrown_away));
        }
    }
    let late = all.iter().flat_map(|results| &results.pairs).map(|pair| pair.emulated.lateness);
    if let Some((p99, max)) =
        late.map(|late| (late.p99, late.max)).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
    {
        let micros = |span: lasthop_base::Duration| span.as_nanos() / 1000;
        notes.push(format!(
            "late by {} us at most for 99 packets of 100, in the worst run; the latest packet: {} us",
            micros(p99),
            micros(max)
        ));
    }
    notes.iter().fold("\n".to_owned(), |text, note| text + note + "\n")
}

/// A table for documents.
pub(super) fn markdown(table: &Table) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<&str> = table.columns.iter().map(|_| "---").collect();
    let mut text = line(table.columns.iter().map(String::as_str).collect()) + &line(rule);
    for row in &table.rows {
        text.push_str(&line(row.iter().map(Cell::text).collect()));
    }
    text
}

/// The names of the columns of [`csv_rows`].
pub(super) fn csv_header() -> String {
    let mut names = vec!["sender".to_owned(), "seed".to_owned(), "flow".to_owned()];
    for metric in &METRICS {
        names.extend(["simulated", "emulated"].map(|way| format!("{way}_{}", metric.name)));
    }
    csv::line(names)
}

/// One row per flow of a repetition.
pub(super) fn csv_rows(case: &Case, pair: &Pair) -> String {
    let row = |(flow, name): (usize, &str)| {
        let mut fields = vec![case.sender.to_string(), pair.seed.to_string(), name.to_owned()];
        for metric in &METRICS {
            let ours = pair.simulated.as_ref().and_then(|all| number(metric, Of::One(flow), all));
            fields.push(csv::number(ours));
            fields.push(csv::number(number(metric, Of::One(flow), &pair.emulated.streams)));
        }
        csv::line(fields)
    };
    case.names().enumerate().map(row).collect()
}
