//! Tests of sweeps and their stores in one process.

mod file;
mod merged;
mod resumed;

use lasthop_lab::compare::{Quantity, Variation};
use lasthop_scenario::Draft;
use lasthop_sweep::driver::{Driver, RunCount, RunJob, Shard};
use lasthop_sweep::grid::Grid;
use lasthop_sweep::results::{ResultSelection, flow_header, flow_rows, link_rows};
use lasthop_sweep::row::{self, RunRow};
use lasthop_sweep::store::{Contents, Store, StoreReader};
use std::path::Path;

/// Scenario of a path with losses. The duration is short because a test executes hundreds of runs.
const PATH: &str = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=1s";

fn grid() -> Grid {
    grid_of(&[("recovery", &["sack", "reno"]), ("channel.loss", &["0.5%", "1%", "3%"])])
}

fn grid_of(settings: &[(&str, &[&str])]) -> Grid {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let settings: Vec<Variation> = settings
        .iter()
        .map(|(path, all)| Variation { path: (*path).to_owned(), values: values(all) })
        .collect();
    Grid::of(&Draft::load(PATH).unwrap(), &settings).unwrap()
}

fn goodput() -> Vec<Quantity> {
    vec![Quantity::named("goodput_kbps").unwrap()]
}

fn driver(store: &Path, grid: &Grid, count: &RunCount, shard: Shard) -> Driver {
    Driver::begin(Store::open(store).unwrap(), grid, count.clone(), 1, shard).unwrap()
}

fn done(job: &RunJob) -> RunRow {
    row::run(&job.scenario, &job.digest, job.seed)
}

/// Executes at most `most` runs in batches of five, and reports the results of each batch in reverse order. Returns the
/// number of executed runs.
fn work(driver: &mut Driver, most: usize) -> usize {
    let mut finished = 0;
    while finished < most {
        let jobs: Vec<RunJob> =
            std::iter::from_fn(|| driver.poll_job()).take(5.min(most - finished)).collect();
        if jobs.is_empty() {
            break;
        }
        for job in jobs.iter().rev() {
            driver.handle_row(done(job)).unwrap();
            finished += 1;
        }
    }
    finished
}

fn complete(store: &Path, grid: &Grid, count: &RunCount, shard: Shard) -> usize {
    let mut driver = driver(store, grid, count, shard);
    let finished = work(&mut driver, usize::MAX);
    assert_eq!(driver.left(), 0);
    driver.into_store().unwrap().close();
    finished
}

fn exported(contents: &Contents<'_>) -> String {
    let sweep = contents.sweeps().unwrap().remove(0);
    let mut text = flow_header(&sweep.paths, &ResultSelection::default());
    for combination in contents.combinations(sweep.number).unwrap() {
        let runs = contents.runs(&combination.digest, true).unwrap();
        text += &flow_rows(&combination, &runs, &ResultSelection::default());
        text += &link_rows(&combination, &runs);
    }
    text
}

fn exported_from(store: &Path) -> String {
    exported(&StoreReader::open(store).unwrap().contents())
}
