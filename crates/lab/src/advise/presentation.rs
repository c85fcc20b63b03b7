//! Output of the advice as a table, a page and JSON.

use super::candidates::DeploymentSite;
use super::ranking::CandidateResults;
use super::{Advice, TOP};
use crate::change::PercentChange;
use crate::document::{Block, Cell, Chapter, Document, Table};
use crate::papers::cells::number;
use crate::ranking::{Ranked, Ranking};
use crate::stats::Estimate;
use lasthop_base::find;
use lasthop_tcp::sender::congestion;
use serde_json::{Value, json};

impl Advice {
    /// Returns a summary of the comparison: number of runs, seeds, certainty of the order, and definition of the score.
    pub fn rule(&self) -> String {
        let runs = |rows: &mut dyn Iterator<Item = &CandidateResults>| {
            let each: Vec<usize> = rows.map(|row| row.runs).collect();
            match (each.iter().min(), each.iter().max()) {
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                (Some(runs), _) => runs.to_string(),
                _ => "no".to_owned(),
            }
        };
        let certain = if self.is_certain {
            format!(
                "the order of the first {TOP} candidates is certain, or their scores differ by less than 2 %"
            )
        } else {
            format!("the order of the first {TOP} candidates is not certain")
        };
        let scope = match &self.sites[..] {
            [] => String::new(),
            sites => {
                let names: Vec<&str> = sites.iter().map(|site| site.name()).collect();
                format!(" Only changes at these places were tried: {}.", names.join(", "))
            }
        };
        format!(
            "{} runs of {} each, seeds from {}, the same losses for all candidates; 95 % intervals; {certain}. The score is {}.{scope}",
            runs(&mut self.rows.iter()),
            self.path.duration,
            self.seed,
            self.aim.words()
        )
    }

    /// Returns a table with one row for each candidate. The unchanged path is the last row.
    pub fn table(&self) -> Table {
        let columns = [
            "",
            "cure",
            "where",
            "score, %",
            "goodput, kbit/s",
            "change, %",
            "RTT p95, ms",
            "short p95, s",
            "change, %",
            "neighbour, %",
        ];
        let base = std::iter::once((String::new(), &self.base));
        let numbered = self.rows.iter().enumerate().map(|(at, row)| ((at + 1).to_string(), row));
        let line = |(rank, row): (String, &CandidateResults)| {
            vec![
                Cell::Text(rank),
                Cell::Text(row.candidate.name.clone()),
                Cell::Text(sites(&row.candidate.sites)),
                if row.candidate.sites.is_empty() { Cell::Empty } else { skewed(row.score_pct.as_ref()) },
                plain(row.goodput_kbps.as_ref()),
                changed(row, row.goodput_change.as_ref()),
                plain(row.rtt_ms[1].as_ref()),
                plain(row.short_s[1].as_ref()),
                changed(row, row.short_change.as_ref()),
                changed(row, row.neighbour_change.as_ref()),
            ]
        };
        Table {
            caption: String::new(),
            columns: columns.map(String::from).to_vec(),
            rows: numbered.chain(base).map(line).collect(),
        }
    }

    /// Returns a short table of the first candidates: gain, RTT, and change of the competing flow. The unchanged path
    /// is the last row. Also returns the number of candidates that the table omits.
    pub fn glance(&self) -> (Table, usize) {
        let columns = ["", "cure", "where", "gain, %", "RTT p95, ms", "competing flow, %"];
        let shown = self.rows.len().min(MAX_ROWS);
        let numbered = self.rows.iter().take(shown).enumerate().map(|(at, row)| ((at + 1).to_string(), row));
        let line = |(rank, row): (String, &CandidateResults)| {
            let is_base = row.candidate.sites.is_empty();
            let score = row.score_pct.as_ref().filter(|_| !is_base);
            let competing = row.neighbour_change.as_ref().filter(|_| !is_base);
            vec![
                Cell::Text(rank),
                Cell::Text(row.candidate.name.clone()),
                Cell::Text(sites(&row.candidate.sites)),
                short_change(score.map(|it| (it.mean, it.ci95))),
                plain(row.rtt_ms[1].as_ref()),
                short_change(competing.map(|it| (it.percent, it.ci95))),
            ]
        };
        let table = Table {
            caption: String::new(),
            columns: columns.map(String::from).to_vec(),
            rows: numbered.chain([(String::new(), &self.base)]).map(line).collect(),
        };
        (table, self.rows.len() - shown)
    }

    /// Returns the shell command that simulates a candidate. `path` holds the arguments of `lasthop run` that select
    /// the scenario.
    pub fn command(&self, path: &str, row: &CandidateResults) -> String {
        let sets = row.candidate.set.iter().map(|(key, value)| format!(" --set '{key}={value}'"));
        format!("lasthop run {path}{}", sets.collect::<String>())
    }

    /// Returns the shell command that tries a candidate with real TCP. The kernel's sender then sends over the emulated
    /// path of the candidate. If the candidate changes the receiver, the command uses the agent. `path` is the same as
    /// in [`Advice::command`]. Returns `None` for middleboxes, receive buffers, and congestion controls that Linux
    /// lacks.
    pub fn live(&self, path: &str, row: &CandidateResults) -> Option<String> {
        let candidate = &row.candidate;
        let is_real = |site: &DeploymentSite| match site {
            DeploymentSite::Sender | DeploymentSite::Router | DeploymentSite::Link => true,
            DeploymentSite::Receiver => candidate.agent.is_some(),
            DeploymentSite::BaseStation => false,
        };
        if candidate.sites.is_empty() || !candidate.sites.iter().all(is_real) {
            return None;
        }
        let control = find(congestion::ALL, row.congestion)?.info.linux_name?;
        // The keys of flows are omitted because they configure simulated ends, and both ends are real here.
        let sets = candidate.set.iter().filter(|(key, _)| !key.starts_with("flow."));
        let sets: String = sets.map(|(key, value)| format!(" --set '{key}={value}'")).collect();
        let path = without_flows(path);
        Some(match candidate.agent {
            Some(flags) => format!("sudo lasthop agent measure {path}{sets} --senders {control} {flags}"),
            None => format!(
                "sudo lasthop emulate {path}{sets} --congestion {control} --server 'iperf3 -s' -- iperf3 -c {{server}} -R \
                 -t {:.0}",
                self.path.duration.as_secs().max(1.0)
            ),
        })
    }

    /// Returns the agent command for the receiver part of a candidate. Returns `None` if the agent cannot apply the
    /// change.
    pub fn deploy(row: &CandidateResults) -> Option<String> {
        row.candidate.agent.map(|flags| format!("sudo lasthop agent run {flags}"))
    }

    /// Returns one JSON object for each candidate, sorted from best to worst. `path` is the same as in
    /// [`Advice::command`].
    pub fn objects(&self, path: &str) -> Vec<Value> {
        let object = |(at, row): (usize, &CandidateResults)| {
            json!({
                "rank": at + 1,
                "candidate": row.candidate.name,
                "places": row.candidate.sites.iter().map(|site| site.name()).collect::<Vec<_>>(),
                "deployed_by": operator(&row.candidate.sites),
                "set": row.candidate.set.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>(),
                "command": self.command(path, row),
                "live": self.live(path, row),
                "deploy": Advice::deploy(row),
                "score_percent": row.score_pct.as_ref().map(|score| estimate(score, ANY_SCORE)),
                "goodput_kbps": row.goodput_kbps.as_ref().map(|it| estimate(it, ANY)),
                "goodput_change_percent": row.goodput_change.as_ref().map(change),
                "rtt_ms": percentiles(&row.rtt_ms),
                "short_s": percentiles(&row.short_s),
                "short_p95_change_percent": row.short_change.as_ref().map(change),
                "neighbour_change_percent": row.neighbour_change.as_ref().map(change),
                "runs": row.runs,
                "is_order_certain": self.is_certain,
            })
        };
        self.rows.iter().enumerate().map(object).collect()
    }

    /// Returns the commands to run next, each with its purpose. The first command simulates the first candidate. The
    /// remaining commands use real TCP and cover the candidates whose whole 95 % interval is above zero. `path` is the
    /// same as in [`Advice::command`].
    pub fn next_steps(&self, path: &str) -> Vec<(String, String)> {
        let first =
            self.rows.first().map(|row| ("Simulate the first candidate".to_owned(), self.command(path, row)));
        let helping = self.rows.iter().enumerate().filter(|(_, row)| {
            let score = row.score_pct.as_ref();
            score.is_some_and(|score| score.is_above(0.0))
        });
        let live = helping.clone().filter_map(|(at, row)| {
            let command = self.live(path, row)?;
            Some((format!("Try candidate {} with real TCP", at + 1), command))
        });
        let deployed = helping.filter_map(|(at, row)| Some((at, Advice::deploy(row)?))).take(1);
        let deploy = deployed
            .map(|(at, command)| (format!("Apply candidate {} on the receiving host", at + 1), command));
        first.into_iter().chain(live).chain(deploy).collect()
    }

    /// Returns the report page: the ranking, the table, and the commands to run next.
    pub fn document(&self, path: &str) -> Document {
        let row = |row: &CandidateResults| Ranked {
            name: row.candidate.name.clone(),
            says: operator(&row.candidate.sites),
            value: row.score_pct.as_ref().map(|score| score.mean),
            ci95: row.score_pct.as_ref().map(|score| score.ci95.unwrap_or(ANY_SCORE)),
            text: skewed(row.score_pct.as_ref()).text().to_owned(),
        };
        let ranking = Ranking {
            caption: "Cures, the best first".into(),
            heading: "cure".into(),
            axis: "score, %".into(),
            says: "deployed by".into(),
            rows: self.rows.iter().map(row).collect(),
        };
        let mut blocks = vec![
            Block::Text(self.rule()),
            Block::Ranking(ranking),
            Block::Table(Table { caption: "Results".into(), ..self.table() }),
        ];
        for (words, command) in self.next_steps(path) {
            blocks.push(Block::Text(format!("{words}: {command}")));
        }
        let left_out = self.left_out.iter().map(|why| Block::Text(format!("Not ranked: {why}.")));
        blocks.extend(left_out);
        Document {
            title: "Advice for this path".into(),
            introduction: self.title.clone(),
            chapters: vec![Chapter { id: "advice".into(), title: self.title.clone(), blocks }],
            ..Document::default()
        }
    }
}

/// Removes all `--set` options for keys of flows from the arguments `path`.
fn without_flows(path: &str) -> String {
    let mut pieces = path.split(" --set '");
    let first = pieces.next().unwrap_or_default().to_owned();
    let others = pieces.filter(|set| !set.starts_with("flow."));
    others.fold(first, |path, set| format!("{path} --set '{set}"))
}

fn operator(sites: &[DeploymentSite]) -> String {
    match sites {
        [] => "–".to_owned(),
        sites => sites.iter().map(|site| site.operator()).collect::<Vec<_>>().join(", "),
    }
}

fn sites(sites: &[DeploymentSite]) -> String {
    match sites {
        [] => "–".to_owned(),
        sites => sites.iter().map(|site| site.name()).collect::<Vec<_>>().join(", "),
    }
}

const MAX_ROWS: usize = 8;

/// Interval of a score for which no interval could be computed, %. The interval includes every possible score.
const ANY_SCORE: [f64; 2] = [-100.0, f64::INFINITY];
/// Interval of any other number for which no interval could be computed.
const ANY: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

fn plain(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or(Cell::Empty, |estimate| {
        // A half-width smaller than the rounding error of the mean is shown as zero.
        let rounding = 1e-9 * estimate.mean.abs();
        let half = estimate.half_width().map(|half| if half < rounding { 0.0 } else { half });
        let mean = number(estimate.mean);
        Cell::Number(half.map_or_else(|| mean.clone(), |half| format!("{mean} ± {}", number(half))))
    })
}

/// Formats a change and its interval in whole per cent: `+54 (36 to 74)`.
fn short_change(change: Option<(f64, Option<[f64; 2]>)>) -> Cell {
    change.map_or(Cell::Empty, |(percent, ci95)| {
        let whole =
            |value: f64| if value.is_finite() { format!("{:.0}", value + 0.0) } else { number(value) };
        let whole = |value: f64| whole(value).replace("-0", "0");
        let sign = if percent >= 0.5 { "+" } else { "" };
        let interval =
            ci95.map_or_else(String::new, |[low, high]| format!(" ({} to {})", whole(low), whole(high)));
        Cell::Number(format!("{sign}{}{interval}", whole(percent)))
    })
}

fn skewed(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or(Cell::Empty, |Estimate { mean, ci95, .. }| {
        let sign = if *mean > 0.0 { "+" } else { "" };
        let [low, high] = ci95.unwrap_or(ANY_SCORE);
        Cell::Number(format!("{sign}{} ({} to {})", number(*mean), number(low), number(high)))
    })
}

fn changed(row: &CandidateResults, change: Option<&PercentChange>) -> Cell {
    if row.candidate.sites.is_empty() {
        return Cell::Empty;
    }
    change.map_or(Cell::Empty, |PercentChange { percent, ci95, .. }| {
        let sign = if *percent > 0.0 { "+" } else { "" };
        let interval =
            ci95.map_or_else(String::new, |[low, high]| format!(" ({} to {})", number(low), number(high)));
        Cell::Number(format!("{sign}{}{interval}", number(*percent)))
    })
}

/// Returns an estimate as JSON. `any` replaces a missing interval. An infinite end of an interval becomes `null`.
fn estimate(estimate: &Estimate, any: [f64; 2]) -> Value {
    json!({ "mean": estimate.mean, "ci95": estimate.ci95.unwrap_or(any), "runs": estimate.runs })
}

fn change(change: &PercentChange) -> Value {
    json!({ "mean": change.percent, "ci95": change.ci95, "runs": change.runs })
}

fn percentiles(each: &[Option<Estimate>; 3]) -> Value {
    let [p50, p95, p99] = each.each_ref().map(|one| one.as_ref().map(|it| estimate(it, ANY)));
    json!({ "p50": p50, "p95": p95, "p99": p99 })
}
