//! Tests of transfers that arrive at random and have random sizes, drawn anew in each run.

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{Outcome, run};

const WEB: &str = "rate=20Mbit/s,rtt=40ms,queue=2bdp,duration=110s";

fn web(settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(WEB).expect("a path");
    let own = [
        ("flow.bulk.arrivals", "poisson 100 ms"),
        ("flow.bulk.transfer", "20 KB"),
        ("flow.bulk.sizes", "exponential"),
        ("flow.bulk.start_spread", "100 s"),
    ];
    for (key, value) in own.iter().chain(settings) {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

fn starts(outcome: &Outcome) -> Vec<f64> {
    let mut starts: Vec<f64> = outcome.flows.iter().map(|flow| flow.began_s).collect();
    starts.sort_by(f64::total_cmp);
    starts
}

/// 1000 arrivals in 100 s are a Poisson process with a mean interval of 100 ms. In theory, the share of intervals
/// longer than the mean is exp(-1). The variance of the number of arrivals in 1 s is 10 (a little less, because the
/// total is fixed).
#[test]
fn arrivals_are_a_poisson_process() {
    let outcomes: Vec<Outcome> = (1..=5).map(|seed| run(&web(&[]), seed)).collect();
    let mut gaps = Vec::new();
    let mut counts = Vec::new();
    for outcome in &outcomes {
        let starts = starts(outcome);
        assert_eq!(starts.len(), 1000);
        gaps.extend(starts.windows(2).map(|pair| pair[1] - pair[0]));
        counts.extend((0..100).map(|second| {
            let in_second = |start: &&f64| (f64::from(second)..f64::from(second + 1)).contains(*start);
            starts.iter().filter(in_second).count() as f64
        }));
    }
    let long = gaps.iter().filter(|gap| **gap > 0.1).count() as f64 / gaps.len() as f64;
    assert!((long - (-1f64).exp()).abs() < 5.0 * (0.23 / gaps.len() as f64).sqrt(), "{long}");
    // Five runs of 100 s give 500 counts of arrivals, so the standard error of the variance is 10 sqrt(2 / 500) = 0.63.
    let variance = counts.iter().map(|count| (count - 10.0).powi(2)).sum::<f64>() / counts.len() as f64;
    assert!((variance - 10.0).abs() < 4.0 * 0.63, "{variance}");
    assert_ne!(starts(&outcomes[0]), starts(&outcomes[1]), "two runs have the same starts");
}

/// Exponential sizes have their mean and a median of ln 2 times the mean. Every transfer delivers its size.
#[test]
fn sizes_are_drawn_and_delivered() {
    let outcomes: Vec<Outcome> = (1..=5).map(|seed| run(&web(&[]), seed)).collect();
    let mut sizes = Vec::new();
    for flow in outcomes.iter().flat_map(|outcome| &outcome.flows) {
        assert_eq!(flow.delivered_bytes, flow.size_bytes, "{}", flow.name);
        let transfers: Vec<_> = flow.transfers().collect();
        assert!(transfers.len() == 1 && transfers[0].is_complete && transfers[0].bytes == flow.size_bytes);
        sizes.push(flow.size_bytes as f64);
    }
    sizes.sort_by(f64::total_cmp);
    let mean = sizes.iter().sum::<f64>() / 5000.0;
    // The tolerance is five standard errors of the mean. One standard error is 20,000 / sqrt(5000) = 283 bytes.
    assert!((mean - 20_000.0).abs() < 5.0 * 283.0, "{mean}");
    let median = sizes[2500] / 20_000.0;
    assert!((median / std::f64::consts::LN_2 - 1.0).abs() < 0.1, "{median}");
}

/// Variants of a scenario must have the same arrivals and sizes, so that their results can be compared in pairs.
#[test]
fn variants_meet_the_same_arrivals_and_sizes() {
    let of = |queue| {
        let outcome = run(&web(&[("queue", queue)]), 7);
        let pairs = outcome.flows.iter().map(|flow| (flow.began_s, flow.size_bytes));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(of("drop_tail"), of("fq_codel"));
}

/// Without `start_spread`, arrivals last until the run ends. A run of 110 s with a mean interval of 1 s has 110
/// transfers.
#[test]
fn arrivals_last_until_the_run_ends() {
    let scenario = web(&[("flow.bulk.arrivals", "poisson 1 s"), ("flow.bulk.start_spread", "0 s")]);
    assert_eq!(scenario.flows.len(), 110);
    assert!(!lasthop_sim::is_deterministic(&scenario));
    let outcome = run(&scenario, 1);
    assert!(starts(&outcome).last().is_some_and(|last| (100.0..110.0).contains(last)));
}
