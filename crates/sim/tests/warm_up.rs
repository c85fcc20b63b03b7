//! Tests that the warm-up is excluded. Results before and after the end of the warm-up must add up to the results of
//! the whole run.

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{Observation, Outcome, SteppedRun, run, run_observed};

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).unwrap();
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

const LOSSY: &str = "rate=4Mbit/s,rtt=60ms,queue=30packets,loss=0.5%,duration=20s,count=2";

/// The counts of a run of 7 s and of a run of 20 s with a warm-up of 7 s must add up to the counts of a run of 20 s.
#[test]
fn before_and_after_make_the_whole() {
    for path in [
        LOSSY,
        "hasegawa,duration=20s",
        "umts,duration=20s",
        "rate=4Mbit/s,rtt=60ms,queue=fq_codel,duration=20s",
    ] {
        let whole = run(&scenario(path, &[]), 3);
        let before = run(&scenario(path, &[("duration", "7 s")]), 3);
        let after = run(&scenario(path, &[("warmup", "7 s")]), 3);
        assert_eq!((after.duration_s, after.warmup_s), (13.0, 7.0));
        for ((all, one), other) in whole.flows.iter().zip(&before.flows).zip(&after.flows) {
            assert_eq!(one.delivered_bytes + other.delivered_bytes, all.delivered_bytes, "{path}");
            let sent = [one, other, all].map(|flow| (flow.source.data_sent, flow.destination.acks_sent));
            assert_eq!((sent[0].0 + sent[1].0, sent[0].1 + sent[1].1), sent[2], "{path}");
            let lost = [one, other, all].map(|flow| flow.account.lost.total());
            assert_eq!(lost[0] + lost[1], lost[2], "{path}");
            assert!((one.active_s + other.active_s - all.active_s).abs() < 1e-9);
            let samples = [one, other, all].map(|flow| flow.rtt_total);
            assert_eq!(samples[0].0 + samples[1].0, samples[2].0);
            assert_eq!(samples[0].1 + samples[1].1, samples[2].1);
            let limited = [one, other, all].map(|flow| flow.limited.unwrap().congestion);
            assert_eq!(limited[0] + limited[1], limited[2], "{path}");
        }
        for ((all, one), other) in whole.links.iter().zip(&before.links).zip(&after.links) {
            for side in [0, 1] {
                let carried = [one, other, all].map(|link| link.traffic[side].carried_bytes);
                assert_eq!(carried[0] + carried[1], carried[2], "{path}");
                let room = [one, other, all].map(|link| link.traffic[side].capacity_bytes);
                assert!((room[0] + room[1] - room[2]).abs() < 1e-6 * room[2], "{path}");
                let payload = [one, other, all].map(|link| link.traffic[side].payload_bytes);
                assert_eq!(payload[0] + payload[1], payload[2]);
            }
        }
    }
}

/// The goodput of a run with a warm-up must equal the rate after slow start in a run without a warm-up, computed from
/// samples.
#[test]
fn rates_are_of_the_rest() {
    let path = "rate=10Mbit/s,rtt=200ms,duration=30s,sample=1s";
    let whole = scenario(path, &[]);
    let (outcome, samples, _) =
        run_observed(&whole, 1, Observation { probes: true, ..Observation::default() });
    let at = |second: f64| {
        let of = samples.flows.iter().find(|sample| (sample.time.as_secs() - second).abs() < 1e-9);
        of.unwrap().delivered_bytes as f64
    };
    let warm = run(&scenario(path, &[("warmup", "10 s")]), 1);
    let expected = (outcome.flows[0].delivered_bytes as f64 - at(10.0)) * 8.0 / 20.0 / 1e3;
    assert!((warm.flows[0].goodput_kbps() / expected - 1.0).abs() < 0.001, "{expected}");
    assert!(warm.flows[0].goodput_kbps() > outcome.flows[0].goodput_kbps());
    let wait = |scenario: &Scenario| {
        let outcome =
            run_observed(scenario, 1, Observation { link_delays: true, ..Observation::default() }).0;
        outcome.links[0].traffic[0].delay.unwrap().quantiles_s[0]
    };
    assert!(
        wait(&scenario(path, &[("warmup", "10 s")])) >= wait(&whole),
        "the queue is short at the beginning of slow start"
    );
}

#[test]
fn transfers_that_begin_before_are_left_out() {
    let settings = [
        ("flow.bulk.transfer", "20 KB"),
        ("flow.bulk.count", "10"),
        ("flow.bulk.stagger", "1 s"),
        ("warmup", "4500 ms"),
    ];
    let outcome = run(&scenario("rate=4Mbit/s,rtt=60ms,duration=20s", &settings), 1);
    let measured: Vec<bool> = outcome.flows.iter().map(|flow| flow.is_finite).collect();
    assert_eq!(measured.iter().filter(|it| **it).count(), 5, "the transfers that begin at 5 s to 9 s count");
    assert!(outcome.flows[9].is_finite && !outcome.flows[4].is_finite);
    let settings = [("request", "300 bytes"), ("response", "20 KB"), ("every", "1 s"), ("warmup", "4500 ms")];
    let settings = settings.map(|(key, value)| (["flow.bulk.", key].concat(), value));
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(key, value)| (if key.ends_with("warmup") { "warmup" } else { key.as_str() }, *value))
        .collect();
    let outcome = run(&scenario("rate=4Mbit/s,rtt=60ms,duration=20s", &settings), 1);
    let asked: Vec<f64> =
        outcome.flows[0].exchanges.as_ref().unwrap().iter().map(|it| it.requested_s).collect();
    assert_eq!(asked.len(), 15);
    assert_eq!((asked[0], asked[14]), (5.0, 19.0));
}

#[test]
fn how_it_is_run_changes_nothing() {
    let warm = scenario(LOSSY, &[("warmup", "7 s")]);
    let plain: Outcome = run(&warm, 5);
    assert_eq!(run_observed(&warm, 5, Observation { probes: true, ..Observation::default() }).0, plain);
    let mut pieces = SteppedRun::new(&warm, 5, Observation::default());
    while pieces.advance(97) {}
    assert_eq!(pieces.finish().0, plain);
}

#[test]
fn it_is_shorter_than_the_run() {
    let mut draft = Draft::load(LOSSY).unwrap();
    draft.set("warmup", "20 s").unwrap();
    let problem = draft.check().unwrap_err();
    assert!(
        problem.message().contains("warmup: nothing would be measured in a run of 20 s"),
        "{}",
        problem.message()
    );
}
