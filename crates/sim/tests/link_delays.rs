//! Tests of link delay statistics for all kinds of queues. The statistics must agree with values computed by hand, and
//! must not depend on observers.

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{LinkDelay, Observation, Outcome, run, run_observed};

fn scenario(queue: &str, flow: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\nduration = \"20 s\"\nheaders = \"none\"\n[link.one]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"80 Mbit/s\"\none_way_delay = \"10 ms\"\n[link.two]\nfrom = \"b\"\nto = \"c\"\nrate = \"8 Mbit/s\"\n\
         one_way_delay = \"30 ms\"\nqueue = {queue}\n[flow.f]\nfrom = \"a\"\nto = \"c\"\n{flow}"
    );
    Draft::parse(&text, "test").unwrap().check().unwrap_or_else(|problem| panic!("{problem}"))
}

fn measured(scenario: &Scenario, probes: bool) -> Outcome {
    run_observed(scenario, 1, Observation { probes, link_delays: true, ..Observation::default() }).0
}

fn link_delay(outcome: &Outcome, link: usize) -> LinkDelay {
    outcome.links[link].traffic[0].delay.expect("packets arrived")
}

/// A packet of 1000 bytes takes 1 ms at 8 Mbit/s, and 0.1 ms at 80 Mbit/s. With a packet every 8 ms, no queue forms, so
/// the delay must be the transmission time.
#[test]
fn without_a_queue_it_is_the_transmission() {
    let cbr = "kind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"1000 bytes\"\n";
    for queue in ["\"100 packets\"", "\"fq_codel\"", "\"sfq\""] {
        let outcome = measured(&scenario(queue, cbr), false);
        for (link, expected) in [(0, 1e-4), (1, 1e-3)] {
            let it = link_delay(&outcome, link);
            assert!((it.mean_s - expected).abs() < 1.1e-6, "{queue}: {it:?}");
            assert!(it.quantiles_s.iter().all(|is| (is / expected - 1.0).abs() < 0.017), "{queue}: {it:?}");
        }
    }
}

/// A burst of four packets arrives every 40 ms. The fast link spaces the packets by 0.1 ms. On the slow link, the delay
/// of packet n (1 to 4) must be n ms, less 0.1 ms for each earlier packet of the burst.
#[test]
fn a_burst_waits_for_itself() {
    let bursts = "kind = \"cbr\"\nrate = \"800 kbit/s\"\npacket = \"1000 bytes\"\nburst = 4\n";
    let it = link_delay(&measured(&scenario("\"100 packets\"", bursts), false), 1);
    assert!((it.mean_s - (1.0 + 1.9 + 2.8 + 3.7) / 4.0 * 1e-3).abs() < 1e-6, "{it:?}");
    let [p50, p95, p99] = it.quantiles_s;
    assert!((p50 / 1.9e-3 - 1.0).abs() < 0.017 && (p95 / 3.7e-3 - 1.0).abs() < 0.017, "{it:?}");
    assert_eq!(p95, p99);
}

/// A bulk flow keeps a queue of 60 packets nearly full, and the transmission of a packet takes 1 ms. A packet must take
/// at most 61 ms, and all losses must occur in this queue.
#[test]
fn a_full_queue_waits_for_all_of_it() {
    let bulk = "segment = \"1000 bytes\"\n[flow.f.sender]\ncongestion = \"cubic\"\n";
    let outcome = measured(&scenario("\"60 packets\"", bulk), false);
    let it = link_delay(&outcome, 1);
    assert!(it.quantiles_s[2] > 0.055 && it.quantiles_s[2] < 0.0625, "{it:?}");
    assert!(it.mean_s > 0.02 && it.mean_s < it.quantiles_s[1], "{it:?}");
    let lost = outcome.links[1].traffic[0].lost;
    assert!(lost.total() > 0 && lost.total() == lost[lasthop_wire::LossReason::QueueFull]);
}

/// The statistics must be the same whether the engine handles several hops as one event ("fused") or as one event each.
/// A run that does not measure delays must have the same outcome.
#[test]
fn watching_changes_nothing() {
    let bulk = "segment = \"1000 bytes\"\n";
    for queue in ["\"60 packets\"", "\"fq_codel\"", "\"red\""] {
        let scenario = scenario(queue, bulk);
        let (fused, hop_by_hop) = (measured(&scenario, false), measured(&scenario, true));
        assert_eq!(fused, hop_by_hop, "{queue}");
        let mut plain = run(&scenario, 1);
        assert_eq!(plain.links[1].traffic[0].delay, None);
        for (link, other) in plain.links.iter_mut().zip(&fused.links) {
            link.traffic.iter_mut().zip(&other.traffic).for_each(|(one, other)| one.delay = other.delay);
        }
        assert_eq!(plain, fused, "{queue}");
    }
}

/// Packets of 10 bytes are sent every 0.5 s into a link on which the transmission of a packet takes 1 s. Packet k is
/// enqueued at 0.5 k s and leaves at k + 1 s, so its delay is 1 + 0.5 k s. In 20,000 s, the first 20,000 packets leave.
/// Their mean delay must be 5,000.75 s, and their largest delay 10,000.5 s.
#[test]
fn delays_of_hours_are_measured() {
    for queue in [
        "{ kind = \"sfq\", packets = 100000 }",
        "{ kind = \"tbf\", rate = \"1 Mbit/s\", bytes = \"0 bytes\" }",
    ] {
        let text = format!(
            "title = \"t\"\nduration = \"20001 s\"\nheaders = \"none\"\n[link.one]\nfrom = \"a\"\nto = \"b\"\n\
             rate = \"80 bit/s\"\none_way_delay = \"10 ms\"\nqueue = {queue}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
             kind = \"cbr\"\nrate = \"160 bit/s\"\npacket = \"10 bytes\"\n"
        );
        let draft = Draft::parse(&text, "test").unwrap();
        let scenario = draft.check().unwrap_or_else(|problem| panic!("{problem}"));
        let it = link_delay(&measured(&scenario, false), 0);
        assert!((it.mean_s - 5_000.75).abs() < 1.0, "{queue}: {it:?}");
        assert!((it.quantiles_s[0] / 5_000.0 - 1.0).abs() < 0.017, "{queue}: {it:?}");
        assert!((it.quantiles_s[2] / 9_900.0 - 1.0).abs() < 0.017, "{queue}: {it:?}");
    }
}

/// At 10 Tbit/s, the transmission of a byte must take a nanosecond (rounded up) in every kind of queueing element.
#[test]
fn no_wait_is_shorter_than_the_transmission() {
    for beside in ["corrupt = 0.001", "duplicate = 0.001", "queue = \"codel\"", "queue = \"sfq\""] {
        let text = format!(
            "title = \"t\"\nduration = \"20 s\"\nheaders = \"none\"\n[link.p]\nfrom = \"a\"\nto = \"b\"\n\
             rate = \"10 Tbit/s\"\none_way_delay = \"0.0766 ms\"\n{beside}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
             kind = \"cbr\"\nrate = \"8 kbit/s\"\npacket = \"1 bytes\"\n"
        );
        let draft = Draft::parse(&text, "test").unwrap();
        let scenario = draft.check().unwrap_or_else(|problem| panic!("{problem}"));
        let it = link_delay(&measured(&scenario, false), 0);
        assert!((it.mean_s - 1e-9).abs() < 1e-12, "{beside}: {it:?}");
    }
}
