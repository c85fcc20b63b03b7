//! Computes the table and the figure of docs/explanation/routers.md, which compare queue disciplines. The program
//! measures the effect of each discipline on bulk flows, on a voice call, and on flows with different RTTs.
//!
//!     cargo run --release -p lasthop-lab --example routers -- [--runs N] [--report FILE.html]

mod delays;

use delays::{delays, quantile};
use lasthop_lab::document::{Block, Chapter, Document};
use lasthop_lab::figure::{Curve, CurveKind, Figure, Point};
use lasthop_lab::repeat::seed_of;
use lasthop_lab::report;
use lasthop_lab::stats::Estimate;
use lasthop_scenario::{Draft, Scenario};
use rayon::prelude::*;
use std::process::ExitCode;

const ROUTERS: [(&str, &str); 8] = [
    ("drop-tail, 500 packets", "\"500 packets\""),
    ("drop-tail, 1 BDP", "\"1 bdp\""),
    ("sfq, 500 packets", "{ kind = \"sfq\", packets = 500 }"),
    ("codel", "\"codel\""),
    ("pie", "\"pie\""),
    ("fq_codel", "\"fq_codel\""),
    ("cake", "\"cake\""),
    ("dualpi2", "\"dualpi2\""),
];

const DRAWN: [(&str, &str); 4] = [
    ("drop-tail, 500 packets", "drop-tail, 500 packets"),
    ("drop-tail, 1 BDP", "drop-tail, 1 BDP"),
    ("codel", "CoDel; FQ-CoDel and CAKE are alike with one flow"),
    ("pie", "PIE"),
];

/// Start of the measured time, s.
const FROM: u64 = 10;

const BULK: &str = r#"
duration = "60 s"
[link.path]
from = "server"
to = "client"
rate = "10 Mbit/s"
one_way_delay = "20 ms"
[flow.bulk]
from = "server"
to = "client"
profile = "linux"
start_spread = "100 ms"
"#;

const CALL: &str = r#"
duration = "60 s"
[link.path]
from = "server"
to = "client"
rate = "10 Mbit/s"
one_way_delay = "20 ms"
[flow.call]
from = "server"
to = "client"
kind = "cbr"
rate = "64 kbit/s"
packet = "160 bytes"
[flow.bulk]
from = "server"
to = "client"
profile = "linux"
count = 4
start_spread = "1 s"
"#;

const FAR: &str = r#"
duration = "120 s"
[link.near]
from = "one"
to = "router"
rate = "1 Gbit/s"
one_way_delay = "0 ms"
[link.far]
from = "two"
to = "router"
rate = "1 Gbit/s"
one_way_delay = "80 ms"
[link.path]
from = "router"
to = "client"
rate = "10 Mbit/s"
one_way_delay = "10 ms"
[flow.near]
from = "one"
to = "client"
profile = "linux"
start_spread = "100 ms"
[flow.near.sender]
congestion = "reno"
[flow.far]
from = "two"
to = "client"
profile = "linux"
[flow.far.sender]
congestion = "reno"
"#;

fn main() -> ExitCode {
    match tables() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("routers: {why}");
            ExitCode::FAILURE
        }
    }
}

fn tables() -> Result<(), String> {
    let (mut runs, mut file) = (8, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--runs", Some(number)) => runs = number.parse().map_err(|_| "--runs needs a number")?,
            ("--report", Some(name)) => file = Some(name),
            _ => return Err(format!("unknown option {argument}; known: --runs N, --report FILE.html")),
        }
    }
    println!(
        "| router | goodput, Mbit/s | queueing delay, mean, ms | queueing delay, 99 %, ms | queueing delay of a call, mean, ms | queueing delay of a call, 99 %, ms | goodput at RTTs of 20 ms / 180 ms, Mbit/s |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut curves = Vec::new();
    for (name, queue) in ROUTERS {
        let bulk = repeated(&scenario(BULK, queue)?, runs, [0, 0]);
        let call = repeated(&scenario(CALL, queue)?, runs, [0, 0]);
        let far = repeated(&scenario(FAR, queue)?, runs, [4, 0]);
        let wait = |of: &[RunDelays], what: &dyn Fn(&[f64]) -> f64| {
            mean_text(of.iter().map(|run| what(&run.delays)), 1)
        };
        let p99 = |delays: &[f64]| quantile(delays, 0.99);
        let rate =
            |of: &[RunDelays], flow: usize| mean_text(of.iter().map(|run| run.goodputs[flow] / 1e3), 2);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} / {} |",
            rate(&bulk, 0),
            wait(&bulk, &mean),
            wait(&bulk, &p99),
            wait(&call, &mean),
            wait(&call, &p99),
            rate(&far, 0),
            rate(&far, 1)
        );
        if let (Some((_, drawn)), Some(run)) = (DRAWN.iter().find(|(of, _)| *of == name), bulk.first()) {
            curves.push(distribution(drawn, &run.delays));
        }
    }
    match file {
        Some(file) => {
            std::fs::write(&file, report::html(&page(curves))).map_err(|why| format!("{file}: {why}"))
        }
        None => Ok(()),
    }
}

fn scenario(text: &str, queue: &str) -> Result<Scenario, String> {
    let text = format!("{text}\n[link.path.down]\nqueue = {queue}\n");
    Draft::parse(&text, "routers.toml").and_then(|draft| draft.check()).map_err(|why| format!("{why:?}"))
}

struct RunDelays {
    delays: Vec<f64>,
    goodputs: Vec<f64>,
}

fn repeated(scenario: &Scenario, runs: u32, of: [u32; 2]) -> Vec<RunDelays> {
    let run = |number: u32| {
        let (outcome, delays) = delays(scenario, seed_of(1, number), of, FROM);
        RunDelays { delays, goodputs: outcome.flows.iter().map(|flow| flow.goodput_kbps()).collect() }
    };
    (0..runs).into_par_iter().map(run).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_text(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let values: Vec<f64> = values.collect();
    match Estimate::of(&values) {
        None => "–".to_owned(),
        Some(some) => match some.half_width() {
            None => format!("{:.digits$}", some.mean),
            Some(half) => format!("{:.digits$} ± {half:.digits$}", some.mean),
        },
    }
}

fn distribution(name: &str, delays: &[f64]) -> Curve {
    let points = (0..=200).map(|step| {
        let share = f64::from(step) / 200.0;
        Point::exact(quantile(delays, (share * 0.9999).min(0.9999)).max(0.1), share)
    });
    Curve { name: name.to_owned(), kind: CurveKind::Line, points: points.collect() }
}

fn page(curves: Vec<Curve>) -> Document {
    let figure = Figure {
        id: "waits".into(),
        title: "Queueing delay of a bulk flow's packets".into(),
        caption: "One CUBIC flow at 10 Mbit/s and an RTT of 40 ms: first run, without its first 10 s.".into(),
        x_label: "queueing delay, ms (values below 0.1 are drawn at 0.1)".into(),
        y_label: "share of packets".into(),
        x_log: true,
        y_log: false,
        x_categories: Vec::new(),
        x_range: None,
        y_bounds: Some([0.0, 1.0]),
        panels: false,
        bars: false,
        source: "cargo run --release -p lasthop-lab --example routers".into(),
        curves,
    };
    let chapter =
        Chapter { id: "routers".into(), title: "Routers".into(), blocks: vec![Block::Figure(figure)] };
    Document { title: "Routers".into(), chapters: vec![chapter], ..Document::default() }
}
