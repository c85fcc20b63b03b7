//! Each run as comma-separated values.

use super::Wanted;
use crate::row::Part;
use crate::store::{Place, Run};
use lasthop_lab::compare::Quantity;
use lasthop_lab::runs::csv::{line, number};
use lasthop_sim::{LINK_METRICS, RLC_METRICS};

/// Column names of [`flow_rows`].
pub fn flow_header(paths: &[String], wanted: &Wanted) -> String {
    header(paths, "flow", quantities(wanted).into_iter().map(Quantity::name))
}

/// A row for each run and flow: the combination's values, the flow, the seed, and its numbers. Numbers of all flows
/// together are repeated in each row.
pub fn flow_rows(place: &Place, runs: &[Run], wanted: &Wanted) -> String {
    let quantities = quantities(wanted);
    let row = |run: &Run, name: &str, flow: &Part| {
        let values = quantities.iter().map(|quantity| {
            number(match quantity {
                Quantity::OfFlow(metric) => flow.number(metric.name),
                Quantity::Aggregate((name, ..)) => run.together(name),
            })
        });
        line(before(place, name, run).chain(values))
    };
    let of_run = |run: &Run| -> String {
        run.flows()
            .filter(|(name, _)| wanted.takes_flow(name))
            .map(|(name, flow)| row(run, name, flow))
            .collect()
    };
    runs.iter().map(of_run).collect()
}

/// Column names of [`link_rows`].
pub fn link_header(paths: &[String]) -> String {
    header(paths, "link", link_names())
}

/// A row for each run and link direction.
pub fn link_rows(place: &Place, runs: &[Run]) -> String {
    let row = |run: &Run, name: &str, link: &Part| {
        line(before(place, name, run).chain(link_names().map(|metric| number(link.number(metric)))))
    };
    let of_run = |run: &Run| -> String { run.links().map(|(name, link)| row(run, name, link)).collect() };
    runs.iter().map(of_run).collect()
}

fn header(paths: &[String], subject: &str, names: impl Iterator<Item = &'static str>) -> String {
    let before = paths.iter().map(String::as_str).chain([subject, "seed"]);
    line(before.chain(names.map(|name| -> &str { name })))
}

fn before(place: &Place, name: &str, run: &Run) -> impl Iterator<Item = String> {
    place.x.clone().into_iter().chain([name.to_owned(), run.seed.to_string()])
}

/// The chosen quantities, by default all.
fn quantities(wanted: &Wanted) -> Vec<Quantity> {
    if wanted.quantities.is_empty() { Quantity::all().collect() } else { wanted.quantities.clone() }
}

fn link_names() -> impl Iterator<Item = &'static str> {
    LINK_METRICS.iter().map(|metric| metric.name).chain(RLC_METRICS.iter().map(|metric| metric.name))
}
