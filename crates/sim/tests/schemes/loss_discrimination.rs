//! Tests the accuracy of loss discrimination at the sender, from the sender's own measurements, on whole paths.

use lasthop_scenario::Draft;
use lasthop_sim::run;

/// Returns two shares over three runs of 30 s: the share of random losses that are classified as wireless, and the
/// share of congestion losses that are classified as congestion. A share is `None` if no such loss occurred.
fn right(judge: &str, path: &str, settings: &[(&str, &str)]) -> (Option<f64>, Option<f64>) {
    let mut draft = Draft::load(path).expect("an inline path");
    for (key, value) in [("sender.loss_discrimination", judge), ("duration", "30 s")].iter().chain(settings) {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    let scenario = draft.check().unwrap_or_else(|why| panic!("{why:?}"));
    let (mut wireless, mut congestion) = ([0, 0], [0, 0]);
    for seed in 1..=3 {
        let counts = run(&scenario, seed).flows.swap_remove(0).account.accuracy;
        wireless = [wireless[0] + counts.wireless_correct, wireless[1] + counts.wireless];
        congestion = [congestion[0] + counts.congestion_correct, congestion[1] + counts.congestion];
    }
    let share = |[right, all]: [u64; 2]| (all > 0).then(|| right as f64 / all as f64);
    (share(wireless), share(congestion))
}

const RANDOM: &str = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets,loss=1%";
const FULL: &str = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=30packets";

/// At a loss rate of 1 %, Reno's window is 14 segments, whereas 33 segments would fill the path. At almost every loss,
/// the queue has been growing only for a short time, so these losses must be classified as wireless.
#[test]
fn random_losses_on_a_path_that_is_not_full() {
    for (judge, least) in [("{ kind = \"ncpld\", margin = 0.2 }", 0.85), ("santa_cruz", 0.8), ("trend", 0.9)]
    {
        let (wireless, _) = right(judge, RANDOM, &[]);
        println!("{judge}: {wireless:?} of the random losses");
        assert!(wireless.expect("losses") > least, "{judge}: {wireless:?}");
    }
}

/// Before a queue drop, the RTT is nearly twice its minimum, which `ncpld` and `trend` must recognise. `santa_cruz`
/// compares only relative delays, so it cannot recognise a queue that stays full.
#[test]
fn congestion_alone() {
    for judge in ["ncpld", "trend"] {
        let (_, congestion) = right(judge, FULL, &[]);
        assert_eq!(congestion, Some(1.0), "{judge}");
    }
    let (_, congestion) = right("santa_cruz", FULL, &[]);
    println!("santa_cruz: {congestion:?} of the overflows");
    assert!(congestion.expect("overflows") < 0.5, "{congestion:?}");
}

/// If the queue marks packets before it drops any, ECN echoes must separate the two kinds of losses. Without marks,
/// every overflow must appear as a wireless loss.
#[test]
fn echoes_are_as_good_as_the_marks() {
    let ecn = ("ecn", "true");
    let (wireless, _) = right("ecn", RANDOM, &[ecn, ("queue", "codel")]);
    println!("ecn behind CoDel: {wireless:?} of the random losses");
    assert!(wireless.expect("losses") > 0.9, "{wireless:?}");
    let (_, congestion) = right("ecn", FULL, &[ecn]);
    assert_eq!(congestion, Some(0.0));
}
