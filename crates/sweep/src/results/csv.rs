//! Output of each run as comma-separated values.

use super::ResultSelection;
use crate::row::SubjectMetrics;
use crate::store::{Combination, StoredRun};
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::csv::{line, number};
use lasthop_sim::{LINK_METRICS, RLC_METRICS};

/// Returns the column names of [`flow_rows`].
pub fn flow_header(paths: &[String], selection: &ResultSelection) -> String {
    header(paths, "flow", quantities(selection).into_iter().map(Quantity::name))
}

/// Returns one row for each run and flow: the combination's values, the flow, the seed, and the flow's numbers. Numbers
/// of all flows together are the same in each row of a run.
pub fn flow_rows(combination: &Combination, runs: &[StoredRun], selection: &ResultSelection) -> String {
    let quantities = quantities(selection);
    let row = |run: &StoredRun, name: &str, flow: &SubjectMetrics| {
        let values = quantities.iter().map(|quantity| {
            number(match quantity {
                Quantity::OfFlow(metric) => flow.number(metric.name),
                Quantity::Aggregate((name, ..)) => run.together(name),
            })
        });
        line(before(combination, name, run).chain(values))
    };
    let of_run = |run: &StoredRun| -> String {
        run.flows()
            .filter(|(name, _)| selection.selects_flow(name))
            .map(|(name, flow)| row(run, name, flow))
            .collect()
    };
    runs.iter().map(of_run).collect()
}

/// Returns the column names of [`link_rows`].
pub fn link_header(paths: &[String]) -> String {
    header(paths, "link", link_names())
}

/// Returns one row for each run and link direction.
pub fn link_rows(combination: &Combination, runs: &[StoredRun]) -> String {
    let row = |run: &StoredRun, name: &str, link: &SubjectMetrics| {
        line(before(combination, name, run).chain(link_names().map(|metric| number(link.number(metric)))))
    };
    let of_run =
        |run: &StoredRun| -> String { run.links().map(|(name, link)| row(run, name, link)).collect() };
    runs.iter().map(of_run).collect()
}

fn header(paths: &[String], subject: &str, names: impl Iterator<Item = &'static str>) -> String {
    let before = paths.iter().map(String::as_str).chain([subject, "seed"]);
    line(before.chain(names.map(|name| -> &str { name })))
}

fn before(combination: &Combination, name: &str, run: &StoredRun) -> impl Iterator<Item = String> {
    combination.x.clone().into_iter().chain([name.to_owned(), run.seed.to_string()])
}

fn quantities(selection: &ResultSelection) -> Vec<Quantity> {
    if selection.quantities.is_empty() { Quantity::all().collect() } else { selection.quantities.clone() }
}

fn link_names() -> impl Iterator<Item = &'static str> {
    LINK_METRICS.iter().map(|metric| metric.name).chain(RLC_METRICS.iter().map(|metric| metric.name))
}
