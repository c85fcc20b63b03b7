//! Tests the fairness of TCP-DCR and TCP-NCR (RFC 4653), which delay their window reduction, towards senders that
//! reduce at once.

use super::{Setting, path, path_with};
use lasthop_scenario::Catalogue;
use lasthop_sim::{FlowOutcome, run};

/// Returns a second flow between the same hosts, with a random start.
fn neighbour(recovery: &str) -> String {
    format!(
        r#"
        [flow.neighbour]
        from = "server"
        to = "client"
        profile = "plain"
        segment = "1000 bytes"
        receiver.ack_policy = "immediate"
        sender.recovery = "{recovery}"
        start_spread = "2 s"
        "#
    )
}

/// Returns three results of twenty runs of two minutes: the mean of Jain's index, the first flow's mean share of the
/// goodput, and the total number of lost packets.
fn pair(recovery: &str, others: &str) -> (f64, f64, u64) {
    let settings: &[Setting<'_>] = &[("flow.bulk.sender.recovery", recovery), ("duration", "120 s")];
    let scenario = path_with(&Catalogue::default(), false, &neighbour(others), &[settings]);
    let (mut jain, mut share, mut lost) = (0.0, 0.0, 0);
    for seed in 1..=20 {
        let outcome = run(&scenario, seed);
        let rates: Vec<f64> = outcome.flows.iter().map(FlowOutcome::goodput_kbps).collect();
        let sum: f64 = rates.iter().sum();
        jain += sum * sum / (2.0 * rates.iter().map(|rate| rate * rate).sum::<f64>()) / 20.0;
        share += rates[0] / sum / 20.0;
        lost += outcome.flows.iter().map(|flow| flow.account.lost.total()).sum::<u64>();
    }
    (jain, share, lost)
}

/// All losses are congestion losses in a shared queue. DCR delays its window reduction by a round trip. NCR delays its
/// window reduction until duplicate ACKs report two thirds of a window. DCR and NCR must not take bandwidth from a
/// sender that reduces at once. In the measurement, NCR caused a quarter more drops than two SACK flows cause, and DCR
/// caused 1 % more.
#[test]
fn who_waits_before_a_reduction_is_fair_to_who_does_not() {
    for others in ["sack", "new_reno"] {
        let same = pair(others, others);
        println!("{others} beside itself: Jain {:.3}, share {:.3}, {} lost", same.0, same.1, same.2);
        for recovery in ["dcr", "ncr"] {
            let (jain, share, lost) = pair(recovery, others);
            println!("{recovery} beside {others}: Jain {jain:.3}, share {share:.3}, {lost} lost");
            assert!(jain >= 0.95, "{recovery} beside {others}: {jain}");
            assert!(lost as f64 <= 1.3 * same.2 as f64, "{recovery} beside {others}: {lost}, {}", same.2);
        }
    }
}

/// One flow overflows the queue, so every loss is congestion. If the minimum RTO (1 s) is longer than the delay of the
/// window reduction, DCR and NCR must reach 97 % of SACK's goodput. With a minimum RTO of 200 ms, the timer expires
/// before the delay ends, and DCR and NCR must reach 95 %.
#[test]
fn waiting_costs_little_where_all_losses_are_congestion() {
    let alone = |recovery: &str, least: &str| {
        let settings: &[Setting<'_>] = &[("recovery", recovery), ("min_rto", least), ("duration", "120 s")];
        let flow = run(&path(false, &[settings]), 1).flows.remove(0);
        (flow.goodput_kbps(), flow.account.lost.total(), flow.source.timeouts)
    };
    for least in ["200 ms", "1 s"] {
        let (rate, lost, none) = alone("sack", least);
        for recovery in ["dcr", "ncr"] {
            let (with, more, timeouts) = alone(recovery, least);
            println!(
                "{recovery} alone: {with:.0} kbit/s and {more} lost, {timeouts} timeouts, sack {rate:.0} and {lost}, {none}; min_rto {least}"
            );
            assert!(
                (with / rate - 1.0).abs() < if least == "1 s" { 0.03 } else { 0.05 },
                "{recovery}: {with} {rate}"
            );
            assert_eq!(timeouts > 5, least == "200 ms", "{recovery}: {timeouts}");
            assert!(more as f64 <= 1.2 * lost as f64, "{recovery}: {more} {lost}");
        }
    }
}
