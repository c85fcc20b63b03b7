//! Tests of requests and responses on one connection, and of sources that pause. The tests compare with times computed
//! by hand, and verify general properties.

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{FlowOutcome, Outcome, run, run_observed};

fn scenario(more: &[(&str, &str)]) -> Scenario {
    let text = "title = \"t\"\nduration = \"20 s\"\nheaders = \"none\"\n[link.l]\nfrom = \"server\"\nto = \"client\"\n\
                rate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\nqueue = \"200 packets\"\n\
                [flow.web]\nfrom = \"server\"\nto = \"client\"\nsegment = \"1000 bytes\"\n";
    let mut draft = Draft::parse(text, "test").unwrap();
    for (key, value) in more {
        draft.set(&format!("flow.web.{key}"), value).unwrap();
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

fn web(outcome: &Outcome) -> &FlowOutcome {
    &outcome.flows[0]
}

fn times(outcome: &Outcome) -> Vec<f64> {
    web(outcome)
        .exchanges
        .as_ref()
        .unwrap()
        .iter()
        .filter(|it| it.is_complete)
        .map(|it| it.response_time_s)
        .collect()
}

/// A request of 100 bytes must take 0.1 ms of transmission and 50 ms of propagation. The response of five segments must
/// take 5 ms of transmission and 50 ms of propagation, so the total is 105.1 ms. The first request waits for the
/// handshake, so it must take 100 ms more. Headers have no bytes in this scenario.
#[test]
fn small_exchanges_take_a_round_trip_and_their_transmission() {
    let scenario = scenario(&[
        ("request", "100 bytes"),
        ("response", "5000 bytes"),
        ("think", "300 ms"),
        ("exchanges", "10"),
    ]);
    let outcome = run(&scenario, 1);
    let times = times(&outcome);
    assert_eq!(times.len(), 10);
    assert!((times[0] - 0.2051).abs() < 1e-6, "{times:?}");
    assert!(times[1..].iter().all(|time| (time - 0.1051).abs() < 1e-6), "{times:?}");
    let flow = web(&outcome);
    assert_eq!((flow.delivered_bytes, flow.source.retransmitted), (50_000, 0));
    // The flow must be complete after the last response: the first exchange takes 0.2051 s, and each of nine more
    // exchanges takes 0.1051 s after a pause of 0.3 s.
    assert!((flow.active_s - (0.2051 + 9.0 * 0.4051)).abs() < 1e-6, "{}", flow.active_s);
    assert!(flow.account.completed.is_some());
    // The client must send eleven segments that use sequence space: ten requests and the FIN.
    assert_eq!(flow.destination.data_sent, 11);
}

/// A response of 40 segments takes several round trips, with windows of 10, 20 (15 with delayed ACKs) and more
/// segments. After a pause longer than the timeout, slow start must restart (RFC 5681 §4.1). Without a pause, the
/// window must remain.
#[test]
fn a_pause_longer_than_the_timeout_restarts_slow_start() {
    let of = |think: &str, validate: &str| {
        let mut draft = vec![("request", "100 bytes"), ("response", "40000 bytes"), ("think", think)];
        draft.push(("sender.validate_window", validate));
        times(&run(&scenario(&draft), 1))
    };
    let (at_once, later) = (of("0 s", "false"), of("3 s", "false"));
    // If the window holds the whole response, a response must take 40 ms of transmission plus a round trip.
    let last = at_once.last().unwrap();
    assert!((last - 0.1401).abs() < 0.002, "{last}");
    for time in &later[1..] {
        assert!(*time > 0.1401 + 0.05, "slow start after a pause adds less than 50 ms: {later:?}");
    }
    assert!((later[1] - later[2]).abs() < 0.01, "responses do not begin from the same window: {later:?}");
}

/// Requests are due every 4 s, as for segments of a video, so there must be five requests in 20 s. If a response takes
/// longer than 4 s, the next request must wait for the end of that response.
#[test]
fn requests_are_due_by_the_clock_or_wait_for_the_response() {
    let asked = |response: &str| -> Vec<f64> {
        let outcome =
            run(&scenario(&[("request", "200 bytes"), ("response", response), ("every", "4 s")]), 1);
        web(&outcome).exchanges.as_ref().unwrap().iter().map(|it| it.requested_s).collect()
    };
    assert_eq!(asked("500 KB"), [0.0, 4.0, 8.0, 12.0, 16.0]);
    let late = asked("5 MB");
    assert_eq!(late.len(), 4);
    assert!(late.windows(2).all(|pair| pair[1] - pair[0] > 5.0 && pair[1] - pair[0] < 5.8), "{late:?}");
}

/// Size and think time of the n-th request must depend only on the seed. On a path with another delay, the requests
/// must be the same.
#[test]
fn draws_depend_on_the_seed_alone() {
    let draws = [("request", "100 bytes"), ("response", "20 KB"), ("sizes", "web"), ("think", "200 ms")];
    let draws = [&draws[..], &[("period", "exponential"), ("exchanges", "12")]].concat();
    let clean = scenario(&draws);
    let mut draft = clean.clone();
    draft.links[0].down.delay = lasthop_base::Duration::from_millis(5);
    let (slow, fast) = (run(&clean, 3), run(&draft, 3));
    assert_eq!(web(&slow).delivered_bytes, web(&fast).delivered_bytes);
    assert_ne!(web(&slow).delivered_bytes, web(&run(&clean, 4)).delivered_bytes);
    let pauses = |outcome: &Outcome| -> Vec<f64> {
        let all = web(outcome).exchanges.clone().unwrap();
        all.windows(2)
            .map(|pair| pair[1].requested_s - pair[0].requested_s - pair[0].response_time_s)
            .collect()
    };
    let (one, other) = (pauses(&slow), pauses(&fast));
    assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-8), "{one:?} {other:?}");
    assert!(one.iter().any(|pause| (pause - one[0]).abs() > 0.01));
}

#[test]
fn exchanges_survive_losses_in_both_directions() {
    let mut draft = Draft::load("rate=10Mbit/s,rtt=40ms,loss=3%,duration=120s").unwrap();
    for (key, value) in [
        ("flow.bulk.request", "4 KB"),
        ("flow.bulk.response", "60 KB"),
        ("flow.bulk.exchanges", "100"),
        ("link.path.up.channel", "{kind=\"iid\", loss=0.03}"),
    ] {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
    }
    let outcome = run(&draft.check().unwrap(), 5);
    let flow = web(&outcome);
    assert_eq!(times(&outcome).len(), 100);
    assert_eq!(flow.delivered_bytes, 6_000_000);
    assert!(
        flow.destination.retransmitted > 0 && flow.source.retransmitted > 0,
        "an end retransmits nothing"
    );
}

/// The source sends at 4 Mbit/s for 2 s and is silent for 3 s. In 20 s, it must send four bursts of 1 MB.
#[test]
fn bursts_at_a_rate_carry_that_rate() {
    let scenario = scenario(&[("on", "2 s"), ("off", "3 s"), ("write_rate", "4 Mbit/s")]);
    let (outcome, samples, _) =
        run_observed(&scenario, 1, lasthop_sim::Observation { probes: true, ..Default::default() });
    assert_eq!(web(&outcome).delivered_bytes, 4_000_000);
    // The source is silent for 60 % of the time. After each pause, slow start begins from the initial window.
    let limited = web(&outcome).app_limited_pct().unwrap();
    assert!(limited > 60.0 && limited < 100.0, "{limited}");
    // From 2.2 s to 5 s, no data may arrive. The first burst ends at 2 s, and its last data arrives half a round trip
    // and a queueing delay later.
    let at = |second: f64| {
        let sample = samples.flows.iter().find(|sample| sample.time.as_secs() >= second).unwrap();
        sample.delivered_bytes
    };
    assert_eq!((at(2.2), at(5.0)), (1_000_000, 1_000_000));
    assert!(at(3.5) == at(4.5) && at(6.0) > at(5.0));
}

/// Without a write rate, a burst must fill the link. At the burst's end, up to 128 KiB of written data is still unsent.
/// This data must be sent after the burst.
#[test]
fn bursts_without_a_rate_fill_the_link() {
    let outcome = run(&scenario(&[("on", "4 s"), ("off", "6 s")]), 1);
    let most = 2.0 * (4.0 * 1e6 + 131_072.0 + 300_000.0);
    let delivered = web(&outcome).delivered_bytes as f64;
    assert!(delivered > 0.9 * 8e6 && delivered < most, "{delivered}");
}

#[test]
fn a_rate_alone_is_a_source_that_the_application_limits() {
    let outcome = run(&scenario(&[("write_rate", "1 Mbit/s")]), 1);
    let goodput = web(&outcome).goodput_kbps();
    assert!((goodput - 1000.0).abs() < 10.0, "{goodput}");
}

/// Burst and pause lengths with an exponential or Pareto distribution must have the configured means over 2,000 s.
#[test]
fn drawn_periods_have_their_means() {
    for (period, within) in [("exponential", 0.15), ("pareto", 0.4)] {
        let mut scenario =
            scenario(&[("on", "1 s"), ("off", "1 s"), ("write_rate", "400 kbit/s"), ("period", period)]);
        scenario.duration = lasthop_base::Duration::from_secs(2000);
        let goodput = web(&run(&scenario, 2)).goodput_kbps();
        assert!((goodput / 200.0 - 1.0).abs() < within, "{period}: {goodput}");
    }
}

#[test]
fn every_middlebox_lets_exchanges_pass() {
    for name in lasthop_middlebox::ALL.iter().map(|one| one.info.name) {
        let mut draft = Draft::load("hasegawa").unwrap();
        for (key, value) in [
            ("flow.bulk.request", "300 bytes"),
            ("flow.bulk.response", "30 KB"),
            ("flow.bulk.think", "500 ms"),
            ("node.bs.middlebox", name),
            ("duration", "60 s"),
        ] {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
        let Ok(scenario) = draft.check() else { continue };
        let outcome = run(&scenario, 1);
        let flow = web(&outcome);
        let answered = times(&outcome).len() as u64;
        assert!(answered >= 10, "{name}: {answered} exchanges in 60 s");
        assert!(
            flow.delivered_bytes >= 30_000 * answered && flow.delivered_bytes <= 30_000 * (answered + 1),
            "{name}"
        );
    }
}
