//! TCP over HARQ: goodput and losses on whole paths.

use lasthop_net::counters::RlcCounters;
use lasthop_scenario::Draft;
use lasthop_sim::{Outcome, run};

fn outcome(path: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut draft = Draft::load(path).expect("a ready path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    run(&draft.check().expect("a valid scenario"), 1)
}

fn down(outcome: &Outcome) -> RlcCounters {
    outcome.links.last().and_then(|link| link.rlc[0]).expect("counters")
}

fn goodput(outcome: &Outcome, seconds: f64) -> f64 {
    outcome.flows[0].delivered_bytes as f64 * 8.0 / seconds / 1e6
}

/// The expected goodput is the path's rate (30 Mbit/s for `lte-am`) less the cost of retransmissions and headers. The
/// first three transmissions of a block fail with probability 0.1, 0.02 and 0.004. Retransmissions therefore take 0.1 +
/// 0.1 x 0.02 + 0.1 x 0.02 x 0.004 of a slot per block. Headers take 8 bytes for each PDU, and only 1448 of 1500 bytes
/// are payload. Slow start costs part of the first second.
#[test]
fn a_queue_that_is_never_empty_gives_tcp_what_harq_leaves() {
    for (path, rate, seconds) in [("lte-am", 30.0, "40 s"), ("nr-5g-am", 300.0, "10 s")] {
        let outcome = outcome(path, &[("duration", seconds)]);
        let counters = down(&outcome);
        let pieces = counters.pdus as f64 / counters.delivered as f64;
        let expected = rate / 1.102_008 * 1448.0 / (1500.0 + 8.0 * pieces);
        let measured = goodput(&outcome, seconds.trim_end_matches(" s").parse().unwrap());
        assert!(
            measured < 1.005 * expected && measured > 0.95 * expected,
            "{path}: {measured} of {expected}"
        );
        assert_eq!((counters.discarded, counters.late), (0, 0));
        let share = counters.blocks_retransmitted as f64 / counters.blocks as f64;
        assert!(
            (share / (1.0 - 1.0 / 1.102_008) - 1.0).abs() < 0.1,
            "{path}: {share} of the blocks are retransmissions"
        );
    }
}

#[test]
fn acknowledged_mode_hides_what_harq_loses() {
    let without_harq = [("link.wireless.arq.transmissions", "1"), ("link.wireless.down.channel.loss", "2 %")];
    let am = outcome("lte-am", &without_harq);
    let um = outcome("lte-am", &[&without_harq[..], &[("link.wireless.arq.mode", "um")]].concat());
    let lost = |outcome: &Outcome| outcome.flows[0].account.lost[lasthop_wire::LossReason::Channel];
    assert_eq!(lost(&am), 0);
    assert!(lost(&um) > 100, "{}", lost(&um));
    assert!(down(&am).blocks_given_up > 500 && down(&am).discarded == 0);
    assert!(goodput(&am, 60.0) > 1.5 * goodput(&um, 60.0), "{} {}", goodput(&am, 60.0), goodput(&um, 60.0));
    assert!(down(&am).waited > down(&um).waited);
}
