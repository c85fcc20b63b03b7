//! Comparison of a scenario's simulated flows with real TCP over the emulated path.

use super::metric::{GOODPUT, GOODPUT_TOGETHER, RETRANSMISSIONS, SRTT, StreamMetric, TIMEOUTS};
use super::paired::Paired;
use super::stream::StreamOutcome;
use crate::document::{Block, Cell, Chapter, Document, Table};
use crate::figure::Figure;
use crate::runs::csv;
use crate::stats::Estimate;
use lasthop_base::Duration;
use serde_json::{Map, Value, json};

/// Results of one repetition: simulated streams and emulated streams.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Seed of the repetition.
    pub seed: u64,
    /// Simulated streams. `None` if the simulator does not model the sender.
    pub simulated: Option<Vec<StreamOutcome>>,
    /// Emulated streams.
    pub emulated: Vec<StreamOutcome>,
    /// Lateness of packets in the emulation: 99th percentile and maximum. Lateness is the time from the moment at which
    /// a packet is due to its delivery.
    pub lateness: [Duration; 2],
}

/// Results of all repetitions with one sender.
#[derive(Clone, Debug)]
pub struct CrosscheckResults {
    /// Name of the TCP sender.
    pub sender: String,
    /// Title of the scenario.
    pub title: String,
    /// Duration of a repetition.
    pub duration: Duration,
    /// Names of the flows, in the order of the streams.
    pub flows: Vec<String>,
    /// Whether the simulator models the sender.
    pub is_simulated: bool,
    /// Settings of the scenario that the kernel does not support.
    pub not_set_in_kernel: Vec<String>,
    /// Number of requested repetitions.
    pub runs: u32,
    /// Seed of the first repetition. The seed of each later repetition is one larger.
    pub seed: u64,
    /// Finished repetitions.
    pub pairs: Vec<Pair>,
    /// Number of repetitions that ran alone and were discarded because packets were delivered too late (compared with
    /// real time).
    pub late_runs: u32,
    /// Number of repetitions that ran concurrently and were discarded because packets of one of them were delivered too
    /// late.
    pub late_concurrent_runs: u32,
}

const NAMES: [&str; 3] = ["simulated", "emulated", "difference_percent"];
const METRICS: [StreamMetric; 4] = [GOODPUT, RETRANSMISSIONS, TIMEOUTS, SRTT];

#[derive(Clone, Copy)]
enum FlowSelection {
    One(usize),
    All,
}

impl CrosscheckResults {
    fn rows(&self) -> impl Iterator<Item = (&str, FlowSelection)> {
        let flows =
            self.flows.iter().enumerate().map(|(flow, name)| (name.as_str(), FlowSelection::One(flow)));
        flows.chain((self.flows.len() > 1).then_some(("all", FlowSelection::All)))
    }

    fn paired(&self, metric: &StreamMetric, of: FlowSelection) -> Paired {
        let simulated = self.pairs.iter().map(|pair| number(metric, of, pair.simulated.as_ref()?));
        let emulated = self.pairs.iter().map(|pair| number(metric, of, &pair.emulated));
        Paired::of([simulated.collect::<Vec<_>>(), emulated.collect()].map(Vec::into_iter))
    }

    fn row(&self, name: &str, of: FlowSelection) -> Vec<Cell> {
        let both = |metric: &StreamMetric| {
            let paired = self.paired(metric, of);
            let [ours, theirs] = paired
                .means
                .map(|mean: Option<Estimate>| mean.map_or("–".to_owned(), |it| rounded(it.mean)));
            if paired.is_empty() { Cell::Empty } else { Cell::Number(format!("{ours} / {theirs}")) }
        };
        let [ours, theirs, difference] = self.paired(&GOODPUT, of).cells();
        vec![
            Cell::Text(self.sender.clone()),
            Cell::Text(name.to_owned()),
            ours,
            theirs,
            difference,
            both(&RETRANSMISSIONS),
            both(&TIMEOUTS),
            both(&SRTT),
        ]
    }

    fn round_trips(&self, number: usize) -> Vec<Figure> {
        let Some(pair) = self.pairs.first() else { return Vec::new() };
        let figure = |(flow, name): (usize, &String)| {
            let simulated = pair.simulated.as_ref().map(|all| all[flow].srtt_curve("simulated"));
            Figure {
                id: format!("srtt-{number}-{flow}"),
                title: format!("{}, {name}: round-trip time", self.sender),
                caption: format!(
                    "The sender's smoothed round-trip time in the repetition of seed {}.",
                    pair.seed
                ),
                x_label: "time, s".to_owned(),
                y_label: "SRTT, ms".to_owned(),
                x_log: false,
                curves: simulated.into_iter().chain([pair.emulated[flow].srtt_curve("emulated")]).collect(),
                ..Figure::default()
            }
        };
        self.flows.iter().enumerate().map(figure).collect()
    }

    /// Returns one JSON object for each flow. If the scenario has several flows, the last object covers all flows
    /// together, and its `flow` is null.
    pub fn objects(&self) -> Vec<Value> {
        let object = |(name, of): (&str, FlowSelection)| {
            let mut object = Map::new();
            object.insert("sender".into(), json!(self.sender));
            object.insert(
                "flow".into(),
                if matches!(of, FlowSelection::All) { Value::Null } else { json!(name) },
            );
            for metric in &METRICS {
                object.insert(metric.name.into(), self.paired(metric, of).object(NAMES));
            }
            object.insert("runs".into(), json!(self.pairs.len()));
            object.insert("thrown_away".into(), json!(self.late_runs));
            object.insert("late_concurrent_runs".into(), json!(self.late_concurrent_runs));
            object.insert("not_set_in_kernel".into(), json!(self.not_set_in_kernel));
            Value::Object(object)
        };
        self.rows().map(object).collect()
    }

    /// Returns the CSV rows of a repetition, one for each flow.
    pub fn csv_rows(&self, pair: &Pair) -> String {
        let row = |(flow, name): (usize, &String)| {
            let mut fields = vec![self.sender.clone(), pair.seed.to_string(), name.clone()];
            for metric in &METRICS {
                let ours =
                    pair.simulated.as_ref().and_then(|all| number(metric, FlowSelection::One(flow), all));
                fields.push(csv::number(ours));
                fields.push(csv::number(number(metric, FlowSelection::One(flow), &pair.emulated)));
            }
            csv::line(fields)
        };
        self.flows.iter().enumerate().map(row).collect()
    }
}

/// Returns the value of a metric for one flow or for all flows. The RTT of several flows together is undefined.
fn number(metric: &StreamMetric, of: FlowSelection, streams: &[StreamOutcome]) -> Option<f64> {
    match of {
        FlowSelection::One(flow) => (metric.of)(&streams[flow..=flow]),
        FlowSelection::All if metric.name == GOODPUT.name => (GOODPUT_TOGETHER.of)(streams),
        FlowSelection::All if metric.name == SRTT.name => None,
        FlowSelection::All => (metric.of)(streams),
    }
}

fn rounded(mean: f64) -> String {
    if mean < 100.0 { format!("{mean:.1}") } else { format!("{mean:.0}") }
}

const COLUMNS: [&str; 8] = [
    "TCP",
    "flow",
    "simulated, kbit/s",
    "emulated, kbit/s",
    "difference, %",
    "retransmissions",
    "timeouts",
    "SRTT, ms",
];

/// Returns a table with one row for each sender and flow, and one for all flows together.
pub fn table(all: &[CrosscheckResults]) -> Table {
    let rows = all.iter().flat_map(|results| results.rows().map(|(name, of)| results.row(name, of)));
    Table { caption: String::new(), columns: COLUMNS.map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// Returns the report: table, notes, and the RTTs of the first repetition over time.
pub fn document(all: &[CrosscheckResults]) -> Document {
    let mut blocks = vec![Block::Text(description(all)), Block::Table(table(all))];
    blocks
        .extend(notes(all).lines().filter(|line| !line.is_empty()).map(|line| Block::Text(line.to_owned())));
    let figures = all.iter().enumerate().flat_map(|(number, results)| results.round_trips(number));
    blocks.extend(figures.map(Block::Figure));
    Document {
        title: format!("{}: simulated and emulated", title(all)),
        introduction:
            "The same scenario in virtual time, and in real time with real TCP over the same links."
                .to_owned(),
        chapters: vec![Chapter { id: "compared".to_owned(), title: "Results".to_owned(), blocks }],
        ..Document::default()
    }
}

fn title(all: &[CrosscheckResults]) -> &str {
    all.first().map_or("", |first| &first.title)
}

/// Returns the heading that is printed above the table.
pub fn heading(all: &[CrosscheckResults]) -> String {
    format!("{}\n{}\n\n", title(all), description(all))
}

fn description(all: &[CrosscheckResults]) -> String {
    let Some(first) = all.first() else { return String::new() };
    format!(
        "{} runs of {} each, seeds from {}; goodput as means ± half of the 95 % interval, differences of the means paired by seed; \
         retransmissions, timeouts and SRTT: simulated / emulated",
        first.runs, first.duration, first.seed
    )
}

/// Returns the notes that are printed below the table.
pub fn notes(all: &[CrosscheckResults]) -> String {
    let mut notes = Vec::new();
    for results in all {
        let who = &results.sender;
        if !results.is_simulated {
            notes.push(format!("{who}: the simulator does not model this congestion control"));
        }
        for not_set_in_kernel in &results.not_set_in_kernel {
            notes.push(format!("{who}: settings that the kernel does not support: {not_set_in_kernel}"));
        }
        let missing = (results.runs as usize).saturating_sub(results.pairs.len());
        if missing > 0 {
            notes.push(format!("{who}: {missing} of {} runs are missing", results.runs));
        }
        if results.late_runs > 0 {
            notes.push(format!(
                "{who}: {} runs were late compared with real time and were repeated",
                results.late_runs
            ));
        }
        if results.late_concurrent_runs > 0 {
            let count = results.late_concurrent_runs;
            notes.push(format!(
                "{who}: the machine was too slow for concurrent runs: {count} of them were repeated alone"
            ));
        }
    }
    let late = all.iter().flat_map(|results| &results.pairs).map(|pair| pair.lateness);
    if let Some([p99, max]) = late.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])]) {
        let micros = |span: Duration| span.as_nanos() / 1000;
        notes.push(format!(
            "lateness of packets in the worst run: 99th percentile {} us, maximum {} us",
            micros(p99),
            micros(max)
        ));
    }
    notes.iter().fold("\n".to_owned(), |text, note| text + note + "\n")
}

/// Returns the column names of [`CrosscheckResults::csv_rows`].
pub fn csv_header() -> String {
    let mut names = vec!["sender".to_owned(), "seed".to_owned(), "flow".to_owned()];
    for metric in &METRICS {
        names.extend(["simulated", "emulated"].map(|condition| format!("{condition}_{}", metric.name)));
    }
    csv::line(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn stream(received_bytes: u64, seconds: u64, srtt_ms: f64) -> StreamOutcome {
        StreamOutcome {
            received_bytes,
            active: Duration::from_secs(seconds),
            is_complete: false,
            retransmissions: 2,
            timeouts: Some(1),
            srtts_ms: vec![(Time::ZERO, srtt_ms)],
        }
    }

    /// Returns results of two flows. In the simulation, the flows get 8 kbit/s and 4 kbit/s. In the emulation, the
    /// first flow gets 4 kbit/s.
    fn results() -> CrosscheckResults {
        let pair = |seed| Pair {
            seed,
            simulated: Some(vec![stream(10_000, 10, 40.0), stream(1000, 2, 50.0)]),
            emulated: vec![stream(5000, 10, 44.0), stream(1000, 2, 50.0)],
            lateness: [Duration::from_micros(20 + seed), Duration::from_micros(900)],
        };
        CrosscheckResults {
            sender: "lasthop".into(),
            title: "A path".into(),
            duration: Duration::from_secs(10),
            flows: vec!["bulk".into(), "short".into()],
            is_simulated: true,
            not_set_in_kernel: Vec::new(),
            runs: 3,
            seed: 1,
            pairs: vec![pair(1), pair(2)],
            late_runs: 2,
            late_concurrent_runs: 1,
        }
    }

    #[test]
    fn a_row_for_each_flow_and_one_for_all() {
        let table = table(&[results()]);
        let rows: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        assert_eq!(rows[0][..2], ["lasthop", "bulk"]);
        assert_eq!(rows[0][5..], ["2.0 / 2.0", "1.0 / 1.0", "40.0 / 44.0"]);
        // The goodput of all flows together is computed over the lifetime of the longer flow, 10 s.
        assert_eq!(rows[2][1], "all");
        assert_eq!(rows[2][5..], ["4.0 / 4.0", "2.0 / 2.0", "–"]);
        let objects = results().objects();
        let goodput = &objects[2]["goodput_kbps"];
        assert_eq!((&goodput["simulated"]["mean"], &goodput["emulated"]["mean"]), (&json!(8.8), &json!(4.8)));
        assert_eq!(objects[0]["goodput_kbps"]["difference_percent"]["mean"], json!(-50.0));
    }

    #[test]
    fn the_worst_lateness_is_told() {
        let notes = notes(&[results()]);
        assert!(notes.contains("99th percentile 22 us"), "{notes}");
        assert!(notes.contains("lasthop: 1 of 3 runs are missing"), "{notes}");
        assert!(notes.contains("1 of them were repeated alone"), "{notes}");
    }
}
