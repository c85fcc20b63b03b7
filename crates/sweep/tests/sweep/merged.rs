//! Tests that the merged store of all shards equals the store of the whole sweep.

use super::*;
use lasthop_sweep::rule::Precision;
use lasthop_sweep::store::Error;

#[test]
fn shards_merged_in_any_order_equal_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rule = RunCount::Until(Precision::new(0.1).unwrap(), goodput(), 100);
    for (name, count) in [("runs", RunCount::Runs(4)), ("until", rule)] {
        let all = complete(&file(name), &grid(), &count, Shard::WHOLE);
        let metrics = |number: u32| file(&format!("{name}-{number}"));
        let subject_metrics: Vec<usize> = (1..=4)
            .map(|number| complete(&metrics(number), &grid(), &count, Shard { number, of: 4 }))
            .collect();
        assert_eq!(
            subject_metrics.iter().sum::<usize>(),
            all,
            "each run must belong to exactly one shard: {subject_metrics:?}"
        );
        assert!(subject_metrics.iter().filter(|runs| **runs > 0).count() == 4, "{subject_metrics:?}");
        let merged = file(&format!("{name}-merged"));
        let mut store = Store::open(&merged).unwrap();
        for number in [3, 1, 4, 2, 1] {
            store.merge(&metrics(number)).unwrap();
        }
        store.close();
        assert_eq!(exported_from(&merged), exported_from(&file(name)), "{name}");
        assert_eq!(complete(&merged, &grid(), &count, Shard::WHOLE), 0, "{name}");
    }
}

#[test]
fn a_merge_says_what_it_brought() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    complete(&one, &grid(), &RunCount::Runs(2), Shard::WHOLE);
    complete(&two, &grid(), &RunCount::Runs(3), Shard::WHOLE);
    let before = std::fs::read(&two).unwrap();
    let mut store = Store::open(&one).unwrap();
    let merged = store.merge(&two).unwrap();
    assert_eq!((merged.new, merged.known), (6, 12));
    let merged = store.merge(&two).unwrap();
    assert_eq!((merged.new, merged.known), (0, 18));
    assert_eq!(exported(&store.contents()), exported_from(&two));
    assert_eq!(std::fs::read(&two).unwrap(), before, "the merge must not change the second store");
}

#[test]
fn what_is_done_anywhere_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (failed, good) = (folder.path().join("failed"), folder.path().join("good"));
    let grid = grid_of(&[]);
    let mut driver = driver(&failed, &grid, &RunCount::Runs(1), Shard::WHOLE);
    let job = driver.poll_job().unwrap();
    driver.handle_row(RunRow { outcome: Err("it broke".into()), ..done(&job) }).unwrap();
    driver.into_store().unwrap().close();
    complete(&good, &grid, &RunCount::Runs(1), Shard::WHOLE);
    for order in [[&failed, &good], [&good, &failed]] {
        let merged = folder.path().join(format!("merged-{}", order[0].file_name().unwrap().display()));
        let mut store = Store::open(&merged).unwrap();
        for metrics in order {
            store.merge(metrics).unwrap();
        }
        let sweep = store.contents().sweeps().unwrap().remove(0);
        assert_eq!((sweep.done, sweep.failed), (1, 0));
        assert_eq!(exported(&store.contents()), exported_from(&good));
    }
}

#[test]
fn stores_that_disagree_are_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for (path, runs) in [(&one, 2), (&two, 3)] {
        complete(path, &grid(), &RunCount::Runs(runs), Shard::WHOLE);
    }
    let tampered = rusqlite::Connection::open(&two).unwrap();
    let changed =
        "UPDATE metric SET value = value + 1 WHERE run IN (SELECT id FROM run WHERE seed = 1 LIMIT 2)";
    assert!(tampered.execute(changed, []).unwrap() > 2);
    drop(tampered);
    let mut store = Store::open(&one).unwrap();
    let before = exported(&store.contents());
    assert_eq!(store.merge(&two), Err(Error::Disagree { path: two, runs: 2 }));
    assert_eq!(exported(&store.contents()), before);
    assert_eq!(
        store.contents().sweeps().unwrap()[0].done,
        12,
        "runs that only the second store has must not be merged, either"
    );
}
