//! Tests that the runs of a store are not repeated, and that an interrupted sweep ends with the same store.

use super::*;
use lasthop_sim::{Observation, run_observed};
use lasthop_sweep::row::Subject;
use lasthop_sweep::rule::Precision;

#[test]
fn every_point_has_the_same_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    assert_eq!(complete(&path, &grid(), &RunCount::Runs(4), Shard::WHOLE), 24);
    let reader = StoreReader::open(&path).unwrap();
    let [sweep] = &reader.contents().sweeps().unwrap()[..] else { panic!("one sweep") };
    assert_eq!((sweep.combinations, sweep.done, sweep.failed), (6, 24, 0));
    assert_eq!(sweep.paths, ["recovery", "channel.loss"]);
    for combination in reader.contents().combinations(sweep.number).unwrap() {
        let seeds: Vec<u64> =
            reader.contents().runs(&combination.digest, false).unwrap().iter().map(|run| run.seed).collect();
        assert_eq!(seeds, [1, 2, 3, 4]);
    }
}

/// Numbers that are read from a store are bit-identical to the numbers of the run.
#[test]
fn numbers_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let grid = grid();
    complete(&path, &grid, &RunCount::Runs(2), Shard::WHOLE);
    let reader = StoreReader::open(&path).unwrap();
    for point in &grid.points {
        for run in reader.contents().runs(&point.digest, true).unwrap() {
            let observation = Observation { link_delays: true, ..Observation::default() };
            let expected = row::subject_metrics(&run_observed(&point.scenario, run.seed, observation).0);
            assert_eq!(run.subject_metrics.len(), expected.len());
            for (metrics, expected) in run.subject_metrics.iter().zip(&expected) {
                assert_eq!(metrics.subject, expected.subject);
                assert_eq!(metrics.numbers.len(), expected.numbers.len());
                for (name, value) in &expected.numbers {
                    assert_eq!(metrics.number(name).map(f64::to_bits), Some(value.to_bits()), "{name}");
                }
            }
        }
    }
}

#[test]
fn what_is_there_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    assert_eq!(complete(&path, &grid(), &RunCount::Runs(3), Shard::WHOLE), 18);
    assert_eq!(complete(&path, &grid(), &RunCount::Runs(3), Shard::WHOLE), 0);
    assert_eq!(complete(&path, &grid(), &RunCount::Runs(5), Shard::WHOLE), 12);
    // The second sweep shares one point with the first sweep, but spells the values of this point differently.
    let shared = grid_of(&[("recovery", &["sack", "tahoe"]), ("channel.loss", &["0.01"])]);
    assert_eq!(complete(&path, &shared, &RunCount::Runs(5), Shard::WHOLE), 5);
    assert_eq!(StoreReader::open(&path).unwrap().contents().sweeps().unwrap().len(), 2);
}

#[test]
fn a_sweep_cut_into_pieces_is_the_same_with_and_without_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let rule = RunCount::Until(Precision::new(0.1).unwrap(), goodput(), 60);
    for (name, count) in [("runs", RunCount::Runs(12)), ("until", rule)] {
        let (at_once, in_pieces) = (folder.path().join(name), folder.path().join(format!("{name}-pieces")));
        let all = complete(&at_once, &grid(), &count, Shard::WHOLE);
        assert!(all >= 60, "{name}: {all}");
        let mut pieces = 0;
        for most in [1, 7, 19, 40] {
            let mut driver = driver(&in_pieces, &grid(), &count, Shard::WHOLE);
            pieces += work(&mut driver, most);
            driver.into_store().unwrap().close();
        }
        pieces += complete(&in_pieces, &grid(), &count, Shard::WHOLE);
        assert_eq!(pieces, all, "{name}: each run must be executed exactly once");
        assert_eq!(exported_from(&in_pieces), exported_from(&at_once), "{name}");
    }
}

/// If the process ends, only uncommitted rows are lost.
#[test]
fn without_a_commit_there_is_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let mut driver = driver(&path, &grid(), &RunCount::Runs(2), Shard::WHOLE);
    work(&mut driver, 5);
    driver.commit().unwrap();
    let job = driver.poll_job().unwrap();
    driver.handle_row(done(&job)).unwrap();
    drop(driver);
    assert_eq!(StoreReader::open(&path).unwrap().contents().sweeps().unwrap()[0].done, 5);
}

#[test]
fn the_rule_stops_each_point_when_it_is_exact_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let (precision, grid) = (Precision::new(0.1).unwrap(), grid());
    let mut driver = driver(&path, &grid, &RunCount::Until(precision, goodput(), 10_000), Shard::WHOLE);
    work(&mut driver, usize::MAX);
    assert_eq!((driver.inexact(), driver.left()), (0, 0));
    drop(driver.into_store().unwrap());
    let reader = StoreReader::open(&path).unwrap();
    let mut counts = Vec::new();
    for point in &grid.points {
        let runs = reader.contents().runs(&point.digest, true).unwrap();
        let values: Vec<Option<f64>> = runs.iter().map(|run| run.of_all(goodput()[0])).collect();
        assert!(precision.is_reached(&values));
        let mut look = Precision::next_check(0);
        while look < values.len() as u32 {
            assert!(
                !precision.is_reached(&values[..look as usize]),
                "the rule should have stopped after {look} runs"
            );
            look = Precision::next_check(look);
        }
        assert_eq!(look as usize, values.len());
        counts.push(values.len());
    }
    counts.dedup();
    assert!(counts.len() > 1, "the number of runs must differ between points");
}

#[test]
fn a_rule_that_is_not_reached_ends_all_the_same_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let count = RunCount::Until(Precision::new(0.000_2).unwrap(), goodput(), 25);
    let mut driver = driver(&path, &grid(), &count, Shard::WHOLE);
    assert_eq!(work(&mut driver, usize::MAX), 6 * 25);
    assert_eq!((driver.inexact(), driver.left()), (6, 0));
}

#[test]
fn a_rule_runs_a_deterministic_point_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let grid = grid_of(&[("path.down.channel", &["none", "{kind=\"iid\", loss=0.02}"])]);
    let count = RunCount::Until(Precision::new(0.3).unwrap(), goodput(), 100);
    complete(&path, &grid, &count, Shard::WHOLE);
    let reader = StoreReader::open(&path).unwrap();
    let runs = |at: usize| reader.contents().runs(&grid.points[at].digest, false).unwrap().len();
    assert_eq!(runs(0), 1);
    assert!(runs(1) >= 10);
}

#[test]
fn a_run_that_failed_is_tried_again_by_the_next_driver() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let grid = grid_of(&[]);
    let mut first = driver(&path, &grid, &RunCount::Runs(2), Shard::WHOLE);
    let job = first.poll_job().unwrap();
    first.handle_row(RunRow { outcome: Err("it broke".into()), ..done(&job) }).unwrap();
    assert_eq!(work(&mut first, usize::MAX), 1, "the same driver must not repeat the failed run");
    assert_eq!(first.failed(), ["seed 1: it broke"]);
    let store = first.into_store().unwrap();
    let sweep = store.contents().sweeps().unwrap().remove(0);
    assert_eq!((sweep.done, sweep.failed), (1, 1));
    drop(store);
    assert_eq!(complete(&path, &grid, &RunCount::Runs(2), Shard::WHOLE), 1);
    let sweep = StoreReader::open(&path).unwrap().contents().sweeps().unwrap().remove(0);
    assert_eq!((sweep.done, sweep.failed), (2, 0));
}

#[test]
fn a_row_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let mut driver = driver(&path, &grid(), &RunCount::Runs(1), Shard::WHOLE);
    let row = done(&driver.poll_job().unwrap());
    driver.handle_row(row.clone()).unwrap();
    driver.handle_row(row.clone()).unwrap();
    driver.handle_row(RunRow { seed: 99, ..row.clone() }).unwrap();
    driver.handle_row(RunRow { digest: "another".into(), ..row }).unwrap();
    assert_eq!((driver.done(), driver.left()), (1, 5));
    let store = driver.into_store().unwrap();
    assert_eq!(store.contents().sweeps().unwrap()[0].done, 1);
}

/// A query for selected metrics returns the same values as a query for all metrics.
#[test]
fn some_numbers_are_read_as_they_are_among_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    // Reads from the store before any metric name is stored.
    let store = Store::open(&path).unwrap();
    assert_eq!(store.contents().runs(&grid().points[0].digest, true), Ok(vec![]));
    let mut driver = Driver::begin(store, &grid(), RunCount::Runs(2), 1, Shard::WHOLE).unwrap();
    work(&mut driver, usize::MAX);
    let store = driver.into_store().unwrap();
    let names = ["goodput_kbps", "no such number", "lost_channel", "fairness"];
    let numbers = store.contents().of_flows(&names).unwrap();
    for point in &grid().points {
        let mut all = store.contents().runs(&point.digest, true).unwrap();
        let some = store.contents().runs_with(&point.digest, &numbers).unwrap();
        assert_eq!(all.len(), 2);
        assert!(some.iter().all(|run| run.of_all(goodput()[0]).is_some()));
        for metrics in all.iter_mut().flat_map(|run| &mut run.subject_metrics) {
            let is_of_link = matches!(metrics.subject, Subject::Link(_));
            metrics.numbers.retain(|(name, _)| names.contains(&&**name) && !is_of_link);
        }
        assert_eq!(some, all);
    }
    store.close();
}
