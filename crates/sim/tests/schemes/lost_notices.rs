//! Tests of senders that do not receive all notices of the base station: EBSN (Bakshi et al. 1997) and LHACK (Cobb and
//! Agrawal 1995).

use super::station::with_box;
use super::{AIR, DISCRIMINATION, MIDDLEBOX, Setting, UNFILLED, flow, path};
use lasthop_base::Time;
use lasthop_engine::NodeId;
use lasthop_wire::FlowId;

/// The channel has bad states of 2 s after good states of 10 s, and ARQ retransmits persistently.
const BAD: &[Setting<'_>] = &[
    ("duration", "200 s"),
    (
        AIR,
        "{ kind = \"two_state\", clock = \"time\", good = \"10 s\", bad = \"2 s\", loss_good = 0, loss_bad = 1 }",
    ),
    (
        "link.air.down.arq",
        "{ kind = \"repeat\", transmissions = 1000, delay = \"20 ms\", mode = \"stop_and_wait\" }",
    ),
];

fn timeouts(loses: f64) -> [u64; 2] {
    let scenario = path(false, &[BAD, &[(DISCRIMINATION, "ebsn")]]);
    let mut sum = [0; 2];
    for seed in 1..=5 {
        let mut engine = with_box(&scenario, seed, "ebsn", Time::NEVER, loses);
        engine.run_until(Time::ZERO + scenario.duration);
        sum[0] += engine.endpoints(FlowId(0)).expect("TCP").0.counters().timeouts;
        sum[1] += engine.node_account(NodeId(1)).expect("a box").created;
    }
    sum
}

/// Each failed attempt, one every 20 ms, causes a notice. Half of these notices must suffice to prevent timeouts.
#[test]
fn half_of_the_notices_are_enough_for_ebsn() {
    let plain: u64 = (1..=5).map(|seed| flow(&path(false, &[BAD]), seed).source.timeouts).sum();
    let [[all, notices], [half, fewer], [few, least]] = [0.0, 0.5, 0.99].map(timeouts);
    println!(
        "timeouts: {plain} without, {all} with {notices} notices, {half} with {fewer}, {few} with {least}"
    );
    assert!(fewer * 10 > notices * 4 && fewer * 10 < notices * 6, "{notices} {fewer}");
    assert!(plain > 50 && all * 5 < plain, "{plain} {all}");
    assert!(half * 5 < plain, "{plain} {half}");
}

/// Notices must not affect other packets. With the same seed, the air carries the same packets until the first timeout
/// that notices prevent. From then on, there must be fewer retransmissions.
#[test]
fn notices_of_a_bad_state_cost_the_air_nothing() {
    let ebsn: &[Setting<'_>] = &[(MIDDLEBOX, "ebsn"), (DISCRIMINATION, "ebsn")];
    for seed in 1..=5 {
        let (plain, with_notices) =
            (flow(&path(false, &[BAD]), seed), flow(&path(false, &[BAD, ebsn]), seed));
        assert!(with_notices.source.retransmitted < plain.source.retransmitted, "seed {seed}");
        assert!(with_notices.delivered_bytes >= plain.delivered_bytes, "seed {seed}");
    }
}

const LOSSY: &[Setting<'_>] = &[
    (AIR, "{ kind = \"iid\", loss = 0.01 }"),
    ("duration", "100 s"),
    (DISCRIMINATION, "lhack"),
    ("recovery", "rack"),
];

/// Returns three numbers: wireless losses that were classified as wireless, wireless losses with any verdict, and
/// notices sent.
fn classified(loses: f64) -> [u64; 3] {
    // The queue is unlimited, so the queue drops neither packets nor notices.
    let scenario = path(false, &[LOSSY, &[("link.air.down.queue", "unlimited")]]);
    let mut sum = [0; 3];
    for seed in 1..=5 {
        let mut engine = with_box(&scenario, seed, "lhack", Time::NEVER, loses);
        engine.run_until(Time::ZERO + scenario.duration);
        let accuracy = engine.account(FlowId(0)).accuracy;
        sum[0] += accuracy.wireless_correct;
        sum[1] += accuracy.wireless;
        sum[2] += engine.node_account(NodeId(1)).expect("a box").created;
    }
    sum
}

/// A loss without its notice counts as congestion. The share of losses that cause a window reduction must therefore
/// equal the share of lost notices. Some losses cause a reduction even if no notice is lost, because a notice does not
/// say which transmission of a segment was lost. This happens if a segment's retransmission is in flight when the next
/// recovery begins.
#[test]
fn a_lost_notice_of_lhack_is_one_reduction() {
    let share = |loses| {
        let [right, all, notices] = classified(loses);
        println!("LHACK, {loses} of its notices lost: {right} of {all} losses known, {notices} notices");
        assert!(all > 300, "{all}");
        (1.0 - right as f64 / all as f64, all as f64)
    };
    let (twice, _) = share(0.0);
    assert!(twice < 0.1, "{twice}");
    for loses in [0.01, 0.2, 0.5] {
        let (found, all) = share(loses);
        let expected = twice + (1.0 - twice) * loses;
        // The bound is three standard deviations, and a margin of 0.02 for the share of retransmitted segments.
        let spread = 3.0 * (expected * (1.0 - expected) / all).sqrt() + 0.02;
        assert!((found - expected).abs() < spread, "{found} of {all}, {expected} expected");
    }
}

#[test]
fn lhack_doubles_what_comes_back_and_leaves_the_wired_networks_losses() {
    let script: &[Setting<'_>] = &[("link.wired.down.channel", "{ kind = \"scripted\", packets = \"400\" }")];
    let with = flow(&path(false, &[UNFILLED, script, &[(MIDDLEBOX, "lhack"), (DISCRIMINATION, "lhack")]]), 1);
    let plain = flow(&path(false, &[UNFILLED, script]), 1);
    assert_eq!((with.source.judged_congestion, with.source.judged_wireless), (1, 0));
    assert_eq!((with.source.recoveries, with.source.data_sent), (1, plain.source.data_sent));
    // LHACK must send a notice for each packet, except for packets lost on the wire or in flight at the end.
    assert!(with.account.created[1] + 50 > with.source.data_sent, "{:?}", with.account.created);
}
