//! Tests that ready paths (scenarios that are part of the program) behave as their cited sources report.

mod packet_delays;

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::run;
use packet_delays::packet_delays;

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    draft.check().expect("a valid scenario")
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(sorted.len() as f64 * share) as usize]
}

/// arXiv 2107.13968 (Comcast, 2020): an upload must wait for about 250 ms in a modem with a plain queue, and for 15 to
/// 30 ms with DOCSIS-PIE. A full queue takes 250 ms. CUBIC reduces its window to 0.7 times the sum of bandwidth-delay
/// product and queue, so the delay varies.
#[test]
fn an_upload_over_cable_waits_as_measured() {
    let upload = [("flow.bulk.from", "client"), ("flow.bulk.to", "server"), ("duration", "60 s")];
    let (plain, _) = packet_delays(&scenario("cable", &upload), 3, 0, 10);
    let (median, most) = (quantile(&plain, 0.5), quantile(&plain, 0.99));
    assert!((175.0..=262.0).contains(&median) && (240.0..=262.0).contains(&most), "{median}, {most} ms");
    let (managed, _) = packet_delays(&scenario("cable-pie", &upload), 3, 0, 10);
    let mean = managed.iter().sum::<f64>() / managed.len() as f64;
    assert!((10.0..=30.0).contains(&mean), "{mean} ms");
}

/// Michel et al., IMC 2022: the median RTT is 50 ms. arXiv 2310.09242: the delay changes every 15 s. The wired path
/// takes 10 ms each way, so the median one-way delay of the satellite link must be 15 ms. The delay of the satellite
/// link is drawn from 4 to 19 ms for each slot of 15 s, plus up to 7 ms of jitter.
#[test]
fn starlink_steps_every_15_s_about_its_median() {
    let text = concat!(
        include_str!("../../../scenarios/starlink.toml"),
        "[flow.probe]\nfrom = \"server\"\nto = \"client\"\nkind = \"cbr\"\nrate = \"8 kbit/s\"\npacket = \"100 bytes\"\n"
    );
    let of = |seconds: &str| {
        let mut draft = Draft::parse(text, "starlink.toml").expect("a path");
        draft.set("duration", seconds).expect("a duration");
        draft.set("flow.bulk.transfer", "1000 bytes").expect("an amount");
        packet_delays(&draft.check().expect("valid"), 2, 1, 1).0
    };
    let all = of("1500 s");
    let (low, median, high) = (quantile(&all, 0.0), quantile(&all, 0.5), quantile(&all, 0.9999));
    assert!((4.0..6.0).contains(&low) && (24.0..26.1).contains(&high), "{low} to {high}");
    // The test takes the median of a hundred slots, whose delays are uniform over 15 ms. The tolerance is four standard
    // errors of 0.75 ms each.
    assert!((median - 15.0).abs() < 3.0, "{median}");
    let slot = of("14 s");
    assert!(slot[slot.len() - 1] - slot[0] < 7.1 && high - low > 15.0);
}

/// RFC 3135: if the gateway splits the connection, the window's growth does not depend on the satellite's RTT. Goodput
/// must more than double.
#[test]
fn a_gateway_that_splits_helps_a_satellite() {
    let goodput = |path: &str| {
        let runs = (1..=3).map(|seed| run(&scenario(path, &[("duration", "30 s")]), seed));
        runs.map(|outcome| outcome.flows[0].goodput_kbps()).sum::<f64>() / 3.0
    };
    let (whole, split) = (goodput("geo-modern"), goodput("geo-split"));
    assert!(split > 2.0 * whole, "{split} with a split, {whole} without");
}

/// If a link's rate is drawn at random, the link's capacity must follow from the drawn rate. A bulk flow must use
/// nearly all of the capacity, and never more than 100 %.
#[test]
fn a_drawn_rate_is_what_use_is_measured_by() {
    let path = "rate=10Mbit/s,rtt=10ms,queue=1000packets,congestion=cubic,duration=60s";
    let drawn = scenario(path, &[("link.path.down.plan", "5..50 Mbit/s for 2 s")]);
    for seed in 1..=5 {
        let link = &run(&drawn, seed).links[0].traffic[0];
        let used = link.carried_bytes as f64 / link.capacity_bytes;
        assert!((0.95..=1.0).contains(&used), "{used}");
    }
}
