//! Tests of current senders on simulated paths. Each sender must have the properties that its RFC or paper promises, in
//! comparison with other senders.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, run, run_probed};

fn outcomes(path: &str, settings: &[(&str, &str)]) -> Vec<FlowOutcome> {
    let mut draft = Draft::load(path).expect("an inline path");
    draft.set("duration", "60 s").expect("a duration");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    let scenario = draft.check().expect("a valid scenario");
    (1..=3).map(|seed| run(&scenario, seed).flows.swap_remove(0)).collect()
}

/// BBR's window does not depend on losses. At a loss rate of 1 %, BBR must fill the link except for headers (52 of 1500
/// bytes) and retransmissions (1 %): 9.55 of 10 Mbit/s. A sender that halves its window at each loss gets about 1.2 MSS
/// / (RTT sqrt(p)), which is 1.4 Mbit/s for p = 1 % (Mathis et al. 1997).
#[test]
fn bbr_does_not_take_a_loss_for_congestion() {
    let path = "profile=plain,rate=10Mbit/s,rtt=100ms,queue=50packets,loss=1%";
    for flow in outcomes(path, &[("congestion", "bbr"), ("recovery", "rack")]) {
        assert!((9000.0..9560.0).contains(&flow.goodput_kbps()), "{}", flow.goodput_kbps());
        assert_eq!(flow.source.timeouts, 0);
    }
    for flow in outcomes(path, &[("congestion", "reno"), ("recovery", "rack")]) {
        assert!(flow.goodput_kbps() < 3000.0, "{}", flow.goodput_kbps());
    }
}

/// BBR has at most two bandwidth-delay products in flight, so the queue must hold at most one of them. Reno fills the
/// queue.
#[test]
fn bbr_keeps_the_queue_short() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=8bdp";
    for flow in outcomes(path, &[("congestion", "bbr")]) {
        let mean = flow.mean_rtt_s.expect("samples");
        assert!(mean < 0.08 && flow.goodput_kbps() > 9000.0, "{mean} s, {}", flow.goodput_kbps());
    }
    for flow in outcomes(path, &[("congestion", "reno")]) {
        assert!(flow.mean_rtt_s.expect("samples") > 0.15, "{:?}", flow.mean_rtt_s);
    }
}

/// RACK-TLP must detect lost retransmissions and lost tails without timeouts. RFC 6675 has many timeouts at a loss rate
/// of 3 %.
#[test]
fn rack_needs_no_timeouts_at_random_losses() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets,loss=3%";
    let timeouts = |recovery| {
        let flows = outcomes(path, &[("recovery", recovery)]);
        flows.iter().map(|flow| flow.source.timeouts).sum::<u64>()
    };
    let (by_sack, by_rack) = (timeouts("sack"), timeouts("rack"));
    assert!(by_rack <= 1 && by_sack >= 10, "rack {by_rack}, sack {by_sack}");
}

/// PRR changes the times at which segments are sent during recovery, but not the window after recovery. Goodput must
/// therefore differ by less than a tenth.
#[test]
fn prr_leaves_the_window_as_it_is() {
    let path = "profile=plain,rate=10Mbit/s,rtt=100ms,queue=1bdp,loss=0.05%";
    let goodput = |reduction| {
        let flows = outcomes(path, &[("reduction", reduction), ("recovery", "rack")]);
        flows.iter().map(FlowOutcome::goodput_kbps).sum::<f64>()
    };
    let ratio = goodput("prr") / goodput("at_once");
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// About every ten seconds, BBR must have only four segments in flight for 200 ms, four to six times in the run of 60
/// s. The queue then drains, so BBR can measure the smallest RTT (draft-cardwell-iccrg-bbr §4.3.5).
#[test]
fn bbr_looks_for_the_smallest_rtt() {
    let mut draft = Draft::load("profile=plain,rate=10Mbit/s,rtt=40ms,queue=8bdp").expect("an inline path");
    for (key, value) in [("duration", "60 s"), ("congestion", "bbr"), ("sample", "50 ms")] {
        draft.set(key, value).expect("a key of every path");
    }
    let (_, samples) = run_probed(&draft.check().expect("a valid scenario"), 1);
    let small: Vec<bool> = samples.flows.iter().map(|sample| sample.cwnd_bytes == 4 * 1448).collect();
    let episodes = small.windows(2).filter(|pair| pair == &[false, true]).count();
    let share = small.iter().filter(|small| **small).count() as f64 / small.len() as f64;
    assert!((4..=6).contains(&episodes), "{episodes}");
    // BBR must spend about 200 to 300 ms of every ten seconds with only four segments in flight.
    assert!((0.015..0.035).contains(&share), "{share}");
}

/// Slow start that lasts until a loss overshoots by the growth of one round trip, here 133 segments (33 on the path and
/// 100 in the queue). HyStart and HyStart++ must leave slow start earlier, without loss of goodput (Ha and Rhee 2011,
/// §5; RFC 9406 §1).
#[test]
fn slow_start_that_is_left_early_does_not_overshoot() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets,congestion=cubic,recovery=rack";
    let overshoot = |exit| {
        let flow = outcomes(path, &[("slow_start", exit)]).swap_remove(0);
        assert!(flow.goodput_kbps() > 9400.0, "{exit}: {}", flow.goodput_kbps());
        flow.source.retransmitted
    };
    let [none, hystart, hystart_pp] = ["none", "hystart", "hystart_pp"].map(overshoot);
    assert!(none > 100 && hystart < 60 && hystart_pp < 60, "{none}, {hystart}, {hystart_pp}");
}

/// Between two Linux hosts, lost retransmissions must be repaired without a timeout. No more segments may be
/// retransmitted than were lost. (Linux 6.18 over the same emulated path has no timeouts in twenty runs,
/// docs/development/validation/linux.md.)
#[test]
fn linux_hosts_need_no_timeouts_at_random_losses() {
    for congestion in ["reno", "cubic"] {
        let path = "rate=10Mbit/s,rtt=40ms,queue=100packets,loss=3%";
        for flow in outcomes(path, &[("congestion", congestion)]) {
            assert!(flow.source.timeouts <= 1, "{congestion}: {}", flow.source.timeouts);
            let share = flow.source.retransmitted as f64 / flow.source.data_sent as f64;
            assert!((0.02..0.05).contains(&share), "{congestion}: {share}");
        }
    }
}
